package function_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// block is what recall_block returns.
type block struct {
	Content    string
	TokenCount int32
	Priority   int32
	LessonIDs  []uuid.UUID `db:"lesson_ids"`
	MemoryIDs  []uuid.UUID `db:"memory_ids"`
	ChunkIDs   []uuid.UUID `db:"chunk_ids"`
}

// entries are the lines between the notice and the end of the fence.
func (b block) entries(t *testing.T) []string {
	t.Helper()
	lines := strings.Split(b.Content, "\n")
	require.Equal(t, []string{"<recalled_memories>", "</recalled_memories>"}, []string{lines[0], lines[len(lines)-1]})
	return lines[2 : len(lines)-1]
}

func TestRecallBlock(t *testing.T) {
	t.Parallel()
	blocks := func(t *testing.T, b *testBundle, query, named string) []block {
		t.Helper()
		return rowsOf[block](t, b, "SELECT content, token_count, priority, lesson_ids, memory_ids, chunk_ids FROM hippocampus.recall_block($1, $2, $3, p_now => $4"+named+")",
			b.UserID, b.AppName, query, b.now)
	}
	one := func(t *testing.T, b *testBundle, query, named string) block {
		t.Helper()
		found := blocks(t, b, query, named)
		require.Len(t, found, 1)
		return found[0]
	}
	lesson := func(t *testing.T, b *testBundle, rule, domain string, confidence float64, named string) uuid.UUID {
		t.Helper()
		return get[uuid.UUID](t, b, "SELECT fact_id FROM hippocampus.record_lesson($1, $2, $3, $4, $5, p_now => $6"+named+")",
			b.UserID, b.AppName, rule, domain, confidence, b.now)
	}

	t.Run("LessonsThatFitComeFirst", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		async := lesson(t, b, "Always use async for I/O", "python_style", 0.8, ", p_trust => 'agent'")
		lesson(t, b, "Water the ferns on Mondays", "garden", 1, "")
		chinese := lesson(t, b, "提交信息一律用英文", "git", 0.95, "")
		memory := b.remember(t, "The client reads files with async I/O since May.")
		got := one(t, b, "Write the async file reader", "")
		require.Equal(t, []string{
			"- [lesson 0.80, agent] Always use async for I/O (Source: python_style)",
			"- [" + b.now.UTC().Format("2006-01-02") + "] The client reads files with async I/O since May.",
		}, got.entries(t))
		require.Equal(t, []uuid.UUID{async}, got.LessonIDs)
		require.Equal(t, []uuid.UUID{memory}, got.MemoryIDs)
		require.Empty(t, got.ChunkIDs)
		require.EqualValues(t, 40, got.Priority)
		got = one(t, b, "帮我写提交信息", ", p_language => 'zh'")
		require.Equal(t, []string{"- [lesson 0.95] 提交信息一律用英文 (Source: git)"}, got.entries(t))
		require.Equal(t, []uuid.UUID{chinese}, got.LessonIDs)
		require.Contains(t, got.Content, "不是指令")
		require.Empty(t, blocks(t, b, "completely unrelated zebra", ""))
		require.NotContains(t, one(t, b, "Write the async file reader", ", p_max_lessons => 0").Content, "lesson")
	})

	t.Run("TheFieldOfALessonIsFound", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		lesson(t, b, "Messages are in English only", "git_commits", 0.9, ", p_key => 'language_of_messages'")
		require.Equal(t, []string{"- [lesson 0.90] Messages are in English only (Source: git_commits)"}, one(t, b, "Make the git commit", "").entries(t))
	})

	t.Run("TheSurerAndTheNearerFirst", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		vector := func(similarity float64) string {
			return fmt.Sprintf("'%s'::public.vector", toJSON(t, near(similarity)))
		}
		nearest := lesson(t, b, "alpha", "one", 0.9, ", p_embedding => "+vector(0.97)+", p_embedding_model => 'm'")
		weaker := lesson(t, b, "beta", "two", 0.6, ", p_embedding => "+vector(0.74)+", p_embedding_model => 'm'")
		lesson(t, b, "gamma", "three", 1, ", p_embedding => "+vector(0.1)+", p_embedding_model => 'm'") // less than half as near
		asked := ", p_query_embedding => " + vector(1)
		require.Equal(t, []uuid.UUID{nearest, weaker}, one(t, b, "anything", asked).LessonIDs)
		require.Equal(t, []uuid.UUID{nearest}, one(t, b, "anything", asked+", p_max_lessons => 1").LessonIDs)
		require.Empty(t, blocks(t, b, "anything", asked+", p_min_relevance => 0.99"))
	})

	t.Run("WhatHoldsNoLongerIsNotRecalled", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		lesson(t, b, "Use tabs in code", "style", 0.9, ", p_key => 'indent'")
		lesson(t, b, "Use spaces in code", "style", 0.9, ", p_key => 'indent'")
		b.exec(t, `SELECT hippocampus.upsert_fact($1, $2, 'rule', 'other', '"Use no code"')`, b.UserID, b.AppName) // a rule of nobody's learning
		require.Equal(t, []string{"- [lesson 0.90] Use spaces in code (Source: style)"}, one(t, b, "indent the code", "").entries(t))
		gone := get[uuid.UUID](t, b, "SELECT id FROM hippocampus.lessons WHERE user_id = $1", b.UserID)
		b.exec(t, "SELECT hippocampus.forget($1, $2, ARRAY[$3::uuid])", b.UserID, b.AppName, gone)
		require.NotContains(t, fmt.Sprint(blocks(t, b, "indent the code", "")), "spaces")
	})

	t.Run("DocumentsWhereTheyAreAskedFor", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.corpus(t)
		require.Empty(t, blocks(t, b, "whatever happened", ""))
		got := one(t, b, "whatever happened", ", p_project_anchors => '{liveness}'")
		require.Equal(t, []string{"- [document] probes.md:1: liveness restarts a container"}, got.entries(t))
		require.Len(t, got.ChunkIDs, 1)
		// as a window has it
		require.Equal(t, got.entries(t), list[string](t, b, "SELECT content FROM hippocampus.get_context_window($1, $2, 'whatever happened', p_project_anchors => '{liveness}') WHERE context_type = 'memory'", b.UserID, b.AppName))
		require.NotEmpty(t, one(t, b, "which liveness is it", ", p_project_anchors => '{}'").ChunkIDs)
	})

	t.Run("TheBestOfEachKindBeforeTheNext", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		for i := range 3 {
			lesson(t, b, fmt.Sprintf("Sharpen the knife, way %d", i), "kitchen", 0.9, "")
			b.remember(t, fmt.Sprintf("The knife was sharpened in week %d", i))
		}
		all := one(t, b, "knife", "")
		require.Len(t, all.entries(t), 6)
		for budget := 0; budget <= int(all.TokenCount); budget++ {
			for _, got := range blocks(t, b, "knife", fmt.Sprintf(", p_max_tokens => %d", budget)) {
				require.LessOrEqual(t, int(got.TokenCount), budget)
				require.InDelta(t, len(got.LessonIDs), len(got.MemoryIDs), 1, "%d", budget)
			}
		}
		require.Empty(t, blocks(t, b, "knife", ", p_max_tokens => 48"))
	})

	t.Run("RefusesWhatCannotBe", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.refuses(t, "HC009", "p_max_lessons is 1001", "SELECT hippocampus.recall_block('u', 'a', 'x', p_max_lessons => 1001)")
		b.refuses(t, "HC009", "p_max_lessons is -1", "SELECT hippocampus.recall_block('u', 'a', 'x', p_max_lessons => -1)")
		b.refuses(t, "HC007", "p_max_tokens is -1", "SELECT hippocampus.recall_block('u', 'a', 'x', p_max_tokens => -1)")
		b.refuses(t, "HC009", "p_language is 'fr'", "SELECT hippocampus.recall_block('u', 'a', 'x', p_language => 'fr')")
	})
}
