package openai_test

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/model"
	"github.com/hippocampus-memory/hippocampus/model/internal/modeltest"
	"github.com/hippocampus-memory/hippocampus/model/openai"
)

const key = "sk-secret-secret-secret-0123456789"

type object = map[string]any

func vectors(vectors ...[]float32) any {
	data := []object{}
	for i, v := range vectors {
		data = append(data, object{"object": "embedding", "index": i, "embedding": v})
	}
	return object{"object": "list", "data": data, "model": "m", "usage": object{"prompt_tokens": 3, "total_tokens": 3}}
}

func completion(text, finish string) any {
	return object{
		"id": "x", "object": "chat.completion", "model": "m",
		"choices": []object{{"index": 0, "finish_reason": finish, "message": object{"role": "assistant", "content": text}}},
		"usage":   object{"prompt_tokens": 11, "completion_tokens": 9, "total_tokens": 20},
	}
}

func open(t *testing.T, config openai.Config) *model.Models {
	t.Helper()
	config.APIKey = key
	if config.Dimension == 0 {
		config.Dimension = 4
	}
	models, err := openai.Open(t.Context(), &config)
	require.NoError(t, err)
	return models
}

func TestSuite(t *testing.T) {
	t.Parallel()
	suite := &modeltest.Suite{
		Key: key,
		Open: func(t *testing.T, baseURL string, limits model.Limits) *model.Models {
			t.Helper()
			return open(t, openai.Config{BaseURL: baseURL + "/v1", Limits: limits})
		},
		Vectors:   vectors,
		Text:      func(text string) any { return completion(text, "stop") },
		Truncated: func(text string) any { return completion(text, "length") },
		Blocked:   func(text string) any { return completion(text, "content_filter") },
		NoChoice:  object{"choices": []object{}},
	}
	suite.Run(t)
}

func TestEmbedder(t *testing.T) {
	t.Parallel()

	t.Run("BatchesInOrder", func(t *testing.T) {
		t.Parallel()
		sizes := []int{}
		server := modeltest.New(t, modeltest.Body(500, ""))
		server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			modeltest.Decode(t, r, func(body object) {
				texts := body["input"].([]any)
				data := []object{} // the last text first
				for i := len(texts) - 1; i >= 0; i-- {
					data = append(data, object{"index": i, "embedding": []float32{float32(len(texts[i].(string))), 1}})
				}
				sizes = append(sizes, len(texts))
				modeltest.JSON(object{"data": data})(w, r)
			})
		})
		models := open(t, openai.Config{BaseURL: server.URL + "/v1/", Dimension: 2, MaxBatchChars: 1000})
		texts := make([]string, 200)
		for i := range texts {
			texts[i] = strings.Repeat("a", i%20+1)
		}
		texts[150] = strings.Repeat("a", 1500) // over the bound: alone
		got, err := models.Embedder.Embed(t.Context(), texts, model.TaskDocument)
		require.NoError(t, err)
		require.Equal(t, []int{97, 53, 1, 49}, sizes)
		for i, v := range got {
			require.InDelta(t, float64(len(texts[i])), float64(v[0]/v[1]), 0.2)
			require.InDelta(t, 1, math.Hypot(float64(v[0]), float64(v[1])), 1e-6)
		}
	})

	for name, data := range map[string][]object{
		"IndexMissing": {{"embedding": []float32{1, 0, 0, 0}}, {"embedding": []float32{1, 0, 0, 0}}},
		"IndexTooHigh": {{"index": 0, "embedding": []float32{1, 0, 0, 0}}, {"index": 2, "embedding": []float32{1, 0, 0, 0}}},
		"VectorNull":   {{"index": 0, "embedding": []float32{1, 0, 0, 0}}, {"index": 1, "embedding": nil}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := modeltest.New(t, modeltest.JSON(object{"data": data}))
			_, err := open(t, openai.Config{BaseURL: server.URL}).Embedder.Embed(t.Context(), []string{"a", "b"}, model.TaskDocument)
			modeltest.RequireKind(t, err, model.KindInvalidReply)
		})
	}

	t.Run("NamesItsSettings", func(t *testing.T) {
		t.Parallel()
		server := modeltest.New(t, modeltest.Body(401, ""), modeltest.Body(404, ""))
		address := strings.Replace(server.URL, "http://", "http://someone:pass@", 1)
		embedder := open(t, openai.Config{BaseURL: address}).Embedder
		_, err := embedder.Embed(t.Context(), []string{"a"}, model.TaskQuery)
		require.ErrorContains(t, err, "; check OPENAI_API_KEY")
		_, err = embedder.Embed(t.Context(), []string{"a"}, model.TaskQuery)
		require.ErrorContains(t, err, "; check the model's name and OPENAI_BASE_URL, http://someone:xxxxx@")
	})

	t.Run("SendsDimensionsToModelsThatKnowThem", func(t *testing.T) {
		t.Parallel()
		yes := true
		for _, test := range []struct {
			config openai.Config
			want   any
		}{
			{openai.Config{}, float64(4)},
			{openai.Config{EmbedModel: "nomic-embed-text"}, nil},
			{openai.Config{EmbedModel: "qwen3-embedding", SendDimensions: &yes}, float64(4)},
			{openai.Config{SendDimensions: new(bool)}, nil},
		} {
			server := modeltest.New(t, modeltest.JSON(vectors([]float32{1, 0, 0, 0})))
			test.config.BaseURL = server.URL + "/v1"
			_, err := open(t, test.config).Embedder.Embed(t.Context(), []string{"a"}, model.TaskQuery)
			require.NoError(t, err)
			r := server.Requests()[0]
			require.Equal(t, "/v1/embeddings", r.URL)
			require.Equal(t, test.want, r.Body["dimensions"])
			require.Equal(t, "Bearer "+key, r.Header.Get("Authorization"))
		}
	})
}

