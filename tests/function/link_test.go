package function_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func TestLinkMemories(t *testing.T) { //nolint:tparallel // its subtests share a transaction
	t.Parallel()
	b := setup(t)
	one, two, three := b.remember(t, "one"), b.remember(t, "two"), b.remember(t, "three")
	link := func(t *testing.T, from, to uuid.UUID, linkType string, weight float64) {
		t.Helper()
		b.exec(t, "SELECT hippocampus.link_memories($1, $2, $3, $4, $5, $6)", b.UserID, b.AppName, from, to, linkType, weight)
	}
	linked := func(t *testing.T, from uuid.UUID, depth int) []string {
		t.Helper()
		return list[string](t, b, "SELECT m.content || ' ' || round(m.score::numeric, 2) FROM hippocampus.linked_memories($1, $2, $3, $4) m",
			b.UserID, b.AppName, from, depth)
	}

	t.Run("CyclesEnd", func(t *testing.T) {
		link(t, one, two, "related_to", 0.5)
		link(t, two, three, "caused_by", 0.5)
		link(t, three, one, "follows", 0.1)
		require.Equal(t, []string{"two 0.50", "three 0.10"}, linked(t, one, 1), "in both directions")
		require.ElementsMatch(t, []string{"one 0.50", "three 0.50"}, linked(t, two, 5))
		link(t, one, two, "related_to", 0.9)
		require.Equal(t, []string{"two 0.90"}, list[string](t, b, `SELECT m.content || ' ' || round(m.score::numeric, 2)
			FROM hippocampus.linked_memories($1, $2, $3, 5, '{related_to}') m`, b.UserID, b.AppName, one))
		require.Equal(t, 1, get[int](t, b, "SELECT hippocampus.unlink_memories($1, $2, $3, $4)", b.UserID, b.AppName, three, one))
	})

	t.Run("WhatIsSupersededTakesNoPlace", func(t *testing.T) {
		hub, far := b.remember(t, "hub"), b.remember(t, "far")
		near, old := b.remember(t, "near"), b.remember(t, "old")
		link(t, hub, old, "related_to", 0.9)
		link(t, hub, near, "related_to", 0.5)
		link(t, old, far, "related_to", 0.5)
		b.exec(t, "SELECT hippocampus.supersede($1, $2, $3, $4)", b.UserID, b.AppName, old, near)
		const linked = "SELECT m.content FROM hippocampus.linked_memories($1, $2, $3, p_depth => $4, p_limit => $5) m"
		require.Equal(t, []string{"near"}, list[string](t, b, linked, b.UserID, b.AppName, hub, 1, 1))
		require.Equal(t, []string{"near", "far"}, list[string](t, b, linked, b.UserID, b.AppName, hub, 2, 2), "the way leads over it")
		b.exec(t, "SELECT hippocampus.forget($1, $2, $3)", b.UserID, b.AppName, []uuid.UUID{hub, far, near, old})
	})

	t.Run("RefusesWhatCannotBe", func(t *testing.T) {
		const sql = "SELECT hippocampus.link_memories($1, $2, $3, $4, $5)"
		b.refuses(t, "HC009", "cannot be linked with itself", sql, b.UserID, b.AppName, one, one, "related_to")
		b.refuses(t, "HC009", "p_link_type", sql, b.UserID, b.AppName, one, two, "loves")
		b.refuses(t, "HC011", "is unknown", sql, b.UserID, b.AppName, one, uuid.New(), "related_to")
		b.refuses(t, "HC011", "is unknown", sql, b.UserID+"x", b.AppName, one, two, "related_to")
		b.refuses(t, "HC009", "p_depth is 6", "SELECT hippocampus.linked_memories($1, $2, $3, 6)", b.UserID, b.AppName, one)
	})

	t.Run("WhatIsDerivedIsForgottenWithItsSource", func(t *testing.T) {
		insight := b.remember(t, "an insight drawn from three and two")
		link(t, insight, three, "derived_from", 1)
		link(t, insight, two, "derived_from", 1)
		name := b.remember(t, "a cluster that tells of three")
		b.exec(t, `INSERT INTO hippocampus.memory_clusters (started_at, ended_at, id, user_id, app_name) VALUES ($1, $1, $2, $3, $4)`, b.now, name, b.UserID, b.AppName)
		b.exec(t, `INSERT INTO hippocampus.memory_cluster_members (cluster_id, memory_id, user_id, app_name) SELECT $1, m, $4, $5 FROM unnest(ARRAY[$2::uuid, $3]) m`,
			name, two, three, b.UserID, b.AppName)
		b.exec(t, "SELECT hippocampus.unlink_memories($1, $2, $3, $4)", b.UserID, b.AppName, insight, two)
		require.Equal(t, 5, get[int](t, b, "SELECT count(*) FROM hippocampus.memories WHERE user_id = $1", b.UserID), "a link that is taken away takes nothing along")
		b.refuses(t, "HC009", "are not shared", "SELECT hippocampus.share_memory($1, $2, $3)", b.UserID, b.AppName, insight)
		b.policy(t, `{"sharing": true}`)
		b.refuses(t, "HC009", "was made of other memories", "SELECT hippocampus.share_memory($1, $2, $3)", b.UserID, b.AppName, insight)
		b.exec(t, "SELECT hippocampus.forget($1, $2, $3)", b.UserID, b.AppName, []uuid.UUID{three})
		require.Equal(t, []string{"one", "two"}, list[string](t, b, "SELECT content FROM hippocampus.memories WHERE user_id = $1 ORDER BY 1", b.UserID))
		require.Zero(t, get[int](t, b, "SELECT count(*) FROM hippocampus.memory_cluster_members WHERE user_id = $1", b.UserID))
	})
}

