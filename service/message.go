package service

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/hippocampus-memory/hippocampus/db"
)

// Message is what somebody said, in the shape of the models' own APIs: a list of messages of
// OpenAI, Anthropic or Gemini can be unmarshalled into a []Message as it is, and so can the items of
// OpenAI's Responses. What the event keeps can be given back: it is the content, or the whole message
// where that has Fields.
type Message struct {
	// Role is who said it. assistant and model become the author agent, developer becomes system,
	// function becomes tool; any other is the author itself.
	//
	// Defaults to what an item of OpenAI's Responses tells by its type: assistant of function_call and other
	// calls, tool of function_call_output and other outputs.
	Role string `json:"role,omitempty"`

	// Content is a string or a list of parts, as JSON.
	//
	// Defaults to Parts, and else to Text.
	Content json.RawMessage `json:"content,omitempty"`

	// Parts are Gemini's, a list.
	Parts json.RawMessage `json:"parts,omitempty"`

	// Text is for who has the words alone.
	Text string `json:"text,omitempty"`

	// ID is the client's own id of the message: one that the thread has already is not stored
	// again, so that a list can be sent twice.
	//
	// Defaults to none.
	ID string `json:"id,omitempty"`

	// CreatedAt is when it was said.
	//
	// Defaults to now.
	CreatedAt time.Time `json:"created_at,omitzero"`

	// Fields are what else the message has, by name: OpenAI's tool_calls, tool_call_id, name, refusal, and what
	// its items have. With any, the event's Content is the message itself, {"role", "content", "tool_calls", …}.
	//
	// Defaults to none.
	Fields map[string]json.RawMessage `json:"-"`

	// Metadata is a JSON object of the client's own.
	//
	// Defaults to {}.
	Metadata json.RawMessage `json:"metadata,omitempty"`
}

// plainMessage is a Message without its methods.
type plainMessage Message

// UnmarshalJSON reads a message; what it has no field for is in Fields, unless it is null.
func (m *Message) UnmarshalJSON(raw []byte) error {
	if err := json.Unmarshal(raw, (*plainMessage)(m)); err != nil {
		return err
	}
	m.Fields = nil
	var all map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return err
	}
	for name, value := range all {
		if !slices.Contains(messageFields, strings.ToLower(name)) && string(value) != "null" {
			if m.Fields == nil {
				m.Fields = map[string]json.RawMessage{}
			}
			m.Fields[name] = value
		}
	}
	return nil
}

// MarshalJSON writes a message as it was read.
func (m Message) MarshalJSON() ([]byte, error) { //nolint:gocritic // a []Message has values
	known, err := json.Marshal(plainMessage(m))
	if err != nil || len(m.Fields) == 0 {
		return known, err
	}
	all := maps.Clone(m.Fields)
	if err := json.Unmarshal(known, &all); err != nil {
		return nil, err
	}
	return json.Marshal(all)
}

// messageFields are those that a Message has itself, in JSON.
var messageFields = []string{"content", "created_at", "id", "metadata", "parts", "role", "text"}

// AddMessagesOptions are the options of [OpenMemoryService.AddMessages].
type AddMessagesOptions struct {
	// Consolidate asks a worker to turn what is new in the thread into memory, as
	// [OpenMemoryService.AddSessionToMemory] does.
	//
	// Defaults to nothing being asked.
	Consolidate ConsolidationType
}

// AddedMessages is what came of [OpenMemoryService.AddMessages].
type AddedMessages struct {
	// Events are the events stored, without those that the thread had already.
	Events []*Event `json:"events"`
	// JobID is the consolidation's, where one was asked for.
	JobID    *uuid.UUID `json:"job_id,omitempty"`
	ThreadID uuid.UUID  `json:"thread_id"`
}

// AddMessages logs messages in one call: it makes the thread of the session id where there is none,
// appends the messages in their order, and asks for their consolidation where the options say so.
// All of it is done or nothing.
//
// Errors: as those of [OpenMemoryService.AppendEvents]; [db.ErrInvalidJobType].
func (s *OpenMemoryService) AddMessages(
	ctx context.Context, scope Scope, sessionID string, messages []Message, opts *AddMessagesOptions,
) (added *AddedMessages, err error) {
	if err := checkScope(scope); err != nil {
		return nil, err
	}
	err = db.WithScope(ctx, s.pool, scope, func(tx pgx.Tx) error {
		added, err = s.addMessages(ctx, tx, scope, sessionID, messages, opts)
		return err
	})
	if err != nil {
		return nil, err
	}
	return added, nil
}

// AddMessagesTx logs messages as [OpenMemoryService.AddMessages] does.
//
// This variant joins the caller's transaction: the messages are logged if, and only if, what they
// tell of is done, and a consolidation begins at the commit. See the package's section on
// transactions.
func (s *OpenMemoryService) AddMessagesTx(
	ctx context.Context, tx pgx.Tx, scope Scope, sessionID string, messages []Message, opts *AddMessagesOptions,
) (added *AddedMessages, err error) {
	err = joinScope(ctx, tx, scope, func() error {
		added, err = s.addMessages(ctx, tx, scope, sessionID, messages, opts)
		return err
	})
	return added, err
}

