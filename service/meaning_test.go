package service_test

import (
	"bytes"
	"context"
	"encoding/json"
	"go/ast"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/service"
	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

// found is what a verb answered: how much, and whether it says that it went by words alone.
type found struct {
	rows     int
	degraded *bool // nil of a verb whose answer has no room for it
}

// byQuery are the verbs that embed a query, each asked for tea.
func byQuery(svc *service.OpenMemoryService) map[string]func(ctx context.Context) (*found, error) {
	return map[string]func(ctx context.Context) (*found, error){
		"Documents.Lookup": func(ctx context.Context) (*found, error) {
			_, err := svc.Documents().Lookup(ctx, ada, "tea", nil)
			return &found{rows: 1}, err // nothing before the anchors are built
		},
		"Documents.Search": func(ctx context.Context) (*found, error) {
			hits, err := svc.Documents().Search(ctx, ada, "tea", nil)
			return &found{rows: len(hits)}, err
		},
		"EpisodicMemoryProvider.Provide": func(ctx context.Context) (*found, error) {
			block, err := (&service.EpisodicMemoryProvider{Scope: ada, Service: svc}).Provide(ctx, &service.RecallState{CurrentTask: "tea"}, 0)
			if err != nil || block == nil {
				return nil, err
			}
			return &found{len(block.MemoryIDs), &block.Degraded}, nil
		},
		"OpenMemoryService.ExplainSearch": func(ctx context.Context) (*found, error) {
			explained, err := svc.ExplainSearch(ctx, ada, "tea", nil)
			return &found{rows: strings.Count(string(explained), "green tea")}, err
		},
		"OpenMemoryService.ForgetMemory": func(ctx context.Context) (*found, error) {
			forgotten, err := svc.ForgetMemory(ctx, ada, "Ada likes green tea.", &service.ForgetMemoryOptions{Preview: true})
			if err != nil {
				return nil, err
			}
			return &found{len(forgotten.Matches), &forgotten.Degraded}, nil
		},
		"OpenMemoryService.GetContextWindow": func(ctx context.Context) (*found, error) {
			window, err := svc.GetContextWindow(ctx, ada, "tea", nil)
			if err != nil {
				return nil, err
			}
			return &found{strings.Count(window.Text, "green tea"), &window.Degraded}, nil
		},
		"OpenMemoryService.RecallMemories": func(ctx context.Context) (*found, error) {
			recalled, err := svc.RecallMemories(ctx, ada, "tea", nil)
			if err != nil {
				return nil, err
			}
			return &found{len(recalled.Hits), &recalled.Degraded}, nil
		},
		"OpenMemoryService.RecallSimilar": func(ctx context.Context) (*found, error) {
			recalled, err := svc.RecallSimilar(ctx, ada, "tea", nil)
			return &found{rows: len(recalled)}, err
		},
		"OpenMemoryService.SearchMemory": func(ctx context.Context) (*found, error) {
			response, err := svc.SearchMemory(ctx, ada, "tea", nil)
			if err != nil {
				return nil, err
			}
			return &found{len(response.Memories), &response.Degraded}, nil
		},
		"OpenMemoryService.SearchThreads": func(ctx context.Context) (*found, error) {
			threads, err := svc.SearchThreads(ctx, ada, "tea", nil)
			return &found{rows: len(threads)}, err
		},
		"OpenMemoryService.StoreBatch": func(ctx context.Context) (*found, error) {
			results, err := svc.StoreBatch(ctx, ada, []*service.StoreOp{
				{Put: &service.StorePutOp{Key: "again", Namespace: []string{"notes"}, Value: json.RawMessage(`{"text": "coffee"}`)}},
				{Search: &service.StoreSearchOp{NamespacePrefix: []string{"notes"}, StoreSearchOptions: service.StoreSearchOptions{Query: "tea"}}},
			})
			if err != nil {
				return nil, err
			}
			return &found{len(results[1].Found.Items), &results[1].Found.Degraded}, nil
		},
		"OpenMemoryService.StoreSearch": func(ctx context.Context) (*found, error) {
			response, err := svc.StoreSearch(ctx, ada, []string{"notes"}, &service.StoreSearchOptions{Query: "tea"})
			if err != nil {
				return nil, err
			}
			return &found{len(response.Items), &response.Degraded}, nil
		},
		"Persona.RecallSimilar": func(ctx context.Context) (*found, error) {
			persona, err := svc.Persona(ctx, ada, "")
			if err != nil {
				return nil, err
			}
			recalled, err := persona.RecallSimilar(ctx, "tea", 3)
			return &found{rows: len(recalled)}, err
		},
	}
}

// TestWithoutVectors has every verb that embeds a query find by words alone where the embedder gives nothing of use,
// and where the deployment has dropped the vectors of its model; and fail where the config asks for that.
func TestWithoutVectors(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		vector   []float32
		switched func(t *testing.T, b *testBundle)
		err      error
		logged   string
	}{
		"NoDirection": {make([]float32, dbtest.DefaultDimension), nil, db.ErrInvalidEmbedding, "is all zero"},
		"AnotherModel": {slices.Repeat([]float32{1}, dbtest.DefaultDimension), func(t *testing.T, b *testBundle) {
			t.Helper()
			b.serve(t, "next", dbtest.DefaultDimension)
		}, db.ErrEmbeddingModel, "no vectors of this embedder"},
		"AnotherDimension": {slices.Repeat([]float32{1}, dbtest.DefaultDimension), func(t *testing.T, b *testBundle) {
			t.Helper()
			b.serve(t, "fake", 32)
		}, db.ErrDimension, "no vectors of this embedder"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			embedder := &fakeEmbedder{dimension: dbtest.DefaultDimension, name: "fake", embed: func(context.Context) ([][]float32, error) {
				return [][]float32{c.vector}, nil
			}}
			b := setup(t, &service.Config{Embedder: embedder, Logger: slog.New(slog.NewTextHandler(&log, nil))})
			strict, err := service.New(b.pool, &service.Config{Embedder: embedder, RequireEmbedding: true})
			require.NoError(t, err)
			if c.switched != nil {
				c.switched(t, b)
			}
			b.tea(t)
			for verb, ask := range byQuery(b.svc) {
				log.Reset()
				got, err := ask(t.Context())
				require.NoError(t, err, verb)
				require.NotNil(t, got, verb)
				require.Positive(t, got.rows, verb)
				require.Contains(t, log.String(), c.logged, verb)
				if got.degraded != nil {
					require.True(t, *got.degraded, verb)
				}
			}
			for verb, ask := range byQuery(strict) {
				_, err := ask(t.Context())
				require.ErrorIs(t, err, c.err, verb)
			}
		})
	}
}

