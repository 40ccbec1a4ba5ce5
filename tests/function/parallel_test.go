package function_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// What is marked PARALLEL SAFE must run in a parallel worker: there, nothing may be written or set.
func TestParallelSafe(t *testing.T) {
	t.Parallel()
	b := setup(t)
	thread := b.thread(t)
	b.say(t, thread, "I drink green tea", 0)
	b.rememberWith(t, "green tea", "p_embedding => $5", vector(1))
	b.state(t, "Paris", "")
	b.write(t, "block_set", "'kind'")
	b.exec(t, "SELECT hippocampus.index_memory()")
	calls := map[string]string{
		"block_get":                  "SELECT hippocampus.block_get($1, $2, 'persona')",
		"calculate_retention_score":  "SELECT hippocampus.calculate_retention_score(1, now()) FROM (VALUES ($1, $2)) v",
		"cluster_memories":           "SELECT hippocampus.cluster_memories($1, $2, gen_random_uuid()) UNION ALL SELECT NULL",
		"list_clusters":              "SELECT hippocampus.list_clusters($1, $2) UNION ALL SELECT NULL",
		"decay_resistance":           "SELECT hippocampus.decay_resistance(1) FROM (VALUES ($1, $2)) v",
		"effective_strength":         "SELECT hippocampus.effective_strength(1, 1, now()) FROM (VALUES ($1, $2)) v",
		"estimate_tokens":            "SELECT hippocampus.estimate_tokens($1 || $2)",
		"embedding_progress":         "SELECT p.* FROM hippocampus.embedding_progress(1) p, (VALUES ($1, $2)) v",
		"facts_as_of":                "SELECT * FROM hippocampus.facts_as_of($1, $2)",
		"format_context":             "SELECT hippocampus.format_context('{}') FROM (VALUES ($1, $2)) v",
		"list_embedding_generations": "SELECT g.* FROM hippocampus.list_embedding_generations() g, (VALUES ($1, $2)) v",
		"linked_memories":            "SELECT hippocampus.linked_memories($1, $2, gen_random_uuid()) UNION ALL SELECT NULL",
		"index_progress":             "SELECT hippocampus.index_progress(j.id) FROM hippocampus.river_job j, (VALUES ($1, $2)) v WHERE j.kind = 'index_vectors'",
		"learning_stats":             "SELECT * FROM hippocampus.learning_stats($1, $2)",
		"app_state_get":              "SELECT hippocampus.app_state_get($2) FROM (VALUES ($1)) v UNION ALL SELECT NULL",
		"user_state_get":             "SELECT hippocampus.user_state_get($1, $2) UNION ALL SELECT NULL",
		"graph_open":                 "SELECT hippocampus.graph_open($1, $2, '{Ada}') UNION ALL SELECT NULL",
		"graph_read":                 "SELECT hippocampus.graph_read($1, $2) UNION ALL SELECT NULL",
		"graph_search":               "SELECT hippocampus.graph_search($1, $2, 'tea') UNION ALL SELECT NULL",
		"store_get":                  "SELECT hippocampus.store_get($1, $2, '{notes}', 'k') UNION ALL SELECT NULL",
		"store_list_namespaces":      "SELECT hippocampus.store_list_namespaces($1, $2) UNION ALL SELECT NULL",
		"document_stats":             "SELECT hippocampus.document_stats($1, $2) UNION ALL SELECT NULL",
		"list_memories":              "SELECT * FROM hippocampus.list_memories($1, $2)",
		"memories_in_time_slice":     "SELECT * FROM hippocampus.memories_in_time_slice($1, $2, NULL, NULL)",
		"memory_stats":               "SELECT * FROM hippocampus.memory_stats($1, $2)",
		"recall_conversation":        "SELECT * FROM hippocampus.recall_conversation($1, $2, 'tea')",
		"recent_events":              "SELECT * FROM hippocampus.recent_events($1, $2)",
		"resolve_time":               "SELECT hippocampus.resolve_time($1 || $2)",
		"retention_distribution":     "SELECT * FROM hippocampus.retention_distribution($1, $2)",
		"score_importance":           "SELECT hippocampus.score_importance('chat') FROM (VALUES ($1, $2)) v",
		"persona_stats":              "SELECT * FROM hippocampus.persona_stats($1, $2)",
		"preview_retention":          "SELECT hippocampus.preview_retention($1, $2) UNION ALL SELECT NULL",
		"recall":                     "SELECT * FROM hippocampus.recall($1, $2)",
		"recall_related":             `SELECT hippocampus.recall_related($1, $2, '{"room": "1"}') UNION ALL SELECT NULL`,
		"short_term_memory":          "SELECT * FROM hippocampus.short_term_memory($1, $2)",
	}
	require.Equal(t, slices.Sorted(maps.Keys(calls)), list[string](t, b, `
		SELECT p.proname::text COLLATE "C" FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
		WHERE n.nspname = 'hippocampus' AND p.proparallel = 's' AND p.proname NOT LIKE '\_%' AND p.proname NOT LIKE 'river%' ORDER BY 1`))
	b.exec(t, "SET LOCAL debug_parallel_query = on")
	for name, sql := range calls {
		rows, err := b.Query(t.Context(), sql, b.UserID, b.AppName)
		require.NoError(t, err, name)
		rows.Close()
		require.NoError(t, rows.Err(), name)
		require.NotZero(t, rows.CommandTag().RowsAffected(), name)
	}
	// What is not marked so still works where the planner would go parallel.
	require.Len(t, b.search(t, "tea", "p_query_embedding => $5", vector(1)), 1)
}
