package model_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/model"
)

// What is cut in pieces says nothing in any of them that it does not say as a whole.
func TestHead(t *testing.T) {
	t.Parallel()
	count := func(text string) int { return (utf8.RuneCountInString(text) + 3) / 4 }
	pieces := func(text string, maxTokens, maxChars int) (all []string) {
		for text != "" {
			head := model.Head(count, text, maxTokens, maxChars)
			require.NotEmpty(t, head)
			require.LessOrEqual(t, count(head), maxTokens)
			require.LessOrEqual(t, utf8.RuneCountInString(head), maxChars)
			all, text = append(all, head), text[len(head):]
		}
		return all
	}
	for name, c := range map[string]struct{ sentence, end string }{
		"Sentences": {"I moved to Paris. ", "Paris."},
		"Chinese":   {"我搬到了巴黎。", "巴黎。"},
		"Words":     {"Paris ", "Paris"},
	} {
		text := strings.Repeat(c.sentence, 500)
		for _, piece := range pieces(text, 97, 1000) {
			require.True(t, strings.HasSuffix(strings.TrimSpace(piece), c.end), "%s: %q", name, piece)
		}
		require.Equal(t, text, strings.Join(pieces(text, 1000, 97), ""), name)
	}
	require.Len(t, pieces(strings.Repeat("x", 1000), 1000, 100), 10, "without an end it is cut where it is")
	require.Equal(t, []string{"猫"}, pieces("猫", 1, 1))
}
