package function_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// somebody is another user of the bundle's app, who sees what is shared.
func (b *testBundle) somebody(t *testing.T, function, arguments string) []string {
	t.Helper()
	return list[string](t, b, "SELECT r.content FROM hippocampus."+function+" r WHERE r.tier = 'shared'"+arguments, b.AppName, b.now)
}

// Sharing ends with the leave to share, however that is taken away, and what was shared is an ordinary memory again.
func TestSharingEndsWithItsPolicy(t *testing.T) {
	t.Parallel()
	const app = "UPDATE hippocampus.consolidation_policies SET sharing = false WHERE app_name = $1"
	for name, end := range map[string][]string{
		"Put":           {`SELECT hippocampus.put_consolidation_policy($1, '{"sharing": false}')`},
		"Update":        {app},
		"Delete":        {"DELETE FROM hippocampus.consolidation_policies WHERE app_name = $1"},
		"Rename":        {"UPDATE hippocampus.consolidation_policies SET app_name = $1 || 'x' WHERE app_name = $1"},
		"OfDeployment":  {"UPDATE hippocampus.consolidation_policies SET sharing = true WHERE app_name = left('*', length($1))", "DELETE FROM hippocampus.consolidation_policies WHERE app_name = $1", "UPDATE hippocampus.consolidation_policies SET sharing = false WHERE app_name = left('*', length($1))"},
		"OfItsOwnFirst": {"UPDATE hippocampus.consolidation_policies SET sharing = true WHERE app_name = left('*', length($1))", "DELETE FROM hippocampus.consolidation_policies WHERE app_name = $1", "INSERT INTO hippocampus.consolidation_policies (app_name) VALUES ($1)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setupAlone(t)
			b.policy(t, `{"sharing": true}`)
			id, replaced := b.remember(t, "the door code changed"), b.remember(t, "the door code is old")
			for _, id := range []uuid.UUID{id, replaced} {
				b.exec(t, "SELECT hippocampus.share_memory($1, $2, $3)", b.UserID, b.AppName, id)
			}
			b.exec(t, "SELECT hippocampus.supersede($1, $2, $3, $4)", b.UserID, b.AppName, replaced, id)
			const seen = "recall('somebody', $1, p_include_shared => true, p_now => $2)"
			for i, sql := range end {
				require.Equal(t, []string{"the door code changed"}, b.somebody(t, seen, ""), "before step %d", i)
				b.exec(t, sql, b.AppName)
			}
			require.Empty(t, b.somebody(t, seen, ""))
			require.Zero(t, get[int](t, b, "SELECT count(*) FROM hippocampus.shared_memories WHERE app_name = $1", b.AppName))
			require.Equal(t, id, b.rememberWith(t, "the door code changed", "p_importance => 0.9, p_tags => '{door}'"), "it is an ordinary memory")
			b.exec(t, "SELECT hippocampus.revert_supersession($1, $2, $3)", b.UserID, b.AppName, replaced)
			b.policy(t, `{"sharing": true}`)
			b.exec(t, "SELECT hippocampus.record_access($1, $2, $3)", b.UserID, b.AppName, []uuid.UUID{id, replaced})
			require.Empty(t, b.somebody(t, seen, ""), "what was taken back is not shared again by itself")
		})
	}
}

// Whatever order they are made in: what is derived from other memories is not shared.
func TestSharingEndsWithADerivation(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.policy(t, `{"sharing": true}`)
	insight, source := b.remember(t, "she is moving"), b.remember(t, "she asked for boxes")
	const share, seen = "SELECT hippocampus.share_memory($1, $2, $3)", "recall('somebody', $1, p_include_shared => true, p_now => $2)"
	b.exec(t, share, b.UserID, b.AppName, insight)
	const link = "SELECT hippocampus.link_memories($1, $2, $3, $4, $5)"
	b.exec(t, link, b.UserID, b.AppName, insight, source, "related_to")
	b.exec(t, link, b.UserID, b.AppName, source, insight, "derived_from")
	require.Equal(t, []string{"she is moving"}, b.somebody(t, seen, ""), "others were made of it")
	b.exec(t, link, b.UserID, b.AppName, insight, source, "derived_from")
	require.Empty(t, b.somebody(t, seen, ""))
	require.Equal(t, "private", get[string](t, b, "SELECT visibility FROM hippocampus.memories WHERE id = $1", insight))
	b.refuses(t, "HC009", "was made of other memories", share, b.UserID, b.AppName, insight)
}

