package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/pgvector/pgvector-go"

	"github.com/hippocampus-memory/hippocampus/db"
)

// The tiers of a [Recollection].
const (
	TierShort  = "short"  // an event of short-term memory
	TierLong   = "long"   // a memory
	TierShared = "shared" // a memory that another user of the app shares
)

// Recollection is what comes to mind: an event that is not yet a memory, or a memory.
type Recollection struct {
	Tier string `json:"tier"`
	// ID is the event's or the memory's.
	ID uuid.UUID `json:"id"`
	// Category is chat, observation, task, decision, tool-use, error, insight or other.
	Category string `json:"category"`
	// MemoryType is empty for an event.
	MemoryType string `json:"memory_type,omitempty"`
	Content    string `json:"content"`
	// Score is 0 where nothing was searched.
	Score float64 `json:"score,omitempty"`
	// Importance counts use in.
	Importance     float64         `json:"importance"`
	Tags           []string        `json:"tags"`
	Context        json.RawMessage `json:"context"`
	Author         string          `json:"author,omitempty"`
	Source         string          `json:"source"`
	ThreadID       *uuid.UUID      `json:"thread_id,omitempty"`
	FromSeq        *int64          `json:"from_seq,omitempty"`
	ToSeq          *int64          `json:"to_seq,omitempty"`
	OccurredAt     time.Time       `json:"occurred_at"`
	LastAccessedAt time.Time       `json:"last_accessed_at"`
	AccessCount    int             `json:"access_count"`
	// SharedBy is who shares it, of a memory of another user.
	SharedBy string `json:"shared_by,omitempty"`
	// Trust is whose words it holds: operator, user, agent or tool.
	Trust string `json:"trust"`
}

// RecollectOptions are the options of [OpenMemoryService.Recall] and its kin.
type RecollectOptions struct {
	// Context is fields that the event's or memory's metadata must have.
	//
	// Defaults to none. RecallSimilar has no use for it.
	Context map[string]any

	// IncludeShared adds what other users of the app share.
	//
	// Defaults to false.
	IncludeShared bool

	// Limit is the greatest number, 1 to 10,000.
	//
	// Defaults to 50, to 100 for RecallRelated, and for RecallSimilar to the config's MaxSearchResults.
	Limit int

	// MemoryTypes are episodic, semantic and summary.
	//
	// Defaults to episodic and semantic. RecallSimilar has no use for it.
	MemoryTypes []string

	// MinImportance leaves out what matters less, 0 to 1.
	//
	// Defaults to 0.
	MinImportance float64

	// QueryEmbedding is RecallSimilar's query as a vector.
	//
	// Defaults to that of the config's embedder.
	QueryEmbedding []float32

	// Record counts the use of what is found, but for what others share: what is often recalled fades
	// more slowly, and is more important. Where it can't be counted, as on a replica, the log says so, and
	// what was found is returned all the same; a Tx variant fails.
	//
	// Defaults to false.
	Record bool

	// Since leaves out what happened earlier.
	//
	// Defaults to all.
	Since *time.Time

	// Tags must all be there.
	//
	// Defaults to none.
	Tags []string

	// ThreadID keeps to one conversation. RecallSimilar has no use for it.
	//
	// Defaults to all.
	ThreadID *uuid.UUID

	// Types are categories, of which one must be the event's or memory's.
	//
	// Defaults to all.
	Types []string
}

// Recall gives what a user's agent remembers, newest first: the events of short-term memory and
// the memories that fit. An event that has become a memory is that memory.
//
// Errors: [db.ErrInvalidScope]; [db.ErrThreadNotFound]; [db.ErrInvalidArgument]; [db.ErrInvalidText].
func (s *OpenMemoryService) Recall(ctx context.Context, scope Scope, opts *RecollectOptions) ([]*Recollection, error) {
	found, err := s.recall(ctx, s.bound(scope), scope, opts)
	if err != nil {
		return nil, err
	}
	return s.recorded(ctx, scope, found, opts), nil
}

// RecallTx recalls as [OpenMemoryService.Recall] does.
//
// This variant joins the caller's transaction, so it shows what the transaction has appended and
// not committed. See the package's section on transactions.
func (s *OpenMemoryService) RecallTx(
	ctx context.Context, tx pgx.Tx, scope Scope, opts *RecollectOptions,
) (found []*Recollection, err error) {
	err = joinScope(ctx, tx, scope, func() error {
		if found, err = s.recall(ctx, tx, scope, opts); err == nil {
			found, err = s.recordedTx(ctx, tx, scope, found, opts)
		}
		return err
	})
	return found, err
}

