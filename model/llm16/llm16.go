// Package llm16 makes vectors of 16 values that a language model is asked for, for those who have a
// language model and no embedding model.
//
// It is offered for completeness and is never a default. A language model that is asked for numbers
// makes them up: near texts need not come near, and the same text may come out otherwise when it's
// asked again. A search by them is close to a search by chance, and 16 values would tell little even
// if they were right. The offline provider, which needs no model at all, is the better choice; an
// embedding model is the right one. Each text is a call of the language model, at its price.
package llm16

import (
	"context"
	"fmt"

	"github.com/hippocampus-memory/hippocampus/model"
	"github.com/hippocampus-memory/hippocampus/model/internal/vector"
)

const (
	provider = "llm16"
	// Values is how many values the language model is asked for.
	Values = 16
)

// Asker asks a language model for so many values from -1 to 1 that describe a text. Those of the
// providers gemini and openai do.
type Asker interface {
	// Values gives finite values, not all of them zero.
	Values(ctx context.Context, text string, n int) ([]float32, error)
	// ModelName is the language model's, as in "openai/gpt-6-luna".
	ModelName() string
}

type embedder struct {
	asker         Asker
	dimension     int
	maxInputChars int
}

// New makes an embedder of a language model. Vectors of the dimension hold the 16 values as often as
// they fit, and zeros after that, so two of them are as near as the values are. A dimension below 16 is
// an error; maxInputChars bounds a text.
func New(asker Asker, dimension, maxInputChars int) (model.Embedder, error) {
	if dimension < Values {
		return nil, fmt.Errorf("llm16: dimension is %d, but must be at least %d", dimension, Values)
	}
	return &embedder{asker: asker, dimension: dimension, maxInputChars: maxInputChars}, nil
}

func (e *embedder) Dimension() int { return e.dimension }

// Name has the language model in it: another one makes other values of the same text.
func (e *embedder) Name() string { return provider + "/" + e.asker.ModelName() }

// Embed implements model.Embedder. It asks for one text after another; documents and queries are
// asked for alike.
func (e *embedder) Embed(ctx context.Context, texts []string, task model.Task) ([][]float32, error) {
	if err := vector.CheckTask(provider, task); err != nil {
		return nil, err
	}
	texts, err := vector.CleanTexts(provider, texts, e.maxInputChars)
	if err != nil {
		return nil, err
	}
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		values, err := e.asker.Values(ctx, text, Values)
		if err != nil {
			return nil, err
		}
		vectors[i] = expand(values, e.dimension)
	}
	return vectors, vector.Finish(provider, vectors, len(texts), e.dimension)
}

// expand repeats values as often as they fit: of two vectors, every sum of products grows by the same
// factor, so their cosine stays.
func expand(values []float32, dimension int) []float32 {
	expanded := make([]float32, 0, dimension)
	for len(expanded)+len(values) <= dimension {
		expanded = append(expanded, values...)
	}
	return expanded[:dimension]
}
