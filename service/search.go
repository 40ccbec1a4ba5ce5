package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/pgvector/pgvector-go"

	"github.com/hippocampus-memory/hippocampus/db"
)

// SearchOptions are the options of [OpenMemoryService.SearchMemory]. Filters that are not given
// leave out nothing.
type SearchOptions struct {
	// Categories are those of which a memory must have one.
	Categories []string

	// Limit is the greatest number of memories, 1 to 10,000.
	//
	// Defaults to the config's MaxSearchResults.
	Limit int

	// MemoryTypes are those of which a memory must have one: episodic, semantic, summary.
	MemoryTypes []string

	// MinRelevance is the least relevance, 0 to 1.
	//
	// Defaults to 0.
	MinRelevance float64

	// Profile is how hits are ranked: default; strength (0.6 similarity, 0.3 strength,
	// 0.1 recency); retention (similarity times retention).
	//
	// Defaults to default, which is the setting ranking.
	Profile string

	// ProjectAnchors asks for the anchor index too: memories are
	// found by the anchors of the query, and of what is being talked about, whose names it gives. An
	// empty list asks for it without a name.
	//
	// Defaults to nil, without the anchor index.
	ProjectAnchors []string

	// QueryEmbedding is the query's vector, from the deployment's embedding model.
	//
	// Defaults to what the config's Embedder makes of the query.
	QueryEmbedding []float32

	// Since leaves out what had ended before it happened.
	Since *time.Time

	// SkipAccess leaves the search uncounted. Otherwise each hit is strengthened a little, as
	// what is recalled fades more slowly.
	SkipAccess bool

	// Tags are those that a memory must have, all of them.
	Tags []string

	// ThreadID is the thread that a memory must come from.
	ThreadID *uuid.UUID

	// Until leaves out what began after it.
	Until *time.Time
}

// SearchResponse is what [OpenMemoryService.SearchMemory] found.
type SearchResponse struct {
	// Query is what was asked for.
	Query string `json:"query"`
	// Memories are the hits, best first.
	Memories []*MemoryHit `json:"memories"`
	// TotalCount is their number.
	TotalCount int `json:"total_count"`
	// Degraded says that the embedder failed, or its vectors were dropped, and the search was made by words alone.
	Degraded bool `json:"degraded"`
	// AccessRecorded says that the hits were strengthened.
	AccessRecorded bool `json:"access_recorded"`
}

// MemoryHit is a memory that was found, with every part of its score.
type MemoryHit struct {
	MemoryID   uuid.UUID `json:"memory_id"`
	Content    string    `json:"content"`
	MemoryType string    `json:"memory_type"`
	Category   string    `json:"category"`
	// Score orders the hits.
	Score float64 `json:"score"`
	// RelevanceScore is how well it answers the query, 0 to 1, whatever its age and strength.
	RelevanceScore float64 `json:"relevance_score"`
	TextScore      float64 `json:"text_score"`
	VectorScore    float64 `json:"vector_score"`
	// NearbyScore is how much higher the VectorScore of the turns beside it is than the lowest there is;
	// 0 for what is no turn of a conversation.
	NearbyScore    float64 `json:"nearby_score"`
	RetentionScore float64 `json:"retention_score"`
	RecencyScore   float64 `json:"recency_score"`
	// WordScore, Worth, Asked and Timely are what TextScore is made of: the words' share of the best;
	// less than 1 for a turn that is short or only asks; whether its author is the one that the query
	// is about; whether it is of the time that the query names.
	WordScore float64 `json:"word_score"`
	Worth     float64 `json:"worth"`
	Asked     bool    `json:"asked"`
	Timely    bool    `json:"timely"`
	// Spread was taken off the score, as others of its conversation stand before it; Lent was added,
	// as it tells what holds now of what another hit told before.
	Spread   float64    `json:"spread"`
	Lent     float64    `json:"lent"`
	ThreadID *uuid.UUID `json:"thread_id,omitempty"`
	FromSeq  *int64     `json:"from_seq,omitempty"`
	ToSeq    *int64     `json:"to_seq,omitempty"`
	Author   string     `json:"author,omitempty"`
	Source   string     `json:"source"`
	// Trust is whose words it holds: operator, user, agent or tool.
	Trust         string          `json:"trust"`
	OccurredFrom  time.Time       `json:"occurred_from"`
	OccurredUntil time.Time       `json:"occurred_until"`
	CreatedAt     time.Time       `json:"created_at"`
	AccessCount   int             `json:"access_count"`
	TokenCount    int             `json:"token_count"`
	Tags          []string        `json:"tags"`
	Metadata      json.RawMessage `json:"metadata"`
}

