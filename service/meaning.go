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
	if s.config.Embedder == nil || strings.TrimSpace(query) == "" {
		return nil, false, nil
	}
	vectors, err := s.config.Embedder.Embed(ctx, []string{query}, model.TaskQuery)
	if err == nil && len(vectors) != 1 {
		err = fmt.Errorf("%w: %d vectors for a query", db.ErrInvalidEmbedding, len(vectors))
	}
	if err == nil {
		err = checkDirection("the query's vector", vectors[0])
	}
	switch {
	case err == nil:
		return new(pgvector.NewVector(vectors[0])), false, nil
	case ctx.Err() != nil, s.config.RequireEmbedding:
		return nil, false, fmt.Errorf("embed the query: %w", err)
	}
	s.config.Logger.WarnContext(ctx, "service: the embedder failed, searching by words alone", slog.Any("error", err))
	return nil, true, nil
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