func (s *OpenMemoryService) recall(ctx context.Context, conn db.DBTX, scope Scope, opts *RecollectOptions) ([]*Recollection, error) {
	opts, limit, err := opts.check(scope, 50)
	if err != nil {
		return nil, err
	}
	params := &db.RecallListParams{
		AppName: scope.AppName, IncludeShared: opts.IncludeShared, MaxRows: limit, MemoryTypes: opts.MemoryTypes,
		MinImportance: opts.MinImportance, Now: s.now(), Since: opts.Since, Tags: opts.Tags,
		ThreadID: opts.ThreadID, Types: opts.Types, UserID: scope.UserID,
	}
	if params.MemoryTypes == nil {
		params.MemoryTypes = []string{"episodic", "semantic"}
	}
	if opts.Context != nil {
		if params.Context, err = contextJSON(opts.Context); err != nil {
			return nil, err
		}
	}
	rows, err := s.queries.RecallList(ctx, conn, params)
	if err != nil {
		return nil, fmt.Errorf("recall: %w", db.WrapGo(err))
	}
	return recollections(rows), nil
}

// RecallRelated gives what is remembered of a person, a room, a task: of whatever stands in the
// metadata of the events, newest first. All fields of the context must be there; fields are texts,
// numbers or truth values of at most 255 bytes. What others share tells no context, and is not
// among it. Of the options it heeds Limit and Record.
//
// Errors: as those of [OpenMemoryService.Recall].
func (s *OpenMemoryService) RecallRelated(
	ctx context.Context, scope Scope, related map[string]any, opts *RecollectOptions,
) ([]*Recollection, error) {
	found, err := s.recallRelated(ctx, s.bound(scope), scope, related, opts)
	if err != nil {
		return nil, err
	}
	return s.recorded(ctx, scope, found, opts), nil
}

// RecallRelatedTx recalls as [OpenMemoryService.RecallRelated] does.
//
// This variant joins the caller's transaction, so it shows what the transaction has appended and
// not committed. With Record set, its rows stay locked until the transaction ends. See the package's
// section on transactions.
func (s *OpenMemoryService) RecallRelatedTx(
	ctx context.Context, tx pgx.Tx, scope Scope, related map[string]any, opts *RecollectOptions,
) (found []*Recollection, err error) {
	err = joinScope(ctx, tx, scope, func() error {
		if found, err = s.recallRelated(ctx, tx, scope, related, opts); err == nil {
			found, err = s.recordedTx(ctx, tx, scope, found, opts)
		}
		return err
	})
	return found, err
}

func (s *OpenMemoryService) recallRelated(
	ctx context.Context, conn db.DBTX, scope Scope, related map[string]any, opts *RecollectOptions,
) ([]*Recollection, error) {
	_, limit, err := opts.check(scope, 100)
	if err != nil {
		return nil, err
	}
	text, err := contextJSON(related)
	if err != nil {
		return nil, err
	}
	rows, err := s.queries.RecallListRelated(ctx, conn, &db.RecallListRelatedParams{
		AppName: scope.AppName, Context: text, MaxRows: limit, Now: s.now(), UserID: scope.UserID,
	})
	if err != nil {
		return nil, fmt.Errorf("recall what is related: %w", db.WrapGo(err))
	}
	return recollections(rows), nil
}

// RecallSimilar searches both tiers by words and, where there is an embedder or a vector, by
// meaning; best first. Without vectors it goes by words alone: see the package's section on models.
//
// Errors: as those of [OpenMemoryService.SearchMemory].
func (s *OpenMemoryService) RecallSimilar(
	ctx context.Context, scope Scope, query string, opts *RecollectOptions,
) ([]*Recollection, error) {
	params, opts, err := s.similarParams(scope, query, opts)
	if err != nil {
		return nil, err
	}
	var rows []*db.Recollection
	_, err = s.byMeaning(ctx, query, opts.QueryEmbedding, func(vector *pgvector.Vector) (err error) {
		params.QueryEmbedding = vector
		rows, err = s.queries.RecallListSimilar(ctx, s.bound(scope), params)
		return db.WrapGo(err)
	})
	if err != nil {
		return nil, fmt.Errorf("recall what is similar: %w", err)
	}
	return s.recorded(ctx, scope, recollections(rows), opts), nil
}

// RecallSimilarTx recalls as [OpenMemoryService.RecallSimilar] does.
//
// This variant joins the caller's transaction, so it finds what the transaction has remembered and
// not committed. It calls no embedder, since a connection must not wait for one: without a
// QueryEmbedding it searches by words. With Record set, its rows stay locked until the transaction
// ends. See the package's section on transactions.
func (s *OpenMemoryService) RecallSimilarTx(
	ctx context.Context, tx pgx.Tx, scope Scope, query string, opts *RecollectOptions,
) (found []*Recollection, err error) {
	params, opts, err := s.similarParams(scope, query, opts)
	if err != nil {
		return nil, err
	}
	if opts.QueryEmbedding != nil {
		params.QueryEmbedding = new(pgvector.NewVector(opts.QueryEmbedding))
	}
	err = joinScope(ctx, tx, scope, func() error {
		var rows []*db.Recollection
		err := s.asModel(ctx, tx, func() (err error) {
			rows, err = s.queries.RecallListSimilar(ctx, tx, params)
			return db.WrapGo(err)
		})
		if err != nil {
			return fmt.Errorf("recall what is similar: %w", err)
		}
		found, err = s.recordedTx(ctx, tx, scope, recollections(rows), opts)
		return err
	})
	return found, err
}

