package adk

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"google.golang.org/adk/v2/platform"
	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"

	"github.com/hippocampus-memory/hippocampus/service"
)

const (
	// eventType marks a log event whose content is an ADK event as JSON, rawEventType one whose
	// content holds that JSON in base64 since it has a NUL, which Postgres has no way to store.
	eventType    = "adk.event"
	rawEventType = "adk.event.raw"

	maxID     = 255
	maxBranch = 1024
	maxText   = 1 << 20
)

// rawContent is the content of an event of [rawEventType].
type rawContent struct {
	Raw string `json:"raw"`
}

// newEventParams is an event as the log keeps it. Its text is what was said; who said it decides how
// far it's trusted, so what a tool returned is the tool's, whatever agent called it.
func newEventParams(event *session.Event) (*service.EventParams, error) {
	raw, err := json.Marshal(event)
	if err != nil {
		return nil, fmt.Errorf("write an event as JSON: %w", err)
	}
	params := &service.EventParams{
		Author: author(event), Branch: fit(event.Branch, maxBranch), Category: category(event, hasNUL(raw)), Content: raw,
		CreatedAt: event.Timestamp, EventID: event.ID, EventType: eventType, InvocationID: fit(event.InvocationID, maxID),
		Text: text(event.Content),
	}
	if hasNUL(raw) {
		params.EventType = rawEventType
		params.Content, err = json.Marshal(rawContent{Raw: base64.StdEncoding.EncodeToString(raw)})
		if err != nil {
			return nil, fmt.Errorf("write an event as JSON: %w", err)
		}
	}
	if params.Text == "" && event.ErrorMessage != "" {
		params.Text = clean(event.ErrorMessage)
	}
	return params, nil
}

// hasNUL tells whether JSON has the escape of a NUL, which is not the end of an escaped backslash.
func hasNUL(raw []byte) bool {
	return bytes.Contains(bytes.ReplaceAll(raw, []byte(`\\`), nil), []byte(`\u0000`))
}

// fit leaves out a name that the log has no room for. The event's JSON has it all the same.
func fit(name string, maxBytes int) string {
	if len(name) > maxBytes || clean(name) != name {
		return ""
	}
	return name
}

func author(event *session.Event) string {
	name := fit(event.Author, maxID)
	switch {
	case givesResult(event.Content):
		return "tool"
	case name != "":
		return name
	case event.Content != nil && event.Content.Role == genai.RoleUser:
		return "user"
	}
	return "agent"
}

// category is what the log can't tell from the event's content: an error, and what a tool gave in a content that is
// hidden in base64. All else is the log's to decide.
func category(event *session.Event, hidden bool) string {
	switch {
	case event.ErrorCode != "":
		return "error"
	case hidden && givesResult(event.Content):
		return "tool-use"
	}
	return ""
}

// givesResult is whether a content holds what a tool gave.
func givesResult(content *genai.Content) bool {
	if content == nil {
		return false
	}
	for _, part := range content.Parts {
		if part != nil && part.FunctionResponse != nil {
			return true
		}
	}
	return false
}

// text is what a content says. Thoughts are not said, and calls of tools are no words.
func text(content *genai.Content) string {
	if content == nil {
		return ""
	}
	var said []string
	for _, part := range content.Parts {
		if part != nil && part.Text != "" && !part.Thought {
			said = append(said, part.Text)
		}
	}
	return clean(strings.Join(said, "\n"))
}

// clean is a text that Postgres can store, cut where it's longer than the log takes.
func clean(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "")
	if len(text) <= maxText {
		return text
	}
	cut := maxText
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut]
}

// newEvent is an event of the log as ADK has it. One that another client wrote has its text; of one
// whose text was forgotten there's who and when.
func newEvent(logged *service.Event) (*session.Event, error) {
	raw := []byte(logged.Content)
	if string(raw) == "{}" {
		return foreignEvent(logged), nil
	}
	switch logged.EventType {
	case eventType:
	case rawEventType:
		var content rawContent
		if err := json.Unmarshal(raw, &content); err != nil {
			return nil, fmt.Errorf("read event %d of thread %s: %w", logged.SequenceNum, logged.ThreadID, err)
		}
		var err error
		if raw, err = base64.StdEncoding.DecodeString(content.Raw); err != nil {
			return nil, fmt.Errorf("read event %d of thread %s: %w", logged.SequenceNum, logged.ThreadID, err)
		}
	default:
		return foreignEvent(logged), nil
	}
	event, err := readEvent(raw)
	if err != nil {
		return nil, fmt.Errorf("read event %d of thread %s: %w", logged.SequenceNum, logged.ThreadID, err)
	}
	return event, nil
}

func foreignEvent(logged *service.Event) *session.Event {
	event := &session.Event{
		Author: logged.Author, Branch: logged.Branch, ID: logged.EventID, InvocationID: logged.InvocationID, Timestamp: logged.CreatedAt,
	}
	if event.ID == "" {
		event.ID = logged.ID.String()
	}
	if logged.Text != "" {
		event.Content = genai.NewContentFromText(logged.Text, roleOf(logged.Author))
	}
	return event
}

func roleOf(author string) genai.Role {
	if author == "user" {
		return genai.RoleUser
	}
	return genai.RoleModel
}

// withoutTemp is the event as it's stored: without the keys of its state that end with the
// invocation. The event itself stays as it is.
func withoutTemp(event *session.Event) *session.Event {
	for key := range event.Actions.StateDelta {
		if strings.HasPrefix(key, session.KeyPrefixTemp) {
			stored := *event
			stored.Actions.StateDelta = map[string]any{}
			for key, value := range event.Actions.StateDelta {
				if !strings.HasPrefix(key, session.KeyPrefixTemp) {
					stored.Actions.StateDelta[key] = value
				}
			}
			return &stored
		}
	}
	return event
}

func named(ctx context.Context, event *session.Event) {
	if event.ID == "" {
		event.ID = platform.NewUUID(ctx)
	}
}
