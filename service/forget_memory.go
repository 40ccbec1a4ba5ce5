package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/pgvector/pgvector-go"

	"github.com/hippocampus-memory/hippocampus/db"
)

// What becomes of the text of events that told what is forgotten.
const (
	LogKeep  = "keep"  // it stays in the conversation, out of every search and consolidation
	LogErase = "erase" // it goes: the event stays, empty
)

// ForgetMemoryOptions are the options of [OpenMemoryService.ForgetMemory].
type ForgetMemoryOptions struct {
	// Limit is the greatest number of memories and facts that a description may mean, 1 to 10,000.
	//
	// Defaults to 100.
	Limit int

	// Log is what becomes of the text of events that told it: [LogKeep] or [LogErase].
	//
	// Defaults to LogKeep.
	Log string

	// Preview lists what the description means, counts all that would go, and forgets nothing.
	Preview bool

	// QueryEmbedding is the description's vector, from the deployment's embedding model.
	//
	// Defaults to what the config's Embedder makes of it.
	QueryEmbedding []float32

	// Threshold is how near to the description a memory must be, 0 to 1.
	//
	// Defaults to forget of the setting similarity.
	Threshold *float64
}

// ForgetMatch is a memory or a fact that a description means, or a row that goes along with these.
type ForgetMatch struct {
	// Source is memory or fact; of what goes along event, too.
	Source string    `json:"source"`
	ID     uuid.UUID `json:"id"`
	// Text is what it says; of what goes along the first 500 characters.
	Text string `json:"text"`
	// Similarity is how near it is to the description, 0 to 1; 0 of what goes along.
	Similarity float64 `json:"similarity"`
	// OccurredAt is when it happened: a fact's when it began to hold.
	OccurredAt time.Time `json:"occurred_at"`
}

// Forgotten is what is gone or, of a preview, would be.
type Forgotten struct {
	Memories int64 `json:"memories"`
	Facts    int64 `json:"facts"`
	// Events are those that told it, and are passed over from now on, with LogErase emptied; of a user,
	// those deleted.
	Events int64 `json:"events"`
	// Threads are those deleted.
	Threads int64 `json:"threads"`
	// Matches are what a preview found that the description means, and Along what goes with it: memories and facts
	// that tell the same, and the events that told it. The counts are of both.
	Matches []*ForgetMatch `json:"matches,omitempty"`
	Along   []*ForgetMatch `json:"along,omitempty"`
	// Degraded says that the embedder failed, or its vectors were dropped, and the description was matched by words alone.
	Degraded bool `json:"degraded,omitempty"`
}

// ForgetMemory forgets what a description means: memories and facts, the history of facts too, with
// whatever else was drawn from the same events and tells the same. No consolidation brings it back,
// and no record of the request is kept. Look first, with Preview. Memory blocks are not touched.
//
// Errors: [db.ErrInvalidScope]; [db.ErrInvalidArgument], [db.ErrInvalidText]; [db.ErrDimension] and
// [db.ErrInvalidEmbedding]; with RequireEmbedding, the embedder's *[model.Error].
func (s *OpenMemoryService) ForgetMemory(
	ctx context.Context, scope Scope, description string, opts *ForgetMemoryOptions,
) (*Forgotten, error) {
	if opts == nil {
		opts = &ForgetMemoryOptions{}
	}
	if err := opts.check(scope, description); err != nil {
		return nil, err
	}
	var forgotten *Forgotten
	degraded, err := s.byMeaning(ctx, description, opts.QueryEmbedding, func(vector *pgvector.Vector) (err error) {
		forgotten, err = s.forgetMemory(ctx, s.bound(scope), scope, description, vector, opts)
		return err
	})
	if err != nil {
		return nil, err
	}
	forgotten.Degraded = degraded
	return forgotten, nil
}

// ForgetMemoryTx forgets as [OpenMemoryService.ForgetMemory] does.
//
// This variant joins the caller's transaction: look at what went, and still roll back. It calls no
// embedder: without a QueryEmbedding the description is matched by its words. See the package's
// section on transactions.
func (s *OpenMemoryService) ForgetMemoryTx(
	ctx context.Context, tx pgx.Tx, scope Scope, description string, opts *ForgetMemoryOptions,
) (forgotten *Forgotten, err error) {
	if opts == nil {
		opts = &ForgetMemoryOptions{}
	}
	if err := opts.check(scope, description); err != nil {
		return nil, err
	}
	var vector *pgvector.Vector
	if opts.QueryEmbedding != nil {
		vector = new(pgvector.NewVector(opts.QueryEmbedding))
	}
	err = s.joinAsModel(ctx, tx, scope, func() error {
		forgotten, err = s.forgetMemory(ctx, tx, scope, description, vector, opts)
		return err
	})
	return forgotten, err
}

