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

// Memory is a memory as it is stored.
type Memory struct {
	ID             uuid.UUID  `json:"id"`
	MemoryType     string     `json:"memory_type"`
	Category       string     `json:"category"`
	Content        string     `json:"content"`
	RetentionScore float64    `json:"retention_score"`
	Importance     float64    `json:"importance"`
	Intensity      float64    `json:"running_intensity"`
	EncounterCount int        `json:"encounter_count"`
	AccessCount    int        `json:"access_count"`
	LastAccessedAt time.Time  `json:"last_accessed_at"`
	OccurredFrom   time.Time  `json:"occurred_from"`
	OccurredUntil  time.Time  `json:"occurred_until"`
	CreatedAt      time.Time  `json:"created_at"`
	ThreadID       *uuid.UUID `json:"thread_id,omitempty"`
	FromSeq        *int64     `json:"from_seq,omitempty"`
	ToSeq          *int64     `json:"to_seq,omitempty"`
	SupersededBy   *uuid.UUID `json:"superseded_by,omitempty"`
	Source         string     `json:"source"`
	Author         string     `json:"author,omitempty"`
	// Trust is whose words it holds: operator, user, agent or tool.
	Trust       string          `json:"trust"`
	TokenCount  int             `json:"token_count"`
	TokensExact bool            `json:"token_count_exact"`
	Tags        []string        `json:"tags"`
	Metadata    json.RawMessage `json:"metadata"`
}

// RememberOptions are the options of [OpenMemoryService.Remember].
type RememberOptions struct {
	// Author is who said it.
	//
	// Defaults to nobody.
	Author string

	// Category is chat, observation, task, decision, tool-use, error, insight or other.
	//
	// Defaults to other.
	Category string

	// Embedding is the content's vector, from the deployment's embedding model.
	//
	// Defaults to none: the memory is found by its words, and a worker embeds it soon.
	Embedding []float32

	// FromSeq and ToSeq are the events of ThreadID that the memory tells, first and last.
	//
	// Default to none, and ToSeq to FromSeq.
	FromSeq, ToSeq *int64

	// Importance is how much it matters, 0 to 1.
	//
	// Defaults to a score by Category.
	Importance *float64

	// InitialScore is what it is worth while it is fresh, 0 to 1.
	//
	// Defaults to 0.2.
	InitialScore *float64

	// Intensity is how strongly it is held, 0 to 1.
	//
	// Defaults to 0.5.
	Intensity *float64

	// MemoryType is episodic, semantic or summary.
	//
	// Defaults to semantic.
	MemoryType string

	// Metadata is a JSON object of the client's own, at most 256 KiB.
	//
	// Defaults to {}.
	Metadata json.RawMessage

	// OccurredFrom and OccurredUntil are when what it tells began and ended.
	//
	// Default to each other, and both to now.
	OccurredFrom, OccurredUntil *time.Time

	// Source is where it came from.
	//
	// Defaults to client.
	Source string

	// Tags are at most 64.
	Tags []string

	// ThreadID is the thread that it came from.
	//
	// Defaults to none.
	ThreadID *uuid.UUID

	// Trust is whose words it holds: operator, user, agent or tool.
	//
	// Defaults to that of its events, its author and its category; without any of them, to user.
	Trust string
}

// Remember stores a memory and returns its id. It is found by its words from the next statement
// on. The same words again, of the same type, strengthen the memory that is there, whose id is
// returned.
//
// Errors: [db.ErrInvalidScope]; [db.ErrThreadNotFound]; [db.ErrDimension],
// [db.ErrInvalidEmbedding], [db.ErrEmbeddingModel]; for another value that can't be stored, which
// the error names, [db.ErrInvalidArgument], [db.ErrInvalidText] or [db.ErrTooLarge].
func (s *OpenMemoryService) Remember(
	ctx context.Context, scope Scope, content string, opts *RememberOptions,
) (uuid.UUID, error) {
	return s.remember(ctx, s.bound(scope), scope, content, opts)
}

// RememberTx stores a memory as [OpenMemoryService.Remember] does.
//
// This variant joins the caller's transaction: what is remembered and what the caller writes
// beside it are true together or not at all. See the package's section on transactions.
func (s *OpenMemoryService) RememberTx(
	ctx context.Context, tx pgx.Tx, scope Scope, content string, opts *RememberOptions,
) (id uuid.UUID, err error) {
	err = joinScope(ctx, tx, scope, func() error {
		id, err = s.remember(ctx, tx, scope, content, opts)
		return err
	})
	return id, err
}

