package tenant_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

func TestBoundRoles(t *testing.T) { //nolint:tparallel // its subtests share a database, and are few
	t.Parallel()
	b := setup(t)
	for _, role := range []string{"hippocampus_reader", "hippocampus_tenant"} {
		pool := dbtest.As(t, b.admin, role, &ada)
		t.Run(role, func(t *testing.T) {
			t.Run("CannotReadAroundThePolicies", func(t *testing.T) {
				for _, sql := range []string{
					"SET ROLE hippocampus_service", "SET ROLE hippocampus_worker", "SET ROLE hippocampus_owner", "SET LOCAL ROLE hippocampus_service",
					"SET SESSION AUTHORIZATION hippocampus_service", "ALTER TABLE hippocampus.memories DISABLE ROW LEVEL SECURITY",
					"ALTER TABLE hippocampus.memories NO FORCE ROW LEVEL SECURITY", "DROP POLICY memories_bound ON hippocampus.memories",
					"CREATE POLICY mine ON hippocampus.memories USING (true)", "CREATE VIEW hippocampus.mine AS SELECT 1",
					"CREATE FUNCTION hippocampus.mine() RETURNS integer LANGUAGE sql RETURN 1", "TRUNCATE hippocampus.memories",
					"CREATE TRIGGER mine BEFORE INSERT ON hippocampus.memories FOR EACH ROW EXECUTE FUNCTION hippocampus._refuse_update()",
					"LOCK TABLE hippocampus.river_job", "GRANT hippocampus_service TO current_user",
				} {
					_, err := try(t.Context(), pool, sql)
					requireCode(t, err, sql, "42501")
				}
				tx, err := pool.Begin(t.Context())
				require.NoError(t, err)
				defer func() { _ = tx.Rollback(t.Context()) }()
				_, err = tx.Exec(t.Context(), "SET LOCAL row_security = off")
				require.NoError(t, err)
				_, err = tx.Exec(t.Context(), "SELECT * FROM hippocampus.memories")
				requireCode(t, err, "row_security = off", "42501") // an error, not the rows
			})

			t.Run("CannotReadThroughALeakyFunction", func(t *testing.T) {
				// A cheap function that tells what it sees would run before a policy that is not a barrier.
				config := pool.Config().ConnConfig.Copy()
				var told []string
				config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { told = append(told, n.Message) }
				conn, err := pgx.ConnectConfig(t.Context(), config)
				require.NoError(t, err)
				defer func() { require.NoError(t, conn.Close(t.Context())) }()
				for _, sql := range []string{
					"SELECT set_config('hippocampus.user_id', 'ada', false), set_config('hippocampus.app_name', 'shop', false)",
					`CREATE FUNCTION pg_temp.tell(p text) RETURNS boolean LANGUAGE plpgsql COST 0.0000001
						AS $$ BEGIN RAISE NOTICE '%', p; RETURN true; END $$`,
					"SELECT count(*) FROM hippocampus.memories m WHERE pg_temp.tell(m.content)",
					"SELECT count(*) FROM hippocampus.events e WHERE pg_temp.tell(e.text)",
					"SELECT count(*) FROM hippocampus.postings p WHERE pg_temp.tell(p.term)",
					"SELECT count(*) FROM hippocampus.row_terms r WHERE pg_temp.tell(r.terms::text)",
				} {
					_, err := conn.Exec(t.Context(), sql)
					require.NoError(t, err, sql)
				}
				require.NotEmpty(t, told)
				require.NotContains(t, strings.Join(told, "\n"), secret)
			})

			t.Run("CannotTouchRiver", func(t *testing.T) {
				for _, table := range query[string](t, b.admin, `SELECT c.relname::text FROM pg_catalog.pg_class c
					WHERE c.relnamespace = 'hippocampus'::regnamespace AND c.relkind = 'r' AND c.relname LIKE 'river\_%'`) {
					for _, sql := range []string{"SELECT * FROM %s", "DELETE FROM %s", "INSERT INTO %s DEFAULT VALUES", "COPY %s TO STDOUT"} {
						_, err := try(t.Context(), pool, fmt.Sprintf(sql, "hippocampus."+table))
						requireCode(t, err, sql+table, "42501")
					}
				}
				_, err := try(t.Context(), pool, "SELECT nextval('hippocampus.river_job_id_seq')")
				requireCode(t, err, "nextval", "42501")
				_, err = try(t.Context(), pool, "UPDATE hippocampus.goose_db_version SET version_id = 0")
				requireCode(t, err, "goose", "42501")
			})

			t.Run("SeesItsOwnOnly", func(t *testing.T) {
				for _, table := range b.tables(t) {
					foreign := b.foreign(t, table)
					if foreign == "" {
						continue
					}
					all := query[int](t, b.admin, fmt.Sprintf("SELECT count(*) FROM hippocampus.%s x WHERE NOT (%s)", table, foreign))[0]
					hidden := query[int](t, b.admin, fmt.Sprintf("SELECT count(*) FROM hippocampus.%s x WHERE %s", table, foreign))[0]
					require.NotZero(t, all, table)
					require.NotZero(t, hidden, "%s: nobody else has a row", table)
					require.Equal(t, all, query[int](t, pool, "SELECT count(*) FROM hippocampus."+table)[0], table)
					require.Empty(t, query[string](t, pool, fmt.Sprintf("SELECT x::text FROM hippocampus.%s x WHERE %s", table, foreign)), table)
					require.Zero(t, query[int](t, pool, fmt.Sprintf("SELECT count(*) FROM hippocampus.%s x WHERE strpos(x::text, '%s') > 0", table, secret))[0], table)
				}
			})
		})
	}
}

