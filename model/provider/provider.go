// Package provider chooses and opens the models a configuration names.
//
//	config, err := provider.FromEnv(os.Getenv)
//	…
//	models, err := provider.Open(ctx, config)
//	…
//	defer models.Close()
package provider

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/hippocampus-memory/hippocampus/model"
	"github.com/hippocampus-memory/hippocampus/model/gemini"
	"github.com/hippocampus-memory/hippocampus/model/llm16"
	"github.com/hippocampus-memory/hippocampus/model/offline"
	"github.com/hippocampus-memory/hippocampus/model/openai"
)

// The names of providers.
const (
	Gemini  = "gemini"
	LLM16   = "llm16" // makes vectors only: see package llm16 before choosing it
	Offline = "offline"
	OpenAI  = "openai"
)

// ErrUnknownProvider is in the chain when a Config names a provider there isn't.
var ErrUnknownProvider = errors.New("unknown model provider")

// Config says which models to use. The zero value is the offline provider.
type Config struct {
	// Dimension of the vectors, for whichever provider makes them. It belongs to
	// the database: see the first migration. Defaults to what the provider's own
	// Config says, which defaults to 1536.
	Dimension int
	// EmbeddingProvider makes the vectors. LLM16 asks the language model of Provider for
	// them, which is noise more than meaning. Defaults to Provider.
	EmbeddingProvider string
	// Gemini is used when a provider is Gemini.
	Gemini gemini.Config
	// MaxEmbedTokens is the Models' of that name. Defaults to 0, which leaves it to those who embed.
	MaxEmbedTokens int
	// Offline is used when a provider is Offline.
	Offline offline.Config
	// OpenAI is used when a provider is OpenAI.
	OpenAI openai.Config
	// Provider writes summaries, facts and classifications. Defaults to Offline:
	// text leaves the machine only when someone says so.
	Provider string
}

// WithDefaults returns a copy with every unset field filled, but for those of
// the providers.
func (c Config) WithDefaults() Config {
	c.Provider = cmp.Or(c.Provider, Offline)
	c.EmbeddingProvider = cmp.Or(c.EmbeddingProvider, c.Provider)
	if c.Dimension != 0 {
		c.Gemini.Dimension, c.Offline.Dimension, c.OpenAI.Dimension = c.Dimension, c.Dimension, c.Dimension
	}
	return c
}

// ChatModelName is the name of the model that writes summaries, facts and
// classifications, as in "openai/gpt-6-luna".
func (c Config) ChatModelName() string {
	switch c = c.WithDefaults(); c.Provider {
	case Gemini:
		return Gemini + "/" + c.Gemini.WithDefaults().ChatModel
	case OpenAI:
		return OpenAI + "/" + c.OpenAI.WithDefaults().ChatModel
	}
	return c.Provider
}

// Open returns the models a Config names. Nothing is sent. A name it doesn't
// know gives ErrUnknownProvider; other errors are the provider's own.
func Open(ctx context.Context, config *Config) (*model.Models, error) {
	c := config.WithDefaults()
	models, err := c.openBoth(ctx)
	if err != nil {
		return nil, err
	}
	models.MaxEmbedTokens = c.MaxEmbedTokens
	return models, nil
}

// openBoth opens the provider, with the embedder of another where one is named.
func (c *Config) openBoth(ctx context.Context) (*model.Models, error) {
	models, err := c.open(ctx, c.Provider)
	if err != nil {
		return nil, err
	}
	switch c.EmbeddingProvider {
	case c.Provider:
		return models, nil
	case LLM16:
		return c.withLLM16(models)
	}
	embedding, err := c.open(ctx, c.EmbeddingProvider)
	if err != nil {
		return nil, errors.Join(err, models.Close())
	}
	mixed := *models
	mixed.Embedder, mixed.MaxEmbedChars = embedding.Embedder, embedding.MaxEmbedChars
	mixed.Close = func() error { return errors.Join(models.Close(), embedding.Close()) }
	return &mixed, nil
}

// withLLM16 is a provider's set whose vectors are asked of its language model.
func (c *Config) withLLM16(models *model.Models) (*model.Models, error) {
	asker, ok := models.Summarizer.(llm16.Asker)
	if !ok {
		return nil, errors.Join(fmt.Errorf("%w: %s asks a language model for vectors: want %s or %s for it, not %q",
			ErrUnknownProvider, LLM16, Gemini, OpenAI, c.Provider), models.Close())
	}
	dimension, maxInputChars := c.OpenAI.WithDefaults().Dimension, c.OpenAI.WithDefaults().Limits.MaxInputChars
	if c.Provider == Gemini {
		dimension, maxInputChars = c.Gemini.WithDefaults().Dimension, c.Gemini.WithDefaults().Limits.MaxInputChars
	}
	embedder, err := llm16.New(asker, dimension, maxInputChars)
	if err != nil {
		return nil, errors.Join(err, models.Close())
	}
	mixed := *models
	mixed.Embedder, mixed.MaxEmbedChars = embedder, maxInputChars
	return &mixed, nil
}

func (c *Config) open(ctx context.Context, name string) (*model.Models, error) {
	switch name {
	case Gemini:
		return gemini.Open(ctx, &c.Gemini)
	case Offline:
		return offline.Open(ctx, &c.Offline)
	case OpenAI:
		return openai.Open(ctx, &c.OpenAI)
	default:
		return nil, fmt.Errorf("%w %q: want %s, %s or %s, or %s for the vectors", ErrUnknownProvider, name, Gemini, OpenAI, Offline, LLM16)
	}
}