func (s *OpenMemoryService) similarParams(
	scope Scope, query string, opts *RecollectOptions,
) (*db.RecallListSimilarParams, *RecollectOptions, error) {
	opts, limit, err := opts.check(scope, s.config.MaxSearchResults)
	if err != nil {
		return nil, nil, err
	}
	if err := errors.Join(checkText("query", query, maxText), checkVector("QueryEmbedding", opts.QueryEmbedding)); err != nil {
		return nil, nil, err
	}
	return &db.RecallListSimilarParams{
		AppName: scope.AppName, IncludeShared: opts.IncludeShared, MaxRows: limit, MinImportance: opts.MinImportance,
		Now: s.now(), Query: query, Since: opts.Since, Tags: opts.Tags, Types: opts.Types, UserID: scope.UserID,
	}, opts, nil
}

// ShortTermMemory gives the events that the app's policy keeps in mind, oldest first: of the last
// 100 those of the last hour and those that are at least 0.5 important, unless the policy says
// otherwise. A nil thread takes all of the user's threads; unconsolidated leaves out what is
// long-term memory already.
//
// Errors: [db.ErrInvalidScope]; [db.ErrThreadNotFound].
func (s *OpenMemoryService) ShortTermMemory(
	ctx context.Context, scope Scope, threadID *uuid.UUID, unconsolidated bool,
) ([]*Event, error) {
	if err := checkScope(scope); err != nil {
		return nil, err
	}
	rows, err := s.queries.RecallListShortTerm(ctx, s.bound(scope), &db.RecallListShortTermParams{
		AppName: scope.AppName, Now: s.now(), ThreadID: threadID, Unconsolidated: unconsolidated, UserID: scope.UserID,
	})
	if err != nil {
		return nil, fmt.Errorf("read short-term memory: %w", db.WrapGo(err))
	}
	events := make([]*Event, len(rows))
	for i, row := range rows {
		events[i] = newEvent(row)
	}
	return events, nil
}

func (o *RecollectOptions) check(scope Scope, most int) (*RecollectOptions, int32, error) {
	if o == nil {
		o = &RecollectOptions{}
	}
	if err := checkScope(scope); err != nil {
		return nil, 0, err
	}
	if err := checkTags("Tags", o.Tags); err != nil {
		return nil, 0, err
	}
	if err := checkTags("Types", o.Types); err != nil {
		return nil, 0, err
	}
	if err := checkTags("MemoryTypes", o.MemoryTypes); err != nil {
		return nil, 0, err
	}
	if err := checkShare("MinImportance", &o.MinImportance); err != nil {
		return nil, 0, err
	}
	limit, err := checkLimit(o.Limit, most)
	return o, limit, err
}

func contextJSON(fields map[string]any) (json.RawMessage, error) {
	text, err := json.Marshal(fields)
	if err != nil {
		return nil, fmt.Errorf("%w: Context can't be written: %w", db.ErrInvalidArgument, err)
	}
	return text, checkObject("Context", text)
}

func recollections(rows []*db.Recollection) []*Recollection {
	found := make([]*Recollection, len(rows))
	for i, row := range rows {
		found[i] = &Recollection{
			AccessCount: int(row.AccessCount), Author: deref(row.Author), Category: row.Category, Content: row.Content,
			Context: row.Context, FromSeq: row.FromSeq, ID: row.ID, Importance: row.Importance,
			LastAccessedAt: row.LastAccessedAt, MemoryType: deref(row.MemoryType), OccurredAt: row.OccurredAt,
			Score: row.Score, SharedBy: deref(row.SharedBy), Source: row.Source, Tags: row.Tags, ThreadID: row.ThreadID,
			Tier: row.Tier, ToSeq: row.ToSeq, Trust: row.Trust,
		}
	}
	return found
}

// recorded are the recollections of a verb that is a transaction of its own, with their use counted where that is
// asked for.
func (s *OpenMemoryService) recorded(ctx context.Context, scope Scope, found []*Recollection, opts *RecollectOptions) []*Recollection {
	if opts.records() {
		s.countAccess(ctx, scope, used(found))
	}
	return found
}

// recordedTx are those of a verb that joins the caller's, which a use that can't be counted ends.
func (s *OpenMemoryService) recordedTx(
	ctx context.Context, tx pgx.Tx, scope Scope, found []*Recollection, opts *RecollectOptions,
) ([]*Recollection, error) {
	if ids := used(found); opts.records() && len(ids) > 0 {
		if _, err := s.recordAccess(ctx, tx, scope, ids); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func (o *RecollectOptions) records() bool { return o != nil && o.Record }

// used are the ids of what the user has: what others share has no use of this user's.
func used(found []*Recollection) (ids []uuid.UUID) {
	for _, r := range found {
		if r.Tier != TierShared {
			ids = append(ids, r.ID)
		}
	}
	return ids
}