// SearchMemory finds memories by their words and, where there is an embedder or a vector, by their
// meaning. It finds a memory from the statement after its commit on. An empty query lists the
// strongest and newest.
//
// The query is embedded before a connection is taken. If that fails, the search is made by words
// alone and the response says Degraded, as it is when the deployment has dropped the vectors of the
// embedder's model, unless the config's RequireEmbedding is set. The hits'
// access is counted after the search, in a transaction of its own; if that fails, as it does on a
// read-only replica, the response says so and the log says why.
//
// Errors: [db.ErrInvalidScope]; [db.ErrInvalidArgument], [db.ErrInvalidText]; [db.ErrDimension]
// and [db.ErrInvalidEmbedding] for a vector that is no embedding of this deployment's; with
// RequireEmbedding, the embedder's *[model.Error].
func (s *OpenMemoryService) SearchMemory(
	ctx context.Context, scope Scope, query string, opts *SearchOptions,
) (*SearchResponse, error) {
	params, err := s.searchParams(scope, query, opts)
	if err != nil {
		return nil, err
	}
	var rows []*db.MemoryHit
	degraded, err := s.byMeaning(ctx, query, opts.vector(), func(vector *pgvector.Vector) (err error) {
		params.QueryEmbedding = vector
		rows, err = s.queries.MemorySearch(ctx, s.bound(scope), params)
		return db.WrapGo(err)
	})
	if err != nil {
		return nil, fmt.Errorf("search memory: %w", err)
	}
	response := newSearchResponse(query, rows, degraded)
	if opts.counts() {
		response.AccessRecorded = s.countAccess(ctx, scope, response.ids())
	}
	return response, nil
}

// SearchMemoryTx searches as [OpenMemoryService.SearchMemory] does.
//
// This variant joins the caller's transaction, so it finds what the transaction has remembered and
// not committed. It calls no embedder, since a connection must not wait for one: without a
// QueryEmbedding it searches by words. Its rows stay locked until the transaction ends, unless
// SkipAccess is set. See the package's section on transactions.
//
// Errors: as those of SearchMemory, and any that counting the access has.
func (s *OpenMemoryService) SearchMemoryTx(
	ctx context.Context, tx pgx.Tx, scope Scope, query string, opts *SearchOptions,
) (response *SearchResponse, err error) {
	params, err := s.searchParams(scope, query, opts)
	if err != nil {
		return nil, err
	}
	if vector := opts.vector(); vector != nil {
		params.QueryEmbedding = new(pgvector.NewVector(vector))
	}
	err = joinScope(ctx, tx, scope, func() error {
		var rows []*db.MemoryHit
		err := s.asModel(ctx, tx, func() (err error) {
			rows, err = s.queries.MemorySearch(ctx, tx, params)
			return db.WrapGo(err)
		})
		if err != nil {
			return fmt.Errorf("search memory: %w", err)
		}
		response = newSearchResponse(query, rows, false)
		if !opts.counts() || len(rows) == 0 {
			return nil
		}
		response.AccessRecorded = true
		_, err = s.recordAccess(ctx, tx, scope, response.ids())
		return err
	})
	if err != nil {
		return nil, err
	}
	return response, nil
}

func (o *SearchOptions) vector() []float32 {
	if o == nil {
		return nil
	}
	return o.QueryEmbedding
}

func (o *SearchOptions) counts() bool { return o == nil || !o.SkipAccess }

