// Package tenant_test holds the tests of the walls between tenants: a login that is bound to one sees
// and changes nothing of another, through whichever table, view or function; and its plans use the
// indexes that they are meant to use, policies and all.
//
// What the walls are not: a bound login names its scope itself, so whoever may run any SQL as
// hippocampus_tenant may name another's. They keep a program from a mistake, and a query from its
// neighbour; SQL from the outside world must run as a login that cannot set hippocampus.user_id, which
// Postgres does not offer for settings of one's own. Beside the rows there remain, for a login that
// runs SQL of its own: the planner's estimates in EXPLAIN, the time a statement takes, the sizes of
// tables, and the advisory locks with which writers of one fact or block wait for each other.
package tenant_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

// The tenants: Ada, whose login is bound; Bea, of the same app; and Ada's namesake of another app.
var (
	ada      = db.Scope{UserID: "ada", AppName: "shop"}
	bea      = db.Scope{UserID: "bea", AppName: "shop"}
	namesake = db.Scope{UserID: "ada", AppName: "bank"}
)

// secret stands in every text of those who are not Ada.
const secret = "zqxsecret"

// rows are the ids of what a tenant has.
type rows struct {
	thread, event, memory, fact, job, shared uuid.UUID
	riverJob                                 int64
}

type testBundle struct {
	admin         *pgxpool.Pool // a superuser's, whom no policy holds
	ada, bea, bob rows          // bob is the namesake
	once          sync.Once
	prints        string
}

func setup(t *testing.T) *testBundle {
	t.Helper()
	b := &testBundle{admin: dbtest.DB(t)}
	b.ada = b.fill(t, ada, "harmless")
	b.bea = b.fill(t, bea, secret)
	b.bob = b.fill(t, namesake, secret)
	return b
}