func (s *OpenMemoryService) addMessages(
	ctx context.Context, tx pgx.Tx, scope Scope, sessionID string, messages []Message, opts *AddMessagesOptions,
) (*AddedMessages, error) {
	if opts == nil {
		opts = &AddMessagesOptions{}
	}
	if err := checkName("sessionID", sessionID, maxID); err != nil {
		return nil, err
	}
	jobType, err := opts.Consolidate.jobType()
	if err != nil {
		return nil, err
	}
	events := make([]*EventParams, len(messages))
	for i := range messages {
		if events[i], err = messages[i].Event(); err != nil {
			return nil, fmt.Errorf("messages[%d]: %w", i, err)
		}
	}
	added := &AddedMessages{}
	added.ThreadID, err = s.createThread(ctx, tx, scope, &CreateThreadOptions{IfNotExists: true, SessionID: sessionID})
	if err != nil {
		return nil, err
	}
	if added.Events, err = s.appendEvents(ctx, tx, scope, added.ThreadID, events, nil); err != nil {
		return nil, err
	}
	if opts.Consolidate != "" {
		id, err := s.queries.JobEnqueueConsolidation(ctx, tx, &db.JobEnqueueConsolidationParams{
			JobType: jobType, ThreadID: added.ThreadID,
		})
		if err != nil {
			return nil, fmt.Errorf("enqueue a consolidation: %w", db.WrapGo(err))
		}
		added.JobID = &id
	}
	return added, nil
}

// authors are the roles that are called otherwise here.
var authors = map[string]string{
	"assistant": "agent", "developer": "system", "function": "tool", "model": "agent",
}

// author is who said it. An item of OpenAI's Responses has no role, but a type: a call is the agent's, and its output
// the tool's.
func (m *Message) author() (string, error) {
	if author, known := authors[m.Role]; known {
		return author, nil
	}
	if m.Role != "" {
		return m.Role, nil
	}
	var kind string
	if raw := m.Fields["type"]; raw != nil {
		if err := json.Unmarshal(raw, &kind); err != nil {
			return "", fmt.Errorf("%w: type is %.100s, but must be text", db.ErrInvalidArgument, raw)
		}
	}
	switch {
	case strings.HasSuffix(kind, "_output"):
		return "tool", nil
	case strings.HasSuffix(kind, "_call"), kind == "reasoning":
		return "agent", nil
	case kind != "":
		return "", fmt.Errorf("%w: it has no role, and its type %q does not tell who said it; give it a role: user, assistant or tool",
			db.ErrInvalidArgument, kind)
	}
	return "", fmt.Errorf("%w: it has no role; give it one: user, assistant, tool or system", db.ErrInvalidArgument)
}

// Event is the message as [OpenMemoryService.AddMessages] logs it.
//
// Errors: [db.ErrInvalidArgument] for a message without a role, or without anything said.
func (m *Message) Event() (*EventParams, error) {
	author, err := m.author()
	if err != nil {
		return nil, err
	}
	event := &EventParams{
		Author: author, Content: m.Content, CreatedAt: m.CreatedAt, EventID: m.ID, Metadata: m.Metadata, Text: m.Text,
	}
	if event.Author == "tool" {
		event.Category = "tool-use"
	}
	switch {
	case len(m.Fields) > 0:
		event.Content, err = m.whole()
	case string(m.Content) == "null":
		event.Content = json.RawMessage(`""`)
	case m.Content == nil && m.Parts != nil:
		event.Content, err = marshalFields(map[string]json.RawMessage{"parts": m.Parts})
	case m.Content == nil && m.Text == "":
		err = fmt.Errorf("%w: it has neither content nor text", db.ErrInvalidArgument)
	}
	if err != nil {
		return nil, err
	}
	// What is set here is counted at once; the rest of content's shapes is read by the database.
	for _, raw := range []json.RawMessage{m.Content, m.Fields["output"], m.Fields["refusal"]} {
		if event.Text == "" && raw != nil {
			event.Text = textOf(raw)
		}
	}
	return event, nil
}

// whole is the message itself, as it came, but for what the event has fields for.
func (m *Message) whole() (json.RawMessage, error) {
	all := maps.Clone(m.Fields)
	for name, raw := range map[string]json.RawMessage{"content": m.Content, "parts": m.Parts} {
		if raw != nil {
			all[name] = raw
		}
	}
	for name, text := range map[string]string{"id": m.ID, "role": m.Role, "text": m.Text} {
		if text != "" {
			all[name], _ = json.Marshal(text) // strings never fail
		}
	}
	return marshalFields(all)
}

func marshalFields(fields map[string]json.RawMessage) (json.RawMessage, error) {
	for name, raw := range fields {
		if err := checkJSON(name, raw); err != nil {
			return nil, err
		}
	}
	return json.Marshal(fields)
}

// textOf is a JSON string, or the texts of a list of parts that are text alone. What else there is, such as what a tool
// gave or a model thought, is the database's to read: empty then.
func textOf(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var parts []struct {
		Content json.RawMessage `json:"content"`
		Text    *string         `json:"text"`
		Thought bool            `json:"thought"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return ""
	}
	texts := make([]string, len(parts))
	for i, part := range parts {
		if part.Text == nil || part.Content != nil || part.Thought {
			return ""
		}
		texts[i] = *part.Text
	}
	return strings.Join(texts, "\n")
}
