package db

import (
	"context"
	"fmt"
)

// CheckEmbedder refuses an embedder of whose model the deployment has no vectors: vectors of two
// models can't be compared. The first embedder that fits becomes the deployment's, where the login is
// trusted; a bound login's is refused until then. A generation
// that is building counts from when all rows that were there have their vector, one that served before until it is
// dropped: so that clients of both models go on while one takes the other's place.
//
// Errors: [ErrDimension]; [ErrEmbeddingModel]; [ErrPermission].
func CheckEmbedder(ctx context.Context, q DBTX, name string, dimension int) error {
	_, whole, err := EmbedderGenerations(ctx, q, name, dimension)
	if err == nil && !whole {
		err = fmt.Errorf("%w: the vectors of %s are still being made: start again when the re-embedding is done",
			ErrEmbeddingModel, name)
	}
	return err
}

// EmbedderGenerations gives the generations of embeddings that a worker with this embedder fills, and whether one of
// them is whole, so that rows may be compared by its vectors.
//
// Errors: as those of [CheckEmbedder], but for a generation that is building.
func EmbedderGenerations(ctx context.Context, q DBTX, name string, dimension int) (numbers []int32, whole bool, err error) {
	generations, err := generationsOf(ctx, q, name, dimension)
	if err != nil {
		return nil, false, err
	}
	numbers = make([]int32, len(generations))
	for i, g := range generations {
		numbers[i] = g.Generation
		is, err := New().EmbeddingGenerationIsWhole(ctx, q, g.Generation)
		if err != nil {
			return nil, false, fmt.Errorf("look how far the embeddings are: %w", Wrap(err))
		}
		whole = whole || is
	}
	return numbers, whole, nil
}

// generationsOf gives the generations that an embedder's vectors belong to, one at least.
func generationsOf(ctx context.Context, q DBTX, name string, dimension int) ([]*EmbeddingModel, error) {
	queries := New()
	all, err := queries.EmbeddingModelList(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("read the embedding models: %w", Wrap(err))
	}
	serving := servingOf(all)
	if serving.Model == nil && dimension == int(serving.Dimension) {
		if err := queries.EmbeddingModelSetName(ctx, q, name); err != nil {
			return nil, fmt.Errorf("name the embedding model: %w", Wrap(err))
		}
		if all, err = queries.EmbeddingModelList(ctx, q); err != nil { // somebody else may have been first
			return nil, fmt.Errorf("read the embedding models: %w", Wrap(err))
		}
		serving = servingOf(all)
	}
	var found []*EmbeddingModel
	for _, g := range all {
		if g.Model != nil && *g.Model == name && int(g.Dimension) == dimension {
			found = append(found, g)
		}
	}
	switch {
	case len(found) > 0:
		return found, nil
	case dimension != int(serving.Dimension):
		whose := ""
		if serving.Model != nil {
			whose = " of " + *serving.Model
		}
		return nil, fmt.Errorf("%w: the database has vectors of %d dimensions%s, %s makes %d: set the embedder's dimension to %[2]d, "+
			"use an embedder that makes so many, or change the model with hippo reembed", ErrDimension, serving.Dimension, whose, name, dimension)
	case serving.Model == nil: // what a bound login writes could be taken for vectors of the model that is named after it
		return nil, fmt.Errorf("%w: the database's embedding model has no name yet, and this login may not give it one: "+
			"start a worker once, or this as a member of hippocampus_service, with the embedder %s", ErrPermission, name)
	default:
		return nil, fmt.Errorf("%w: the database has vectors of %s, not of %s: use the embedder %[2]s, "+
			"or change the model with hippo reembed", ErrEmbeddingModel, *serving.Model, name)
	}
}

// servingOf finds the generation that serves; there is always one.
func servingOf(all []*EmbeddingModel) *EmbeddingModel {
	for _, g := range all {
		if g.Status == "serving" {
			return g
		}
	}
	return &EmbeddingModel{}
}
