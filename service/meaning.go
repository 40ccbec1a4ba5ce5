package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/pgvector/pgvector-go"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/model"
)

// byMeaning runs what finds something by a query's words and its vector: the caller's, or the one that the
// embedder makes, before a connection is taken. Where the embedder fails, or the deployment has dropped the vectors
// of its model, it is run by words alone, which degraded says, unless the config's RequireEmbedding is set.
// Every verb that asks the embedder about a query does it here, but for StoreBatch, which has many.
func (s *OpenMemoryService) byMeaning(
	ctx context.Context, query string, given []float32, run func(vector *pgvector.Vector) error,
) (degraded bool, err error) {
	vector, degraded, err := s.embedQuery(ctx, query, given)
	if err != nil {
		return false, err
	}
	if err = run(vector); vector != nil && given == nil && s.outlived(ctx, err) {
		return true, run(nil)
	}
	return degraded, err
}

// embedQuery makes the vector of a query, unless the caller gave it or there's nothing to embed or
// to embed with. It takes no connection.
func (s *OpenMemoryService) embedQuery(
	ctx context.Context, query string, given []float32,
) (vector *pgvector.Vector, degraded bool, err error) {
	if given != nil {
		return new(pgvector.NewVector(given)), false, nil
	}
	vectors, degraded, err := s.embedQueries(ctx, []string{query})
	if err != nil || degraded {
		return nil, degraded, err
	}
	return vectors[0], false, nil
}

// embedQueries makes the vectors of queries by one call of the embedder; where there's nothing to embed or to embed
// with, there is none. It takes no connection.
func (s *OpenMemoryService) embedQueries(
	ctx context.Context, queries []string,
) (vectors []*pgvector.Vector, degraded bool, err error) {
	vectors = make([]*pgvector.Vector, len(queries))
	if s.config.Embedder == nil {
		return vectors, false, nil
	}
	var (
		at    []int
		texts []string
	)
	for i, query := range queries {
		if strings.TrimSpace(query) != "" {
			at, texts = append(at, i), append(texts, s.embeddable(query))
		}
	}
	if len(texts) == 0 {
		return vectors, false, nil
	}
	made, err := s.config.Embedder.Embed(ctx, texts, model.TaskQuery)
	if err == nil && len(made) != len(texts) {
		err = fmt.Errorf("%w: %d vectors for %d queries", db.ErrInvalidEmbedding, len(made), len(texts))
	}
	for i := 0; err == nil && i < len(made); i++ {
		err = checkDirection("the query's vector", made[i])
		vectors[at[i]] = new(pgvector.NewVector(made[i]))
	}
	switch {
	case err == nil:
		return vectors, false, nil
	case ctx.Err() != nil, s.config.RequireEmbedding:
		return nil, false, fmt.Errorf("embed the query: %w", err)
	}
	s.config.Logger.WarnContext(ctx, "service: the embedder failed, searching by words alone", slog.Any("error", err))
	return nil, true, nil
}

// embeddable is what of a text its vector stands for.
func (s *OpenMemoryService) embeddable(text string) string {
	return model.Head(s.counter.Count, text, s.config.MaxEmbedTokens, model.EmbedChars(s.config.MaxEmbedTokens, s.config.MaxEmbedChars))
}

// outlived tells whether a statement failed because the vectors of the service's own model were
// dropped: another one serves, and this process is to be started again with that. Until then it
// works by words.
func (s *OpenMemoryService) outlived(ctx context.Context, err error) bool {
	if s.config.RequireEmbedding || !errors.Is(err, db.ErrEmbeddingModel) && !errors.Is(err, db.ErrDimension) {
		return false
	}
	s.config.Logger.WarnContext(ctx, "service: the deployment has no vectors of this embedder any more, going on by words alone",
		slog.String("embedder", s.config.Embedder.Name()), slog.Any("error", err))
	return true
}
