package tenant_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

// The tables that grow with use. No statement of a bound role reads one of them from end to end.
var large = regexp.MustCompile(`Seq Scan on (anchor_chunks|anchors|chunks|consolidation_jobs|documents|embedding_queue|embeddings|events|facts|memories|memory_sources|row_terms|postings|threads)\b`)

// planner is a connection that tells the plans of all statements, those within functions too.
type planner struct {
	conn  *pgx.Conn
	plans []string
}

// newPlanner connects to a database with many tenants.
func newPlanner(t *testing.T) *planner {
	t.Helper()
	pool := dbtest.DB(t)
	ctx := t.Context()
	for _, sql := range []string{
		// 200 users with 100 events, 100 memories and 50 facts each
		`INSERT INTO hippocampus.threads (user_id, app_name, session_id, next_seq)
			SELECT 'user' || u, 'app', 's', 101 FROM generate_series(1, 200) u`,
		`INSERT INTO hippocampus.events (thread_id, sequence_num, user_id, app_name, author, text, content, token_count, token_count_exact, created_at)
			SELECT t.id, n, t.user_id, t.app_name, 'user', 'event ' || n || ' about topic' || n % 10 || ' tea', '{}', 1, true,
				now() - n * interval '1 hour' FROM hippocampus.threads t, generate_series(1, 100) n`,
		`INSERT INTO hippocampus.memories (user_id, app_name, thread_id, content, content_hash, token_count, token_count_exact, created_at, occurred_from,
				occurred_until, tags, memory_type)
			SELECT t.user_id, t.app_name, t.id, 'memory ' || n || ' about topic' || n % 10 || ' tea', sha256(n::text::bytea), 1, true,
				now() - n * interval '1 day', now() - n * interval '1 day', now() - n * interval '1 day', ARRAY['tag' || n % 5], 'semantic'
			FROM hippocampus.threads t, generate_series(1, 100) n`,
		`INSERT INTO hippocampus.facts (user_id, app_name, fact_type, key, value, token_count, token_count_exact)
			SELECT t.user_id, t.app_name, 'custom', 'key' || n, '1', 1, true FROM hippocampus.threads t, generate_series(1, 50) n`,
		`INSERT INTO hippocampus.embeddings (dimension, row_id, user_id, app_name, source, embedding)
			SELECT 64, m.id, m.user_id, m.app_name, 'memory', array_fill(0.12 + random() / 100, ARRAY[64])::public.halfvec FROM hippocampus.memories m`,
		`INSERT INTO hippocampus.memory_sources (memory_id, thread_id, from_seq, to_seq, user_id, app_name)
			SELECT m.id, m.thread_id, 1, 1, m.user_id, m.app_name FROM hippocampus.memories m`,
		`INSERT INTO hippocampus.consolidation_jobs (thread_id, user_id, app_name, job_type, status, completed_at)
			SELECT t.id, t.user_id, t.app_name, 'fast_replay', 'completed', now() FROM hippocampus.threads t, generate_series(1, 20)`,
		// and 10 documents of 5 chunks, with 20 anchors over them
		`INSERT INTO hippocampus.documents (user_id, app_name, path, source, content_hash)
			SELECT t.user_id, t.app_name, 'doc' || n || '.md', 'docs', sha256('') FROM hippocampus.threads t, generate_series(1, 10) n`,
		`INSERT INTO hippocampus.chunks (document_id, user_id, app_name, position, start_line, token_count, content, content_hash)
			SELECT d.id, d.user_id, d.app_name, n, n, 1, 'chunk ' || n || ' about topic' || n % 10, sha256(n::text::bytea)
			FROM hippocampus.documents d, generate_series(1, 5) n`,
		`INSERT INTO hippocampus.anchors (user_id, app_name, since, until, df, key, kind, term)
			SELECT t.user_id, t.app_name, 1, 1, 1, 'topic' || n, 'word', 'topic' || n FROM hippocampus.threads t, generate_series(1, 20) n`,
		`INSERT INTO hippocampus.anchor_chunks (user_id, app_name, generation, score, anchor_id, row_id, chunk_id)
			SELECT a.user_id, a.app_name, 1, 0.9, a.id, c.id, c.id FROM hippocampus.anchors a
			JOIN hippocampus.chunks c ON c.user_id = a.user_id AND c.content LIKE '%' || a.term`,
		`INSERT INTO hippocampus.embeddings (dimension, row_id, user_id, app_name, source, embedding)
			SELECT 64, r.id, r.user_id, r.app_name, r.source, array_fill(0.12 + random() / 100, ARRAY[64])::public.halfvec
			FROM (SELECT a.id, a.user_id, a.app_name, 'anchor' AS source FROM hippocampus.anchors a
				UNION ALL SELECT c.id, c.user_id, c.app_name, 'chunk' FROM hippocampus.chunks c) r`,
		// after the vectors, which would enter the lists
		`INSERT INTO hippocampus.anchor_indexes (user_id, app_name, serving, anchors) SELECT t.user_id, t.app_name, 1, 20 FROM hippocampus.threads t`,
		"VACUUM ANALYZE",
	} {
		_, err := pool.Exec(ctx, sql)
		require.NoError(t, err, sql)
	}
	return plannerOf(t, pool)
}