func TestReader(t *testing.T) { //nolint:tparallel // its subtests share a database, and are few
	t.Parallel()
	b := setup(t)
	reader := dbtest.As(t, b.admin, "hippocampus_reader", &ada)

	t.Run("CallsWhatReads", func(t *testing.T) {
		require.Equal(t, []string{"harmless memory of tea"}, query[string](t, reader, "SELECT s.content FROM hippocampus.search_memory('ada', 'shop', 'tea') s"))
		require.Len(t, query[string](t, reader, "SELECT r.text FROM hippocampus.recent_events('ada', 'shop') r"), 2)
		require.NotEmpty(t, query[string](t, reader, "SELECT w.content FROM hippocampus.get_context_window('ada', 'shop', 'tea') w"))
		require.NotEmpty(t, query[string](t, reader, "SELECT d.name FROM hippocampus.doctor() d"))
		require.Equal(t, []int64{4}, query[int64](t, reader, "SELECT s.memories FROM hippocampus.memory_stats() s"))
	})

	t.Run("CannotCallWhatWrites", func(t *testing.T) {
		for _, name := range query[string](t, b.admin, `SELECT p.proname::text FROM pg_catalog.pg_proc p
			WHERE p.pronamespace = 'hippocampus'::regnamespace AND p.provolatile = 'v' AND p.prorettype <> 'trigger'::regtype`) {
			require.Equal(t, []bool{false}, query[bool](t, reader, `SELECT has_function_privilege(p.oid, 'EXECUTE') FROM pg_catalog.pg_proc p
				WHERE p.pronamespace = 'hippocampus'::regnamespace AND p.proname = $1`, name), name)
		}
		_, err := try(t.Context(), reader, "SELECT hippocampus.remember('ada', 'shop', 'x')")
		requireCode(t, err, "remember", "42501")
	})

	t.Run("WritesNothing", func(t *testing.T) {
		for _, table := range b.tables(t) {
			columns := b.columns(t, table)
			for _, sql := range []string{
				"INSERT INTO hippocampus." + table + " DEFAULT VALUES", "DELETE FROM hippocampus." + table,
				"UPDATE hippocampus." + table + " SET " + columns[0] + " = " + columns[0], "SELECT * FROM hippocampus." + table + " FOR UPDATE",
			} {
				_, err := try(t.Context(), reader, sql)
				requireCode(t, err, sql, "42501")
			}
		}
	})
}

func TestTrustedRoles(t *testing.T) { //nolint:tparallel // its subtests share a database, and are few
	t.Parallel()
	b := setup(t)
	for _, role := range []string{"hippocampus_service", "hippocampus_worker"} {
		t.Run(role, func(t *testing.T) {
			pool := dbtest.As(t, b.admin, role, nil)
			for _, table := range b.tables(t) {
				all := query[int](t, b.admin, "SELECT count(*) FROM hippocampus."+table)
				require.Equal(t, all, query[int](t, pool, "SELECT count(*) FROM hippocampus."+table), table)
			}
			require.Equal(t, []string{secret + " memory of tea"}, query[string](t, pool, "SELECT s.content FROM hippocampus.search_memory('bea', 'shop', 'tea') s"))
			_, err := try(t.Context(), pool, "ALTER TABLE hippocampus.memories DISABLE ROW LEVEL SECURITY")
			requireCode(t, err, "alter", "42501")
		})
	}

	t.Run("ServiceStepsDown", func(t *testing.T) {
		service := dbtest.As(t, b.admin, "hippocampus_service", nil)
		err := db.WithScope(t.Context(), service, ada, func(tx pgx.Tx) error {
			require.ElementsMatch(t, []string{"harmless memory of tea", "harmless lesson", "harmless task", "harmless manifest"},
				query[string](t, tx, "SELECT m.content FROM hippocampus.memories m"))
			return nil
		})
		require.NoError(t, err)
		_, err = try(t.Context(), service, "SET ROLE hippocampus_owner")
		requireCode(t, err, "step up", "42501")
	})
}
