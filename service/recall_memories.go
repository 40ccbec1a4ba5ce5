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

// RecallMemoriesOptions are the options of [OpenMemoryService.RecallMemories].
type RecallMemoriesOptions struct {
	// Limit is the greatest number of facts and memories together, 1 to 10,000.
	//
	// Defaults to the config's MaxSearchResults.
	Limit int

	// QueryEmbedding is the query's vector, from the deployment's embedding model.
	//
	// Defaults to what the config's Embedder makes of the query.
	QueryEmbedding []float32

	// SkipAccess leaves the recall uncounted. Otherwise each hit is strengthened a little.
	SkipAccess bool
}

// RecallHit is a fact or a memory that was recalled, with every part of its score.
type RecallHit struct {
	// Source is fact or memory.
	Source  string    `json:"source"`
	ID      uuid.UUID `json:"id"`
	Content string    `json:"content"`
	// Kind is the memory's type or the fact's.
	Kind string `json:"kind"`
	// Score orders the hits: 0.6 Similarity + 0.3 Strength + 0.1 Recency.
	Score float64 `json:"score"`
	// Similarity is of words and meaning, as the app's ranking weighs them, 0 to 1; of a fact at least that of a memory
	// among the hits that tells its key.
	Similarity float64    `json:"similarity"`
	Strength   float64    `json:"strength"`
	Recency    float64    `json:"recency"`
	CreatedAt  time.Time  `json:"created_at"`
	OccurredAt time.Time  `json:"occurred_at"`
	ThreadID   *uuid.UUID `json:"thread_id,omitempty"`
	// Trust is whose words it holds: operator, user, agent or tool.
	Trust string `json:"trust" jsonschema:"whose words it holds: operator, user, agent or tool"`
}

// Recalled is what [OpenMemoryService.RecallMemories] found.
type Recalled struct {
	// Hits are the best first.
	Hits []*RecallHit `json:"hits"`
	// Degraded says that the embedder failed, or its vectors were dropped, and the recall was made by words alone.
	Degraded bool `json:"degraded"`
}

// RecallMemories finds the facts that hold and the memories that answer a query, in one list: what is near
// in meaning, strongly held and new comes first; what has faded below 0.05 does not come at all. An
// empty query lists the strongest and newest. It embeds and counts as SearchMemory does.
//
// Errors: [db.ErrInvalidScope]; [db.ErrInvalidArgument], [db.ErrInvalidText]; with
// RequireEmbedding, the embedder's *[model.Error].
func (s *OpenMemoryService) RecallMemories(
	ctx context.Context, scope Scope, query string, opts *RecallMemoriesOptions,
) (*Recalled, error) {
	params, opts, err := s.recallMemoriesParams(scope, query, opts)
	if err != nil {
		return nil, err
	}
	var rows []*db.RecallHit
	degraded, err := s.byMeaning(ctx, query, opts.QueryEmbedding, func(vector *pgvector.Vector) (err error) {
		params.QueryEmbedding = vector
		rows, err = s.queries.MemoryRecall(ctx, s.bound(scope), params)
		return db.WrapGo(err)
	})
	if err != nil {
		return nil, fmt.Errorf("recall: %w", err)
	}
	recalled, ids := newRecalled(rows)
	recalled.Degraded = degraded
	if !opts.SkipAccess {
		s.countAccess(ctx, scope, ids)
	}
	return recalled, nil
}

// RecallMemoriesTx recalls as [OpenMemoryService.RecallMemories] does.
//
// This variant joins the caller's transaction, so it finds what the transaction has remembered and
// not committed. It calls no embedder, since a connection must not wait for one: without a
// QueryEmbedding it recalls by words. Its rows stay locked until the transaction ends, unless
// SkipAccess is set. See the package's section on transactions.
//
// Errors: as those of RecallMemories, and any that counting the access has.
func (s *OpenMemoryService) RecallMemoriesTx(
	ctx context.Context, tx pgx.Tx, scope Scope, query string, opts *RecallMemoriesOptions,
) (recalled *Recalled, err error) {
	params, opts, err := s.recallMemoriesParams(scope, query, opts)
	if err != nil {
		return nil, err
	}
	if opts.QueryEmbedding != nil {
		params.QueryEmbedding = new(pgvector.NewVector(opts.QueryEmbedding))
	}
	err = joinScope(ctx, tx, scope, func() error {
		var rows []*db.RecallHit
		err := s.asModel(ctx, tx, func() (err error) {
			rows, err = s.queries.MemoryRecall(ctx, tx, params)
			return db.WrapGo(err)
		})
		if err != nil {
			return fmt.Errorf("recall: %w", err)
		}
		var ids []uuid.UUID
		if recalled, ids = newRecalled(rows); opts.SkipAccess || len(ids) == 0 {
			return nil
		}
		_, err = s.recordAccess(ctx, tx, scope, ids)
		return err
	})
	if err != nil {
		return nil, err
	}
	return recalled, nil
}

func (s *OpenMemoryService) recallMemoriesParams(
	scope Scope, query string, opts *RecallMemoriesOptions,
) (*db.MemoryRecallParams, *RecallMemoriesOptions, error) {
	if opts == nil {
		opts = &RecallMemoriesOptions{}
	}
	if err := errors.Join(checkScope(scope), checkText("query", query, maxText), checkVector("QueryEmbedding", opts.QueryEmbedding)); err != nil {
		return nil, nil, err
	}
	limit, err := checkLimit(opts.Limit, s.config.MaxSearchResults)
	if err != nil {
		return nil, nil, err
	}
	return &db.MemoryRecallParams{AppName: scope.AppName, MaxRows: limit, Now: s.now(), Query: query, UserID: scope.UserID}, opts, nil
}

func newRecalled(rows []*db.RecallHit) (*Recalled, []uuid.UUID) {
	recalled := &Recalled{Hits: make([]*RecallHit, len(rows))}
	ids := make([]uuid.UUID, len(rows))
	for i, row := range rows {
		recalled.Hits[i] = new(RecallHit(*row))
		ids[i] = row.ID
	}
	return recalled, ids
}