// plannerOf connects to a database. auto_explain is the superuser's to load, and stays loaded when the
// session steps down.
func plannerOf(t *testing.T, pool *pgxpool.Pool) *planner {
	t.Helper()
	ctx := t.Context()
	config := pool.Config().ConnConfig.Copy()
	p := &planner{}
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		if strings.Contains(n.Message, "plan:") {
			p.plans = append(p.plans, n.Message)
		}
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close(t.Context())) })
	p.conn = conn
	for _, sql := range []string{
		"LOAD 'auto_explain'", "SET auto_explain.log_min_duration = 0", "SET auto_explain.log_nested_statements = on",
		"SET auto_explain.log_level = notice", "SET auto_explain.log_analyze = off",
		"SELECT set_config('hippocampus.user_id', 'user77', false), set_config('hippocampus.app_name', 'app', false)",
	} {
		_, err := conn.Exec(ctx, sql)
		require.NoError(t, err, sql)
	}
	return p
}

// explain gives the plans of a statement and of those within it: of the first run and of one whose
// plans the session has made general.
func (p *planner) explain(t *testing.T, role, sql string, args ...any) string {
	t.Helper()
	ctx := t.Context()
	_, err := p.conn.Exec(ctx, "SET ROLE "+role)
	require.NoError(t, err)
	p.plans = nil
	for range 8 { // from the sixth on, a plan may be general
		tx, err := p.conn.Begin(ctx)
		require.NoError(t, err)
		_, err = tx.Exec(ctx, sql, args...)
		require.NoError(t, err, sql)
		require.NoError(t, tx.Rollback(ctx))
	}
	_, err = p.conn.Exec(ctx, "RESET ROLE")
	require.NoError(t, err)
	require.NotEmpty(t, p.plans, sql)
	return strings.Join(p.plans, "\n")
}

// node are the lines of the plan nodes that a pattern matches, with those below that belong to them.
func node(plan, pattern string) []string {
	var nodes []string
	all := strings.Split(plan, "\n")
	for i, line := range all {
		if !regexp.MustCompile(pattern).MatchString(line) {
			continue
		}
		text := line
		for _, next := range all[i+1:] {
			if strings.Contains(next, "->") || !strings.HasPrefix(next, "  ") {
				break
			}
			text += "\n" + next
		}
		nodes = append(nodes, text)
	}
	return nodes
}

