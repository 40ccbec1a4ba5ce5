package gemini

import (
	"context"
	"fmt"
	"strings"

	gl "cloud.google.com/go/ai/generativelanguage/apiv1beta"
	pb "cloud.google.com/go/ai/generativelanguage/apiv1beta/generativelanguagepb"

	"github.com/hippocampus-memory/hippocampus/model"
	"github.com/hippocampus-memory/hippocampus/model/internal/vector"
	"github.com/hippocampus-memory/hippocampus/model/internal/wire"
)

// maxBatchChars bounds a request, in characters.
const maxBatchChars = 200_000

type embedder struct {
	client *gl.GenerativeClient
	caller *wire.Caller
	config Config
}

var _ model.Embedder = (*embedder)(nil)

func (e *embedder) Dimension() int { return e.config.Dimension }
func (e *embedder) Name() string   { return provider + "/" + e.config.EmbedModel }

func (e *embedder) Embed(ctx context.Context, texts []string, task model.Task) ([][]float32, error) {
	if err := vector.CheckTask(provider, task); err != nil {
		return nil, err
	}
	texts, err := vector.CleanTexts(provider, texts, e.config.Limits.MaxInputChars)
	if err != nil {
		return nil, err
	}
	vectors := make([][]float32, 0, len(texts))
	for _, batch := range vector.Batches(texts, e.config.MaxBatch, maxBatchChars) {
		part, err := e.batch(ctx, texts[batch[0]:batch[1]], task)
		if err != nil {
			return nil, err
		}
		vectors = append(vectors, part...)
	}
	return vectors, nil
}

func (e *embedder) batch(ctx context.Context, texts []string, task model.Task) (vectors [][]float32, err error) {
	request := e.request(texts, task)
	err = e.caller.Do(ctx, "embed", e.config.Limits.EmbedTimeout, false, func(ctx context.Context) error {
		response, err := e.client.BatchEmbedContents(ctx, request)
		if err != nil {
			return fmt.Errorf("embed contents: %w", err)
		}
		vectors = make([][]float32, len(response.GetEmbeddings()))
		for i, embedding := range response.GetEmbeddings() {
			vectors[i] = embedding.GetValues()
		}
		return vector.Finish(provider, vectors, len(texts), e.config.Dimension)
	})
	return vectors, err
}

func (e *embedder) request(texts []string, task model.Task) *pb.BatchEmbedContentsRequest {
	name, dimension := fullName(e.config.EmbedModel), int32(e.config.Dimension)
	request := &pb.BatchEmbedContentsRequest{Model: name}
	for _, text := range texts {
		one := &pb.EmbedContentRequest{Model: name, OutputDimensionality: &dimension}
		if taskInText(e.config.EmbedModel) {
			text = withTask(text, task)
		} else {
			kind := pb.TaskType_RETRIEVAL_DOCUMENT
			if task == model.TaskQuery {
				kind = pb.TaskType_RETRIEVAL_QUERY
			}
			one.TaskType = &kind
		}
		one.Content = &pb.Content{Parts: []*pb.Part{{Data: &pb.Part_Text{Text: text}}}}
		request.Requests = append(request.Requests, one)
	}
	return request
}

// taskInText tells the models that ignore the task field and want the task in
// front of the text.
func taskInText(name string) bool {
	return strings.HasPrefix(strings.TrimPrefix(name, "models/"), "gemini-embedding-2")
}

func withTask(text string, task model.Task) string {
	if task == model.TaskQuery {
		return "task: search result | query: " + text
	}
	return "title: none | text: " + text
}

// fullName is how the API wants a model named.
func fullName(name string) string {
	if strings.Contains(name, "/") {
		return name
	}
	return "models/" + name
}
