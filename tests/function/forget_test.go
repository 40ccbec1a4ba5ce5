package function_test

import (
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// holders are the columns, of every table of the schema, in which a text stands.
func (b *testBundle) holders(t *testing.T, marker string) []string {
	t.Helper()
	type column struct{ Table, Column string }
	var found []string
	for _, c := range rowsOf[column](t, b, `
		SELECT c.relname::text AS table, a.attname::text AS column
		FROM pg_catalog.pg_class c
		JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
		JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid
		WHERE n.nspname = 'hippocampus' AND c.relkind IN ('r', 'p', 'm') AND a.attnum > 0 AND NOT a.attisdropped
		ORDER BY 1, 2`) {
		n := get[int](t, b, fmt.Sprintf(`SELECT count(*) FROM hippocampus.%q x WHERE strpos(lower(x.%q::text), $1) > 0`, c.Table, c.Column), marker)
		if n > 0 {
			found = append(found, c.Table+"."+c.Column)
		}
	}
	return found
}

func (b *testBundle) source(t *testing.T, column string, id, thread uuid.UUID) {
	t.Helper()
	b.exec(t, "INSERT INTO hippocampus.memory_sources ("+column+", thread_id, user_id, app_name, from_seq, to_seq) VALUES ($1, $2, $3, $4, 1, 1)",
		id, thread, b.UserID, b.AppName)
}

func TestForget(t *testing.T) {
	t.Parallel()
	forget := func(t *testing.T, b *testBundle, ids []uuid.UUID) int32 {
		t.Helper()
		return get[int32](t, b, "SELECT hippocampus.forget($1, $2, $3)", b.UserID, b.AppName, ids)
	}

	t.Run("LeavesNothingOfARow", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread := b.thread(t)
		b.say(t, thread, "hello", 0)
		memory := b.rememberWith(t, "zqxmemory", "p_embedding => $5, p_tags => '{zqxtag}', p_metadata => '{\"zqxkey\": \"zqxvalue\"}'", vector(1))
		queued := b.remember(t, "zqxqueued")
		fact := get[uuid.UUID](t, b, `SELECT hippocampus.upsert_fact($1, $2, 'custom', 'zqxkey', '"zqxvalue"')`, b.UserID, b.AppName)
		b.source(t, "memory_id", memory, thread)
		b.source(t, "fact_id", fact, thread)
		require.NotEmpty(t, b.holders(t, "zqx"))
		require.Equal(t, int32(3), forget(t, b, []uuid.UUID{memory, queued, fact, uuid.New()}))
		require.Empty(t, b.holders(t, "zqx"))
		for _, id := range []uuid.UUID{memory, queued, fact} {
			require.Empty(t, b.holders(t, id.String()))
		}
		require.Zero(t, forget(t, b, []uuid.UUID{memory}))
		require.Equal(t, 1, get[int](t, b, "SELECT count(*) FROM hippocampus.events WHERE thread_id = $1", thread)) // the log stays
	})

	t.Run("NothingIsNothing", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.remember(t, "tea")
		before := b.counts(t)
		require.Zero(t, forget(t, b, nil))
		require.Zero(t, forget(t, b, []uuid.UUID{}))
		require.Zero(t, get[int32](t, b, "SELECT hippocampus.forget($1, $2, ARRAY[NULL]::uuid[])", b.UserID, b.AppName))
		b.refuses(t, "HC001", "p_user_id is null", "SELECT hippocampus.forget(NULL, $1, '{}')", b.AppName)
		b.refuses(t, "HC001", "p_app_name is null", "SELECT hippocampus.forget($1, NULL, '{}')", b.UserID)
		require.Equal(t, before, b.counts(t))
	})

	t.Run("OfThisTenantOnly", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		id := b.remember(t, "tea")
		require.Zero(t, get[int32](t, b, "SELECT hippocampus.forget($1, $2, $3)", b.UserID+"x", b.AppName, []uuid.UUID{id}))
		require.Zero(t, get[int32](t, b, "SELECT hippocampus.forget($1, $2, $3)", b.UserID, b.AppName+"x", []uuid.UUID{id}))
		// No user is a pattern of another: neither _ nor % means anything.
		require.Zero(t, get[int32](t, b, "SELECT hippocampus.forget('%', $1, $2)", b.AppName, []uuid.UUID{id}))
		require.Equal(t, int32(1), forget(t, b, []uuid.UUID{id}))
	})

	t.Run("SameIdOfAnotherTenantStays", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		id := b.remember(t, "mine")
		b.exec(t, `INSERT INTO hippocampus.memories (id, user_id, app_name, content, content_hash, token_count)
			VALUES ($1, $2, $3, 'another''s', sha256('x'), 1)`, id, b.UserID+"x", b.AppName)
		require.Equal(t, int32(1), forget(t, b, []uuid.UUID{id}))
		for _, table := range []string{"memories", "row_terms", "embedding_queue"} {
			require.NotZero(t, get[int](t, b, "SELECT count(*) FROM hippocampus."+table+" WHERE user_id = $1", b.UserID+"x"), table)
			require.Zero(t, get[int](t, b, "SELECT count(*) FROM hippocampus."+table+" WHERE user_id = $1", b.UserID), table)
		}
	})
}