func (o *ForgetMemoryOptions) check(scope Scope, description string) error {
	return errors.Join(checkScope(scope), checkName("description", description, maxText), checkText("Log", o.Log, maxID),
		checkShare("Threshold", o.Threshold), checkVector("QueryEmbedding", o.QueryEmbedding))
}

func (s *OpenMemoryService) forgetMemory(
	ctx context.Context, conn db.DBTX, scope Scope, description string, vector *pgvector.Vector, opts *ForgetMemoryOptions,
) (*Forgotten, error) {
	limit, err := checkLimit(opts.Limit, 100)
	if err != nil {
		return nil, err
	}
	if opts.Preview {
		rows, err := s.queries.MemoryPreviewForget(ctx, conn, &db.MemoryPreviewForgetParams{
			AppName: scope.AppName, MaxRows: limit, Query: description, QueryEmbedding: vector, Threshold: opts.Threshold, UserID: scope.UserID,
		})
		if err != nil {
			return nil, fmt.Errorf("preview forgetting: %w", db.WrapGo(err))
		}
		return previewOf(rows), nil
	}
	counts, err := s.queries.MemoryForgetByMeaning(ctx, conn, &db.MemoryForgetByMeaningParams{
		AppName: scope.AppName, Log: or(opts.Log, LogKeep), MaxRows: limit, Query: description, QueryEmbedding: vector,
		Threshold: opts.Threshold, UserID: scope.UserID,
	})
	if err != nil {
		return nil, fmt.Errorf("forget: %w", db.WrapGo(err))
	}
	return forgottenOf(counts), nil
}

func previewOf(rows []*db.MemoryPreviewForgetRow) *Forgotten {
	preview := &Forgotten{Matches: []*ForgetMatch{}}
	for _, r := range rows {
		list := &preview.Along
		if r.Meant {
			list = &preview.Matches
		}
		*list = append(*list, &ForgetMatch{ID: r.ID, OccurredAt: r.OccurredAt, Similarity: r.Similarity, Source: r.Source, Text: r.Text})
		switch r.Source {
		case "memory":
			preview.Memories++
		case "fact":
			preview.Facts++
		case "event":
			preview.Events++
		}
	}
	return preview
}

func forgottenOf(c *db.ForgottenCounts) *Forgotten {
	return &Forgotten{Events: c.Events, Facts: c.Facts, Memories: c.Memories, Threads: c.Threads}
}

// ForgetUser deletes everything of a user in an app: the log, memories, facts, blocks, state, and
// what was derived from them.
//
// Errors: [db.ErrInvalidScope].
func (s *OpenMemoryService) ForgetUser(ctx context.Context, scope Scope) (*Forgotten, error) {
	return s.forgetUser(ctx, s.bound(scope), scope)
}

// ForgetUserTx forgets as [OpenMemoryService.ForgetUser] does.
//
// This variant joins the caller's transaction: delete the application's own account and what was
// remembered of it in one. See the package's section on transactions.
func (s *OpenMemoryService) ForgetUserTx(ctx context.Context, tx pgx.Tx, scope Scope) (forgotten *Forgotten, err error) {
	err = joinScope(ctx, tx, scope, func() error {
		forgotten, err = s.forgetUser(ctx, tx, scope)
		return err
	})
	return forgotten, err
}

func (s *OpenMemoryService) forgetUser(ctx context.Context, conn db.DBTX, scope Scope) (*Forgotten, error) {
	if err := checkScope(scope); err != nil {
		return nil, err
	}
	counts, err := s.queries.MemoryForgetUser(ctx, conn, &db.MemoryForgetUserParams{AppName: scope.AppName, UserID: scope.UserID})
	if err != nil {
		return nil, fmt.Errorf("forget a user: %w", db.WrapGo(err))
	}
	return forgottenOf(counts), nil
}
