package document_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/hippocampus-memory/hippocampus/document"
)

// words counts words, and each Chinese character: a counter that a reader can follow.
func words(text string) int {
	n := len(strings.Fields(text))
	for _, r := range text {
		if r >= 0x4e00 && r <= 0x9fff {
			n++
		}
	}
	return n
}

func prose(n int) string { return strings.TrimSpace(strings.Repeat("word ", n)) }

// chunker cuts with the tests' counter.
type chunker struct{ document.Chunker }

func (c chunker) markdown(t require.TestingT, source string) *document.Cut {
	cut, err := c.Markdown(context.Background(), source)
	require.NoError(t, err)
	return cut
}

func TestMarkdown(t *testing.T) {
	t.Parallel()
	c := chunker{document.Chunker{Count: words}}

	t.Run("CutsAtHeadingsOfTwoLevels", func(t *testing.T) {
		t.Parallel()
		cut := c.markdown(t, "---\ntitle: \"The title\"\n---\n# Top\n\n"+prose(60)+"\n\n## Liveness `probes`\n\n"+prose(60)+"\n\n### Deeper\n\n"+prose(60)+"\n\n## 探针\n\n"+strings.Repeat("存活", 40)+"\n")
		require.Equal(t, "The title", cut.Title)
		require.Len(t, cut.Chunks, 3)
		require.Equal(t, "Top", cut.Chunks[0].Heading)
		require.Equal(t, 4, cut.Chunks[0].StartLine)
		require.Equal(t, "Top > Liveness probes", cut.Chunks[1].Heading)
		require.Equal(t, 8, cut.Chunks[1].StartLine)
		require.Contains(t, cut.Chunks[1].Content, "### Deeper")
		require.Equal(t, "Top > 探针", cut.Chunks[2].Heading)
	})

	t.Run("DoesNotTakeCodeForHeadings", func(t *testing.T) {
		t.Parallel()
		cut := c.markdown(t, "# One\n\n"+prose(60)+"\n\n```sh\n# two\n## three\n```\n\n"+prose(60))
		require.Len(t, cut.Chunks, 1)
		require.Equal(t, "One", cut.Title)
	})

	t.Run("CutsLongSectionsBetweenParagraphs", func(t *testing.T) {
		t.Parallel()
		cut := c.markdown(t, "# A\n\n"+prose(300)+"\n\n"+prose(300)+"\n\n### B\n\n"+prose(300))
		require.Len(t, cut.Chunks, 3)
		require.Equal(t, []string{"A", "A", "A > B"}, []string{cut.Chunks[0].Heading, cut.Chunks[1].Heading, cut.Chunks[2].Heading})
		require.Equal(t, []int{1, 5, 7}, []int{cut.Chunks[0].StartLine, cut.Chunks[1].StartLine, cut.Chunks[2].StartLine})
	})

	t.Run("KeepsWhatIsSmallOnlyAlone", func(t *testing.T) {
		t.Parallel()
		require.Len(t, c.markdown(t, "# A\n\nshort").Chunks, 1)
		require.Len(t, c.markdown(t, "# A\n\nshort\n\n## B\n\n"+prose(60)+"\n\n## C\n\nshort too").Chunks, 1)
		require.Empty(t, c.markdown(t, "\n \n").Chunks)
		require.Empty(t, c.markdown(t, "").Chunks)
	})

	t.Run("LosesNothingAndHoldsItsBounds", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(t *rapid.T) {
			part := rapid.OneOf(
				rapid.Custom(func(t *rapid.T) string {
					return strings.Repeat("#", rapid.IntRange(1, 4).Draw(t, "level")) + fmt.Sprintf(" h%d\n\n", rapid.IntRange(0, 9).Draw(t, "n"))
				}),
				rapid.Custom(func(t *rapid.T) string { return prose(rapid.IntRange(1, 700).Draw(t, "words")) + "\n\n" }),
				rapid.Just("```\n# code\n\nmore\n```\n\n"), rapid.Just("- a\n- b\n\n  c\n\n"), rapid.Just("***\n\n"), rapid.Just("存活探针\n\n"), rapid.Just("[a]: http://b\n\n"),
			)
			source := strings.Join(rapid.SliceOfN(part, 0, 12).Draw(t, "parts"), "")
			cut := c.markdown(t, source)
			all := []string{}
			lines := strings.Split(source, "\n")
			for _, chunk := range cut.Chunks {
				require.LessOrEqual(t, words(chunk.Content), 512+50)
				if len(cut.Chunks) > 1 {
					require.GreaterOrEqual(t, words(chunk.Content), 50)
				}
				require.True(t, strings.HasPrefix(lines[chunk.StartLine-1], strings.Split(chunk.Content, "\n")[0]) || len(lines[chunk.StartLine-1]) > 500)
				all = append(all, strings.Fields(chunk.Content)...)
			}
			require.Equal(t, strings.Fields(source), all)
		})
	})
}

