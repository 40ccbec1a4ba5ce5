package service_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/assembler"
	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/model"
	"github.com/hippocampus-memory/hippocampus/service"
)

// shortSighted is an embedder that refuses a call with a text that is too long, as providers do, and keeps what it was asked.
type shortSighted struct {
	model.Embedder
	calls [][]string
	count func(text string) int
	most  int
}

func (e *shortSighted) Embed(ctx context.Context, texts []string, task model.Task) ([][]float32, error) {
	e.calls = append(e.calls, slices.Clone(texts))
	for _, text := range texts {
		if n := e.count(text); n > e.most {
			return nil, fmt.Errorf("a text has %d tokens", n)
		}
	}
	return e.Embedder.Embed(ctx, texts, task)
}

// A query and a fact are cut as what is stored is: a long one is found by meaning too, and takes nobody else's vector.
func TestWhatIsAskedForIsCut(t *testing.T) {
	t.Parallel()
	counter, err := assembler.NewCounter("")
	require.NoError(t, err)
	for _, word := range []string{"umbrella ", "雨伞"} {
		embedder := &shortSighted{Embedder: newEmbedder(t), count: counter.Count, most: 50}
		long := strings.Repeat(word, 5000)
		said := &scripted{facts: map[string][]model.Fact{"much": {fact("long", long[:30_000/len(word)*len(word)], 0.5), fact("short", "green tea", 0.5)}}}
		b := setup(t, &service.Config{Embedder: embedder, MaxEmbedTokens: 50, Reflector: said, RequireEmbedding: true})
		found, err := b.svc.SearchMemory(t.Context(), ada, long, nil)
		require.NoError(t, err)
		require.False(t, found.Degraded)
		require.Len(t, embedder.calls, 1)
		require.True(t, strings.HasPrefix(long, embedder.calls[0][0]))
		require.Greater(t, counter.Count(embedder.calls[0][0]), 40)

		_, err = b.svc.RememberFacts(t.Context(), ada, "much", nil)
		require.NoError(t, err)
		var vectors int
		require.NoError(t, b.admin.QueryRow(t.Context(), "SELECT count(*) FROM hippocampus.embeddings WHERE source = 'fact'").Scan(&vectors))
		require.Equal(t, 2, vectors)
	}
	embedder := &shortSighted{Embedder: newEmbedder(t), count: func(text string) int { return len([]rune(text)) }, most: 30}
	b := setup(t, &service.Config{Embedder: embedder, MaxEmbedChars: 30, RequireEmbedding: true})
	_, err = b.svc.SearchMemory(t.Context(), ada, strings.Repeat("雨伞", 100), nil)
	require.NoError(t, err)
	_, err = service.New(nil, &service.Config{MaxEmbedTokens: -1})
	require.ErrorIs(t, err, db.ErrInvalidArgument)
}

// The searches of a batch are embedded by one call, in their order.
func TestABatchIsEmbeddedAtOnce(t *testing.T) {
	t.Parallel()
	counter, err := assembler.NewCounter("")
	require.NoError(t, err)
	embedder := &shortSighted{Embedder: newEmbedder(t), count: counter.Count, most: 2000}
	b := setup(t, &service.Config{Embedder: embedder})
	ops := []*service.StoreOp{{Put: &service.StorePutOp{Key: "k", Namespace: []string{"n"}, Value: json.RawMessage(`{"text": "query 7"}`)}}}
	var queries []string
	for i := range 200 {
		opts := service.StoreSearchOptions{Query: fmt.Sprint("query ", i)}
		switch i % 10 {
		case 3:
			opts.Query = " "
		case 4:
			opts.QueryEmbedding = slices.Repeat([]float32{1}, embedder.Dimension())
		default:
			queries = append(queries, opts.Query)
		}
		ops = append(ops, &service.StoreOp{Search: &service.StoreSearchOp{StoreSearchOptions: opts}})
	}
	results, err := b.svc.StoreBatch(t.Context(), ada, ops)
	require.NoError(t, err)
	require.Equal(t, [][]string{queries}, embedder.calls)
	require.Len(t, results, len(ops))
	require.False(t, results[8].Found.Degraded)
	embedder.most = 1
	results, err = b.svc.StoreBatch(t.Context(), ada, ops)
	require.NoError(t, err)
	require.True(t, results[1].Found.Degraded)
	require.False(t, results[4].Found.Degraded, "nothing to embed")
	require.False(t, results[5].Found.Degraded, "the caller's vector")
}
