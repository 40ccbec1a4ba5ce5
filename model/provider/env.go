package provider

import (
	"cmp"
	"errors"
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
	EnvEmbedTokens = "HIPPOCAMPUS_MAX_EMBED_TOKENS"   // of a text that its vector stands for, e.g. 500
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

	number := numberFrom(getenv, strconv.Atoi, "not a positive number")
	limit := numberFrom(getenv, time.ParseDuration, "no time such as 90s")
	err := errors.Join(
		number(EnvDimension, &c.Dimension),
		number(EnvEmbedTokens, &c.MaxEmbedTokens),
		number(EnvInputChars, &c.Gemini.Limits.MaxInputChars, &c.OpenAI.Limits.MaxInputChars, &c.Offline.MaxInputChars),
		number(EnvOutputToken, &c.Gemini.MaxOutputTokens, &c.OpenAI.MaxOutputTokens),
		limit(EnvChatTime, &c.Gemini.Limits.ChatTimeout, &c.OpenAI.Limits.ChatTimeout),
		limit(EnvEmbedTime, &c.Gemini.Limits.EmbedTimeout, &c.OpenAI.Limits.EmbedTimeout))
	if err != nil {
		return nil, err
	}
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

// numberFrom makes what reads a variable, and sets all that it is for; they stay as they are where it is not set.
func numberFrom[N int | time.Duration](
	getenv func(string) string, parse func(string) (N, error), wrong string,
) func(name string, into ...*N) error {
	return func(name string, into ...*N) error {
		value := getenv(name)
		if value == "" {
			return nil
		}
		n, err := parse(value)
		if err != nil || n <= 0 {
			return fmt.Errorf("%s: %q is %s", name, value, wrong)
		}
		for _, p := range into {
			*p = n
		}
		return nil
	}
}
