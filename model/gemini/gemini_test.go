package gemini_test

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/model"
	"github.com/hippocampus-memory/hippocampus/model/gemini"
	"github.com/hippocampus-memory/hippocampus/model/internal/modeltest"
)

const key = "AIzaSecretSecretSecret0123456789"

type object = map[string]any

func vectors(vectors ...[]float32) any {
	list := []object{}
	for _, v := range vectors {
		list = append(list, object{"values": v})
	}
	return object{"embeddings": list}
}

// candidate is a reply of generateContent; finish as a number, as this client asks for.
func candidate(text string, finish int) any {
	parts := []object{}
	if text != "" {
		parts = append(parts, object{"text": text})
	}
	return object{
		"candidates":    []object{{"content": object{"role": "model", "parts": parts}, "finishReason": finish, "index": 0}},
		"usageMetadata": object{"promptTokenCount": 11, "candidatesTokenCount": 5, "totalTokenCount": 20, "thoughtsTokenCount": 4},
		"modelVersion":  "gemini-3.5-flash-lite",
		"responseId":    "x",
	}
}

func open(t *testing.T, config gemini.Config) *model.Models {
	t.Helper()
	config.APIKey = key
	if config.Dimension == 0 {
		config.Dimension = 4
	}
	models, err := gemini.Open(t.Context(), &config)
	require.NoError(t, err)
	return models
}

func TestSuite(t *testing.T) {
	t.Parallel()
	suite := &modeltest.Suite{
		Key: key,
		Open: func(t *testing.T, baseURL string, limits model.Limits) *model.Models {
			t.Helper()
			return open(t, gemini.Config{BaseURL: baseURL, Limits: limits})
		},
		Vectors:   vectors,
		Text:      func(text string) any { return candidate(text, 1) },
		Truncated: func(text string) any { return candidate(text, 2) },
		Blocked:   func(text string) any { return candidate(text, 3) },
		NoChoice:  object{"promptFeedback": object{"blockReason": 1}},
	}
	suite.Run(t)
}

func TestEmbedder(t *testing.T) {
	t.Parallel()

	t.Run("BatchesInOrder", func(t *testing.T) {
		t.Parallel()
		sizes := []int{}
		server := modeltest.New(t, func(w http.ResponseWriter, r *http.Request) {})
		server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			modeltest.Decode(t, r, func(body object) {
				list := [][]float32{}
				for _, one := range body["requests"].([]any) {
					text := one.(object)["content"].(object)["parts"].([]any)[0].(object)["text"].(string)
					list = append(list, []float32{float32(len(text)), 1})
				}
				sizes = append(sizes, len(list))
				modeltest.JSON(vectors(list...))(w, r)
			})
		})
		models := open(t, gemini.Config{BaseURL: server.URL, Dimension: 2})
		texts := make([]string, 250)
		for i := range texts {
			texts[i] = strings.Repeat("a", i+1)
		}
		got, err := models.Embedder.Embed(t.Context(), texts, model.TaskDocument)
		require.NoError(t, err)
		require.Equal(t, []int{100, 100, 50}, sizes)
		for i, v := range got {
			require.InDelta(t, float64(i+1), float64(v[0]/v[1]), 0.01)
			require.InDelta(t, 1, math.Hypot(float64(v[0]), float64(v[1])), 1e-6)
		}
	})

	t.Run("SecondModelTakesTheTaskInTheText", func(t *testing.T) {
		t.Parallel()
		server := modeltest.New(t, modeltest.JSON(vectors([]float32{1, 0, 0, 0})))
		models := open(t, gemini.Config{BaseURL: server.URL, EmbedModel: "gemini-embedding-2"})
		for _, task := range []model.Task{model.TaskDocument, model.TaskQuery} {
			_, err := models.Embedder.Embed(t.Context(), []string{"sushi"}, task)
			require.NoError(t, err)
		}
		requests := server.Requests()
		require.Contains(t, fmt.Sprint(requests[0].Body), "title: none | text: sushi")
		require.Contains(t, fmt.Sprint(requests[1].Body), "task: search result | query: sushi")
		require.NotContains(t, fmt.Sprint(requests[1].Body), "taskType")
		require.Equal(t, "gemini/gemini-embedding-2", models.Embedder.Name())
	})

	t.Run("SendsTaskAndDimension", func(t *testing.T) {
		t.Parallel()
		server := modeltest.New(t, modeltest.JSON(vectors([]float32{1, 0, 0, 0})))
		models := open(t, gemini.Config{BaseURL: server.URL})
		for _, task := range []model.Task{model.TaskDocument, model.TaskQuery} {
			_, err := models.Embedder.Embed(t.Context(), []string{"sushi"}, task)
			require.NoError(t, err)
		}
		for i, wantTask := range []float64{2, 1} { // RETRIEVAL_DOCUMENT, RETRIEVAL_QUERY
			r := server.Requests()[i]
			require.True(t, strings.HasPrefix(r.URL, "/v1beta/models/gemini-embedding-001:batchEmbedContents"), r.URL)
			require.Equal(t, key, r.Header.Get("x-goog-api-key"))
			one := r.Body["requests"].([]any)[0].(object)
			require.Equal(t, wantTask, one["taskType"])
			require.Equal(t, float64(4), one["outputDimensionality"])
			require.Equal(t, "models/gemini-embedding-001", one["model"])
		}
		require.Equal(t, "gemini/gemini-embedding-001", models.Embedder.Name())
	})
}

