package llm16_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/hippocampus-memory/hippocampus/model"
	"github.com/hippocampus-memory/hippocampus/model/llm16"
)

// asker gives the values that it has for a text.
type asker map[string][]float32

func (a asker) ModelName() string { return "test/script" }

func (a asker) Values(_ context.Context, text string, _ int) ([]float32, error) {
	values, ok := a[text]
	if !ok {
		return nil, errors.New("no answer")
	}
	return values, nil
}

func cosine(a, b []float32) float64 {
	var dot, aa, bb float64
	for i := range a {
		dot, aa, bb = dot+float64(a[i])*float64(b[i]), aa+float64(a[i])*float64(a[i]), bb+float64(b[i])*float64(b[i])
	}
	return dot / math.Sqrt(aa*bb)
}

func TestEmbedder(t *testing.T) {
	t.Parallel()

	t.Run("FailsWhole", func(t *testing.T) {
		t.Parallel()
		e, err := llm16.New(asker{"a": make([]float32, 16)}, 64, 100)
		require.NoError(t, err)
		_, err = e.Embed(t.Context(), []string{"b"}, model.TaskQuery)
		require.ErrorContains(t, err, "no answer")
		_, err = e.Embed(t.Context(), []string{"a"}, model.TaskQuery)
		var failure *model.Error
		require.ErrorAs(t, err, &failure, "all values are zero")
		_, err = e.Embed(t.Context(), []string{" "}, model.TaskQuery)
		require.ErrorAs(t, err, &failure)
		require.Equal(t, model.KindRejected, failure.Kind)
		_, err = llm16.New(asker{}, 15, 100)
		require.ErrorContains(t, err, "at least 16")
	})

	t.Run("IsNamedAfterItsModel", func(t *testing.T) {
		t.Parallel()
		e, err := llm16.New(asker{}, 16, 100)
		require.NoError(t, err)
		require.Equal(t, "llm16/test/script", e.Name())
		require.Equal(t, 16, e.Dimension())
	})

	t.Run("KeepsTheCosine", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(t *rapid.T) {
			draw := rapid.SliceOfN(rapid.Float32Range(-1, 1), 16, 16).Filter(func(v []float32) bool { return cosine(v, v) > 0.5 })
			a, b := draw.Draw(t, "a"), draw.Draw(t, "b")
			dimension := rapid.IntRange(16, 3072).Draw(t, "dimension")
			e, err := llm16.New(asker{"a": a, "b": b}, dimension, 100)
			require.NoError(t, err)
			vectors, err := e.Embed(context.Background(), []string{"a", "b"}, model.TaskDocument)
			require.NoError(t, err)
			require.Len(t, vectors[0], dimension)
			require.InDelta(t, cosine(a, b), cosine(vectors[0], vectors[1]), 1e-4)
			require.InDelta(t, 1, cosine(vectors[0], vectors[0]), 1e-4)
		})
	})
}
