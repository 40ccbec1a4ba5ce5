package adk

import (
	"bytes"
	"encoding/json"
	"strconv"

	"google.golang.org/adk/v2/session"
)

// readObject reads a JSON object as ADK has one, with float64 for its numbers; but for an integer that has more digits
// than a float64 has room for, such as an id: it is an int64, or, where that is too small, a [json.Number].
func readObject(raw []byte, into *map[string]any) error {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	read := map[string]any{}
	if err := decoder.Decode(&read); err != nil {
		return err
	}
	for key, value := range read {
		read[key] = exact(value)
	}
	*into = read
	return nil
}

func exact(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			v[key] = exact(inner)
		}
	case []any:
		for i, inner := range v {
			v[i] = exact(inner)
		}
	case json.Number:
		float, err := v.Float64()
		if err != nil { // too large for one
			return v
		}
		if n, err := strconv.ParseInt(v.String(), 10, 64); err == nil {
			if int64(float) == n && float < 1<<63 {
				return float
			}
			return n
		}
		if bytes.ContainsAny([]byte(v), ".eE") || strconv.FormatFloat(float, 'f', -1, 64) == v.String() {
			return float
		}
		return v
	}
	return value
}

// values are the parts of an event that hold whatever a client or a tool put there.
type values struct {
	Actions struct {
		StateDelta json.RawMessage `json:"stateDelta"`
	} `json:"actions"`
	Content *struct {
		Parts []*struct {
			FunctionCall *struct {
				Args json.RawMessage `json:"args"`
			} `json:"functionCall"`
			FunctionResponse *struct {
				Response json.RawMessage `json:"response"`
			} `json:"functionResponse"`
		} `json:"parts"`
	} `json:"content"`
	CustomMetadata json.RawMessage `json:"customMetadata"`
}

// readEvent reads an event, whose own decoder makes a float64 of every number, with its values as [readObject] does.
func readEvent(raw []byte) (*session.Event, error) {
	event, held := &session.Event{}, &values{}
	if err := json.Unmarshal(raw, event); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(raw, held); err != nil {
		return nil, err
	}
	type place struct {
		raw  json.RawMessage
		into *map[string]any
	}
	places := []place{{held.Actions.StateDelta, &event.Actions.StateDelta}, {held.CustomMetadata, &event.CustomMetadata}}
	if held.Content != nil && event.Content != nil && len(held.Content.Parts) == len(event.Content.Parts) {
		for i, part := range held.Content.Parts {
			if into := event.Content.Parts[i]; part != nil && into != nil {
				if part.FunctionCall != nil && into.FunctionCall != nil {
					places = append(places, place{part.FunctionCall.Args, &into.FunctionCall.Args})
				}
				if part.FunctionResponse != nil && into.FunctionResponse != nil {
					places = append(places, place{part.FunctionResponse.Response, &into.FunctionResponse.Response})
				}
			}
		}
	}
	for _, p := range places {
		if len(p.raw) == 0 || *p.into == nil { // left out, or null
			continue
		}
		if err := readObject(p.raw, p.into); err != nil {
			return nil, err
		}
	}
	return event, nil
}