func TestPlans(t *testing.T) { //nolint:tparallel // its subtests share a connection
	t.Parallel()
	p := newPlanner(t)
	ctx := t.Context()
	var thread, memory string
	require.NoError(t, p.conn.QueryRow(ctx, "SELECT id::text FROM hippocampus.threads WHERE user_id = 'user77'").Scan(&thread))
	require.NoError(t, p.conn.QueryRow(ctx, "SELECT id::text FROM hippocampus.memories WHERE user_id = 'user77' LIMIT 1").Scan(&memory))
	const vector = "array_fill(1, ARRAY[64])::public.vector"

	t.Run("BoundRolesReadNoLargeTableWhole", func(t *testing.T) {
		for _, role := range []string{"hippocampus_reader", "hippocampus_tenant"} {
			for _, call := range []string{
				"block_get('user77', 'app', 'k')", "document_stats('user77', 'app')", "facts_as_of('user77', 'app')", "facts_as_of('user77', 'app', p_fact_type => 'custom', p_key => 'key7')",
				"get_context_window('user77', 'app', 'tea topic3', p_thread_id => '" + thread + "')",
				"get_context_window('user77', 'app', 'tea topic3', " + vector + ")", "list_memories('user77', 'app')",
				"get_context_window('user77', 'app', 'tea topic3', " + vector + ", p_project_anchors => '{topic2}')",
				"lookup_anchors('user77', 'app', 'topic3', p_project_anchors => '{topic2}')", "lookup_anchors('user77', 'app', 'topic3', " + vector + ")",
				"search_chunks('user77', 'app', 'topic3')", "search_chunks('user77', 'app', 'topic3', " + vector + ", p_sources => '{docs}')",
				"search_memory('user77', 'app', 'topic3', p_project_anchors => '{topic2}')",
				"memories_in_time_slice('user77', 'app', now() - interval '9 days', now())", "memory_stats('user77', 'app')", "memory_stats()",
				"recall_conversation('user77', 'app', 'topic3 tea')", "recall_conversation('user77', 'app', 'topic3', p_thread_id => '" + thread + "')",
				"recent_events('user77', 'app')", "recent_events('user77', 'app', '" + thread + "')", "retention_distribution('user77', 'app')",
				"search_memory('user77', 'app', '')", "search_memory('user77', 'app', 'topic3', " + vector + ")", "search_memory('user77', 'app', 'topic3')",
				"search_memory('user77', 'app', 'topic3', p_tags => '{tag1}', p_since => now() - interval '9 days', p_thread_id => '" + thread + "')",
			} {
				plan := p.explain(t, role, "SELECT * FROM hippocampus."+call)
				require.NotRegexp(t, large, plan, call)
			}
		}
	})

	t.Run("FactsUseTheirIndex", func(t *testing.T) {
		plan := p.explain(t, "hippocampus_tenant", "SELECT * FROM hippocampus.facts_as_of('user77', 'app', p_fact_type => 'custom', p_key => 'key7')")
		require.Contains(t, plan, "facts_valid_from_idx")
	})

	t.Run("RecentEventsUseTheirIndexes", func(t *testing.T) {
		plan := p.explain(t, "hippocampus_tenant", "SELECT * FROM hippocampus.recent_events('user77', 'app', '"+thread+"', 10)")
		for _, n := range node(plan, `Scan.* on events( \w+)?  \(`) {
			require.Contains(t, n, "Index Scan Backward using events_pkey")
			require.Regexp(t, `Index Cond: .*thread_id = `, n)
		}
		plan = p.explain(t, "hippocampus_tenant", "SELECT * FROM hippocampus.recent_events('user77', 'app', NULL, 10)")
		require.NotEmpty(t, node(plan, `Scan.* on events( \w+)?  \(`))
		for _, n := range node(plan, `Scan.* on events( \w+)?  \(`) {
			require.Contains(t, n, "Index Scan using events_created_at_idx")
			require.Regexp(t, `Index Cond: .*user_id = `, n)
		}
	})

	t.Run("SearchReadsPostingsByTheirKeyAlone", func(t *testing.T) {
		for _, role := range []string{"hippocampus_reader", "hippocampus_tenant"} {
			for _, call := range []string{
				"recall_conversation('user77', 'app', 'topic3 tea')", "search_memory('user77', 'app', 'topic3 tea')",
				"search_memory('user77', 'app', 'topic3 tea', " + vector + ", p_tags => '{tag1}')",
			} {
				plan := p.explain(t, role, "SELECT * FROM hippocampus."+call)
				nodes := node(plan, `Scan.* on postings`)
				require.NotEmpty(t, nodes, call)
				for _, n := range nodes {
					require.Contains(t, n, "using postings_pkey on postings", call)
					require.Regexp(t, `Index Cond: .*\(term [=>] `, n, call) // the term, and the tenant's policy with it
					require.Regexp(t, `Index Cond: .*user_id = `, n, call)
				}
				nodes = node(plan, `Scan.* on row_terms`)
				require.NotEmpty(t, nodes, call)
				for _, n := range nodes { // of rows that are known, or not folded yet: not all that the tenant has
					require.Regexp(t, `Index Cond: .*(number [=<>] |row_id = )`, n, call)
				}
				require.NotRegexp(t, large, plan, call)
			}
		}
	})

	t.Run("TimeSliceUsesItsIndex", func(t *testing.T) {
		plan := p.explain(t, "hippocampus_tenant", "SELECT * FROM hippocampus.memories_in_time_slice('user77', 'app', now() - interval '9 days', now())")
		nodes := node(plan, `Scan.* on memories( \w+)?  \(`)
		require.NotEmpty(t, nodes)
		for _, n := range nodes {
			if strings.Contains(n, "memories_lasting_idx") { // of what began before, and reaches in
				require.Regexp(t, `Index Cond: .*occurred_from < .*occurred_until >= `, n)
				continue
			}
			require.Contains(t, n, "Index Scan using memories_occurred_idx")
			require.Regexp(t, `Index Cond: .*occurred_from >= `, n)
		}
	})

	t.Run("TrustedRolesUseThemToo", func(t *testing.T) {
		for _, call := range []string{
			"search_memory('user77', 'app', 'topic3 tea', " + vector + ")", "recall_conversation('user77', 'app', 'topic3')", "recent_events('user77', 'app')",
			"memories_in_time_slice('user77', 'app', now() - interval '9 days', now())", "facts_as_of('user77', 'app')",
			"get_context_window('user77', 'app', 'tea topic3', p_thread_id => '" + thread + "')", "sweep_retention(p_limit => 100)",
			"sweep_retention(p_limit => 100, p_user_id => 'user77')",
		} {
			require.NotRegexp(t, large, p.explain(t, "hippocampus_service", "SELECT * FROM hippocampus."+call), call)
		}
	})

	t.Run("WritersReadNoLargeTableWhole", func(t *testing.T) {
		for _, role := range []string{"hippocampus_service", "hippocampus_tenant"} {
			for _, call := range []string{
				"delete_document('user77', 'app', 'doc7.md')", "put_document('user77', 'app', 'doc7.md', '[{\"content\": \"topic3\", \"start_line\": 1}]')",
				"append_event('" + thread + "', 'user', 'message', '{\"text\": \"tea\"}', p_event_id => 'e')", "enqueue_consolidation('" + thread + "')",
				"remember('user77', 'app', 'green tea', p_embedding => " + vector + ")", "upsert_fact('user77', 'app', 'custom', 'key7', '2')",
				"record_access('user77', 'app', '{" + memory + "}')", "forget('user77', 'app', '{" + memory + "}')",
				"forget_thread('user77', 'app', '" + thread + "')", "put_embedding('user77', 'app', 'memory', '" + memory + "', " + vector + ")",
				"block_append('user77', 'app', 'k', 'x')",
			} {
				plan := p.explain(t, role, "SELECT * FROM hippocampus."+call)
				require.NotRegexp(t, large, plan, "%s: %s", role, call)
			}
		}
	})
}

