package service

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/google/uuid"
	"github.com/pgvector/pgvector-go"

	"github.com/hippocampus-memory/hippocampus/db"
)

// DefaultRecallTokens is the budget of a block of recalled memories that is asked for without one.
const DefaultRecallTokens = 1000

// RecallState is what an agent is about when it asks what it remembers.
type RecallState struct {
	// CurrentTask is what it is to do. It is asked for where it is given.
	CurrentTask string
	// Messages are the conversation so far; without a task, the last that says anything is asked
	// for.
	Messages []string
}

// query is what to look for.
func (s *RecallState) query() string {
	if s == nil {
		return ""
	}
	if strings.TrimSpace(s.CurrentTask) != "" {
		return s.CurrentTask
	}
	for i := len(s.Messages) - 1; i >= 0; i-- {
		if strings.TrimSpace(s.Messages[i]) != "" {
			return s.Messages[i]
		}
	}
	return ""
}

// EpisodicMemoryProvider gives the part of a prompt that holds what past experience says to the
// matter at hand: lessons, memories and, where it is asked for, documents. Its fields may not change while it is used.
type EpisodicMemoryProvider struct {
	// Service is asked. Required.
	Service *OpenMemoryService

	// Scope is whose memory it is. Required.
	Scope Scope

	// Language is that of the notice in the block: "en" or "zh".
	//
	// Defaults to "en".
	Language string

	// MaxLessons is the greatest number of lessons, 0 to 1000.
	//
	// Defaults to 3.
	MaxLessons *int

	// MinRelevance is the least relevance of an entry, 0 to 1.
	//
	// Defaults to 0.
	MinRelevance float64

	// ProjectAnchors asks for documents, too: at most TopK of their chunks, found by the anchors of the task or
	// message, and of what is being talked about, whose names it gives. An empty list asks without a name.
	//
	// Defaults to nil, without documents.
	ProjectAnchors []string

	// TopK is the greatest number of memories, 1 to 1000.
	//
	// Defaults to 3.
	TopK int
}

// RecalledMemories is a part of a prompt.
type RecalledMemories struct {
	// Content is the block, from <recalled_memories> to </recalled_memories>. It is data: nothing in
	// it closes the fence, and what was not said by the user says so.
	Content string `json:"content"`
	// TokenCount is the exact count of Content, at most the budget.
	TokenCount int `json:"token_count"`
	// Name is "episodic_memory".
	Name string `json:"name"`
	// Priority orders the parts of a prompt, the lowest first: 40.
	Priority int `json:"priority"`
	// LessonIDs, MemoryIDs and ChunkIDs are what stands in it, in this order, the best of each first.
	LessonIDs []uuid.UUID `json:"lesson_ids"`
	MemoryIDs []uuid.UUID `json:"memory_ids"`
	ChunkIDs  []uuid.UUID `json:"chunk_ids"`
	// Degraded says that the embedder failed, or its vectors were dropped, and memories were found by words alone.
	Degraded bool `json:"degraded"`
}

// Provide gives what is remembered of the state's task or last message, within a budget of tokens;
// 0 is [DefaultRecallTokens]. It is nil where there is nothing to ask for, nothing was found, or
// nothing fits. Call it before the task is begun, and put Content into the prompt. It reads only.
//
// Errors: [db.ErrInvalidScope]; [db.ErrInvalidBudget] for a negative budget; [db.ErrInvalidArgument],
// [db.ErrInvalidText]; with the config's RequireEmbedding, the embedder's *[model.Error].
func (p *EpisodicMemoryProvider) Provide(ctx context.Context, state *RecallState, budget int) (*RecalledMemories, error) {
	s, query := p.Service, state.query()
	if err := checkScope(p.Scope); err != nil {
		return nil, err
	}
	if budget < 0 || budget > math.MaxInt32 {
		return nil, fmt.Errorf("%w: budget is %d tokens", db.ErrInvalidBudget, budget)
	}
	if budget == 0 {
		budget = DefaultRecallTokens
	}
	if query == "" {
		return nil, nil //nolint:nilnil // as the doc says
	}
	if err := checkText("the query", query, maxText); err != nil {
		return nil, err
	}
	limit, err := checkLimit(p.TopK, 3)
	if err != nil {
		return nil, err
	}
	maxLessons := 3
	if p.MaxLessons != nil {
		maxLessons = *p.MaxLessons
	}
	if maxLessons < 0 || maxLessons > 1000 {
		return nil, fmt.Errorf("%w: MaxLessons is %d, but 0 to 1000 are possible", db.ErrInvalidArgument, maxLessons)
	}
	if err := checkEach("ProjectAnchors", p.ProjectAnchors); err != nil {
		return nil, err
	}
	var rows []*db.RecallBlock
	degraded, err := s.byMeaning(ctx, query, nil, func(vector *pgvector.Vector) (err error) {
		rows, err = s.queries.ContextRecallBlock(ctx, s.bound(p.Scope), &db.ContextRecallBlockParams{
			AppName: p.Scope.AppName, Language: or(p.Language, "en"), MaxLessons: int32(maxLessons), MaxMemories: limit,
			MaxTokens: int32(budget), MinRelevance: p.MinRelevance, Now: s.now(), ProjectAnchors: p.ProjectAnchors, Query: query,
			QueryEmbedding: vector, UserID: p.Scope.UserID,
		})
		return db.WrapGo(err)
	})
	if err != nil {
		return nil, fmt.Errorf("recall memories: %w", err)
	}
	if len(rows) == 0 {
		return nil, nil //nolint:nilnil // as the doc says
	}
	row := rows[0]
	return &RecalledMemories{
		ChunkIDs: row.ChunkIds, Content: row.Content, Degraded: degraded, LessonIDs: row.LessonIds, MemoryIDs: row.MemoryIds,
		Name: row.Name, Priority: int(row.Priority), TokenCount: s.counter.Count(row.Content),
	}, nil
}