func TestTidyMemories(t *testing.T) {
	t.Parallel()
	b := setup(t)
	store := func(content, tags string, vector string, at time.Duration) uuid.UUID {
		return get[uuid.UUID](t, b, `SELECT hippocampus.remember($1, $2, $3, 'semantic', p_tags => $4, p_embedding => (
			SELECT array_agg(CASE i WHEN 1 THEN split_part($5, ',', 1)::float8 WHEN 2 THEN split_part($5, ',', 2)::float8 ELSE 0 END ORDER BY i)
			FROM generate_series(1, 64) i)::public.vector, p_now => $6)`, b.UserID, b.AppName, content, tags, vector, b.now.Add(at))
	}
	older := store("she drinks tea", "{kitchen}", "1,0", 0)
	b.exec(t, `UPDATE hippocampus.memories SET metadata = '{"room": "42", "cup": "blue"}' WHERE id = $1`, older)
	newer := store("she drinks green tea", "{tea}", "1,0.01", time.Minute)
	b.exec(t, `UPDATE hippocampus.memories SET metadata = '{"cup": "red"}' WHERE id = $1`, newer)
	other := store("tea is her drink at work", "{tea}", "0.9,0.4", time.Minute)
	third := store("the office has a kettle", "{}", "0.85,0.5", time.Minute)
	store("the disk is full", "{ops}", "0,1", time.Minute)
	b.exec(t, "SELECT hippocampus.record_access($1, $2, $3, $4)", b.UserID, b.AppName, []uuid.UUID{older}, b.now)
	changes := get[map[string]any](t, b, "SELECT hippocampus.tidy_memories($1, $2, p_duplicate_similarity => 0.999)", b.UserID, b.AppName)
	require.InDelta(t, 1, changes["merged"], 0)
	require.Equal(t, newer, get[uuid.UUID](t, b, "SELECT superseded_by FROM hippocampus.memories WHERE id = $1", older))
	require.Equal(t, "2 1", get[string](t, b, "SELECT encounter_count || ' ' || access_count FROM hippocampus.memories WHERE id = $1", newer), "it takes over the strength")
	require.Equal(t, `{kitchen,tea} {"cup": "red", "room": "42"}`, get[string](t, b, "SELECT tags::text || ' ' || metadata::text FROM hippocampus.memories WHERE id = $1", newer), "and the labels")
	require.Equal(t, []uuid.UUID{newer}, list[uuid.UUID](t, b, `SELECT id FROM hippocampus.recall_related($1, $2, '{"room": "42"}')`, b.UserID, b.AppName))
	require.Equal(t, []string{"tea"}, get[[]string](t, b, "SELECT tags FROM hippocampus.memories WHERE id = $1", third), "two neighbours have it")
	require.Equal(t, 3, get[int](t, b, "SELECT count(*) FROM hippocampus.memory_links WHERE user_id = $1 AND source = 'sleep'", b.UserID))
	require.NotZero(t, get[int](t, b, "SELECT count(*) FROM hippocampus.memory_links WHERE $1 IN (from_id, to_id)", other))
	again := get[map[string]any](t, b, "SELECT hippocampus.tidy_memories($1, $2, p_duplicate_similarity => 0.999)", b.UserID, b.AppName)
	require.InDelta(t, 0, again["merged"], 0)
	require.InDelta(t, 0, again["links"], 0)
	// what is trusted less gives no labels to what is trusted more: it stays
	page := store("the lift is out of order", "{page}", "-1,0", 0)
	b.exec(t, "UPDATE hippocampus.memories SET trust = 'tool' WHERE id = $1", page)
	store("the lift is out of order today", "{lift}", "-1,0.01", time.Minute)
	changes = get[map[string]any](t, b, "SELECT hippocampus.tidy_memories($1, $2, p_duplicate_similarity => 0.999)", b.UserID, b.AppName)
	require.InDelta(t, 1, changes["links"], 0)
	require.InDelta(t, 0, changes["merged"], 0)
}