func TestGenerator(t *testing.T) {
	t.Parallel()
	refuse := func(what string) modeltest.Step {
		return modeltest.Body(400, `{"error":{"message":"'response_format' of type '`+what+`' is not supported"}}`)
	}
	good := modeltest.JSON(completion(modeltest.GoodReflection, "stop"))
	formats := func(server *modeltest.Server) (formats []string) {
		for _, r := range server.Requests() {
			format, _ := r.Body["response_format"].(object)
			formats = append(formats, fmt.Sprint(format["type"]))
		}
		return formats
	}

	t.Run("AsksForJSONOfAForm", func(t *testing.T) {
		t.Parallel()
		server := modeltest.New(t, good)
		r, err := open(t, openai.Config{BaseURL: server.URL + "/v1"}).Reflector.Reflect(t.Context(), modeltest.Talk())
		require.NoError(t, err)
		require.Equal(t, "openai/gpt-6-luna", r.Model)
		require.Equal(t, model.Usage{InputTokens: 11, OutputTokens: 9}, r.Usage)
		body := server.Requests()[0].Body
		require.Equal(t, "/v1/chat/completions", server.Requests()[0].URL)
		schema := body["response_format"].(object)["json_schema"].(object)
		require.Equal(t, true, schema["strict"])
		require.Contains(t, fmt.Sprint(schema["schema"]), "confidence")
		require.Equal(t, "none", body["reasoning_effort"])
		require.NotContains(t, body, "temperature")
		require.NotContains(t, body, "max_tokens")
	})

	t.Run("FallsBackAndRemembers", func(t *testing.T) {
		t.Parallel()
		server := modeltest.New(t, refuse("json_schema"), refuse("json_object"), good)
		models := open(t, openai.Config{BaseURL: server.URL})
		for range 2 {
			_, err := models.Reflector.Reflect(t.Context(), modeltest.Talk())
			require.NoError(t, err)
		}
		require.Equal(t, []string{"json_schema", "json_object", "<nil>", "<nil>"}, formats(server))
	})

	t.Run("FallsBackToAnyObject", func(t *testing.T) {
		t.Parallel()
		server := modeltest.New(t, refuse("json_schema"), good)
		models := open(t, openai.Config{BaseURL: server.URL})
		for range 2 {
			_, err := models.Reflector.Reflect(t.Context(), modeltest.Talk())
			require.NoError(t, err)
		}
		require.Equal(t, []string{"json_schema", "json_object", "json_object"}, formats(server))
	})

	t.Run("OtherRefusalsDoNotFallBack", func(t *testing.T) {
		t.Parallel()
		server := modeltest.New(t, modeltest.Body(400, `{"error":"the context is too long"}`))
		_, err := open(t, openai.Config{BaseURL: server.URL}).Reflector.Reflect(t.Context(), modeltest.Talk())
		failure := modeltest.RequireKind(t, err, model.KindRejected)
		require.NotContains(t, err.Error(), "the context is too long")
		require.Equal(t, "the context is too long", failure.RawReply)
		require.Len(t, server.Requests(), 1)
	})

	t.Run("PlainModel", func(t *testing.T) {
		t.Parallel()
		server := modeltest.New(t, modeltest.JSON(completion("Anna moved.", "stop")))
		models, err := openai.Open(t.Context(), &openai.Config{BaseURL: server.URL, ChatModel: "llama3.2", MaxOutputTokens: 99})
		require.NoError(t, err)
		s, err := models.Summarizer.Summarize(t.Context(), modeltest.Talk())
		require.NoError(t, err)
		require.Equal(t, "Anna moved.", s.Content)
		require.Equal(t, "openai/llama3.2", s.Model)
		r := server.Requests()[0]
		require.Less(t, r.Body["temperature"], 1e-9)
		require.Equal(t, float64(99), r.Body["max_tokens"])
		require.NotContains(t, r.Body, "response_format")
		require.NotContains(t, r.Body, "reasoning_effort")
		require.Empty(t, r.Header.Get("Authorization"), "no key, no header")
	})

	t.Run("Refusal", func(t *testing.T) {
		t.Parallel()
		server := modeltest.New(t, modeltest.JSON(object{"choices": []object{{"finish_reason": "stop", "message": object{"refusal": "I can't."}}}}))
		_, err := open(t, openai.Config{BaseURL: server.URL}).Summarizer.Summarize(t.Context(), modeltest.Talk())
		failure := modeltest.RequireKind(t, err, model.KindInvalidReply)
		require.Equal(t, "I can't.", failure.RawReply)
	})

	t.Run("RefusedByTheClientLibrary", func(t *testing.T) {
		t.Parallel()
		server := modeltest.New(t, good)
		half := float32(0.5)
		models := open(t, openai.Config{BaseURL: server.URL, ChatModel: "o3", Temperature: &half})
		_, err := models.Summarizer.Summarize(t.Context(), modeltest.Talk())
		modeltest.RequireKind(t, err, model.KindRejected)
		require.Empty(t, server.Requests())
	})
}

