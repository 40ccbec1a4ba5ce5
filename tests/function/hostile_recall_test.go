package function_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/tests/hostile"
)

// TestHostileRecall puts each text of the hostile corpus into what is recalled beside memories and conversations:
// documents, by their content, their headings, their path and the name of their source; lessons; skills; notes;
// experiences; items of the store. One user each, and what a window, its print and a block make of it.
func TestHostileRecall(t *testing.T) { //nolint:tparallel // its subtests share a transaction
	t.Parallel()
	b := setup(t)
	scope := func(i int) *testBundle {
		return &testBundle{Scope: db.Scope{AppName: b.AppName, UserID: fmt.Sprint(b.UserID, "/", i)}, Tx: b.Tx, now: b.now}
	}
	type printed struct{ Text, Block string }
	recalled := func(t *testing.T, b *testBundle, query string) printed {
		t.Helper()
		return rowOf[printed](t, b, `
			SELECT hippocampus.format_context(ARRAY(SELECT w FROM hippocampus.get_context_window($1, $2, $3, p_max_tokens => 9000000,
					p_now => $4, p_project_anchors => '{umbrella}') w)) AS text,
				coalesce((SELECT r.content FROM hippocampus.recall_block($1, $2, $3, p_max_tokens => 9000000, p_limit => 100, p_max_lessons => 100,
					p_now => $4, p_project_anchors => '{umbrella}') r), '') AS block`, b.UserID, b.AppName, query, b.now)
	}
	texts := hostile.Texts()
	require.GreaterOrEqual(t, len(texts), 150)

	t.Run("Documents", func(t *testing.T) {
		for i, text := range texts {
			b := scope(i)
			content, name := hostile.Cut(text, 65_000), hostile.Cut(text, 250)
			b.exec(t, `SELECT hippocampus.put_document($1, $2, $3, jsonb_build_array(jsonb_build_object('content', $4::text, 'heading', $5::text, 'start_line', 1)),
				p_source => $6, p_title => $6)`, b.UserID, b.AppName, hostile.Cut(text, 1000), content, hostile.Cut(text, 4000), name)
			b.embedChunks(t, map[string]any{content: nearTo(0.9)})
			token := b.claim(t)
			b.build(t, token, map[string]any{"umbrella": nearTo(1)})
			b.switchTo(t, token)
			got := recalled(t, b, "umbrella")
			require.Contains(t, got.Text, "\n- [document] umbrella", "%.80q", text)
			require.Contains(t, got.Block, "\n- [document] umbrella", "%.80q", text)
			hostile.Fenced(t, got.Text, 1)
			hostile.Fenced(t, got.Block, 1)
		}
	})

	t.Run("Lessons", func(t *testing.T) {
		for i, text := range texts {
			b := scope(1000 + i)
			b.exec(t, "SELECT hippocampus.record_lesson($1, $2, $3, $4, p_source => $4, p_trust => $5, p_now => $6)",
				b.UserID, b.AppName, hostile.Cut(text, 65_000), hostile.Cut(text, 120), []string{"user", "agent"}[i%2], b.now)
			got := recalled(t, b, "umbrella")
			require.Contains(t, got.Block, "\n- [lesson 0.80", "%.80q", text)
			hostile.Fenced(t, got.Text, 1)
			hostile.Fenced(t, got.Block, 1)
		}
	})

	t.Run("SkillsNotesAndExperiences", func(t *testing.T) {
		for i, text := range texts {
			b := scope(2000 + i)
			name := hostile.Cut(text, 250)
			b.exec(t, "SELECT hippocampus.load_skill($1, $2, $3, $4, jsonb_build_object('domain', $3::text, 'name', $3::text), p_now => $5)", b.UserID, b.AppName, name, text, b.now)
			b.exec(t, "SELECT hippocampus.update_knowledge_base($1, $2, $3, $3, $4, p_now => $5)", b.UserID, b.AppName, name, hostile.Cut(text, 1_000_000), b.now)
			b.exec(t, "SELECT hippocampus.record_experience($1, $2, $3, 2, p_insight => $3, p_trajectory => jsonb_build_array($3::text, $4::text), p_now => $5)",
				b.UserID, b.AppName, hostile.Cut(text, 60_000), name, b.now)
			got := recalled(t, b, "umbrella")
			for _, shown := range []string{got.Text, got.Block} {
				require.Equal(t, 3, strings.Count(shown, "\n- ["+b.now.UTC().Format("2006-01-02")), "%.80q", text)
				hostile.Fenced(t, shown, 1)
			}
			require.Contains(t, got.Block, ", operator] umbrella") // a skill is the operator's
		}
	})

	// What stands in the store is the application's: nothing of it comes into a prompt by itself.
	t.Run("ItemsOfTheStore", func(t *testing.T) {
		b := scope(3000)
		for i, text := range texts {
			b.exec(t, "SELECT hippocampus.store_put($1, $2, ARRAY[$3::text, 'n'], $4, jsonb_build_object('text', $5::text, $3::text, 1), p_now => $6)",
				b.UserID, b.AppName, fmt.Sprint("n", i)+hostile.Cut(text, 100), hostile.Cut(text, 100), hostile.Cut(text, 200_000), b.now)
		}
		require.NotEmpty(t, list[string](t, b, "SELECT key FROM hippocampus.store_search($1, $2, p_query => 'umbrella')", b.UserID, b.AppName))
		require.Equal(t, printed{}, recalled(t, b, "umbrella"))
	})

	t.Run("NULIsRefused", func(t *testing.T) {
		b := scope(4000)
		before := b.counts(t)
		for _, call := range []string{
			`put_document($1, $2, 'a.md', '[{"content": "a\u0000", "start_line": 1}]')`,
			`put_document($1, $2, 'a.md', '[{"content": "a", "heading": "\u0000", "start_line": 1}]')`,
			`store_put($1, $2, '{a}', 'k', '{"text": "a\u0000"}')`,
			`record_experience($1, $2, 'x', p_trajectory => '["a\u0000", "b"]')`,
			`load_skill($1, $2, 'x', 'x', '{"name": "\u0000"}')`,
		} {
			b.refuses(t, "22P05", "Unicode escape", "SELECT hippocampus."+call, b.UserID, b.AppName)
		}
		require.Equal(t, before, b.counts(t))
	})
}