// TestFirstImport is for a database whose tables nobody has analysed, as it is while its first log is
// brought in: Postgres takes them to be small, and a session keeps the plans that it made then.
func TestFirstImport(t *testing.T) {
	t.Parallel()
	pool := dbtest.DB(t)
	_, err := pool.Exec(t.Context(), "ALTER TABLE hippocampus.events SET (autovacuum_enabled = off)")
	require.NoError(t, err)
	p := plannerOf(t, pool)
	var thread string
	require.NoError(t, p.conn.QueryRow(t.Context(), "SELECT hippocampus.create_thread('user77', 'app')").Scan(&thread))
	const events = `SELECT * FROM hippocampus.append_events($1, (SELECT jsonb_agg(jsonb_build_object(
		'author', 'user', 'content', 'tea', 'event_id', gen_random_uuid())) FROM generate_series(1, 20)))`
	for _, role := range []string{"hippocampus_service", "hippocampus_tenant"} {
		plan := p.explain(t, role, events, thread)
		known, before := 0, 0
		for _, n := range node(plan, `Scan.* on events( \w+)?  \(`) {
			require.Regexp(t, `Index Cond: .*thread_id = .*(event_id|sequence_num) >= `, n, role) // one event, not the thread's
			if strings.Contains(n, "event_id >= ") {
				known++
			} else {
				before++
			}
		}
		require.Positive(t, known, role)
		require.Positive(t, before, role)
	}
}

// TestWordsOfANewUser is for a user who is not among those that the statistics know: of whom a bound login is, so that
// the planner knows, it expects one row, and would rather read all of the user's for each that is found.
func TestWordsOfANewUser(t *testing.T) {
	t.Parallel()
	pool := dbtest.DB(t)
	const said = `SELECT count(*) FROM hippocampus.append_events($1, (SELECT jsonb_agg(jsonb_build_object(
		'author', 'user', 'content', 'tea of ' || n)) FROM generate_series(1, 300) n))`
	thread := map[string]string{}
	for _, user := range []string{"ada", "bob", "cy", "user77"} {
		var id string
		require.NoError(t, pool.QueryRow(t.Context(), "SELECT hippocampus.create_thread($1, 'app')", user).Scan(&id))
		thread[user] = id
	}
	for _, user := range []string{"ada", "bob", "cy"} {
		_, err := pool.Exec(t.Context(), said, thread[user])
		require.NoError(t, err)
	}
	_, err := pool.Exec(t.Context(), "VACUUM ANALYZE")
	require.NoError(t, err)
	p := plannerOf(t, pool)
	all := regexp.MustCompile(`Index Cond: \(\(user_id = current_setting\([^)]*\)\) AND \(app_name = current_setting\([^)]*\)\)\)`)
	plan := p.explain(t, "hippocampus_tenant", said, thread["user77"])
	require.Contains(t, plan, "Tid Scan on row_terms")
	require.Contains(t, plan, "Tid Scan on postings")
	plan += p.explain(t, "hippocampus_tenant", `SELECT hippocampus.forget('user77', 'app', ARRAY(
		SELECT hippocampus.remember('user77', 'app', 'green tea ' || n) FROM generate_series(1, 5) n))`)
	require.Contains(t, plan, "Tid Scan on unindexed_rows")
	for _, n := range node(plan, `Scan.* on (postings|row_terms|unindexed_rows)( \w+)?  \(`) {
		require.NotRegexp(t, all, n)
	}
}

