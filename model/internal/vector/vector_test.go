package vector_test

import (
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/hippocampus-memory/hippocampus/model"
	"github.com/hippocampus-memory/hippocampus/model/internal/vector"
)

func TestBatches(t *testing.T) {
	t.Parallel()

	t.Run("CoverEveryTextOnceAndKeepTheBounds", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(t *rapid.T) {
			texts := rapid.SliceOf(rapid.StringN(0, 20, -1)).Draw(t, "texts")
			maxTexts := rapid.IntRange(1, 5).Draw(t, "maxTexts")
			maxChars := rapid.IntRange(1, 30).Draw(t, "maxChars")
			next := 0
			for _, b := range vector.Batches(texts, maxTexts, maxChars) {
				require.Equal(t, next, b[0])
				require.Greater(t, b[1], b[0])
				require.LessOrEqual(t, b[1]-b[0], maxTexts)
				if b[1]-b[0] > 1 {
					require.LessOrEqual(t, utf8.RuneCountInString(strings.Join(texts[b[0]:b[1]], "")), maxChars)
				}
				next = b[1]
			}
			require.Len(t, texts, next)
		})
	})
}

func TestCleanTexts(t *testing.T) {
	t.Parallel()

	t.Run("NamesTheBlankText", func(t *testing.T) {
		t.Parallel()
		for _, blank := range []string{"", " \t\n", "\u3000", "\x00"} {
			_, err := vector.CleanTexts("p", []string{"a", blank}, 10)
			var failure *model.Error
			require.ErrorAs(t, err, &failure)
			require.Equal(t, model.KindRejected, failure.Kind)
			require.ErrorContains(t, err, "text 1 of 2 is blank")
		}
	})

	t.Run("NamesTheLongText", func(t *testing.T) {
		t.Parallel()
		_, err := vector.CleanTexts("p", []string{"寿司寿司"}, 3)
		require.ErrorContains(t, err, "text 0 of 1 has 4 characters, over the limit of 3")
	})

	t.Run("StripsWhatPostgresRefuses", func(t *testing.T) {
		t.Parallel()
		clean, err := vector.CleanTexts("p", []string{"a\x00b\xffc"}, 10)
		require.NoError(t, err)
		require.Equal(t, []string{"ab\uFFFDc"}, clean)
	})
}

func TestFinish(t *testing.T) {
	t.Parallel()
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for name, test := range map[string]struct {
		vectors [][]float32
		want    string
	}{
		"Empty":          {nil, "got 0 vectors for 1 texts"},
		"Infinite":       {[][]float32{{inf, 1}}, "value 0 is +Inf"},
		"NotANumber":     {[][]float32{{1, nan}}, "value 1 is NaN"},
		"TooMany":        {[][]float32{{1, 0}, {1, 0}}, "got 2 vectors for 1 texts"},
		"NoValues":       {[][]float32{{}}, "vector 0 has no values"},
		"WrongDimension": {[][]float32{{1, 0, 0}}, "vector 0 has 3 values, want 2"},
		"Zero":           {[][]float32{{0, 0}}, "all 2 values are zero"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := vector.Finish("p", test.vectors, 1, 2)
			var failure *model.Error
			require.ErrorAs(t, err, &failure)
			require.Equal(t, model.KindInvalidReply, failure.Kind)
			require.ErrorContains(t, err, test.want)
		})
	}

	t.Run("UnitLength", func(t *testing.T) {
		t.Parallel()
		v := [][]float32{{3, 4}, {1e-30, 1e-30}, {3e38, 3e38}}
		require.NoError(t, vector.Finish("p", v, 3, 2))
		for _, x := range v {
			require.InDelta(t, 1, math.Hypot(float64(x[0]), float64(x[1])), 1e-6)
		}
	})
}
