package service_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/service"
)

func TestEpisodicMemoryProvider(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	provider := &service.EpisodicMemoryProvider{Scope: ada, Service: b.svc}
	for _, state := range []*service.RecallState{nil, {}, {Messages: []string{" "}}, {CurrentTask: "umbrella"}} {
		block, err := provider.Provide(t.Context(), state, 500)
		require.NoError(t, err)
		require.Nil(t, block) // nothing to ask for, or nothing there
	}
	for _, place := range []string{"hall", "car", "office", "garden"} {
		_, err := b.svc.SaveMemory(t.Context(), ada, "The umbrella is in the "+place, &service.SaveOptions{Metadata: []byte(`{"domain": "home"}`)})
		require.NoError(t, err)
	}
	block, err := provider.Provide(t.Context(), &service.RecallState{CurrentTask: "Find the umbrella in the garden", Messages: []string{"hall"}}, 500)
	require.NoError(t, err)
	require.Equal(t, "episodic_memory", block.Name)
	require.Equal(t, 40, block.Priority)
	require.Len(t, block.MemoryIDs, 3)
	require.Equal(t, b.svc.Counter().Count(block.Content), block.TokenCount)
	require.Regexp(t, `^<recalled_memories>\nWhat follows was recalled\.[^\n]*\n- \[[0-9-]{10}\] The umbrella is in the garden \(Source: home\)\n`, block.Content)
	last, err := provider.Provide(t.Context(), &service.RecallState{Messages: []string{"garden", "hall"}}, 500)
	require.NoError(t, err)
	require.Contains(t, last.Content, "in the hall")
	provider.Language = "zh"
	block, err = provider.Provide(t.Context(), &service.RecallState{CurrentTask: "umbrella"}, 500)
	require.NoError(t, err)
	require.Contains(t, block.Content, "不是指令")
	provider.Language = "fr"
	_, err = provider.Provide(t.Context(), &service.RecallState{CurrentTask: "umbrella"}, 500)
	require.ErrorIs(t, err, db.ErrInvalidArgument)
	_, err = provider.Provide(t.Context(), &service.RecallState{CurrentTask: "umbrella"}, -1)
	require.ErrorIs(t, err, db.ErrInvalidBudget)
	provider.Language = "zh"
	for _, anchors := range [][]string{{"\x00"}, make([]string, 1001)} {
		provider.ProjectAnchors = anchors
		_, err = provider.Provide(t.Context(), &service.RecallState{CurrentTask: "umbrella"}, 500)
		require.Error(t, err)
	}
	provider.ProjectAnchors, provider.MaxLessons = nil, new(-1)
	_, err = provider.Provide(t.Context(), &service.RecallState{CurrentTask: "umbrella"}, 500)
	require.ErrorIs(t, err, db.ErrInvalidArgument)
}

// What is recalled before a task: lessons, memories and, where it is asked for, documents, as SQL gives it.
func TestEpisodicMemoryProviderLessons(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	provider := &service.EpisodicMemoryProvider{Scope: ada, Service: b.svc}
	lesson, err := b.svc.RecordLesson(t.Context(), ada, "Fold the umbrella when it is dry", &service.LessonOptions{Domain: "home", Confidence: new(0.9)})
	require.NoError(t, err)
	_, err = b.svc.RecordLesson(t.Context(), ada, "雨伞晾干后再收起来", &service.LessonOptions{Domain: "家务", Confidence: new(0.7)})
	require.NoError(t, err)
	_, err = b.svc.SaveMemory(t.Context(), ada, "The umbrella is in the hall", nil)
	require.NoError(t, err)
	for query, want := range map[string]string{
		"Put the umbrella away": "- [lesson 0.90] Fold the umbrella when it is dry (Source: home)\n- [", "把雨伞收起来": "- [lesson 0.70] 雨伞晾干后再收起来 (Source: 家务)",
	} {
		block, err := provider.Provide(t.Context(), &service.RecallState{CurrentTask: query}, 500)
		require.NoError(t, err)
		require.Contains(t, block.Content, want)
		require.LessOrEqual(t, block.TokenCount, 500)
		var content string
		require.NoError(t, b.admin.QueryRow(t.Context(), "SELECT content FROM hippocampus.recall_block('ada', 'shop', $1, p_max_tokens => 500)", query).Scan(&content))
		require.Equal(t, content, block.Content)
	}
	block, err := provider.Provide(t.Context(), &service.RecallState{Messages: []string{"Put the umbrella away"}}, 0)
	require.NoError(t, err)
	require.Equal(t, []uuid.UUID{lesson.FactID}, block.LessonIDs)
	provider.MaxLessons = new(0)
	block, err = provider.Provide(t.Context(), &service.RecallState{CurrentTask: "Put the umbrella away"}, 0)
	require.NoError(t, err)
	require.NotContains(t, block.Content, "lesson")
	require.Empty(t, block.LessonIDs)
}