func TestForgetThread(t *testing.T) {
	t.Parallel()
	forget := func(t *testing.T, b *testBundle, thread uuid.UUID) int32 {
		t.Helper()
		return get[int32](t, b, "SELECT hippocampus.forget_thread($1, $2, $3)", b.UserID, b.AppName, thread)
	}

	// A plain DELETE lets memories stay, without their thread: nor do their words stand in its log any more.
	t.Run("DeletedThreadIsNoPlace", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		places := func() []*int64 {
			return list[*int64](t, b, `SELECT DISTINCT p.place % 16777216 FROM hippocampus.row_terms p WHERE p.source = 'memory' AND p.user_id = $1
				AND NOT EXISTS (SELECT FROM hippocampus.unindexed_rows n WHERE n.id = p.id) ORDER BY 1`, b.UserID)
		}
		thread := b.thread(t)
		for seq := range 2 {
			b.rememberWith(t, fmt.Sprint("episode ", seq), "p_memory_type => 'episodic', p_thread_id => $5, p_from_seq => $6", thread, seq+1)
		}
		require.Equal(t, []*int64{new(int64(1)), new(int64(2))}, places())
		b.exec(t, "SELECT set_config('role', 'hippocampus_tenant', true), set_config('hippocampus.user_id', $1, true), set_config('hippocampus.app_name', $2, true)",
			b.UserID, b.AppName)
		b.exec(t, "UPDATE hippocampus.memories SET thread_id = NULL WHERE from_seq = 1") // a tenant may
		require.Equal(t, []*int64{new(int64(2)), nil}, places())
		b.exec(t, "DELETE FROM hippocampus.threads WHERE id = $1", thread)
		b.exec(t, "RESET ROLE")
		require.Equal(t, []*int64{nil}, places())
		require.Equal(t, int64(2), get[int64](t, b, "SELECT count(*) FROM hippocampus.search_memory($1, $2, 'episode')", b.UserID, b.AppName))
	})

	t.Run("LeavesNothingOfAThread", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread := get[uuid.UUID](t, b, `SELECT hippocampus.create_thread($1, $2, 'zqxsession', '{"zqxkey": "zqxvalue"}')`, b.UserID, b.AppName)
		b.exec(t, `SELECT hippocampus.append_event($1, 'zqxauthor', 'zqxtype', '{"text": "zqxtext"}', p_tags => '{zqxtag}',
			p_metadata => '{"zqxkey": 1}', p_event_id => 'zqxid', p_invocation_id => 'zqxcall', p_branch => 'zqxbranch')`, thread)
		for _, kind := range []string{"fast_replay", "deep_reflection", "full_consolidation"} {
			b.exec(t, "SELECT hippocampus.enqueue_consolidation($1, $2)", thread, kind)
		}
		b.exec(t, `UPDATE hippocampus.consolidation_jobs SET raw_reply = 'zqxreply', result = '{"zqxkey": 1}', error = 'zqxerror' WHERE thread_id = $1`, thread)
		// What a job draws has sources; what a client stores has the thread's id.
		drawn := b.remember(t, "zqxdrawn")
		b.source(t, "memory_id", drawn, thread)
		b.rememberWith(t, "zqxepisode", "p_memory_type => 'episodic', p_thread_id => $5, p_from_seq => 1, p_embedding => $6", thread, vector(1))
		b.rememberWith(t, "zqxtold", "p_thread_id => $5", thread)
		b.rememberWith(t, "zqxtold", "p_thread_id => $5", thread) // twice
		b.state(t, "zqxcity", "p_thread_id => $5", thread)
		fact := get[uuid.UUID](t, b, `SELECT hippocampus.upsert_fact($1, $2, 'custom', 'zqxkey', '"zqxvalue"')`, b.UserID, b.AppName)
		b.source(t, "fact_id", fact, thread)
		require.NotEmpty(t, b.holders(t, "zqx"))
		require.Equal(t, 3, get[int](t, b, "SELECT count(*) FROM hippocampus.river_job WHERE kind = 'consolidate' AND args ->> 'thread_id' = $1", thread.String()))

		require.Equal(t, int32(5), forget(t, b, thread))
		require.Empty(t, b.holders(t, "zqx"))
		require.Empty(t, b.holders(t, thread.String()))
		b.refuses(t, "HC002", thread.String(), "SELECT hippocampus.forget_thread($1, $2, $3)", b.UserID, b.AppName, thread)
		require.Empty(t, list[string](t, b, "SELECT content FROM hippocampus.search_memory($1, $2, 'zqxtold zqxdrawn zqxepisode')", b.UserID, b.AppName))
	})

	t.Run("LeavesOtherJobsAlone", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread, other := b.thread(t), b.thread(t)
		b.exec(t, "SELECT hippocampus.enqueue_consolidation($1)", other)
		// A record that points at another thread's River job, as no trusted program writes it.
		b.exec(t, `INSERT INTO hippocampus.consolidation_jobs (thread_id, user_id, app_name, job_type, river_job_id)
			SELECT $1, user_id, app_name, job_type, river_job_id FROM hippocampus.consolidation_jobs WHERE thread_id = $2`, thread, other)
		require.Zero(t, forget(t, b, thread))
		require.Equal(t, 1, get[int](t, b, `SELECT count(*) FROM hippocampus.river_job r JOIN hippocampus.consolidation_jobs j
			ON j.river_job_id = r.id WHERE j.thread_id = $1 AND j.status = 'pending'`, other))
	})

	t.Run("OfThisTenantOnly", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread := b.thread(t)
		b.refuses(t, "HC002", thread.String(), "SELECT hippocampus.forget_thread($1, $2, $3)", b.UserID+"x", b.AppName, thread)
		b.refuses(t, "HC002", "null", "SELECT hippocampus.forget_thread($1, $2, NULL)", b.UserID, b.AppName)
		b.refuses(t, "HC001", "p_app_name is empty", "SELECT hippocampus.forget_thread($1, '', $2)", b.UserID, thread)
		require.Zero(t, forget(t, b, thread))
	})

	t.Run("WhatOthersTellStays", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		one, two := b.thread(t), b.thread(t)
		drawn := b.remember(t, "drawn from both")
		fact := get[uuid.UUID](t, b, `SELECT hippocampus.upsert_fact($1, $2, 'custom', 'k', '1')`, b.UserID, b.AppName)
		for _, thread := range []uuid.UUID{one, two} {
			b.source(t, "memory_id", drawn, thread)
			b.source(t, "fact_id", fact, thread)
			b.rememberWith(t, "told in both", "p_thread_id => $5", thread)
			b.state(t, "Paris", "p_thread_id => $5", thread)
		}
		b.rememberWith(t, "told without", "p_thread_id => $5", one)
		b.remember(t, "told without")
		left := func() []string {
			return list[string](t, b, "SELECT content FROM hippocampus.memories WHERE user_id = $1 ORDER BY 1", b.UserID)
		}
		require.Zero(t, forget(t, b, one))
		require.Equal(t, []string{"drawn from both", "told in both", "told without"}, left())
		require.Len(t, b.facts(t), 2)
		require.Equal(t, 2, get[int](t, b, "SELECT count(*) FROM hippocampus.memory_sources WHERE user_id = $1", b.UserID))
		// With its last source a drawn one goes; one that was told elsewhere too belongs to no thread.
		require.Equal(t, int32(2), forget(t, b, two))
		require.Equal(t, []string{"told in both", "told without"}, left())
	})

	t.Run("WithoutAnotherTenantsSource", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread := b.thread(t)
		id := b.remember(t, "tea")
		b.source(t, "memory_id", id, thread)
		// Another tenant's memory of the same id, with a thread of theirs as its source.
		other := setup(t)
		other.Tx = b.Tx
		other.exec(t, `INSERT INTO hippocampus.memories (id, user_id, app_name, content, content_hash, token_count)
			VALUES ($1, $2, $3, 'x', sha256('x'), 1)`, id, other.UserID, other.AppName)
		other.source(t, "memory_id", id, other.thread(t))
		require.Equal(t, int32(1), forget(t, b, thread))
		require.Equal(t, 1, get[int](t, b, "SELECT count(*) FROM hippocampus.memories WHERE id = $1", id))
	})
}