// Filters look at all that is shared, not at the newest of it.
func TestFiltersOfWhatIsShared(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.policy(t, `{"sharing": true}`)
	b.exec(t, `INSERT INTO hippocampus.memories (user_id, app_name, content, content_hash, memory_type, category, importance, tags, visibility, occurred_from, occurred_until,
			token_count, token_count_exact)
		SELECT $1, $2, CASE n WHEN 0 THEN 'the key hangs in the shed' ELSE 'tea ' || n END, sha256(n::text::bytea), CASE n WHEN 0 THEN 'semantic' ELSE 'episodic' END,
			CASE n WHEN 0 THEN 'decision' ELSE 'chat' END, CASE n WHEN 0 THEN 0.9 ELSE 0.4 END, CASE n WHEN 0 THEN ARRAY['key'] ELSE '{}' END, 'app',
			$3::timestamptz + n * interval '1 second', $3::timestamptz + n * interval '1 second', 3, true
		FROM generate_series(0, 10100) n`, b.UserID, b.AppName, b.now.Add(-24*time.Hour))
	for _, filter := range []string{"p_min_importance => 0.8", "p_types => '{decision}'", "p_tags => '{key}'"} {
		for _, function := range []string{"recall('somebody', $1, ", "recall_similar('somebody', $1, 'where hangs tea', p_now => $2, p_include_shared => true, "} {
			call := function + filter
			if function == "recall('somebody', $1, " {
				call += ", p_now => $2, p_include_shared => true"
			}
			require.Equal(t, []string{"the key hangs in the shed"}, b.somebody(t, call+")", ""), call)
		}
	}
	require.Equal(t, []string{"the key hangs in the shed"}, b.somebody(t,
		"recall('somebody', $1, p_memory_types => '{semantic}', p_now => $2, p_include_shared => true)", ""))
	require.Equal(t, []string{"the key hangs in the shed"}, b.somebody(t,
		"recall_similar('somebody', $1, 'shed', p_now => $2, p_include_shared => true)", ""), "and so does a search")
}

// A filter by importance is one of the search itself: what is important is found wherever it ranks.
func TestSimilarByImportance(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i := range 120 {
		b.rememberWith(t, fmt.Sprintf("tea tea tea %d", i), "p_importance => 0.3")
	}
	b.rememberWith(t, "the boxes of tea in the cellar beside the old lamp are full", "p_importance => 0.9")
	used := b.rememberWith(t, "the tea of the neighbours from the house with the green door is bitter", "p_importance => 0.6")
	b.exec(t, "UPDATE hippocampus.memories SET access_count = 100 WHERE id = $1", used)
	for _, vector := range []any{nil, vector(1)} {
		require.ElementsMatch(t, []string{"the boxes of tea in the cellar beside the old lamp are full", "the tea of the neighbours from the house with the green door is bitter"},
			list[string](t, b, "SELECT r.content FROM hippocampus.recall_similar($1, $2, 'tea', $3, p_limit => 2, p_min_importance => 0.7, p_now => $4) r",
				b.UserID, b.AppName, vector, b.now))
		require.Len(t, list[string](t, b, "SELECT r.content FROM hippocampus.search_memory($1, $2, 'tea', $3, p_min_importance => 0.85, p_now => $4) r",
			b.UserID, b.AppName, vector, b.now), 1)
	}
	b.refuses(t, "HC009", "p_min_importance is NaN", "SELECT hippocampus.search_memory($1, $2, 'tea', p_min_importance => 'NaN')", b.UserID, b.AppName)
}
