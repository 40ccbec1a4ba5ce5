package db

import (
	"context"
	"fmt"
)

// CheckEmbedder refuses an embedder that is not the one of the deployment's vectors: vectors of two
// models can't be compared. The first embedder that fits becomes the deployment's.
//
// Errors: [ErrDimension]; [ErrEmbeddingModel].
func CheckEmbedder(ctx context.Context, q DBTX, name string, dimension int) error {
	queries := New()
	serving, err := queries.EmbeddingModelServing(ctx, q)
	if err != nil {
		return fmt.Errorf("read the embedding model: %w", Wrap(err))
	}
	if dimension != int(serving.Dimension) {
		whose := ""
		if serving.Model != nil {
			whose = " of " + *serving.Model
		}
		return fmt.Errorf("%w: the database has vectors of %d dimensions%s, %s makes %d: set the embedder's dimension to %[2]d, "+
			"use an embedder that makes so many, or use another database; re-embedding is not available yet",
			ErrDimension, serving.Dimension, whose, name, dimension)
	}
	if serving.Model == nil {
		if err := queries.EmbeddingModelSetName(ctx, q, name); err != nil {
			return fmt.Errorf("name the embedding model: %w", Wrap(err))
		}
		if serving, err = queries.EmbeddingModelServing(ctx, q); err != nil { // somebody else may have been first
			return fmt.Errorf("read the embedding model: %w", Wrap(err))
		}
	}
	if serving.Model != nil && *serving.Model != name {
		return fmt.Errorf("%w: the database has vectors of %s, not of %s: use the embedder %[2]s, or another database; "+
			"re-embedding is not available yet", ErrEmbeddingModel, *serving.Model, name)
	}
	return nil
}
