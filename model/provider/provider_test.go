package provider_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/model"
	"github.com/hippocampus-memory/hippocampus/model/provider"
)

func env(pairs map[string]string) func(string) string {
	return func(name string) string { return pairs[name] }
}

func TestFromEnv(t *testing.T) {
	t.Parallel()

	t.Run("BadNumber", func(t *testing.T) {
		t.Parallel()
		for _, value := range []string{"many", "0", "-3"} {
			_, err := provider.FromEnv(env(map[string]string{provider.EnvDimension: value}))
			require.ErrorContains(t, err, "HIPPOCAMPUS_DIMENSION")
		}
	})

	t.Run("Mixed", func(t *testing.T) {
		t.Parallel()
		c, err := provider.FromEnv(env(map[string]string{
			provider.EnvProvider: "openai", provider.EnvEmbedder: "gemini", provider.EnvGoogleKey: "k",
			provider.EnvOpenAIURL: "http://localhost:11434/v1", provider.EnvChatModel: "llama3.2",
			provider.EnvEmbedModel: "gemini-embedding-2", provider.EnvDimension: "768", provider.EnvInputChars: "9000",
		}))
		require.NoError(t, err)
		require.Equal(t, "llama3.2", c.OpenAI.ChatModel)
		require.Equal(t, 9000, c.OpenAI.Limits.MaxInputChars)
		require.Empty(t, c.OpenAI.EmbedModel)
		require.Empty(t, c.Gemini.ChatModel)
		models, err := provider.Open(t.Context(), c)
		require.NoError(t, err)
		require.Equal(t, "gemini/gemini-embedding-2", models.Embedder.Name())
		require.Equal(t, 768, models.Embedder.Dimension())
		require.NoError(t, models.Close())
	})

	t.Run("NothingSetIsOffline", func(t *testing.T) {
		t.Parallel()
		c, err := provider.FromEnv(env(map[string]string{provider.EnvOpenAIKey: "k", provider.EnvGeminiKey: "k"}))
		require.NoError(t, err)
		models, err := provider.Open(t.Context(), c)
		require.NoError(t, err)
		require.Equal(t, "offline/hash-v1", models.Embedder.Name(), "a key alone sends nothing anywhere")
		require.Equal(t, 1536, models.Embedder.Dimension())
	})
}

func TestOpen(t *testing.T) {
	t.Parallel()

	t.Run("EmbedderOfAnother", func(t *testing.T) {
		t.Parallel()
		models, err := provider.Open(t.Context(), &provider.Config{EmbeddingProvider: provider.OpenAI, Dimension: 256})
		require.ErrorContains(t, err, "openai: no API key")
		require.Nil(t, models)
	})

	t.Run("Offline", func(t *testing.T) {
		t.Parallel()
		models, err := provider.Open(t.Context(), &provider.Config{Dimension: 64})
		require.NoError(t, err)
		vectors, err := models.Embedder.Embed(t.Context(), []string{"a"}, model.TaskDocument)
		require.NoError(t, err)
		require.Len(t, vectors[0], 64)
		require.NotNil(t, models.Summarizer)
		require.NotNil(t, models.Reflector)
		require.NotNil(t, models.Classifier)
		require.NoError(t, models.Close())
	})

	t.Run("Unknown", func(t *testing.T) {
		t.Parallel()
		_, err := provider.Open(t.Context(), &provider.Config{Provider: "acme"})
		require.ErrorIs(t, err, provider.ErrUnknownProvider)
		_, err = provider.Open(t.Context(), &provider.Config{EmbeddingProvider: "acme"})
		require.ErrorIs(t, err, provider.ErrUnknownProvider)
	})
}