func TestPreviewRetention(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i, days := range []int{90, 90, 1, 1, 1} {
		b.exec(t, "SELECT hippocampus.remember($1, $2, 'memory ' || $3::int, p_initial_score => 0.2 + $3::int * 0.1, p_now => $4)",
			b.UserID, b.AppName, i, b.now.AddDate(0, 0, -days))
	}
	b.exec(t, "INSERT INTO hippocampus.retention_policies (app_name, max_per_user) VALUES ($1, 2)", b.AppName)
	plan := list[string](t, b, `SELECT m.content || ': ' || p.reason FROM hippocampus.preview_retention($1, $2, p_now => $3) p
		JOIN hippocampus.memories m ON m.id = p.memory_id ORDER BY 1`, b.UserID, b.AppName, b.now)
	require.Equal(t, []string{"memory 0: faded", "memory 1: faded", "memory 2: over the limit"}, plan)
	b.exec(t, "SELECT hippocampus.cleanup_low_value_memories(NULL, NULL, p_user_id => $1, p_app_name => $2, p_now => $3)", b.UserID, b.AppName, b.now)
	b.exec(t, "SELECT hippocampus.trim_memories(p_user_id => $1, p_app_name => $2, p_now => $3)", b.UserID, b.AppName, b.now)
	require.Equal(t, []string{"memory 3", "memory 4"}, list[string](t, b, "SELECT content FROM hippocampus.memories WHERE user_id = $1 ORDER BY 1", b.UserID), "what was said is done")
	require.Zero(t, get[int](t, b, "SELECT count(*) FROM hippocampus.preview_retention($1, $2, p_now => $3)", b.UserID, b.AppName, b.now))
	require.Equal(t, "2 0 2", get[string](t, b, `SELECT rows || ' ' || high || ' ' || medium FROM hippocampus.persona_stats($1, $2, $3) WHERE tier = 'long'`, b.UserID, b.AppName, b.now))
	require.Positive(t, get[int64](t, b, `SELECT sum(bytes)::bigint FROM hippocampus.persona_stats($1, $2, $3)`, b.UserID, b.AppName, b.now))
}
