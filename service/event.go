package service

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/hippocampus-memory/hippocampus/db"
)

// EventParams is an event to be appended. Author is required, and Text or Content.
type EventParams struct {
	// Author is who said or did it: "user", "agent", "tool", "system", or a name.
	Author string

	// Branch is the branch of agents that it belongs to (ADK's), at most 1024 bytes.
	Branch string

	// Category is chat, observation, task, decision, tool-use, error, insight or other.
	//
	// Defaults to chat.
	Category string

	// Content is the event as JSON, at most 1 MiB as the database stores it. Its text is found where clients commonly have
	// it: a string; {"text"}, {"message"} or {"content"}; ADK's and OpenAI's lists of parts.
	//
	// Defaults to {"text": Text}.
	Content json.RawMessage

	// CreatedAt is when it happened.
	//
	// Defaults to the transaction's time.
	CreatedAt time.Time

	// EventID is the client's own id of the event, at most 255 bytes, unique in its thread: the same
	// id again is not stored again.
	//
	// Defaults to none.
	EventID string

	// EventType is the client's own kind of event, at most 64 bytes.
	//
	// Defaults to message.
	EventType string

	// Importance is how much it matters, 0 to 1.
	//
	// Defaults to a score by Category and Signals.
	Importance *float64

	// InvocationID is the invocation that it belongs to (ADK's), at most 255 bytes.
	InvocationID string

	// Metadata is a JSON object of the client's own, at most 256 KiB.
	//
	// Defaults to {}.
	Metadata json.RawMessage

	// Signals raise its importance: mentionedMe, userDirectMessage, actionTaken, errorRecovered.
	Signals []string

	// Tags are at most 64, together at most 64 KiB.
	Tags []string

	// Text is what is searched and what models read, at most 1 MiB. Its tokens are counted at once.
	//
	// Defaults to Content's, whose tokens a worker counts later.
	Text string
}

// Event is an event of the session log.
type Event struct {
	ID           uuid.UUID       `json:"id"`
	ThreadID     uuid.UUID       `json:"thread_id"`
	SequenceNum  int64           `json:"sequence_num"`
	EventID      string          `json:"event_id,omitempty"`
	Author       string          `json:"author"`
	EventType    string          `json:"event_type"`
	Category     string          `json:"category"`
	Text         string          `json:"text"`
	Content      json.RawMessage `json:"content"`
	Importance   float64         `json:"importance"`
	TokenCount   int             `json:"token_count"`
	TokensExact  bool            `json:"token_count_exact"`
	InvocationID string          `json:"invocation_id,omitempty"`
	Branch       string          `json:"branch,omitempty"`
	Tags         []string        `json:"tags"`
	Metadata     json.RawMessage `json:"metadata"`
	CreatedAt    time.Time       `json:"created_at"`
}

// AppendOptions are the options of [OpenMemoryService.AppendEvents].
type AppendOptions struct {
	// ExpectedVersion is the thread's version that the caller has read: if somebody else has
	// written the thread since, it is a [db.ErrVersionConflict].
	//
	// Defaults to any.
	ExpectedVersion *int64
}

// AppendEvent appends an event to a thread's log and returns it. If the thread has its EventID
// already, nothing is stored, and the event that is there is returned.
//
// Errors: as those of [OpenMemoryService.AppendEvents].
func (s *OpenMemoryService) AppendEvent(
	ctx context.Context, scope Scope, threadID uuid.UUID, event *EventParams, opts *AppendOptions,
) (*Event, error) {
	return s.appendEvent(ctx, s.bound(scope), scope, threadID, event, opts)
}

// AppendEventTx appends an event as [OpenMemoryService.AppendEvent] does.
//
// This variant joins the caller's transaction: the event is logged if, and only if, what it tells
// of is done. See the package's section on transactions.
func (s *OpenMemoryService) AppendEventTx(
	ctx context.Context, tx pgx.Tx, scope Scope, threadID uuid.UUID, event *EventParams, opts *AppendOptions,
) (appended *Event, err error) {
	err = joinScope(ctx, tx, scope, func() error {
		appended, err = s.appendEvent(ctx, tx, scope, threadID, event, opts)
		return err
	})
	return appended, err
}

func (s *OpenMemoryService) appendEvent(
	ctx context.Context, conn db.DBTX, scope Scope, threadID uuid.UUID, event *EventParams, opts *AppendOptions,
) (*Event, error) {
	events, err := s.appendEvents(ctx, conn, scope, threadID, []*EventParams{event}, opts)
	if err != nil {
		return nil, err
	}
	if len(events) > 0 {
		return events[0], nil
	}
	params := &db.EventGetByEventIDParams{EventID: event.EventID, ThreadID: threadID}
	row, err := s.queries.EventGetByEventID(ctx, conn, params)
	if errors.Is(err, pgx.ErrNoRows) { // forgotten since
		return nil, fmt.Errorf("%w: event %q of thread %s", db.ErrNotFound, event.EventID, threadID)
	}
	if err != nil {
		return nil, fmt.Errorf("read the event: %w", db.WrapGo(err))
	}
	return newEvent(row), nil
}