func TestText(t *testing.T) {
	t.Parallel()
	c := document.Chunker{Count: words}
	cut, err := c.Text(t.Context(), "# no heading\n\n"+prose(400)+"\n\n"+prose(400)+"\n\n"+strings.Repeat("x ", 1200))
	require.NoError(t, err)
	require.Empty(t, cut.Title)
	require.Len(t, cut.Chunks, 6)
	for _, chunk := range cut.Chunks {
		require.Empty(t, chunk.Heading)
		require.LessOrEqual(t, words(chunk.Content), 562)
	}
}

// A document may have as many sections as lines: what it takes to cut it grows as the document does.
//
//nolint:paralleltest // it counts what the process allocates
func TestManySections(t *testing.T) {
	c := chunker{document.Chunker{Count: words}}
	taken := func(sections int, section string) uint64 {
		source := strings.Repeat(section, sections)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		cut := c.markdown(t, source)
		runtime.ReadMemStats(&after)
		require.NotEmpty(t, cut.Chunks)
		return after.TotalAlloc - before.TotalAlloc
	}
	for _, section := range []string{"## a\n\nb c\n\n", "word\n\n", "# " + prose(500) + "\n\n", "###### a\n"} {
		require.Less(t, taken(8000, section), 6*taken(2000, section), "%.10s", section)
	}
	long := "# " + prose(100_000) + "\n\n" // a heading of half a megabyte, of each paragraph below
	require.Less(t, taken(1, long+strings.Repeat("word\n\n", 2000)), uint64(64<<20))
}

// A parser takes the square of how deep a text nests, and of how many links it names: these would take an hour.
func TestNothingTakesForever(t *testing.T) {
	t.Parallel()
	c := chunker{document.Chunker{Count: words}}
	for _, unit := range []string{"> ", "1. ", "- ", "[a]: b\n", "[a][b] "} {
		source := strings.Repeat(unit, 2<<20/len(unit))
		cut := c.markdown(t, source)
		size := 0
		for _, chunk := range cut.Chunks {
			size += len(strings.Join(strings.Fields(chunk.Content), ""))
		}
		require.Equal(t, len(strings.Join(strings.Fields(source), "")), size, unit)
	}
	deep := "# Top\n\n" + strings.Repeat("> ", 60) + "# quoted\n\n" + strings.Repeat(" ", 200) + "- x\n\n## Next\n\n" + prose(60)
	cut := c.markdown(t, deep)
	require.Equal(t, "Top > Next", cut.Chunks[len(cut.Chunks)-1].Heading)
}

// Whoever gives up waits no longer for a large document.
func TestCutHeedsItsContext(t *testing.T) {
	t.Parallel()
	source := strings.Repeat("## a\n\n"+prose(60)+"\n\n", 1000)
	for _, after := range []int{0, 10, 1500} { // before the first, and in each of the loops
		ctx, cancel := context.WithCancel(t.Context())
		counted := 0
		c := document.Chunker{Count: func(text string) int {
			if counted++; counted > after {
				cancel()
			}
			return words(text)
		}}
		if after == 0 {
			cancel()
		}
		for _, cut := range []func(context.Context, string) (*document.Cut, error){c.Markdown, c.Text} {
			_, err := cut(ctx, source)
			require.ErrorIs(t, err, context.Canceled)
			require.LessOrEqual(t, counted, after+1)
		}
		cancel()
	}
}
