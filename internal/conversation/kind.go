package conversation

import (
	"bytes"
	"encoding/json"
)

// kind is a format.
type kind int

const (
	kindLines kind = iota
	kindEmpty
	kindExchanges  // MemoryBank as lines
	kindHaystacks  // LongMemEval's own JSON
	kindList       // an array of events or messages
	kindLoCoMo     // an array of conversations, or one of them
	kindMemoryBank // MemoryBank's own JSON
	kindQuestions  // LongMemEval's questions as lines, without sessions
)

// kindOf tells the formats apart.
func kindOf(raw []byte) kind {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return kindEmpty
	}
	if raw[0] == '[' {
		if bytes.HasPrefix(bytes.TrimSpace(raw[1:]), []byte("]")) {
			return kindEmpty
		}
		if bytes.Contains(raw, []byte(`"haystack_sessions"`)) {
			return kindHaystacks
		}
		if beginsWithEvent(raw) {
			return kindList
		}
		return kindLoCoMo
	}
	// The first value of the file is the whole of it, or the first line.
	var first json.RawMessage
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if err := decoder.Decode(&first); err != nil {
		return kindLines // whose reader says what is wrong
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(first, &keys); err != nil {
		return kindLines
	}
	has := func(key string) bool { return keys[key] != nil }
	switch {
	case has("query") && has("response"):
		return kindExchanges
	case has("haystack"):
		return kindQuestions
	case has("conversation"):
		return kindLoCoMo
	}
	for _, value := range keys {
		var user struct {
			History json.RawMessage `json:"history"`
		}
		if json.Unmarshal(value, &user) == nil && user.History != nil {
			return kindMemoryBank
		}
	}
	return kindLines
}

// beginsWithEvent tells an array of events from one of conversations.
func beginsWithEvent(raw []byte) bool {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if _, err := decoder.Token(); err != nil {
		return false
	}
	var first map[string]json.RawMessage
	if err := decoder.Decode(&first); err != nil {
		return false
	}
	for _, key := range []string{"author", "role", "content", "text", "type"} {
		if first[key] != nil {
			return true
		}
	}
	return false
}