func (s *OpenMemoryService) remember(
	ctx context.Context, conn db.DBTX, scope Scope, content string, opts *RememberOptions,
) (uuid.UUID, error) {
	if opts == nil {
		opts = &RememberOptions{}
	}
	if err := opts.check(scope, content); err != nil {
		return uuid.Nil, err
	}
	params := &db.MemoryRememberParams{
		AppName: scope.AppName, Author: nonEmpty(opts.Author), Category: or(opts.Category, "other"), Content: content,
		FromSeq: opts.FromSeq, Importance: opts.Importance, InitialScore: orValue(opts.InitialScore, 0.2),
		Intensity: orValue(opts.Intensity, 0.5), MemoryType: or(opts.MemoryType, "semantic"),
		Metadata: orEmptyObject(opts.Metadata), Now: s.now(), OccurredFrom: opts.OccurredFrom,
		OccurredUntil: opts.OccurredUntil, Source: or(opts.Source, "client"), Tags: orEmpty(opts.Tags),
		ThreadID: opts.ThreadID, TokenCount: s.count(content), ToSeq: opts.ToSeq, Trust: nonEmpty(opts.Trust), UserID: scope.UserID,
	}
	params.Embedding, params.EmbeddingModel = s.vector(opts.Embedding)
	id, err := s.queries.MemoryRemember(ctx, conn, params)
	if err != nil {
		return uuid.Nil, fmt.Errorf("remember: %w", db.WrapGo(err))
	}
	return id, nil
}

func (o *RememberOptions) check(scope Scope, content string) error {
	if err := checkScope(scope); err != nil {
		return err
	}
	if err := checkName("content", content, maxText); err != nil {
		return err
	}
	if err := checkTexts(maxID, "Author", o.Author, "Category", o.Category, "MemoryType", o.MemoryType, "Source", o.Source, "Trust", o.Trust); err != nil {
		return err
	}
	if err := errors.Join(checkShare("Importance", o.Importance), checkShare("InitialScore", o.InitialScore),
		checkShare("Intensity", o.Intensity)); err != nil {
		return err
	}
	if err := checkTags("Tags", o.Tags); err != nil {
		return err
	}
	if err := checkVector("Embedding", o.Embedding); err != nil {
		return err
	}
	return checkObject("Metadata", o.Metadata)
}

// vector gives SQL a vector and the model that it is of, as far as the service knows it.
func (s *OpenMemoryService) vector(values []float32) (*pgvector.Vector, *string) {
	if values == nil {
		return nil, nil
	}
	vector := pgvector.NewVector(values)
	if s.config.Embedder == nil {
		return &vector, nil
	}
	return &vector, new(s.config.Embedder.Name())
}

func (s *OpenMemoryService) count(text string) *int32 { return new(int32(s.counter.Count(text))) }

// ListOptions are the options of [OpenMemoryService.ListMemories].
type ListOptions struct {
	// Limit is the greatest number of memories, 1 to 10,000.
	//
	// Defaults to 50.
	Limit int

	// MemoryType is episodic, semantic or summary.
	//
	// Defaults to all.
	MemoryType string

	// Offset is how many to pass over.
	//
	// Defaults to 0.
	Offset int
}

// ListMemories lists a user's memories, best retained first, then newest.
//
// Errors: [db.ErrInvalidScope]; [db.ErrInvalidArgument]; [db.ErrInvalidText].
func (s *OpenMemoryService) ListMemories(ctx context.Context, scope Scope, opts *ListOptions) ([]*Memory, error) {
	return s.listMemories(ctx, s.bound(scope), scope, opts)
}

// ListMemoriesTx lists memories as [OpenMemoryService.ListMemories] does.
//
// This variant joins the caller's transaction, so it shows what the transaction has remembered and
// not committed. See the package's section on transactions.
func (s *OpenMemoryService) ListMemoriesTx(
	ctx context.Context, tx pgx.Tx, scope Scope, opts *ListOptions,
) (memories []*Memory, err error) {
	err = joinScope(ctx, tx, scope, func() error {
		memories, err = s.listMemories(ctx, tx, scope, opts)
		return err
	})
	return memories, err
}

