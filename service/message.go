package service

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/hippocampus-memory/hippocampus/db"
)

// Message is what somebody said, in the shape of the models' own APIs: a list of messages of
// OpenAI, Anthropic or Gemini can be unmarshalled into a []Message as it is.
type Message struct {
	// Role is who said it. assistant and model become the author agent, developer becomes system,
	// function becomes tool; any other is the author itself.
	Role string `json:"role"`

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

	// Metadata is a JSON object of the client's own.
	//
	// Defaults to {}.
	Metadata json.RawMessage `json:"metadata,omitempty"`
}

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
		if events[i], err = messages[i].event(fmt.Sprintf("messages[%d]", i)); err != nil {
			return nil, err
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

// event is the message as an event.
func (m *Message) event(name string) (*EventParams, error) {
	event := &EventParams{
		Author: m.Role, Content: m.Content, CreatedAt: m.CreatedAt, EventID: m.ID, Metadata: m.Metadata, Text: m.Text,
	}
	if author, known := authors[m.Role]; known {
		event.Author = author
	}
	if event.Author == "tool" {
		event.Category = "tool-use"
	}
	if string(m.Content) == "null" { // OpenAI's, of a message that calls tools
		event.Content = json.RawMessage(`""`)
	}
	if event.Content == nil && m.Parts != nil {
		if err := checkJSON(name+".Parts", m.Parts); err != nil {
			return nil, err
		}
		event.Content, _ = json.Marshal(map[string]json.RawMessage{"parts": m.Parts}) // checked just now
	}
	var said string
	if event.Text == "" && json.Unmarshal(event.Content, &said) == nil {
		event.Text = said // counted at once
	}
	return event, nil
}
