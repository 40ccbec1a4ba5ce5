package service

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/pgvector/pgvector-go"

	"github.com/hippocampus-memory/hippocampus/db"
)

// ExplainSearch says why [OpenMemoryService.SearchMemory] finds what it finds: the query's words with
// what each weighs, the weights and the settings that they come from, and what every part gave to
// each hit's score. It counts no access. The shape of the JSON is that of the SQL function
// explain_search.
//
// Errors: as those of SearchMemory.
func (s *OpenMemoryService) ExplainSearch(ctx context.Context, scope Scope, query string, opts *SearchOptions) (json.RawMessage, error) {
	params, err := s.searchParams(scope, query, opts)
	if err != nil {
		return nil, err
	}
	explain := db.SearchExplainParams(*params)
	var explained json.RawMessage
	_, err = s.byMeaning(ctx, query, opts.vector(), func(vector *pgvector.Vector) (err error) {
		explain.QueryEmbedding = vector
		explained, err = s.queries.SearchExplain(ctx, s.bound(scope), &explain)
		return db.WrapGo(err)
	})
	if err != nil {
		return nil, fmt.Errorf("explain search: %w", err)
	}
	return explained, nil
}

// SearchThreadsOptions are the options of [OpenMemoryService.SearchThreads].
type SearchThreadsOptions struct {
	// Limit is the greatest number of conversations, 1 to 200.
	//
	// Defaults to the config's MaxSearchResults.
	Limit int

	// QueryEmbedding is the query's vector, from the deployment's embedding model.
	//
	// Defaults to what the config's Embedder makes of the query.
	QueryEmbedding []float32

	// Since and Until leave out what had ended before, and what began after.
	Since, Until *time.Time
}

// ThreadHit is a conversation that a question is about.
type ThreadHit struct {
	ThreadID  uuid.UUID `json:"thread_id"`
	SessionID string    `json:"session_id"`
	// Score orders the conversations.
	Score float64 `json:"score"`
	// MemoryID and Content are those of its best memory.
	MemoryID uuid.UUID `json:"memory_id"`
	Content  string    `json:"content"`
	// Memories is how many of the 200 best memories are of it.
	Memories      int       `json:"memories"`
	OccurredFrom  time.Time `json:"occurred_from"`
	OccurredUntil time.Time `json:"occurred_until"`
}

// SearchThreads finds the conversations that a question is about, each once, best first. It counts
// no access.
//
// Errors: as those of SearchMemory.
func (s *OpenMemoryService) SearchThreads(ctx context.Context, scope Scope, query string, opts *SearchThreadsOptions) ([]*ThreadHit, error) {
	if opts == nil {
		opts = &SearchThreadsOptions{}
	}
	search, err := s.searchParams(scope, query, &SearchOptions{
		Limit: opts.Limit, QueryEmbedding: opts.QueryEmbedding, Since: opts.Since, Until: opts.Until,
	})
	if err != nil {
		return nil, err
	}
	params := &db.ThreadSearchParams{
		AppName: search.AppName, MaxRows: search.MaxRows, Now: search.Now, Query: search.Query, Since: search.Since, Until: search.Until, UserID: search.UserID,
	}
	var rows []*db.ThreadHit
	_, err = s.byMeaning(ctx, query, opts.QueryEmbedding, func(vector *pgvector.Vector) (err error) {
		params.QueryEmbedding = vector
		rows, err = s.queries.ThreadSearch(ctx, s.bound(scope), params)
		return db.WrapGo(err)
	})
	if err != nil {
		return nil, fmt.Errorf("search threads: %w", err)
	}
	hits := make([]*ThreadHit, len(rows))
	for i, row := range rows {
		hits[i] = &ThreadHit{
			Content: row.Content, Memories: int(row.Memories), MemoryID: row.MemoryID, OccurredFrom: row.OccurredFrom,
			OccurredUntil: row.OccurredUntil, Score: row.Score, SessionID: row.SessionID, ThreadID: row.ThreadID,
		}
	}
	return hits, nil
}
