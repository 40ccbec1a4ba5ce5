package offline_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/hippocampus-memory/hippocampus/model"
	"github.com/hippocampus-memory/hippocampus/model/offline"
)

func embed(t require.TestingT, dimension int, texts ...string) [][]float32 {
	models, err := offline.Open(context.Background(), &offline.Config{Dimension: dimension})
	require.NoError(t, err)
	vectors, err := models.Embedder.Embed(context.Background(), texts, model.TaskDocument)
	require.NoError(t, err)
	require.Len(t, vectors, len(texts))
	return vectors
}

func dot(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func TestEmbedder(t *testing.T) {
	t.Parallel()

	t.Run("AlwaysAUnitVector", func(t *testing.T) {
		t.Parallel()
		for _, dimension := range []int{64, 768, 1536, 4000} {
			for i, v := range embed(t, dimension, "the of and", "的了是", "!!!", "…", "🍣", "a", "1", "ﬁ", "\xff", "好", "ひらがな", "한국어", "مرحبا", "I") {
				require.Len(t, v, dimension)
				require.InDelta(t, 1, math.Sqrt(dot(v, v)), 1e-6, "text %d", i)
			}
		}
		rapid.Check(t, func(t *rapid.T) {
			text := "x" + rapid.String().Draw(t, "text")
			v := embed(t, 64, text)[0]
			require.InDelta(t, 1, math.Sqrt(dot(v, v)), 1e-6)
			require.Equal(t, v, embed(t, 64, text)[0], "deterministic")
		})
	})

	t.Run("CancelledContext", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := open(t).Embedder.Embed(ctx, []string{"a"}, model.TaskQuery)
		require.ErrorIs(t, err, context.Canceled)
	})

	// Stored vectors must keep meaning the same: a change here needs a new name.
	t.Run("Frozen", func(t *testing.T) {
		t.Parallel()
		v := embed(t, 64, "I love 寿司 in 2026")[0]
		require.Equal(t, "offline/hash-v1", open(t).Embedder.Name())
		require.Equal(t, frozen, fmt.Sprintf("%.3f", v[:16]))
	})

	t.Run("NearerMeansNearer", func(t *testing.T) {
		t.Parallel()
		for _, test := range [][3]string{ // query, right, wrong
			{"When did Caroline go hiking in the mountains?", "Caroline hiked up a mountain last weekend", "Caroline bought a new sofa for the flat"},
			{"What food does she like?", "She likes Italian food, pasta most of all", "She went to the dentist on Monday"},
			{"dogs", "I have a dog named Rex", "The database is slow"},
			{"database migration failed", "The migrations of the databases are failing", "We celebrated a birthday"},
			{"用户喜欢吃什么", "用户很喜欢吃川菜", "会议改到了周三下午"},
			{"他住在哪里", "他去年搬到上海,现在住在浦东", "周五的发布取消了"},
			{"寿司の店", "東京で寿司を食べた", "天気がいいですね"},
			{"서울 여행", "지난주에 서울을 여행했다", "저녁을 먹었다"},
			{"Kubernetes 部署失败", "昨天 kubernetes 的部署又失败了", "明天下午开会"},
		} {
			v := embed(t, 1536, test[:]...)
			right, wrong := dot(v[0], v[1]), dot(v[0], v[2])
			require.Greater(t, right, wrong+0.08, "%s: %.3f against %.3f", test[0], right, wrong)
		}
	})

	t.Run("SameWordsInAnyForm", func(t *testing.T) {
		t.Parallel()
		v := embed(t, 1536, "She was hiking", "she HIKED", "Ｓｈｅ　ｈｉｋｅｓ", "went running", "goes runs")
		require.Greater(t, dot(v[0], v[1]), 0.9)
		require.Greater(t, dot(v[0], v[2]), 0.9)
		require.Greater(t, dot(v[3], v[4]), 0.9)
	})

	t.Run("UnrelatedIsNearZero", func(t *testing.T) {
		t.Parallel()
		v := embed(t, 1536, "The quarterly budget was approved by finance", "Penguins swim under Antarctic ice", "他喜欢弹钢琴")
		require.Less(t, math.Abs(dot(v[0], v[1])), 0.15)
		require.Less(t, math.Abs(dot(v[0], v[2])), 0.1)
	})

	t.Run("Validates", func(t *testing.T) {
		t.Parallel()
		_, err := open(t).Embedder.Embed(t.Context(), []string{"a", ""}, model.TaskQuery)
		var failure *model.Error
		require.ErrorAs(t, err, &failure)
		require.Equal(t, model.KindRejected, failure.Kind)
		require.ErrorContains(t, err, "text 1 of 2 is blank")
		_, err = open(t).Embedder.Embed(t.Context(), []string{"a"}, "")
		require.ErrorContains(t, err, "unknown task")
		for _, dimension := range []int{63, 4001, -1} {
			_, err := offline.Open(t.Context(), &offline.Config{Dimension: dimension})
			require.ErrorContains(t, err, "must be between 64 and 4000")
		}
		_, err = offline.Open(t.Context(), &offline.Config{MaxInputChars: -1})
		require.Error(t, err)
	})
}

const frozen = "[0.000 -0.088 0.000 0.000 0.048 0.252 -0.048 -0.025 -0.025 0.048 0.164 -0.056 0.025 0.048 0.252 0.048]"
