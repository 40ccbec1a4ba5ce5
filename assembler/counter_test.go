package assembler_test

import (
	"encoding/json"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/assembler"
	"github.com/hippocampus-memory/hippocampus/db"
)

func newCounter(t testing.TB) *assembler.Counter {
	t.Helper()
	counter, err := assembler.NewCounter("")
	require.NoError(t, err)
	return counter
}

func TestNewCounter(t *testing.T) {
	t.Parallel()

	t.Run("KnowsTheEncodings", func(t *testing.T) {
		t.Parallel()
		for _, encoding := range []string{"o200k_base", "cl100k_base", "p50k_base", "p50k_edit", "r50k_base"} {
			counter, err := assembler.NewCounter(encoding)
			require.NoError(t, err)
			require.Equal(t, encoding, counter.Encoding())
			require.Equal(t, 2, counter.Count("hello world"), encoding)
		}
	})

	t.Run("RefusesAnother", func(t *testing.T) {
		t.Parallel()
		_, err := assembler.NewCounter("gemma")
		require.ErrorIs(t, err, db.ErrInvalidArgument)
		require.ErrorContains(t, err, `"gemma"`)
	})
}

func TestCounter_Count(t *testing.T) {
	t.Parallel()

	// Counts of OpenAI's own tokenizer (tiktoken 1.0 in WebAssembly), for texts of 17 scripts.
	t.Run("CountsAsTiktoken", func(t *testing.T) {
		t.Parallel()
		raw, err := os.ReadFile("testdata/tiktoken.json")
		require.NoError(t, err)
		var texts []struct {
			Text  string `json:"text"`
			Times int    `json:"times"`
			O200k int    `json:"o200k_base"`
			Cl100 int    `json:"cl100k_base"`
		}
		require.NoError(t, json.Unmarshal(raw, &texts))
		require.Greater(t, len(texts), 300)
		o200k, err := assembler.NewCounter("o200k_base")
		require.NoError(t, err)
		cl100k, err := assembler.NewCounter("cl100k_base")
		require.NoError(t, err)
		for _, text := range texts {
			require.Equal(t, text.O200k, o200k.Count(strings.Repeat(text.Text, text.Times)), "%q", text.Text)
			require.Equal(t, text.Cl100, cl100k.Count(strings.Repeat(text.Text, text.Times)), "%q", text.Text)
		}
	})

	t.Run("IsNotQuadratic", func(t *testing.T) { // or it would not end before go test gives up: 90 texts, 40 s each
		t.Parallel()
		const size = 1 << 18
		for _, encoding := range []string{"o200k_base", "cl100k_base", "p50k_base"} {
			counter, err := assembler.NewCounter(encoding)
			require.NoError(t, err)
			for _, unit := range []string{
				"a", "A", "Aa", "7", "!", " ", "\n", " \n", "\n ", " \n\t", "\r", "\t", "'s", "'", "a'", "/\r", " !", "  x", " \nx",
				"\n \nx", "哈", "我们今天去北京吃烤鸭", "ก็", "안", "\u0301", "👩‍👩‍👧", "\u3000\n", "\u00a0", "\u2028\n", "ʰ",
			} {
				text := strings.Repeat(unit, size/len(unit))
				n := counter.Count(text)
				require.LessOrEqual(t, n, len(text))
				require.Positive(t, n)
			}
		}
	})

	t.Run("IsSafeForConcurrentUse", func(t *testing.T) {
		t.Parallel()
		counter := newCounter(t)
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 100 {
					if n := counter.Count("a\n \nb"); n != 3 {
						t.Errorf("%d tokens", n)
					}
				}
			})
		}
		wg.Wait()
	})
}