// tea is remembered in every way that a query can find.
func (b *testBundle) tea(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	thread := b.thread(t, ada, "I like green tea.")
	_, err := b.admin.Exec(ctx, "SELECT hippocampus.remember_events('ada', 'shop', $1)", thread)
	require.NoError(t, err)
	_, err = b.svc.Remember(ctx, ada, "Ada likes green tea.", nil)
	require.NoError(t, err)
	_, err = b.svc.StorePut(ctx, ada, []string{"notes"}, "drink", json.RawMessage(`{"text": "green tea"}`), nil)
	require.NoError(t, err)
	_, err = b.admin.Exec(ctx, `SELECT hippocampus.put_document('ada', 'shop', 'tea.md', '[{"content": "Green tea is brewed at 70 degrees.", "start_line": 1}]')`)
	require.NoError(t, err)
}

// serve has another generation of vectors serve, and drops the one that served. There is nothing to embed yet.
func (b *testBundle) serve(t *testing.T, model string, dimension int) {
	t.Helper()
	var generation int
	err := b.admin.QueryRow(t.Context(), "SELECT generation FROM hippocampus.start_reembedding($1, $2)", model, dimension).Scan(&generation)
	require.NoError(t, err)
	require.Eventually(t, func() bool { // it waits for the transactions of other tests, too
		_, err := b.admin.Exec(t.Context(), "SELECT hippocampus.queue_reembedding($1)", generation)
		require.NoError(t, err)
		var queued bool
		require.NoError(t, b.admin.QueryRow(t.Context(),
			"SELECT queued_at IS NOT NULL FROM hippocampus.embedding_models WHERE generation = $1", generation).Scan(&queued))
		return queued
	}, time.Minute, 10*time.Millisecond)
	for _, sql := range []string{
		"SELECT hippocampus.switch_embedding_generation($1)",
		"SELECT hippocampus.drop_embedding_generation(g.generation) FROM hippocampus.embedding_models g WHERE g.generation <> $1",
	} {
		_, err := b.admin.Exec(t.Context(), sql, generation)
		require.NoError(t, err)
	}
}

// TestEveryQueryIsInTheTable: a verb that embeds a query and is not in the table may fail where the others don't.
func TestEveryQueryIsInTheTable(t *testing.T) {
	t.Parallel()
	var verbs []string
	for receiver, of := range methods(t) {
		for name, m := range of {
			if ast.IsExported(receiver) && ast.IsExported(name) && (slices.Contains(m.calls, "byMeaning") || slices.Contains(m.calls, "embedQuery") || slices.Contains(m.calls, "embedSearches")) {
				verbs = append(verbs, receiver+"."+name)
			}
		}
	}
	verbs = append(verbs, "Persona.RecallSimilar") // by the service's
	require.ElementsMatch(t, verbs, slices.Collect(maps.Keys(byQuery(nil))))
}
