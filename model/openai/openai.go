// Package openai reaches OpenAI, and every server that speaks its protocol:
// Ollama, vLLM, llama.cpp, LM Studio and others, by Config.BaseURL.
//
// Models are settings, since OpenAI retires them: see
// https://developers.openai.com/api/docs/deprecations. The defaults were chosen
// in November 2026, when gpt-4.1-mini was announced to end in January 2027 with
// gpt-6-luna in its place. Changing the embedding model means embedding
// everything again.
//
// Servers differ in what they take; the settings left unset adapt:
//
//   - an answer's form is asked for as a JSON schema; a server that refuses is
//     asked for any JSON object, or for text, from then on;
//   - "dimensions" is sent only for models named text-embedding-3…;
//   - temperature 0 is sent except to reasoning models, which refuse it.
//
// Ollama reads only the first num_ctx tokens of a prompt (4,096 unless set in
// the model file) and says nothing about the rest: raise it, or set
// Limits.MaxInputChars to what fits, which a worker heeds by itself.
package openai

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/sashabaranov/go-openai"

	"github.com/hippocampus-memory/hippocampus/model"
	"github.com/hippocampus-memory/hippocampus/model/internal/chat"
	"github.com/hippocampus-memory/hippocampus/model/internal/gate"
	"github.com/hippocampus-memory/hippocampus/model/internal/wire"
)

const (
	provider       = "openai"
	defaultBaseURL = "https://api.openai.com/v1"
	// maxBatch is the most texts the API takes in one request.
	maxBatch = 2048
)

// Config of the provider.
type Config struct {
	// APIKey is required unless BaseURL names another server.
	APIKey string
	// BaseURL of the API with its version, e.g. "http://localhost:11434/v1".
	// Defaults to OpenAI's.
	BaseURL string
	// ChatModel writes summaries, facts and classifications. Defaults to "gpt-6-luna".
	ChatModel string
	// Dimension of the vectors. Defaults to 1536. A server that can't be told
	// must have a model of just this dimension.
	Dimension int
	// EmbedModel makes the vectors. Defaults to "text-embedding-3-small".
	EmbedModel string
	// Limits bound time, rate and size.
	Limits model.Limits
	// MaxBatch bounds the texts sent in one request, 1 to 2048. Defaults to 128.
	MaxBatch int
	// MaxBatchChars bounds the characters sent in one request; a longer text is
	// sent alone. Defaults to 200,000.
	MaxBatchChars int
	// MaxOutputTokens bounds an answer; reasoning counts. Defaults to the
	// server's own limit.
	MaxOutputTokens int
	// ReasoningEffort of a reasoning model. Defaults to "none" for gpt-6-luna,
	// and otherwise to the server's own.
	ReasoningEffort string
	// SendDimensions tells whether a request for vectors says how many values
	// they shall have. Defaults to true for models named text-embedding-3….
	SendDimensions *bool
	// Temperature of the language model. Defaults to 0, and to nothing sent for
	// reasoning models.
	Temperature *float32
	// Transport sends the requests. Defaults to a clone of http.DefaultTransport.
	Transport http.RoundTripper
}

// WithDefaults returns a copy with every unset field filled.
func (c Config) WithDefaults() Config {
	c.BaseURL = cmp.Or(strings.TrimRight(c.BaseURL, "/"), defaultBaseURL)
	c.ChatModel = cmp.Or(c.ChatModel, openai.GPT6Luna)
	c.Dimension = cmp.Or(c.Dimension, 1536)
	c.EmbedModel = cmp.Or(c.EmbedModel, string(openai.SmallEmbedding3))
	c.Limits = c.Limits.WithDefaults()
	c.MaxBatch = cmp.Or(c.MaxBatch, 128)
	c.MaxBatchChars = cmp.Or(c.MaxBatchChars, 200_000)
	if c.ReasoningEffort == "" && c.ChatModel == openai.GPT6Luna {
		c.ReasoningEffort = openai.ReasoningEffortNone
	}
	if c.SendDimensions == nil {
		send := strings.HasPrefix(c.EmbedModel, "text-embedding-3")
		c.SendDimensions = &send
	}
	if c.Temperature == nil && !reasons(c.ChatModel) {
		c.Temperature = new(float32)
	}
	return c
}

// reasons tells OpenAI's reasoning models by name.
func reasons(name string) bool {
	for _, prefix := range []string{"gpt-5", "gpt-6", "o1", "o3", "o4"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

func (c Config) validate() error {
	if c.BaseURL == defaultBaseURL && strings.TrimSpace(c.APIKey) == "" {
		return errors.New("no API key: set OPENAI_API_KEY (a local server, set as OPENAI_BASE_URL, accepts any value)")
	}
	if c.Dimension < 1 {
		return fmt.Errorf("dimension is %d, but must be positive", c.Dimension)
	}
	if c.MaxBatch < 1 || c.MaxBatch > maxBatch {
		return fmt.Errorf("batch size %d is not from 1 to %d", c.MaxBatch, maxBatch)
	}
	if c.MaxBatchChars < 1 || c.MaxOutputTokens < 0 {
		return fmt.Errorf("limits must not be negative: %d characters a batch, %d output tokens", c.MaxBatchChars, c.MaxOutputTokens)
	}
	return c.Limits.Validate()
}

// Open returns the provider's models. It sends nothing: a wrong key shows in
// the first call, as KindRejected.
func Open(_ context.Context, config *Config) (*model.Models, error) {
	c := config.WithDefaults()
	if err := c.validate(); err != nil {
		return nil, fmt.Errorf("openai: %w", err)
	}
	address, err := url.Parse(c.BaseURL)
	if err != nil || address.Host == "" || address.Scheme != "http" && address.Scheme != "https" {
		return nil, errors.New("openai: the base URL is not an http or https URL")
	}
	secrets := []string{c.APIKey}
	httpClient := wire.NewClient(wire.Options{Secrets: secrets, Base: c.Transport})
	settings := openai.DefaultConfig(c.APIKey)
	settings.BaseURL = c.BaseURL
	settings.HTTPClient = httpClient
	client := openai.NewClientWithConfig(settings)

	// A gate for each, so that slow answers don't keep searches waiting.
	caller := func() *wire.Caller {
		return &wire.Caller{
			Provider: provider,
			Gate:     gate.New(c.Limits.MaxConcurrent, c.Limits.RequestsPerSecond),
			Retry:    c.Limits.Retry,
			Logger:   c.Limits.Logger,
			Secrets:  secrets,
			KeyFrom:  "OPENAI_API_KEY",
			Address:  "OPENAI_BASE_URL, " + address.Redacted(),
		}
	}
	ports := &chat.Ports{
		Generator:     &generator{client: client, caller: caller(), config: c},
		Provider:      provider,
		Model:         provider + "/" + c.ChatModel,
		MaxInputChars: c.Limits.MaxInputChars,
	}
	return &model.Models{
		Embedder:   &embedder{client: client, caller: caller(), config: c},
		Summarizer: ports,
		Reflector:  ports,
		Classifier: ports,

		MaxEmbedChars: c.Limits.MaxInputChars, MaxInputChars: c.Limits.MaxInputChars,
		Close: func() error {
			httpClient.CloseIdleConnections()
			return nil
		},
	}, nil
}