func (s *OpenMemoryService) searchParams(scope Scope, query string, opts *SearchOptions) (*db.MemorySearchParams, error) {
	if opts == nil {
		opts = &SearchOptions{}
	}
	if err := checkScope(scope); err != nil {
		return nil, err
	}
	if err := checkText("query", query, maxText); err != nil {
		return nil, err
	}
	if err := errors.Join(checkTags("Categories", opts.Categories), checkTags("MemoryTypes", opts.MemoryTypes), checkTags("Tags", opts.Tags)); err != nil {
		return nil, err
	}
	if err := checkText("Profile", opts.Profile, maxID); err != nil {
		return nil, err
	}
	if err := checkShare("MinRelevance", &opts.MinRelevance); err != nil {
		return nil, err
	}
	if err := errors.Join(checkVector("QueryEmbedding", opts.QueryEmbedding), checkEach("ProjectAnchors", opts.ProjectAnchors)); err != nil {
		return nil, err
	}
	limit, err := checkLimit(opts.Limit, s.config.MaxSearchResults)
	if err != nil {
		return nil, err
	}
	params := &db.MemorySearchParams{
		AppName: scope.AppName, Categories: opts.Categories, MaxRows: limit, MemoryTypes: opts.MemoryTypes,
		MinRelevance: opts.MinRelevance, Now: s.now(), Profile: opts.Profile, ProjectAnchors: opts.ProjectAnchors, Query: query, Since: opts.Since,
		Tags: opts.Tags, ThreadID: opts.ThreadID, Until: opts.Until, UserID: scope.UserID,
	}
	if params.Profile == "" {
		params.Profile = "default"
	}
	return params, nil
}

// recordAccess counts a use of memories.
func (s *OpenMemoryService) recordAccess(ctx context.Context, conn db.DBTX, scope Scope, ids []uuid.UUID) (int, error) {
	found, err := s.queries.MemoryRecordAccess(ctx, conn, &db.MemoryRecordAccessParams{
		AppName: scope.AppName, Ids: ids, Now: s.now(), UserID: scope.UserID,
	})
	if err != nil {
		return 0, fmt.Errorf("record access: %w", db.WrapGo(err))
	}
	return int(found), nil
}

// countAccess counts a use of what was found, in a transaction of its own, and tells whether it did: what was found is
// not lost where it can't be counted, as on a replica that is only read. The log says why.
func (s *OpenMemoryService) countAccess(ctx context.Context, scope Scope, ids []uuid.UUID) bool {
	if len(ids) == 0 {
		return false
	}
	_, err := s.recordAccess(ctx, s.bound(scope), scope, ids)
	if err != nil {
		s.config.Logger.WarnContext(ctx, "service: an access could not be counted", slog.Any("error", err))
	}
	return err == nil
}

func newSearchResponse(query string, rows []*db.MemoryHit, degraded bool) *SearchResponse {
	response := &SearchResponse{
		Degraded: degraded, Memories: make([]*MemoryHit, len(rows)), Query: query, TotalCount: len(rows),
	}
	for i, row := range rows {
		response.Memories[i] = &MemoryHit{
			Asked: row.Asked, Lent: row.Lent, Spread: row.Spread, Timely: row.Timely, WordScore: row.WordScore, Worth: row.Worth,
			AccessCount: int(row.AccessCount), Author: deref(row.Author), Category: row.Category, Content: row.Content,
			CreatedAt: row.CreatedAt, FromSeq: row.FromSeq, MemoryID: row.MemoryID, MemoryType: row.MemoryType,
			Metadata: row.Metadata, OccurredFrom: row.OccurredFrom, OccurredUntil: row.OccurredUntil,
			RecencyScore: row.Recency, RelevanceScore: row.Relevance, RetentionScore: row.Retention, Score: row.Score,
			Source: row.Source, Tags: row.Tags, TextScore: row.TextScore, ThreadID: row.ThreadID, ToSeq: row.ToSeq,
			TokenCount: int(row.TokenCount), Trust: row.Trust, VectorScore: row.VectorScore, NearbyScore: row.NearbyScore,
		}
	}
	return response
}

func (r *SearchResponse) ids() []uuid.UUID {
	ids := make([]uuid.UUID, len(r.Memories))
	for i, hit := range r.Memories {
		ids[i] = hit.MemoryID
	}
	return slices.Clip(ids)
}
