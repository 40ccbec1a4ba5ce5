// Package reply reads what a language model answered: plain text, or the JSON
// of a reflection or a classification. It mends form, never content: what it
// returns is exactly what the model said, or an error that says what is wrong.
// Errors name the field and the fault and quote nothing of the reply, which may
// hold what users said: errors reach logs.
package reply

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/hippocampus-memory/hippocampus/model"
)

// Errors of Repair.
var (
	errNoObject   = errors.New("the reply holds no JSON object")
	errIncomplete = errors.New("the JSON object is not complete")
	errSyntax     = errors.New("the reply is not valid JSON")
	errTwoObjects = errors.New("the reply holds more than one JSON object")
)

// Repair finds the one JSON object in a reply. It takes away what models put
// round it (reasoning in <think> tags, code fences, a sentence before or
// after) and commas before a closing bracket. repaired tells whether it had to.
// A reply that breaks off, or in which it isn't clear what the answer is, is an
// error: a shorter list of facts must not be made of a longer one.
func Repair(raw string) (object string, repaired bool, err error) {
	text := strings.TrimSpace(strings.TrimPrefix(model.CleanText(raw), "\uFEFF"))
	if isObject(text) {
		return text, false, nil
	}
	if stripped, opened := stripReasoning(text); opened {
		object, err = extract(stripped)
	} else if object, err = extract(text); err != nil && stripped != text {
		object, err = extract(stripped)
	}
	return object, err == nil, err
}

// extract cuts out the only object of a text.
func extract(text string) (string, error) {
	start := strings.IndexByte(text, '{')
	// In a top-level list, the outermost object would be one item of several.
	if start < 0 || strings.HasPrefix(text, "[") {
		return "", errNoObject
	}
	end := objectEnd(text[start:])
	if end < 0 {
		return "", errIncomplete
	}
	if strings.ContainsRune(text[start+end:], '{') {
		return "", errTwoObjects
	}
	object := dropTrailingCommas(text[start : start+end])
	if !isObject(object) {
		return "", errSyntax
	}
	return object, nil
}

// Text reads a plain answer: reasoning and an enclosing code fence are taken
// away, and what Postgres refuses.
func Text(raw string) string {
	text, _ := stripReasoning(strings.TrimSpace(model.CleanText(raw)))
	if strings.HasPrefix(text, "```") && strings.HasSuffix(text, "```") && len(text) > 6 {
		text = strings.TrimSuffix(text, "```")
		if _, rest, found := strings.Cut(text, "\n"); found {
			text = rest
		} else {
			text = strings.TrimPrefix(text, "```")
		}
	}
	return strings.TrimSpace(text)
}

func isObject(text string) bool {
	return strings.HasPrefix(text, "{") && json.Valid([]byte(text))
}

// stripReasoning drops a leading <think>…</think> block, which reasoning models
// behind compatible servers send as part of the answer. Some servers swallow
// the opening tag: opened tells whether it was there.
func stripReasoning(text string) (rest string, opened bool) {
	for _, tag := range []string{"think", "thinking", "reasoning"} {
		closing := "</" + tag + ">"
		if at := strings.LastIndex(text, closing); at >= 0 {
			rest := strings.TrimSpace(text[at+len(closing):])
			if strings.HasPrefix(text, "<"+tag+">") {
				return rest, true
			}
			return rest, false
		}
	}
	return text, false
}

// objectEnd is the index after the bracket that closes the object text starts
// with, or -1 when it is not closed.
func objectEnd(text string) int {
	var open []byte
	inString, escaped := false, false
	for i := range len(text) {
		c := text[i]
		switch {
		case escaped:
			escaped = false
		case inString:
			escaped = c == '\\'
			inString = c != '"'
		case c == '"':
			inString = true
		case c == '{' || c == '[':
			open = append(open, c+2) // ASCII: '}' is '{'+2 and ']' is '['+2
		case c == '}' || c == ']':
			if open[len(open)-1] != c {
				return -1
			}
			if open = open[:len(open)-1]; len(open) == 0 {
				return i + 1
			}
		}
	}
	return -1
}

// dropTrailingCommas removes commas that stand before a closing bracket,
// outside strings.
func dropTrailingCommas(text string) string {
	var b strings.Builder
	inString, escaped := false, false
	for i := range len(text) {
		c := text[i]
		switch {
		case escaped:
			escaped = false
		case inString:
			escaped = c == '\\'
			inString = c != '"'
		case c == '"':
			inString = true
		case c == ',':
			if rest := strings.TrimLeft(text[i+1:], " \t\r\n"); rest != "" && (rest[0] == '}' || rest[0] == ']') {
				continue
			}
		}
		b.WriteByte(c)
	}
	return b.String()
}