// TestWhatStandsNear is for users of many conversations. The tenant's policy comes before all else, and after it no
// index is asked for what may fail, as a division may: neighbours are looked up by numbers that are made before.
func TestWhatStandsNear(t *testing.T) {
	t.Parallel()
	pool := dbtest.DB(t)
	for _, sql := range []string{
		`INSERT INTO hippocampus.threads (user_id, app_name, session_id, next_seq)
			SELECT u, 'app', 's' || n, 7 FROM unnest(ARRAY['ada', 'bob', 'user77']) u, generate_series(1, 300) n`,
		`INSERT INTO hippocampus.events (thread_id, sequence_num, user_id, app_name, author, text, content, token_count, token_count_exact)
			SELECT t.id, n, t.user_id, t.app_name, 'user', 'turn ' || n || ' of ' || t.session_id, '{}', 1, true
			FROM hippocampus.threads t, generate_series(1, 6) n`,
		`INSERT INTO hippocampus.memories (user_id, app_name, thread_id, from_seq, to_seq, memory_type, content, content_hash, token_count, token_count_exact)
			SELECT e.user_id, e.app_name, e.thread_id, e.sequence_num, e.sequence_num, 'episodic', e.text, sha256(e.text::bytea), 1, true
			FROM hippocampus.events e`,
		`INSERT INTO hippocampus.memory_sources (memory_id, thread_id, from_seq, to_seq, user_id, app_name)
			SELECT m.id, m.thread_id, m.from_seq, m.to_seq, m.user_id, m.app_name FROM hippocampus.memories m`,
		"VACUUM ANALYZE",
	} {
		_, err := pool.Exec(t.Context(), sql)
		require.NoError(t, err, sql)
	}
	var memory string
	require.NoError(t, pool.QueryRow(t.Context(), "SELECT id::text FROM hippocampus.memories WHERE user_id = 'user77' LIMIT 1").Scan(&memory))
	p := plannerOf(t, pool)
	// of few conversations, reading them all may be cheaper; and a bitmap's conditions stand in a node of their own
	for _, kind := range []string{"hashjoin", "mergejoin", "bitmapscan"} {
		_, err := p.conn.Exec(t.Context(), "SET enable_"+kind+" = off")
		require.NoError(t, err)
	}
	all := regexp.MustCompile(`Index Cond: \(\(user_id = [^=]*\) AND \(app_name = [^=]*\)\)(\n|$)`)
	thread := regexp.MustCompile(`on memories( \w+)?  (?s:.*)Index Cond: .*thread_id = `)       // and what stands where in it
	bounded := regexp.MustCompile(`memories_occurred_idx|threads_session_id_key on threads t `) // the newest, and 256 conversations
	for _, role := range []string{"hippocampus_reader", "hippocampus_tenant"} {
		for _, call := range []string{
			"search_memory('user77', 'app', 'turn of s7')", "search_memory('user77', 'app', 'turn of s7', array_fill(1, ARRAY[64])::public.vector)",
			"recall_conversation('user77', 'app', 'turn of s7')", "search_threads('user77', 'app', 'turn of s7')",
			"preview_forget('user77', 'app', 'turn 3 of s7')",
		} {
			plan := p.explain(t, role, "SELECT * FROM hippocampus."+call)
			nodes := node(plan, `Scan.* on (threads|events|memories|memory_sources)( \w+)?  \(`)
			require.NotEmpty(t, nodes, call)
			for _, n := range nodes {
				if !bounded.MatchString(n) {
					require.NotRegexp(t, all, n, "%s: %s", role, call)
				}
				if thread.MatchString(n) && !strings.Contains(n, "'summary'") { // of which a conversation has few
					require.Regexp(t, `Index Cond: .*(from_seq|to_seq) [<=>]`, n, "%s: %s", role, call)
				}
			}
		}
	}
}