func TestOpen(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		config openai.Config
		want   string
	}{
		"BadBaseURL":   {openai.Config{BaseURL: "localhost:11434"}, "not an http or https URL"},
		"BadBatch":     {openai.Config{APIKey: key, MaxBatch: 4096}, "batch size 4096"},
		"BadDimension": {openai.Config{APIKey: key, Dimension: -1}, "dimension is -1"},
		"BadLimits":    {openai.Config{APIKey: key, MaxBatchChars: -1}, "limits must not be negative"},
		"NoKey":        {openai.Config{}, "no API key: set OPENAI_API_KEY"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := openai.Open(context.Background(), &test.config)
			require.ErrorContains(t, err, test.want)
		})
	}

	t.Run("Defaults", func(t *testing.T) {
		t.Parallel()
		models, err := openai.Open(t.Context(), &openai.Config{APIKey: key})
		require.NoError(t, err)
		require.Equal(t, 1536, models.Embedder.Dimension())
		require.Equal(t, "openai/text-embedding-3-small", models.Embedder.Name())
		require.NoError(t, models.Close())
	})

	t.Run("GoesToTheProvider", func(t *testing.T) {
		t.Parallel()
		elsewhere := &modeltest.Elsewhere{}
		models, err := openai.Open(t.Context(), &openai.Config{
			APIKey: key, Transport: elsewhere, Limits: model.Limits{Retry: model.Retry{MaxAttempts: 1}},
		})
		require.NoError(t, err)
		_, err = models.Embedder.Embed(t.Context(), []string{"a"}, model.TaskQuery)
		modeltest.RequireKind(t, err, model.KindUnavailable)
		_, err = models.Summarizer.Summarize(t.Context(), modeltest.Talk())
		modeltest.RequireKind(t, err, model.KindUnavailable)
		require.Len(t, elsewhere.URLs, 2)
		for _, url := range elsewhere.URLs {
			require.True(t, strings.HasPrefix(url, "https://api.openai.com/v1/"), url)
			require.NotContains(t, url, key)
		}
	})
}