func TestGenerator(t *testing.T) {
	t.Parallel()

	t.Run("AsksForJSONOfAForm", func(t *testing.T) {
		t.Parallel()
		server := modeltest.New(t, modeltest.JSON(candidate("{", 1)), modeltest.JSON(candidate(modeltest.GoodReflection, 1)))
		temperature := float32(0)
		models := open(t, gemini.Config{BaseURL: server.URL, Temperature: &temperature, MaxOutputTokens: 99})
		r, err := models.Reflector.Reflect(t.Context(), modeltest.Talk())
		require.NoError(t, err)
		require.Equal(t, "gemini/gemini-3.5-flash-lite", r.Model)
		require.Equal(t, model.Usage{InputTokens: 22, OutputTokens: 18}, r.Usage, "thinking is counted")

		requests := server.Requests()
		require.True(t, strings.HasPrefix(requests[0].URL, "/v1beta/models/gemini-3.5-flash-lite:generateContent"), requests[0].URL)
		settings := requests[0].Body["generationConfig"].(object)
		require.Equal(t, "application/json", settings["responseMimeType"])
		require.Contains(t, fmt.Sprint(settings["responseSchema"]), "confidence")
		require.Equal(t, float64(0), settings["temperature"])
		require.Equal(t, float64(99), settings["maxOutputTokens"])
		require.Contains(t, fmt.Sprint(requests[0].Body["systemInstruction"]), "intensity, 0 to 1")
		contents := requests[1].Body["contents"].([]any)
		require.Len(t, contents, 1)
		require.Len(t, contents[0].(object)["parts"], 3)
		require.Contains(t, fmt.Sprint(contents), `Your last reply, quoted: "{"`)
	})

	t.Run("Classifies", func(t *testing.T) {
		t.Parallel()
		server := modeltest.New(t, modeltest.JSON(candidate(`{"relation":"DISTINCT","reason":"both"}`, 1)))
		models := open(t, gemini.Config{BaseURL: server.URL, ChatModel: "tunedModels/mine"})
		c, err := models.Classifier.Classify(t.Context(), &model.ClassifyInput{Old: "likes tea", New: "likes coffee"})
		require.NoError(t, err)
		require.Equal(t, &model.Classification{Relation: model.RelationDistinct, Reason: "both", Model: "gemini/tunedModels/mine"}, c)
		require.True(t, strings.HasPrefix(server.Requests()[0].URL, "/v1beta/tunedModels/mine:generateContent"))
	})

	t.Run("Summarizes", func(t *testing.T) {
		t.Parallel()
		server := modeltest.New(t, modeltest.JSON(candidate("Anna moved to Berlin.", 1)))
		models := open(t, gemini.Config{BaseURL: server.URL + "/"})
		s, err := models.Summarizer.Summarize(t.Context(), modeltest.Talk())
		require.NoError(t, err)
		require.Equal(t, "Anna moved to Berlin.", s.Content)
		settings, _ := server.Requests()[0].Body["generationConfig"].(object)
		require.NotContains(t, settings, "responseMimeType")
		require.NotContains(t, settings, "temperature")
		require.NotContains(t, settings, "maxOutputTokens")
	})

	t.Run("UnknownReasonToStop", func(t *testing.T) {
		t.Parallel()
		server := modeltest.New(t, modeltest.JSON(candidate("x", 8)))
		_, err := open(t, gemini.Config{BaseURL: server.URL}).Summarizer.Summarize(t.Context(), modeltest.Talk())
		modeltest.RequireKind(t, err, model.KindInvalidReply)
	})
}

func TestOpen(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		config gemini.Config
		want   string
	}{
		"BadBaseURL":     {gemini.Config{APIKey: key, BaseURL: "localhost:1?key=" + key}, "not an http or https URL"},
		"BadBatch":       {gemini.Config{APIKey: key, MaxBatch: 101}, "batch size 101"},
		"BadDimension":   {gemini.Config{APIKey: key, Dimension: 4000}, "dimension is 4000"},
		"BadLimits":      {gemini.Config{APIKey: key, Limits: model.Limits{MaxConcurrent: -1}}, "max concurrent must not be negative"},
		"BadOutput":      {gemini.Config{APIKey: key, MaxOutputTokens: -1}, "max output tokens"},
		"NoKey":          {gemini.Config{APIKey: " "}, "no API key"},
		"NegativeBudget": {gemini.Config{APIKey: key, Limits: model.Limits{Retry: model.Retry{MaxAttempts: -1}}}, "retry settings"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := gemini.Open(context.Background(), &test.config)
			require.ErrorContains(t, err, test.want)
			require.NotContains(t, err.Error(), key)
		})
	}

	t.Run("SendsNothing", func(t *testing.T) {
		t.Parallel()
		models, err := gemini.Open(t.Context(), &gemini.Config{APIKey: key})
		require.NoError(t, err)
		require.Equal(t, 1536, models.Embedder.Dimension())
		require.NoError(t, models.Close())
	})

	t.Run("GoesToTheProvider", func(t *testing.T) {
		t.Parallel()
		elsewhere := &modeltest.Elsewhere{}
		models, err := gemini.Open(t.Context(), &gemini.Config{
			APIKey: key, Transport: elsewhere, Limits: model.Limits{Retry: model.Retry{MaxAttempts: 1}},
		})
		require.NoError(t, err)
		_, err = models.Embedder.Embed(t.Context(), []string{"a"}, model.TaskQuery)
		modeltest.RequireKind(t, err, model.KindUnavailable)
		_, err = models.Summarizer.Summarize(t.Context(), modeltest.Talk())
		modeltest.RequireKind(t, err, model.KindUnavailable)
		require.Len(t, elsewhere.URLs, 2)
		for _, url := range elsewhere.URLs {
			require.True(t, strings.HasPrefix(url, "https://generativelanguage.googleapis.com/v1beta/"), url)
			require.NotContains(t, url, key)
		}
	})
}
