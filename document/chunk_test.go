package document_test

import (
	"fmt"
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

func TestMarkdown(t *testing.T) {
	t.Parallel()
	c := document.Chunker{Count: words}

	t.Run("CutsAtHeadingsOfTwoLevels", func(t *testing.T) {
		t.Parallel()
		cut := c.Markdown("---\ntitle: \"The title\"\n---\n# Top\n\n" + prose(60) + "\n\n## Liveness `probes`\n\n" + prose(60) + "\n\n### Deeper\n\n" + prose(60) + "\n\n## 探针\n\n" + strings.Repeat("存活", 40) + "\n")
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
		cut := c.Markdown("# One\n\n" + prose(60) + "\n\n```sh\n# two\n## three\n```\n\n" + prose(60))
		require.Len(t, cut.Chunks, 1)
		require.Equal(t, "One", cut.Title)
	})

	t.Run("CutsLongSectionsBetweenParagraphs", func(t *testing.T) {
		t.Parallel()
		cut := c.Markdown("# A\n\n" + prose(300) + "\n\n" + prose(300) + "\n\n### B\n\n" + prose(300))
		require.Len(t, cut.Chunks, 3)
		require.Equal(t, []string{"A", "A", "A > B"}, []string{cut.Chunks[0].Heading, cut.Chunks[1].Heading, cut.Chunks[2].Heading})
		require.Equal(t, []int{1, 5, 7}, []int{cut.Chunks[0].StartLine, cut.Chunks[1].StartLine, cut.Chunks[2].StartLine})
	})

	t.Run("KeepsWhatIsSmallOnlyAlone", func(t *testing.T) {
		t.Parallel()
		require.Len(t, c.Markdown("# A\n\nshort").Chunks, 1)
		require.Len(t, c.Markdown("# A\n\nshort\n\n## B\n\n"+prose(60)+"\n\n## C\n\nshort too").Chunks, 1)
		require.Empty(t, c.Markdown("\n \n").Chunks)
		require.Empty(t, c.Markdown("").Chunks)
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
			cut := c.Markdown(source)
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
	cut := c.Text("# no heading\n\n" + prose(400) + "\n\n" + prose(400) + "\n\n" + strings.Repeat("x ", 1200))
	require.Empty(t, cut.Title)
	require.Len(t, cut.Chunks, 6)
	for _, chunk := range cut.Chunks {
		require.Empty(t, chunk.Heading)
		require.LessOrEqual(t, words(chunk.Content), 562)
	}
}
