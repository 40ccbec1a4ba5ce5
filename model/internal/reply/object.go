package reply

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/hippocampus-memory/hippocampus/model"
)

// fields are the names that were asked for, which an error may quote.
var fields = []string{
	"confidence", "content", "facts", "importance", "insights", "intensity", "key", "reason", "relation", "sequences", "type",
	"valid_from", "value",
}

// object is a JSON object by field name.
type object map[string]json.RawMessage

// parseObject decodes one object. A name that occurs twice is an error:
// encoding/json would keep the last and lose the first without a word.
func parseObject(data []byte) (object, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	if t, err := decoder.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("must be an object")
	}
	o := object{}
	for decoder.More() {
		t, err := decoder.Token()
		if err != nil {
			return nil, errSyntax
		}
		name, _ := t.(string)
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return nil, errSyntax
		}
		if _, twice := o[name]; twice {
			if !slices.Contains(fields, name) { // a name of the model's own making
				return nil, errors.New("has a field twice")
			}
			return nil, fmt.Errorf("has the field %q twice", name)
		}
		o[name] = value
	}
	return o, nil
}

func (o object) has(name string) bool {
	value, found := o[name]
	return found && string(value) != "null"
}

// list returns the elements of a list that must be there.
func (o object) list(name string) ([]json.RawMessage, error) {
	var list []json.RawMessage
	if !o.has(name) || json.Unmarshal(o[name], &list) != nil {
		return nil, fmt.Errorf("%s: must be a list (an empty one if there is nothing)", name)
	}
	return list, nil
}

// text returns a string that must be there and not blank.
func (o object) text(name string) (string, error) {
	var text string
	if !o.has(name) || json.Unmarshal(o[name], &text) != nil {
		return "", fmt.Errorf("%s: must be a string", name)
	}
	text = strings.TrimSpace(model.CleanText(text))
	if text == "" {
		return "", fmt.Errorf("%s: must not be empty", name)
	}
	return text, nil
}

// unit returns a number that must be there, brought to 0 to 1: a model that
// says 1.2, or 1e-300, means all of it, or nothing. It isn't worth another
// request, and the database refuses what is no share.
func (o object) unit(name string) (float64, error) {
	var number json.Number
	if !o.has(name) || o[name][0] == '"' || json.Unmarshal(o[name], &number) != nil {
		return 0, fmt.Errorf("%s: must be a number from 0 to 1", name)
	}
	f, _ := number.Float64() // beyond float64 it is ±Inf, or 0
	return model.Share(f), nil
}

// cleanJSON returns value in compact form and fit for jsonb: no NUL, no half
// surrogate, no number beyond float64. Numbers keep their digits.
func cleanJSON(value json.RawMessage) (json.RawMessage, error) {
	decoder := json.NewDecoder(bytes.NewReader(value))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		return nil, errSyntax
	}
	v, err := cleanValue(v)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, errSyntax
	}
	return bytes.TrimSpace(out.Bytes()), nil
}

func cleanValue(v any) (_ any, err error) {
	switch v := v.(type) {
	case string:
		return model.CleanText(v), nil
	case json.Number:
		f, err := v.Float64()
		if err != nil {
			return nil, errors.New("a number is out of range")
		}
		if math.Abs(f) < math.SmallestNonzeroFloat32 {
			return json.Number("0"), nil // jsonb has no number that is as near to zero as JSON's may be
		}
		return v, nil
	case []any:
		for i := range v {
			if v[i], err = cleanValue(v[i]); err != nil {
				return nil, err
			}
		}
		return v, nil
	case map[string]any:
		clean := make(map[string]any, len(v))
		for name, value := range v {
			if clean[model.CleanText(name)], err = cleanValue(value); err != nil {
				return nil, err
			}
		}
		return clean, nil
	default:
		return v, nil
	}
}
