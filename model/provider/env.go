package provider

import (
	"cmp"
	"fmt"
	"strconv"
	"time"
)

// The environment variables FromEnv reads.
const (
	EnvChatModel   = "HIPPOCAMPUS_CHAT_MODEL"         // e.g. gemini-3.5-flash-lite, gpt-6-luna, llama3.2
	EnvChatTime    = "HIPPOCAMPUS_CHAT_TIMEOUT"       // of one request, e.g. 3m
	EnvDimension   = "HIPPOCAMPUS_DIMENSION"          // e.g. 1536
	EnvEmbedModel  = "HIPPOCAMPUS_EMBED_MODEL"        // e.g. gemini-embedding-001, text-embedding-3-small
	EnvEmbedTime   = "HIPPOCAMPUS_EMBED_TIMEOUT"      // of one request, e.g. 1m
	EnvEmbedder    = "HIPPOCAMPUS_EMBEDDING_PROVIDER" // gemini, openai, offline or llm16; default: the provider
	EnvGeminiKey   = "GEMINI_API_KEY"                 // or GOOGLE_API_KEY
	EnvGoogleKey   = "GOOGLE_API_KEY"
	EnvInputChars  = "HIPPOCAMPUS_MAX_INPUT_CHARS" // e.g. 200000
	EnvOpenAIKey   = "OPENAI_API_KEY"
	EnvOpenAIURL   = "OPENAI_BASE_URL"            // e.g. http://localhost:11434/v1
	EnvProvider    = "HIPPOCAMPUS_MODEL_PROVIDER" // gemini, openai or offline; default: offline
	EnvOutputToken = "HIPPOCAMPUS_MAX_OUTPUT_TOKENS"
)

// FromEnv makes a Config of environment variables, which getenv looks up (give
// os.Getenv). Model names and limits apply to the provider that uses them. A
// number or time that isn't one is an error that names the variable.
func FromEnv(getenv func(string) string) (*Config, error) {
	c := Config{Provider: getenv(EnvProvider), EmbeddingProvider: getenv(EnvEmbedder)}
	c.Gemini.APIKey = cmp.Or(getenv(EnvGeminiKey), getenv(EnvGoogleKey))
	c.OpenAI.APIKey = getenv(EnvOpenAIKey)
	c.OpenAI.BaseURL = getenv(EnvOpenAIURL)

	var inputChars, outputTokens int
	for name, into := range map[string]*int{EnvDimension: &c.Dimension, EnvInputChars: &inputChars, EnvOutputToken: &outputTokens} {
		value := getenv(name)
		if value == "" {
			continue
		}
		n, err := strconv.Atoi(value)
		if err != nil || n <= 0 {
			return nil, fmt.Errorf("%s: %q is not a positive number", name, value)
		}
		*into = n
	}
	for name, into := range map[string][]*time.Duration{
		EnvChatTime:  {&c.Gemini.Limits.ChatTimeout, &c.OpenAI.Limits.ChatTimeout},
		EnvEmbedTime: {&c.Gemini.Limits.EmbedTimeout, &c.OpenAI.Limits.EmbedTimeout},
	} {
		value := getenv(name)
		if value == "" {
			continue
		}
		limit, err := time.ParseDuration(value)
		if err != nil || limit <= 0 {
			return nil, fmt.Errorf("%s: %q is no time such as 90s", name, value)
		}
		for _, d := range into {
			*d = limit
		}
	}
	c.Gemini.Limits.MaxInputChars, c.OpenAI.Limits.MaxInputChars, c.Offline.MaxInputChars = inputChars, inputChars, inputChars
	c.Gemini.MaxOutputTokens, c.OpenAI.MaxOutputTokens = outputTokens, outputTokens

	resolved := c.WithDefaults()
	switch resolved.Provider {
	case Gemini:
		c.Gemini.ChatModel = getenv(EnvChatModel)
	case OpenAI:
		c.OpenAI.ChatModel = getenv(EnvChatModel)
	}
	switch resolved.EmbeddingProvider {
	case Gemini:
		c.Gemini.EmbedModel = getenv(EnvEmbedModel)
	case OpenAI:
		c.OpenAI.EmbedModel = getenv(EnvEmbedModel)
	}
	return &c, nil
}
