package function_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSearchReadsWhatItFound is about a user of many memories among users of few: by the statistics an average user has
// so few that reading all of them looks cheaper than reading what was found.
func TestSearchReadsWhatItFound(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.exec(t, "SELECT hippocampus.remember($1 || n, $2, 'tea ' || n, p_now => $3) FROM generate_series(1, 200) n", b.UserID, b.AppName, b.now)
	b.exec(t, "SELECT hippocampus.remember($1, $2, 'I moved, with tea ' || n, p_now => $3) FROM generate_series(1, 1500) n", b.UserID, b.AppName, b.now)
	b.exec(t, "ANALYZE hippocampus.memories")
	read := func() int64 {
		t.Helper()
		return get[int64](t, b, "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relid = 'hippocampus.memories'::regclass")
	}
	for _, query := range []string{"tea", "Which tea did I drink before I moved?"} {
		before := read()
		require.Len(t, b.search(t, query, ""), 10)
		require.Less(t, read()-before, int64(300), query)
	}
}

// TestUsesOfANewUser is about a user of whom the statistics know nothing yet: one row, a planner takes it.
func TestUsesOfANewUser(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.exec(t, "SELECT hippocampus.remember($1 || n % 3, $2, 'tea ' || n, p_now => $3) FROM generate_series(1, 1500) n", b.UserID, b.AppName, b.now)
	b.exec(t, "ANALYZE hippocampus.memories")
	b.memories(t, 1500, "tea ", "semantic")
	read := func() int64 {
		t.Helper()
		return get[int64](t, b, "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relid = 'hippocampus.memories'::regclass")
	}
	before := read()
	require.Equal(t, 100, get[int](t, b, `SELECT hippocampus.record_access($1, $2, ARRAY(SELECT id FROM hippocampus.memories
		WHERE user_id = $1 AND app_name = $2 ORDER BY md5(content) LIMIT 100), $3)`, b.UserID, b.AppName, b.now))
	require.Less(t, read()-before, int64(8000)) // each of the user's a few times, not once an id
}

// TestVectorsOfOneUserAreRead is the same for vectors: a user of few, and one of more than would be read anyway, of whose
// the signs are looked at, beside one who has most of the table.
func TestVectorsOfOneUserAreRead(t *testing.T) {
	t.Parallel()
	b := setupAlone(t)
	b.exec(t, "UPDATE hippocampus.embedding_models SET model = 'test/model', signs_recall = 1 WHERE status = 'serving'")
	for user, n := range map[string]int{"few": 60, "more": 300, "most": 6000} {
		b.exec(t, `INSERT INTO hippocampus.embeddings (generation, dimension, row_id, user_id, app_name, source, embedding)
			SELECT g.generation, g.dimension, gen_random_uuid(), $1, $2, 'memory', public.l2_normalize(v.a::public.halfvec)
			FROM hippocampus.embedding_models g, generate_series(1, $3) n
			CROSS JOIN LATERAL (SELECT array_agg(sin(n * i + i)::real) AS a FROM generate_series(1, 64) i) v WHERE g.status = 'serving'`, user, b.AppName, n)
	}
	b.exec(t, "ANALYZE hippocampus.embeddings")
	read := func() int64 {
		t.Helper()
		return get[int64](t, b, "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relid = 'hippocampus.embeddings'::regclass")
	}
	for user, most := range map[string]int64{"few": 130, "more": 600} { // each twice: whether there are more, and what is near
		before := read()
		require.Equal(t, 20, get[int](t, b, "SELECT count(*) FROM hippocampus._vector_hits($1, $2, 'memory', $3, 20)", user, b.AppName, vector(1, 0.5, -0.5)))
		require.Less(t, read()-before, most, user)
	}
}