// fill gives a tenant a row in every table.
func (b *testBundle) fill(t *testing.T, scope db.Scope, word string) rows {
	t.Helper()
	ctx := t.Context()
	r := rows{}
	tx, err := b.admin.Begin(ctx)
	require.NoError(t, err)
	run := func(into any, sql string, args ...any) {
		t.Helper()
		require.NoError(t, tx.QueryRow(ctx, sql, args...).Scan(into))
	}
	run(&r.thread, `SELECT hippocampus.create_thread($1, $2, $3 || ' session', jsonb_build_object('word', $3::text))`, scope.UserID, scope.AppName, word)
	run(&r.event, `SELECT (hippocampus.append_event($1, 'user', 'message', to_jsonb($2 || ' said it'), p_event_id => 'e')).id`, r.thread, word)
	run(&r.memory, `SELECT hippocampus.remember($1, $2, $3 || ' memory of tea', p_tags => ARRAY[$3 || ' tag'], p_embedding => array_fill(0.1, ARRAY[64])::public.vector)`,
		scope.UserID, scope.AppName, word)
	run(&r.fact, `SELECT hippocampus.upsert_fact($1, $2, 'custom', 'word', to_jsonb($3::text))`, scope.UserID, scope.AppName, word)
	run(&r.job, "SELECT hippocampus.enqueue_consolidation($1)", r.thread)
	run(&r.riverJob, "SELECT river_job_id FROM hippocampus.consolidation_jobs WHERE id = $1", r.job)
	_, err = tx.Exec(ctx, "SELECT hippocampus.append_event($1, 'user', 'message', '{}', p_event_id => 'forgotten')", r.thread)
	require.NoError(t, err)
	for _, sql := range []string{
		`INSERT INTO hippocampus.forgotten_events (thread_id, sequence_num, user_id, app_name)
			SELECT '` + r.thread.String() + `', 2, $1, $2 WHERE $3::text IS NOT NULL`,
		`INSERT INTO hippocampus.memory_sources (memory_id, thread_id, from_seq, to_seq, user_id, app_name, model)
			VALUES ('` + r.memory.String() + `', '` + r.thread.String() + `', 1, 1, $1, $2, $3)`,
		"SELECT hippocampus._fold_terms($1, $2, 'memory', 1)",
		"SELECT hippocampus.block_set($1, $2, 'persona', $3 || ' block')",
		`SELECT hippocampus.graph_create_entities($1, $2, jsonb_build_array(jsonb_build_object('name', 'tea', 'entityType', 'drink',
			'observations', jsonb_build_array($3 || ' observation'))))`,
		`SELECT hippocampus.graph_create_relations($1, $2,
			jsonb_build_array(jsonb_build_object('from', 'tea', 'to', $3 || ' relation', 'relationType', 'is')))`,
		"SELECT hippocampus.store_put($1, $2, ARRAY['notes'], 'word', jsonb_build_object('text', $3 || ' item of tea'), p_ttl => '1 year')",
		"SELECT hippocampus.record_experience($1, $2, $3 || ' task', 2)",
		"SELECT hippocampus.record_experience($1, $2, $3 || ' task', 1)",
		"SELECT hippocampus.load_skill($1, $2, 'skill', $3 || ' manifest')",
		"INSERT INTO hippocampus.harvests (thread_id, user_id, app_name, error) VALUES ('" + r.thread.String() + "', $1, $2, $3)",
		"INSERT INTO hippocampus.user_state (user_id, app_name, state) VALUES ($1, $2, jsonb_build_object('word', $3::text))",
		"SELECT hippocampus.record_access($1, $2, ARRAY(SELECT e.id FROM hippocampus.events e WHERE e.user_id = $1 AND e.app_name = $2 AND length($3) > 0))",
		"INSERT INTO hippocampus.untidied_memories (memory_id, user_id, app_name) VALUES ('" + r.memory.String() + "', $1, $2)",
		`INSERT INTO hippocampus.unconsolidated_threads (thread_id, user_id, app_name) VALUES ('` + r.thread.String() + `', $1, $2)`,
		`INSERT INTO hippocampus.vector_indexes (generation, user_id, app_name, source, index_name) VALUES (1, $1, $2, 'memory', $3)`,
		// a document whose chunk is in the list of an anchor that it says
		`SELECT hippocampus.put_document($1, $2, w.word || '.md', jsonb_build_array(jsonb_build_object('content', w.word || ' chunk of tea', 'start_line', 1)))
			FROM (SELECT $3::text AS word) w`,
		`INSERT INTO hippocampus.anchors (since, until, df, user_id, app_name, key, kind, term, witnesses)
			SELECT 1, 1, 1, $1, $2, w.word, 'word', w.word, array_agg(c.id) FROM hippocampus.chunks c, (SELECT $3::text AS word) w
			WHERE c.user_id = $1 AND c.app_name = $2 GROUP BY w.word`,
		`INSERT INTO hippocampus.anchor_chunks (generation, score, anchor_id, row_id, chunk_id, user_id, app_name)
			SELECT 1, 0, a.id, c.id, c.id, $1, $2 FROM hippocampus.anchors a JOIN hippocampus.chunks c
			ON c.user_id = a.user_id AND c.app_name = a.app_name WHERE a.user_id = $1 AND a.app_name = $2`,
		"UPDATE hippocampus.anchor_indexes SET serving = 1 WHERE user_id = $1 AND app_name = $2",
		"SELECT hippocampus.put_anchor_denylist($1, $2, ARRAY[$3 || ' denied'])",
		"SELECT hippocampus.put_source_allowlist($1, $2, ARRAY['docs', 'client', 'worker', $3])",
	} {
		args := []any{scope.UserID, scope.AppName, word}
		_, err := tx.Exec(ctx, sql, args[:2+strings.Count(sql, "$3")]...)
		require.NoError(t, err, sql)
	}
	shown := "harmless" // what the app shares, Ada may see
	if scope.AppName != ada.AppName {
		shown = word
	}
	run(&r.shared, `SELECT hippocampus.remember($1, $2, $3 || ' lesson', p_metadata => jsonb_build_object('room', $4::text))`,
		scope.UserID, scope.AppName, shown, word)
	for _, sql := range []string{
		"INSERT INTO hippocampus.memory_clusters (started_at, ended_at, id, user_id, app_name, model) SELECT now(), now(), m.id, m.user_id, m.app_name, $2 FROM hippocampus.memories m WHERE m.app_name = $1 AND m.content LIKE '%lesson' ON CONFLICT DO NOTHING",
		`INSERT INTO hippocampus.memory_cluster_members (cluster_id, memory_id, user_id, app_name) SELECT c.id, m.id, m.user_id, m.app_name
			FROM hippocampus.memory_clusters c JOIN hippocampus.memories m ON m.user_id = c.user_id AND m.app_name = c.app_name
			WHERE c.app_name = $1 AND m.content LIKE '%memory of tea' AND length($2::text) > 0 ON CONFLICT DO NOTHING`,
		`INSERT INTO hippocampus.memory_links (from_id, to_id, user_id, app_name) SELECT c.cluster_id, c.memory_id, c.user_id, c.app_name
			FROM hippocampus.memory_cluster_members c WHERE c.app_name = $1 AND length($2::text) > 0 ON CONFLICT DO NOTHING`,
		`INSERT INTO hippocampus.faded_sources (memory_id, source_id, user_id, app_name) SELECT n.memory_id, gen_random_uuid(), n.user_id, n.app_name
			FROM hippocampus.named_memories n WHERE n.app_name = $1 AND length($2::text) > 0`,
		`INSERT INTO hippocampus.sleep_reports (user_id, app_name, status, error) SELECT DISTINCT c.user_id, c.app_name, 'completed', $2
			FROM hippocampus.memory_clusters c WHERE c.app_name = $1`,
		"INSERT INTO hippocampus.consolidation_policies (app_name, sharing) SELECT $1, length($2::text) > 0 ON CONFLICT DO NOTHING",
		"UPDATE hippocampus.memories SET visibility = 'app', shared_by = user_id WHERE app_name = $1 AND content = $2 || ' lesson' AND visibility = 'private'",
	} {
		_, err := tx.Exec(ctx, sql, scope.AppName, shown)
		require.NoError(t, err, sql)
	}
	for _, sql := range []string{
		"INSERT INTO hippocampus.app_state (app_name, state) VALUES ($1, jsonb_build_object('word', $2::text)) ON CONFLICT DO NOTHING",
		"SELECT hippocampus.put_instruction($1, 'style', $2::text || ' instruction')",
		"INSERT INTO hippocampus.settings (app_name, key, value) VALUES ($1, 'token_encoding', to_jsonb($2::text)) ON CONFLICT DO NOTHING",
		`INSERT INTO hippocampus.consolidation_moves (events, from_importance, to_importance, rate, target_rate, app_name)
			SELECT 1, 0, 0, 0, length($2::text) * 0, $1 ON CONFLICT DO NOTHING`,
		"INSERT INTO hippocampus.learning_policies (app_name, min_steps) SELECT $1, 2 + length($2::text) * 0 ON CONFLICT DO NOTHING",
		"INSERT INTO hippocampus.retention_policies (app_name, threshold) SELECT $1, length($2::text) * 0 ON CONFLICT DO NOTHING",
	} {
		word := word
		if scope == bea {
			word = "harmless" // what the app shares, Ada may see
		}
		_, err := tx.Exec(ctx, sql, scope.AppName, word)
		require.NoError(t, err, sql)
	}
	_, err = tx.Exec(ctx, "INSERT INTO hippocampus.unindexed_rows (id, row_id, user_id, app_name) VALUES (0, gen_random_uuid(), $1, $2)",
		scope.UserID, scope.AppName)
	require.NoError(t, err)
	require.NoError(t, tx.Commit(ctx))
	return r
}