// AppendEvents appends events to a thread's log, in their order, and returns those that were
// stored: an event whose EventID the thread has already is passed over. All are stored or none.
// Writers of one thread follow each other; its sequence numbers have no gaps.
//
// Errors: [db.ErrInvalidScope]; [db.ErrThreadNotFound]; [db.ErrVersionConflict]; for a value that
// can't be stored, which the error names, [db.ErrInvalidArgument], [db.ErrInvalidText] or
// [db.ErrTooLarge].
func (s *OpenMemoryService) AppendEvents(
	ctx context.Context, scope Scope, threadID uuid.UUID, events []*EventParams, opts *AppendOptions,
) ([]*Event, error) {
	return s.appendEvents(ctx, s.bound(scope), scope, threadID, events, opts)
}

// AppendEventsTx appends events as [OpenMemoryService.AppendEvents] does.
//
// This variant joins the caller's transaction: the events are logged if, and only if, what they
// tell of is done. Other writers of the thread wait until the transaction ends, so keep it short.
// See the package's section on transactions.
func (s *OpenMemoryService) AppendEventsTx(
	ctx context.Context, tx pgx.Tx, scope Scope, threadID uuid.UUID, events []*EventParams, opts *AppendOptions,
) (appended []*Event, err error) {
	err = joinScope(ctx, tx, scope, func() error {
		appended, err = s.appendEvents(ctx, tx, scope, threadID, events, opts)
		return err
	})
	return appended, err
}

func (s *OpenMemoryService) appendEvents(
	ctx context.Context, conn db.DBTX, scope Scope, threadID uuid.UUID, events []*EventParams, opts *AppendOptions,
) ([]*Event, error) {
	if err := checkScope(scope); err != nil {
		return nil, err
	}
	records := make([]*eventRecord, len(events))
	for i, event := range events {
		if err := event.check(fmt.Sprintf("events[%d]", i)); err != nil {
			return nil, err
		}
		records[i] = s.newRecord(event)
	}
	raw, err := json.Marshal(records)
	if err != nil {
		return nil, fmt.Errorf("%w: an event's CreatedAt can't be written: %w", db.ErrInvalidArgument, err)
	}
	params := &db.EventAppendParams{Events: raw, ThreadID: threadID}
	if opts != nil {
		params.ExpectedVersion = opts.ExpectedVersion
	}
	rows, err := s.queries.EventAppend(ctx, conn, params)
	if err != nil {
		return nil, fmt.Errorf("append events: %w", db.WrapGo(err))
	}
	slices.SortFunc(rows, func(a, b *db.Event) int { return cmp.Compare(a.SequenceNum, b.SequenceNum) })
	appended := make([]*Event, len(rows))
	for i, row := range rows {
		appended[i] = newEvent(row)
	}
	return appended, nil
}

// eventRecord is an event as append_events takes it.
type eventRecord struct {
	Author       string          `json:"author"`
	Branch       string          `json:"branch,omitempty"`
	Category     string          `json:"category,omitempty"`
	Content      json.RawMessage `json:"content"`
	Context      map[string]bool `json:"context,omitempty"`
	CreatedAt    *time.Time      `json:"created_at,omitempty"`
	EventID      string          `json:"event_id,omitempty"`
	EventType    string          `json:"event_type,omitempty"`
	Importance   *float64        `json:"importance,omitempty"`
	InvocationID string          `json:"invocation_id,omitempty"`
	Metadata     json.RawMessage `json:"metadata,omitempty"`
	Tags         []string        `json:"tags,omitempty"`
	Text         *string         `json:"text,omitempty"`
	TokenCount   *int            `json:"token_count,omitempty"`
}

func (s *OpenMemoryService) newRecord(event *EventParams) *eventRecord {
	record := &eventRecord{
		Author: event.Author, Branch: event.Branch, Category: event.Category, Content: event.Content,
		EventID: event.EventID, EventType: event.EventType, Importance: event.Importance,
		InvocationID: event.InvocationID, Metadata: event.Metadata, Tags: event.Tags,
	}
	if !event.CreatedAt.IsZero() {
		record.CreatedAt = &event.CreatedAt
	}
	if len(event.Signals) > 0 {
		record.Context = map[string]bool{}
		for _, signal := range event.Signals {
			record.Context[signal] = true
		}
	}
	if event.Text != "" || event.Content == nil {
		// What a context window will print.
		record.TokenCount = new(s.counter.Count(event.Author + ": " + event.Text))
		record.Text = &event.Text
	}
	if record.Content == nil {
		record.Content, _ = json.Marshal(map[string]string{"text": event.Text}) // strings never fail
	}
	return record
}

func newEvent(row *db.Event) *Event {
	return &Event{
		Author: row.Author, Branch: deref(row.Branch), Category: row.Category, Content: row.Content,
		CreatedAt: row.CreatedAt, EventID: deref(row.EventID), EventType: row.EventType, ID: row.ID,
		Importance: widen(row.Importance), InvocationID: deref(row.InvocationID), Metadata: row.Metadata,
		SequenceNum: row.SequenceNum, Tags: row.Tags, Text: row.Text, ThreadID: row.ThreadID,
		TokenCount: int(row.TokenCount), TokensExact: row.TokenCountExact,
	}
}