// TestUserOfANewApp is about one user of a few memories, of an app whom the statistics know nothing of: what is theirs is
// read, and not what all users of the app have.
func TestUserOfANewApp(t *testing.T) {
	t.Parallel()
	b := setupAlone(t)
	b.exec(t, "SELECT hippocampus.remember('user ' || n % 3, 'app ' || n % 7, 'tea ' || n, p_now => $1) FROM generate_series(1, 300) n", b.now)
	b.exec(t, "ANALYZE hippocampus.memories")
	b.exec(t, "SET LOCAL session_replication_role = replica") // many rows, without what triggers make of them
	b.exec(t, `INSERT INTO hippocampus.memories (user_id, app_name, content, content_hash, token_count, created_at, occurred_from, occurred_until)
		SELECT $1 || n % 20, $2, 'tea', sha256(int8send(n)), 1, $3, $3, $3 FROM generate_series(1, 30000) n`, b.UserID, b.AppName, b.now)
	b.exec(t, "SET LOCAL session_replication_role = origin")
	id := b.remember(t, "green tea")
	other := b.remember(t, "black tea")
	read := func() int64 {
		t.Helper()
		return get[int64](t, b, "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relid = 'hippocampus.memories'::regclass")
	}
	b.policy(t, `{"sharing": true}`)
	for _, call := range []string{
		"recall($1, $2)", "list_memories($1, $2)", "memories_in_time_slice($1, $2, NULL, NULL)", "get_context_window($1, $2, 'tea')", "preview_retention($1, $2)",
		"put_embedding($1, $2, 'memory', $3, array_fill(1, ARRAY[64])::public.vector)", "record_access($1, $2, ARRAY[$3::uuid])",
		"link_memories($1, $2, $3, $4)", "linked_memories($1, $2, $3)", "share_memory($1, $2, $3)", "sweep_retention(p_user_id => $1, p_app_name => $2)",
		"trim_memories(p_user_id => $1, p_app_name => $2)", "forget($1, $2, ARRAY[$3::uuid])", "forget_user($1, $2)",
	} {
		before := read()
		b.exec(t, "SELECT hippocampus."+call+" WHERE $1 || $2 <> '' AND $3::uuid <> $4::uuid", b.UserID, b.AppName, id, other)
		require.Less(t, read()-before, int64(500), call)
	}
}

// TestRememberReadsNoLog is about a user with a log of whom the statistics know nothing yet.
func TestRememberReadsNoLog(t *testing.T) {
	t.Parallel()
	b := setupAlone(t)
	b.exec(t, "ANALYZE hippocampus.events")
	thread := b.thread(t)
	b.exec(t, "SET LOCAL session_replication_role = replica")
	b.exec(t, `INSERT INTO hippocampus.events (sequence_num, token_count, thread_id, user_id, app_name, author, content)
		SELECT n, 1, $3, $1, $2, 'user', '"tea"' FROM generate_series(1, 10000) n`, b.UserID, b.AppName, thread)
	b.exec(t, "SET LOCAL session_replication_role = origin")
	read := func() int64 {
		t.Helper()
		return get[int64](t, b, "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relid = 'hippocampus.events'::regclass")
	}
	before := read()
	b.remember(t, "green tea")
	b.rememberWith(t, "black tea", "p_thread_id => $5, p_from_seq => 5000, p_to_seq => 5001", thread)
	require.Less(t, read()-before, int64(10))
}

// TestForgettingAUserReadsWhatIsTheirs is about the tables that no index has by user.
func TestForgettingAUserReadsWhatIsTheirs(t *testing.T) {
	t.Parallel()
	b := setupAlone(t)
	b.exec(t, "SET LOCAL session_replication_role = replica") // many rows, without the memories that they are of
	b.exec(t, "INSERT INTO hippocampus.memory_roles (memory_id, user_id, app_name) SELECT gen_random_uuid(), 'other', $1 FROM generate_series(1, 5000)", b.AppName)
	b.exec(t, `INSERT INTO hippocampus.memory_links (from_id, to_id, user_id, app_name)
		SELECT r.memory_id, gen_random_uuid(), r.user_id, r.app_name FROM hippocampus.memory_roles r`)
	b.exec(t, "SET LOCAL session_replication_role = origin")
	green, black := b.remember(t, "green tea"), b.remember(t, "black tea")
	b.exec(t, "SELECT hippocampus.link_memories($1, $2, $3, $4)", b.UserID, b.AppName, green, black)
	b.exec(t, "INSERT INTO hippocampus.memory_roles (memory_id, user_id, app_name) VALUES ($1, $2, $3)", green, b.UserID, b.AppName)
	b.exec(t, "ANALYZE hippocampus.memory_links, hippocampus.memory_roles")
	b.exec(t, "SET LOCAL random_page_cost = 4") // or a whole index would be read, which nothing counts
	const read = "SELECT sum(seq_tup_read)::bigint FROM pg_stat_xact_user_tables WHERE relid IN ('hippocampus.memory_links'::regclass, 'hippocampus.memory_roles'::regclass)"
	before := get[int64](t, b, read)
	b.exec(t, "SELECT hippocampus.forget_user($1, $2)", b.UserID, b.AppName)
	require.Equal(t, before, get[int64](t, b, read))
	for _, table := range []string{"memory_links", "memory_roles"} {
		require.Equal(t, 5000, get[int](t, b, "SELECT count(*) FROM hippocampus."+table), table)
	}
}