// tables are the schema's tables that are neither River's nor goose's.
func (b *testBundle) tables(t *testing.T) []string {
	t.Helper()
	return query[string](t, b.admin, `SELECT c.relname::text FROM pg_catalog.pg_class c
		WHERE c.relnamespace = 'hippocampus'::regnamespace AND c.relkind = 'r' AND c.relname !~ '^(river|goose)_' ORDER BY 1`)
}

// columns are a table's columns that can be written.
func (b *testBundle) columns(t *testing.T, table string) []string {
	t.Helper()
	return query[string](t, b.admin, `SELECT a.attname::text FROM pg_catalog.pg_attribute a
		WHERE a.attrelid = ('hippocampus.' || $1)::regclass AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '' AND a.attidentity = ''
		ORDER BY a.attnum`, table)
}

// foreign is the condition for the rows of a table that Ada must not see, or "" where there are none.
func (b *testBundle) foreign(t *testing.T, table string) string {
	t.Helper()
	columns := b.columns(t, table)
	has := func(name string) bool {
		for _, c := range columns {
			if c == name {
				return true
			}
		}
		return false
	}
	switch {
	case table == "shared_memories":
		return "x.app_name <> 'shop'"
	case has("user_id"):
		return "(x.user_id, x.app_name) <> ('ada', 'shop')"
	case has("app_name"):
		return "x.app_name NOT IN ('shop', '*')"
	default:
		return ""
	}
}

// fingerprint is of all rows that are not Ada's.
func (b *testBundle) fingerprint(t *testing.T) []string {
	t.Helper()
	b.once.Do(func() {
		parts := []string{fmt.Sprintf(`SELECT 'river_job ' || coalesce(string_agg(r.id || ' ' || r.state || ' ' || r.args, ';' ORDER BY r.id), '')
			FROM hippocampus.river_job r WHERE r.kind = 'consolidate' AND r.id <> %d`, b.ada.riverJob)}
		for _, table := range b.tables(t) {
			if foreign := b.foreign(t, table); foreign != "" {
				parts = append(parts, fmt.Sprintf(`SELECT '%[1]s ' || count(*) || ' ' || md5(coalesce(string_agg(x::text, ';' ORDER BY x::text), ''))
					FROM hippocampus.%[1]s x WHERE %[2]s`, table, foreign))
			}
		}
		b.prints = strings.Join(parts, " UNION ALL ")
	})
	prints := query[string](t, b.admin, b.prints)
	slices.Sort(prints) // an append gives its parts in any order
	return prints
}

// query gives the values of a query of one column.
func query[T any](t *testing.T, q db.DBTX, sql string, args ...any) []T {
	t.Helper()
	found, err := q.Query(t.Context(), sql, args...)
	require.NoError(t, err, sql)
	values, err := pgx.CollectRows(found, pgx.RowTo[T])
	require.NoError(t, err, sql)
	return values
}
