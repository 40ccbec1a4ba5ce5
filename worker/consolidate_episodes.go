package worker

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/hippocampus-memory/hippocampus/db"
)

// episodeRow is an episode as _remember_episodes takes it.
type episodeRow struct {
	Author        *string                    `json:"author"`
	Category      string                     `json:"category"`
	Content       string                     `json:"content"`
	FromSeq       int64                      `json:"from_seq"`
	Importance    float64                    `json:"importance"`
	InitialScore  float64                    `json:"initial_score"`
	Metadata      map[string]json.RawMessage `json:"metadata"`
	OccurredFrom  time.Time                  `json:"occurred_from"`
	OccurredUntil time.Time                  `json:"occurred_until"`
	Source        string                     `json:"source"`
	Tags          []string                   `json:"tags"`
	ToSeq         int64                      `json:"to_seq"`
	TokenCount    int                        `json:"token_count"`
}

// writeEpisodes stores all episodes of a piece in one statement, and gives their ids in order.
func (c *consolidation) writeEpisodes(ctx context.Context, tx pgx.Tx, p *piece, episodes []*newMemory) ([]uuid.UUID, error) {
	if len(episodes) == 0 {
		return nil, nil
	}
	rows := make([]*episodeRow, len(episodes))
	var embeddings []float32 // of all, one after the other
	for i, m := range episodes {
		rows[i] = &episodeRow{
			Author: m.author, Category: m.category, Content: m.content, FromSeq: m.fromSeq, Importance: m.score,
			InitialScore: m.initialScore, Metadata: m.context, OccurredFrom: m.from, OccurredUntil: m.until, Source: FastReplay,
			Tags: m.tags, ToSeq: m.toSeq, TokenCount: c.config.Counter.Count(m.content),
		}
		if m.vector != nil { // all have one, or none
			embeddings = append(embeddings, m.vector...)
		}
	}
	text, err := json.Marshal(rows)
	if err != nil {
		return nil, fmt.Errorf("write them as JSON: %w", err)
	}
	params := &db.MemoryRememberEpisodesParams{
		AppName: p.thread.AppName, Embeddings: embeddings, Episodes: text, ThreadID: p.thread.ID, UserID: p.thread.UserID,
	}
	if embeddings != nil {
		params.EmbeddingModel = new(c.config.Models.Embedder.Name())
	}
	return c.queries.MemoryRememberEpisodes(ctx, tx, params)
}
