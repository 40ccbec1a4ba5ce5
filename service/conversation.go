package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/hippocampus-memory/hippocampus/db"
)

// Thread is a conversation.
type Thread struct {
	ID uuid.UUID `json:"id"`
	// SessionID is the client's own name for it.
	SessionID string          `json:"session_id"`
	State     json.RawMessage `json:"state"`
	// Version grows with every change; what an optimistic writer compares.
	Version int64 `json:"version"`
	// Events is the number of its events.
	Events int64 `json:"events"`
	// EventsConsolidated is how many of them have become memory, by the kind of consolidation that the
	// app's policy names.
	EventsConsolidated int64     `json:"events_consolidated"`
	CreatedAt          time.Time `json:"created_at"`
	UpdatedAt          time.Time `json:"updated_at"`
}

// Thread reads a conversation by the client's own session id.
//
// Errors: [db.ErrInvalidScope]; [db.ErrThreadNotFound]; [db.ErrInvalidText].
func (s *OpenMemoryService) Thread(ctx context.Context, scope Scope, sessionID string) (*Thread, error) {
	return s.thread(ctx, s.bound(scope), scope, sessionID)
}

// ThreadTx reads a conversation as [OpenMemoryService.Thread] does.
//
// This variant joins the caller's transaction, so it shows what the transaction has appended and
// not committed. See the package's section on transactions.
func (s *OpenMemoryService) ThreadTx(ctx context.Context, tx pgx.Tx, scope Scope, sessionID string) (thread *Thread, err error) {
	err = joinScope(ctx, tx, scope, func() error {
		thread, err = s.thread(ctx, tx, scope, sessionID)
		return err
	})
	return thread, err
}

