package offline_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/model"
)

// longTalk is a conversation of n turns, about 170 characters each.
func longTalk(n int) *model.Conversation {
	c := &model.Conversation{}
	for i := range n {
		c.Turns = append(c.Turns, model.Turn{Sequence: int64(i), Author: "user", Text: fmt.Sprintf(
			"I moved from Paris to Berlin in 20%02d and work as a nurse. The weather was fine, we walked along the river. 我喜欢寿司,也喜欢面条。", i%100)})
	}
	return c
}

func BenchmarkEmbed(b *testing.B) {
	models := open(b)
	texts := []string{strings.Repeat("I moved from Paris to Berlin last month and work as a nurse. ", 8)}
	for b.Loop() {
		_, err := models.Embedder.Embed(b.Context(), texts, model.TaskDocument)
		require.NoError(b, err)
	}
}

func BenchmarkReflect(b *testing.B) {
	models, c := open(b), longTalk(300)
	for b.Loop() {
		_, err := models.Reflector.Reflect(b.Context(), c)
		require.NoError(b, err)
	}
}

func BenchmarkSummarize(b *testing.B) {
	models, c := open(b), longTalk(300)
	for b.Loop() {
		_, err := models.Summarizer.Summarize(b.Context(), c)
		require.NoError(b, err)
	}
}