func (s *OpenMemoryService) listMemories(ctx context.Context, conn db.DBTX, scope Scope, opts *ListOptions) ([]*Memory, error) {
	if opts == nil {
		opts = &ListOptions{}
	}
	if err := checkScope(scope); err != nil {
		return nil, err
	}
	if err := checkText("MemoryType", opts.MemoryType, maxID); err != nil {
		return nil, err
	}
	limit, err := checkLimit(opts.Limit, 50)
	if err != nil {
		return nil, err
	}
	if opts.Offset < 0 || opts.Offset > maxOffset {
		return nil, fmt.Errorf("%w: Offset is %d, but must be 0 to %d", db.ErrInvalidArgument, opts.Offset, maxOffset)
	}
	rows, err := s.queries.MemoryList(ctx, conn, &db.MemoryListParams{
		AppName: scope.AppName, MaxRows: limit, MemoryType: nonEmpty(opts.MemoryType),
		SkipRows: int32(opts.Offset), UserID: scope.UserID,
	})
	if err != nil {
		return nil, fmt.Errorf("list memories: %w", db.WrapGo(err))
	}
	return newMemories(rows), nil
}

// TimeSliceOptions are the options of [OpenMemoryService.MemoriesInTimeSlice].
type TimeSliceOptions struct {
	// Limit is the greatest number of memories, 1 to 10,000.
	//
	// Defaults to 50.
	Limit int

	// MemoryType is episodic, semantic or summary.
	//
	// Defaults to all.
	MemoryType string
}

// MemoriesInTimeSlice lists the memories of what happened between two times, both included, also
// where it began before the first or ended after the last, newest
// first. A zero time leaves its end open.
//
// Errors: [db.ErrInvalidScope]; [db.ErrInvalidArgument]; [db.ErrInvalidText].
func (s *OpenMemoryService) MemoriesInTimeSlice(
	ctx context.Context, scope Scope, start, end time.Time, opts *TimeSliceOptions,
) ([]*Memory, error) {
	return s.memoriesInTimeSlice(ctx, s.bound(scope), scope, start, end, opts)
}

// MemoriesInTimeSliceTx lists memories as [OpenMemoryService.MemoriesInTimeSlice] does.
//
// This variant joins the caller's transaction, so it shows what the transaction has remembered and
// not committed. See the package's section on transactions.
func (s *OpenMemoryService) MemoriesInTimeSliceTx(
	ctx context.Context, tx pgx.Tx, scope Scope, start, end time.Time, opts *TimeSliceOptions,
) (memories []*Memory, err error) {
	err = joinScope(ctx, tx, scope, func() error {
		memories, err = s.memoriesInTimeSlice(ctx, tx, scope, start, end, opts)
		return err
	})
	return memories, err
}

func (s *OpenMemoryService) memoriesInTimeSlice(
	ctx context.Context, conn db.DBTX, scope Scope, start, end time.Time, opts *TimeSliceOptions,
) ([]*Memory, error) {
	if opts == nil {
		opts = &TimeSliceOptions{}
	}
	if err := checkScope(scope); err != nil {
		return nil, err
	}
	if err := checkText("MemoryType", opts.MemoryType, maxID); err != nil {
		return nil, err
	}
	limit, err := checkLimit(opts.Limit, 50)
	if err != nil {
		return nil, err
	}
	rows, err := s.queries.MemoryListInTimeSlice(ctx, conn, &db.MemoryListInTimeSliceParams{
		AppName: scope.AppName, EndAt: nonZero(end), MaxRows: limit, MemoryType: nonEmpty(opts.MemoryType),
		StartAt: nonZero(start), UserID: scope.UserID,
	})
	if err != nil {
		return nil, fmt.Errorf("list memories in a time slice: %w", db.WrapGo(err))
	}
	return newMemories(rows), nil
}

func newMemories(rows []*db.Memory) []*Memory {
	memories := make([]*Memory, len(rows))
	for i, row := range rows {
		memories[i] = &Memory{
			AccessCount: int(row.AccessCount), Author: deref(row.Author), Category: row.Category, Content: row.Content,
			CreatedAt: row.CreatedAt, EncounterCount: int(row.EncounterCount), FromSeq: row.FromSeq, ID: row.ID,
			Importance: widen(row.Importance), Intensity: widen(row.RunningIntensity), LastAccessedAt: row.LastAccessedAt,
			MemoryType: row.MemoryType, Metadata: row.Metadata, OccurredFrom: row.OccurredFrom,
			OccurredUntil: row.OccurredUntil, RetentionScore: row.RetentionScore, Source: row.Source,
			SupersededBy: row.SupersededBy, Tags: row.Tags, ThreadID: row.ThreadID, ToSeq: row.ToSeq,
			TokenCount: int(row.TokenCount), TokensExact: row.TokenCountExact, Trust: row.Trust,
		}
	}
	return memories
}