func (s *OpenMemoryService) thread(ctx context.Context, conn db.DBTX, scope Scope, sessionID string) (*Thread, error) {
	if err := errors.Join(checkScope(scope), checkText("sessionID", sessionID, maxText)); err != nil {
		return nil, err
	}
	row, err := s.queries.ThreadGetBySession(ctx, conn, &db.ThreadGetBySessionParams{
		AppName: scope.AppName, SessionID: sessionID, UserID: scope.UserID,
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, fmt.Errorf("%w: session %q", db.ErrThreadNotFound, sessionID)
	}
	if err != nil {
		return nil, fmt.Errorf("read a thread: %w", db.WrapGo(err))
	}
	return newThread(&row.Thread, row.ConsolidatedSeq), nil
}

func newThread(row *db.Thread, consolidated int64) *Thread {
	return &Thread{
		CreatedAt: row.CreatedAt, Events: row.NextSeq - 1, EventsConsolidated: consolidated, ID: row.ID,
		SessionID: row.SessionID, State: row.State, UpdatedAt: row.UpdatedAt, Version: row.Version,
	}
}

// RecentEventsOptions are the options of [OpenMemoryService.RecentEvents].
type RecentEventsOptions struct {
	// Limit is the greatest number of events, 1 to 10,000.
	//
	// Defaults to 100.
	Limit int

	// ThreadID is the conversation whose events they are.
	//
	// Defaults to all of the user's conversations.
	ThreadID *uuid.UUID
}

// RecentEvents lists the newest events, oldest first. What of them is short-term memory, by the app's
// policy, [OpenMemoryService.ShortTermMemory] tells.
//
// Errors: [db.ErrInvalidScope]; [db.ErrInvalidArgument]; [db.ErrThreadNotFound].
func (s *OpenMemoryService) RecentEvents(ctx context.Context, scope Scope, opts *RecentEventsOptions) ([]*Event, error) {
	return s.recentEvents(ctx, s.bound(scope), scope, opts)
}

// RecentEventsTx lists events as [OpenMemoryService.RecentEvents] does.
//
// This variant joins the caller's transaction, so it shows what the transaction has appended and
// not committed. See the package's section on transactions.
func (s *OpenMemoryService) RecentEventsTx(
	ctx context.Context, tx pgx.Tx, scope Scope, opts *RecentEventsOptions,
) (events []*Event, err error) {
	err = joinScope(ctx, tx, scope, func() error {
		events, err = s.recentEvents(ctx, tx, scope, opts)
		return err
	})
	return events, err
}

func (s *OpenMemoryService) recentEvents(
	ctx context.Context, conn db.DBTX, scope Scope, opts *RecentEventsOptions,
) ([]*Event, error) {
	if opts == nil {
		opts = &RecentEventsOptions{}
	}
	if err := checkScope(scope); err != nil {
		return nil, err
	}
	limit, err := checkLimit(opts.Limit, 100)
	if err != nil {
		return nil, err
	}
	rows, err := s.queries.EventListRecent(ctx, conn, &db.EventListRecentParams{
		AppName: scope.AppName, MaxRows: limit, ThreadID: opts.ThreadID, UserID: scope.UserID,
	})
	if err != nil {
		return nil, fmt.Errorf("list recent events: %w", db.WrapGo(err))
	}
	events := make([]*Event, len(rows))
	for i, row := range rows {
		events[i] = newEvent(row)
	}
	return events, nil
}

// RecallOptions are the options of [OpenMemoryService.RecallConversation].
type RecallOptions struct {
	// Limit is the greatest number of events, 1 to 10,000.
	//
	// Defaults to 20.
	Limit int

	// ThreadID is the conversation that is searched.
	//
	// Defaults to all of the user's conversations.
	ThreadID *uuid.UUID
}

// EventHit is an event that was found.
type EventHit struct {
	ID          uuid.UUID       `json:"id"`
	ThreadID    uuid.UUID       `json:"thread_id"`
	SequenceNum int64           `json:"sequence_num"`
	Score       float64         `json:"score"`
	Author      string          `json:"author"`
	EventType   string          `json:"event_type"`
	Category    string          `json:"category"`
	Text        string          `json:"text"`
	Content     json.RawMessage `json:"content"`
	Importance  float64         `json:"importance"`
	TokenCount  int             `json:"token_count"`
	CreatedAt   time.Time       `json:"created_at"`
	// Trust is whose words it holds: operator, user, agent or tool, whoever passed them on.
	Trust string `json:"trust"`
}

// RecallConversation finds events in the session log by their words, consolidated or not, best
// first. An event shares in the score of its neighbours, since an answer does not repeat its
// question.
//
// Errors: [db.ErrInvalidScope]; [db.ErrInvalidArgument]; [db.ErrInvalidText]; [db.ErrThreadNotFound].
func (s *OpenMemoryService) RecallConversation(
	ctx context.Context, scope Scope, query string, opts *RecallOptions,
) ([]*EventHit, error) {
	return s.recallConversation(ctx, s.bound(scope), scope, query, opts)
}

// RecallConversationTx finds events as [OpenMemoryService.RecallConversation] does.
//
// This variant joins the caller's transaction, so it finds what the transaction has appended and
// not committed. See the package's section on transactions.
func (s *OpenMemoryService) RecallConversationTx(
	ctx context.Context, tx pgx.Tx, scope Scope, query string, opts *RecallOptions,
) (hits []*EventHit, err error) {
	err = joinScope(ctx, tx, scope, func() error {
		hits, err = s.recallConversation(ctx, tx, scope, query, opts)
		return err
	})
	return hits, err
}

func (s *OpenMemoryService) recallConversation(
	ctx context.Context, conn db.DBTX, scope Scope, query string, opts *RecallOptions,
) ([]*EventHit, error) {
	if opts == nil {
		opts = &RecallOptions{}
	}
	if err := errors.Join(checkScope(scope), checkText("query", query, maxText)); err != nil {
		return nil, err
	}
	limit, err := checkLimit(opts.Limit, 20)
	if err != nil {
		return nil, err
	}
	rows, err := s.queries.EventRecall(ctx, conn, &db.EventRecallParams{
		AppName: scope.AppName, MaxRows: limit, Query: query, ThreadID: opts.ThreadID, UserID: scope.UserID,
	})
	if err != nil {
		return nil, fmt.Errorf("recall a conversation: %w", db.WrapGo(err))
	}
	hits := make([]*EventHit, len(rows))
	for i, row := range rows {
		hits[i] = &EventHit{
			Author: row.Author, Category: row.Category, Content: row.Content, CreatedAt: row.CreatedAt,
			EventType: row.EventType, ID: row.ID, Importance: widen(row.Importance), Score: row.Score,
			SequenceNum: row.SequenceNum, Text: row.Text, ThreadID: row.ThreadID, TokenCount: int(row.TokenCount), Trust: row.Trust,
		}
	}
	return hits, nil
}
