// Package gemini reaches Google's models through the Gemini API.
//
// Language models are called with github.com/google/generative-ai-go. Vectors
// are asked for with the client underneath it, which alone can say how many
// values a vector shall have. The API key travels in a header; both clients
// would put it into the URL.
//
// Models are settings, since Google retires them after about a year: see
// https://ai.google.dev/gemini-api/docs/deprecations. The defaults were chosen
// in November 2026, when gemini-2.5-flash was about to be switched off in favour
// of gemini-3.5-flash-lite. gemini-embedding-001 reads at most 2,048 tokens of a
// text and silently ignores the rest; gemini-embedding-2 reads 8,192. Changing
// the embedding model means embedding everything again.
package gemini

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	gl "cloud.google.com/go/ai/generativelanguage/apiv1beta"
	"github.com/google/generative-ai-go/genai"
	"google.golang.org/api/option"

	"github.com/hippocampus-memory/hippocampus/model"
	"github.com/hippocampus-memory/hippocampus/model/internal/chat"
	"github.com/hippocampus-memory/hippocampus/model/internal/gate"
	"github.com/hippocampus-memory/hippocampus/model/internal/wire"
)

const provider = "gemini"

// maxBatch is the most texts the API takes in one request.
const maxBatch = 100

// Config of the provider.
type Config struct {
	// APIKey is required.
	APIKey string
	// BaseURL of the API, without a version. Defaults to Google's.
	BaseURL string
	// ChatModel writes summaries, facts and classifications. Defaults to
	// "gemini-3.5-flash-lite".
	ChatModel string
	// Dimension of the vectors, 1 to 3072. Defaults to 1536.
	Dimension int
	// EmbedModel makes the vectors. Defaults to "gemini-embedding-001".
	EmbedModel string
	// Limits bound time, rate and size.
	Limits model.Limits
	// MaxBatch bounds the texts sent in one request, 1 to 100. Defaults to 100.
	MaxBatch int
	// MaxOutputTokens bounds an answer; thinking counts. Defaults to the model's
	// own limit.
	MaxOutputTokens int
	// Temperature of the language model. Defaults to the model's own; newer
	// models ignore or discourage any other.
	Temperature *float32
	// Transport sends the requests. Defaults to a clone of http.DefaultTransport.
	Transport http.RoundTripper
}

// WithDefaults returns a copy with every unset field filled.
func (c Config) WithDefaults() Config {
	c.ChatModel = cmp.Or(c.ChatModel, "gemini-3.5-flash-lite")
	c.Dimension = cmp.Or(c.Dimension, 1536)
	c.EmbedModel = cmp.Or(c.EmbedModel, "gemini-embedding-001")
	c.Limits = c.Limits.WithDefaults()
	c.MaxBatch = cmp.Or(c.MaxBatch, maxBatch)
	return c
}

func (c Config) validate() error {
	if strings.TrimSpace(c.APIKey) == "" {
		return errors.New("no API key: set GEMINI_API_KEY")
	}
	if c.Dimension < 1 || c.Dimension > 3072 {
		return fmt.Errorf("dimension is %d, but must be between 1 and 3072", c.Dimension)
	}
	if c.MaxBatch < 1 || c.MaxBatch > maxBatch {
		return fmt.Errorf("batch size %d is not from 1 to %d", c.MaxBatch, maxBatch)
	}
	if c.MaxOutputTokens < 0 {
		return fmt.Errorf("max output tokens must not be negative: %d", c.MaxOutputTokens)
	}
	if c.BaseURL != "" {
		if u, err := url.Parse(c.BaseURL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return errors.New("the base URL is not an http or https URL")
		}
	}
	return c.Limits.Validate()
}

// Open returns the provider's models. It sends nothing: a wrong key shows in
// the first call, as KindRejected.
func Open(ctx context.Context, config *Config) (*model.Models, error) {
	c := config.WithDefaults()
	if err := c.validate(); err != nil {
		return nil, fmt.Errorf("gemini: %w", err)
	}
	secrets := []string{c.APIKey}
	client := wire.NewClient(wire.Options{
		Header:  http.Header{"X-Goog-Api-Key": {c.APIKey}},
		Secrets: secrets,
		Base:    c.Transport,
	})
	options := []option.ClientOption{option.WithHTTPClient(client)}
	if c.BaseURL != "" {
		options = append(options, option.WithEndpoint(strings.TrimRight(c.BaseURL, "/")))
	}
	embedClient, err := gl.NewGenerativeRESTClient(ctx, options...)
	if err != nil {
		return nil, fmt.Errorf("gemini: open embedding client: %w", err)
	}
	// The key as an option is for a part of the client that we don't use and
	// that can't be made without; our HTTP client keeps it out of the URL.
	chatClient, err := genai.NewClient(ctx, append(options, option.WithAPIKey(c.APIKey))...)
	if err != nil {
		return nil, fmt.Errorf("gemini: open client: %w", err)
	}
	// A gate for each, so that slow answers don't keep searches waiting.
	caller := func() *wire.Caller {
		return &wire.Caller{
			Provider: provider,
			Gate:     gate.New(c.Limits.MaxConcurrent, c.Limits.RequestsPerSecond),
			Retry:    c.Limits.Retry,
			Logger:   c.Limits.Logger,
			Secrets:  secrets,
			KeyFrom:  "GEMINI_API_KEY",
		}
	}
	ports := &chat.Ports{
		Generator:     &generator{client: chatClient, caller: caller(), config: c},
		Provider:      provider,
		Model:         provider + "/" + c.ChatModel,
		MaxInputChars: c.Limits.MaxInputChars,
	}
	return &model.Models{
		Embedder:   &embedder{client: embedClient, caller: caller(), config: c},
		Summarizer: ports,
		Reflector:  ports,
		Classifier: ports,

		MaxEmbedChars: c.Limits.MaxInputChars, MaxInputChars: c.Limits.MaxInputChars,
		Close: func() error {
			defer client.CloseIdleConnections()
			return errors.Join(chatClient.Close(), embedClient.Close())
		},
	}, nil
}
