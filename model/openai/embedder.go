package openai

import (
	"context"
	"fmt"

	"github.com/sashabaranov/go-openai"

	"github.com/hippocampus-memory/hippocampus/model"
	"github.com/hippocampus-memory/hippocampus/model/internal/vector"
	"github.com/hippocampus-memory/hippocampus/model/internal/wire"
)

type embedder struct {
	client *openai.Client
	caller *wire.Caller
	config Config
}

var _ model.Embedder = (*embedder)(nil)

func (e *embedder) Dimension() int { return e.config.Dimension }
func (e *embedder) Name() string   { return provider + "/" + e.config.EmbedModel }

// Embed implements model.Embedder. The protocol has no task: documents and
// queries are embedded alike.
func (e *embedder) Embed(ctx context.Context, texts []string, task model.Task) ([][]float32, error) {
	if err := vector.CheckTask(provider, task); err != nil {
		return nil, err
	}
	texts, err := vector.CleanTexts(provider, texts, e.config.Limits.MaxInputChars)
	if err != nil {
		return nil, err
	}
	vectors := make([][]float32, 0, len(texts))
	for _, batch := range vector.Batches(texts, e.config.MaxBatch, e.config.MaxBatchChars) {
		part, err := e.batch(ctx, texts[batch[0]:batch[1]])
		if err != nil {
			return nil, err
		}
		vectors = append(vectors, part...)
	}
	return vectors, nil
}

func (e *embedder) batch(ctx context.Context, texts []string) (vectors [][]float32, err error) {
	request := openai.EmbeddingRequest{
		Input:          texts,
		Model:          openai.EmbeddingModel(e.config.EmbedModel),
		EncodingFormat: openai.EmbeddingEncodingFormatFloat,
	}
	if *e.config.SendDimensions {
		request.Dimensions = e.config.Dimension
	}
	err = e.caller.Do(ctx, "embed", e.config.Limits.EmbedTimeout, false, func(ctx context.Context) error {
		response, err := e.client.CreateEmbeddings(ctx, request)
		if err != nil {
			return fmt.Errorf("create embeddings: %w", err)
		}
		if vectors, err = inOrder(response.Data); err != nil {
			return err
		}
		return vector.Finish(provider, vectors, len(texts), e.config.Dimension)
	})
	return vectors, err
}

// inOrder sorts vectors by the index of the text they belong to: the protocol
// doesn't promise an order, and a vector on the wrong memory would never be
// noticed.
func inOrder(data []openai.Embedding) ([][]float32, error) {
	vectors := make([][]float32, len(data))
	for _, embedding := range data {
		if embedding.Index < 0 || embedding.Index >= len(data) || vectors[embedding.Index] != nil || embedding.Embedding == nil {
			return nil, &model.Error{
				Kind: model.KindInvalidReply, Provider: provider, Operation: "embed",
				Err: fmt.Errorf("of %d vectors, index %d is missing, out of range or given twice", len(data), embedding.Index),
			}
		}
		vectors[embedding.Index] = embedding.Embedding
	}
	return vectors, nil
}
