// Package offline answers every port of package model without a key, a network
// or a model: deterministic, in pure Go, in microseconds to milliseconds. It
// lets the whole engine run on a laptop and in tests.
//
// It is weaker than a language model and says so. The embedder finds texts that
// share words or parts of words; it knows no synonyms and no other language. The
// summarizer picks sentences and writes none. The reflector knows patterns of
// English and Chinese and leaves out what it isn't sure of. The classifier
// compares words, numbers and negations.
package offline

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/hippocampus-memory/hippocampus/model"
)

const provider = "offline"

// Config of the provider.
type Config struct {
	// Dimension of the vectors, 64 to 4000. Defaults to 1536. Fewer values mean
	// more chance likenesses between unrelated texts.
	Dimension int
	// MaxInputChars bounds what one call takes, in characters, as for a provider
	// over a network. Defaults to 200,000.
	MaxInputChars int
}

// WithDefaults returns a copy with every unset field filled.
func (c Config) WithDefaults() Config {
	c.Dimension = cmp.Or(c.Dimension, 1536)
	c.MaxInputChars = cmp.Or(c.MaxInputChars, 200_000)
	return c
}

// Open returns the provider's models. Its errors are about the Config.
func Open(_ context.Context, config *Config) (*model.Models, error) {
	c := config.WithDefaults()
	if c.Dimension < 64 || c.Dimension > 4000 {
		return nil, fmt.Errorf("offline: dimension is %d, but must be between 64 and 4000", c.Dimension)
	}
	if c.MaxInputChars < 0 || c.MaxInputChars > math.MaxInt32 {
		return nil, fmt.Errorf("offline: max input chars %d is out of range", c.MaxInputChars)
	}
	return &model.Models{
		Embedder:      &embedder{dimension: c.Dimension, maxChars: c.MaxInputChars},
		Summarizer:    &summarizer{maxChars: c.MaxInputChars},
		Reflector:     &reflector{maxChars: c.MaxInputChars},
		Classifier:    &classifier{maxChars: c.MaxInputChars},
		MaxEmbedChars: c.MaxInputChars, MaxInputChars: c.MaxInputChars,
		Close: func() error { return nil },
	}, nil
}
