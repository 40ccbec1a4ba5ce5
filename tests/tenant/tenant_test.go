package tenant_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

// requireCode requires an error with one of some SQLSTATEs, and gives all that it tells.
func requireCode(t *testing.T, err error, what string, codes ...string) (told string) {
	t.Helper()
	var pgErr *pgconn.PgError
	require.ErrorAs(t, err, &pgErr, what)
	require.Contains(t, codes, pgErr.Code, "%s: %v", what, err)
	return strings.Join([]string{pgErr.Code, pgErr.Message, pgErr.Detail, pgErr.Hint}, "; ")
}

// try runs a statement in a transaction that is rolled back.
func try(ctx context.Context, pool *pgxpool.Pool, sql string, args ...any) (pgconn.CommandTag, error) {
	tx, err := pool.Begin(ctx)
	if err != nil {
		return pgconn.CommandTag{}, err
	}
	defer func() { _ = tx.Rollback(ctx) }()
	return tx.Exec(ctx, sql, args...)
}

// seen are the rows that a transaction sees of all tables that have tenants.
func seen(t *testing.T, q db.DBTX) int {
	t.Helper()
	return query[int](t, q, `SELECT (SELECT count(*) FROM hippocampus.threads) + (SELECT count(*) FROM hippocampus.events)
		+ (SELECT count(*) FROM hippocampus.memories) + (SELECT count(*) FROM hippocampus.facts) + (SELECT count(*) FROM hippocampus.postings)
		+ (SELECT count(*) FROM hippocampus.embeddings) + (SELECT count(*) FROM hippocampus.memory_blocks)
		+ (SELECT count(*) FROM hippocampus.consolidation_jobs) + (SELECT count(*) FROM hippocampus.instructions)`)[0]
}

func TestScope(t *testing.T) { //nolint:tparallel // its subtests share a database, and are few
	t.Parallel()
	b := setup(t)

	t.Run("EmptyShowsNothing", func(t *testing.T) {
		pool := dbtest.As(t, b.admin, "hippocampus_tenant", &db.Scope{})
		require.Zero(t, seen(t, pool))
		half := dbtest.As(t, b.admin, "hippocampus_tenant", &db.Scope{UserID: "ada"})
		require.Zero(t, seen(t, half))
		_, err := try(t.Context(), pool, "SELECT hippocampus.remember('ada', 'shop', 'x')")
		requireCode(t, err, "remember", "42501")
	})

	t.Run("IsNamedByWhatWrites", func(t *testing.T) { // and what deletes does not seem to have done it
		for _, scope := range []db.Scope{{}, bea} {
			pool := dbtest.As(t, b.admin, "hippocampus_tenant", &scope)
			for _, sql := range []string{
				"SELECT hippocampus.remember('ada', 'shop', 'x')",
				"SELECT hippocampus.upsert_fact('ada', 'shop', 'profile', 'drink', '1')",
				"SELECT hippocampus.create_thread('ada', 'shop')",
				"SELECT hippocampus.forget_memory('ada', 'shop', 'tea')",
				"SELECT hippocampus.forget_user('ada', 'shop')",
			} {
				_, err := try(t.Context(), pool, sql)
				require.Contains(t, requireCode(t, err, sql, "42501"), "not bound to the user 'ada' of the app 'shop'", sql)
			}
		}
	})

	t.Run("EndsWithItsTransaction", func(t *testing.T) {
		// One connection, as behind a pooler: what a tenant leaves on it, the next one finds.
		conn, err := dbtest.As(t, b.admin, "hippocampus_service", nil).Acquire(t.Context())
		require.NoError(t, err)
		defer conn.Release()
		for _, end := range []string{"COMMIT", "ROLLBACK"} {
			tx, err := conn.Begin(t.Context())
			require.NoError(t, err)
			require.NoError(t, db.BindScope(t.Context(), tx, ada))
			require.NotZero(t, seen(t, tx))
			_, err = conn.Exec(t.Context(), end)
			require.NoError(t, err)
			_, err = conn.Exec(t.Context(), "SET ROLE hippocampus_tenant")
			require.NoError(t, err)
			require.Zero(t, seen(t, conn), end)
			_, err = conn.Exec(t.Context(), "RESET ROLE")
			require.NoError(t, err)
			_ = tx.Rollback(t.Context())
		}
	})

	t.Run("NoneShowsNothing", func(t *testing.T) {
		for _, role := range []string{"hippocampus_reader", "hippocampus_tenant"} {
			pool := dbtest.As(t, b.admin, role, nil)
			require.Zero(t, seen(t, pool), role)
			for _, table := range b.tables(t) {
				shared := map[string]string{"consolidation_policies": "x.app_name = '*'", "learning_policies": "x.app_name = '*'", "settings": "x.app_name = '*'", "retention_policies": "x.app_name = '*'", "embedding_models": "true"}[table]
				if shared == "" {
					shared = "false"
				}
				require.Empty(t, query[string](t, pool, fmt.Sprintf("SELECT x::text FROM hippocampus.%s x WHERE NOT (%s)", table, shared)), table)
			}
		}
	})

	t.Run("PatternsAreNames", func(t *testing.T) {
		for _, user := range []string{"%", "a_a", "___", "ad%", "ADA", "ada ", "ada\\", "' OR true --"} {
			require.Zero(t, seen(t, dbtest.As(t, b.admin, "hippocampus_reader", &db.Scope{UserID: user, AppName: "shop"}))-
				query[int](t, b.admin, "SELECT count(*) FROM hippocampus.instructions WHERE app_name = 'shop'")[0], user)
		}
	})
}

func TestTenant(t *testing.T) {
	t.Parallel()

	t.Run("CallsOfFunctionsWithAnothersIds", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		pool := dbtest.As(t, b.admin, "hippocampus_tenant", &ada)
		before := b.fingerprint(t)
		for _, scope := range []db.Scope{bea, namesake, ada} {
			theirs := b.bea
			if scope == namesake {
				theirs = b.bob
			}
			for _, f := range callable(t, b) {
				sql, args := call(t, f, scope, theirs)
				tx, err := pool.Begin(t.Context())
				require.NoError(t, err)
				found, err := tx.Query(t.Context(), sql, args...)
				if err == nil {
					var texts []*string
					texts, err = pgx.CollectRows(found, pgx.RowTo[*string])
					for _, text := range texts {
						require.True(t, text == nil || !strings.Contains(*text, secret), sql)
					}
				}
				if err != nil {
					// Refused by a policy, as unknown, or for an argument that says nothing: never for want of care.
					requireCode(t, err, sql, "42501", "HC002", "HC004", "HC005", "HC008", "HC009", "HC010", "HC011", "23503", "0A000")
					require.NotContains(t, err.Error(), secret)
					require.NoError(t, tx.Rollback(t.Context()))
				} else {
					require.NoError(t, tx.Commit(t.Context()))
				}
				require.Equal(t, before, b.fingerprint(t), sql)
			}
		}
	})

	t.Run("CannotChooseIds", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		pool := dbtest.As(t, b.admin, "hippocampus_tenant", &ada)
		// A trusted role finds a thread by its id alone: one that Ada gave Bea's id could be taken for Bea's.
		for sql, args := range map[string][]any{
			"INSERT INTO hippocampus.threads (id, user_id, app_name, session_id) VALUES ($1, 'ada', 'shop', 'x')":                                                           {b.bea.thread},
			"UPDATE hippocampus.threads SET id = $1 WHERE id = $2":                                                                                                          {b.bea.thread, b.ada.thread},
			"INSERT INTO hippocampus.events (id, thread_id, sequence_num, user_id, app_name, author, content, token_count) VALUES ($1, $2, 2, 'ada', 'shop', 'x', '{}', 1)": {b.bea.event, b.ada.thread},
			"INSERT INTO hippocampus.consolidation_jobs (thread_id, user_id, app_name, job_type, river_job_id) VALUES ($1, 'ada', 'shop', 'fast_replay', $2)":               {b.ada.thread, b.bea.riverJob},
			"INSERT INTO hippocampus.consolidation_jobs (thread_id, user_id, app_name, job_type, status) VALUES ($1, 'ada', 'shop', 'fast_replay', 'running')":              {b.ada.thread},
			"UPDATE hippocampus.consolidation_jobs SET river_job_id = $1":                                                                                                   {b.bea.riverJob},
		} {
			_, err := try(t.Context(), pool, sql, args...)
			requireCode(t, err, sql, "42501")
		}
	})

	t.Run("CannotChangeWhatAMemoryIs", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		pool := dbtest.As(t, b.admin, "hippocampus_tenant", &ada)
		for _, set := range []string{"content = 'x'", "memory_type = 'summary'", "occurred_from = now()", "from_seq = 1", "created_at = now()"} {
			_, err := try(t.Context(), pool, "UPDATE hippocampus.memories SET "+set)
			requireCode(t, err, set, "42501")
		}
		_, err := try(t.Context(), pool, "UPDATE hippocampus.memories SET tags = '{tea}'")
		require.NoError(t, err)
	})

	t.Run("CannotChangeWhatItsAppShares", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		pool := dbtest.As(t, b.admin, "hippocampus_tenant", &ada)
		for _, sql := range []string{
			"UPDATE hippocampus.app_state SET state = '{}'", "INSERT INTO hippocampus.app_state (app_name) VALUES ('shop')",
			"DELETE FROM hippocampus.app_state", "SELECT hippocampus.app_state_merge('shop', '{}')", "SELECT hippocampus.put_setting('shop', 'episodic_turns', '2')",
			"INSERT INTO hippocampus.settings (app_name, key, value) VALUES ('shop', 'episodic_turns', '2')",
			"UPDATE hippocampus.embedding_models SET model = 'mine'",
		} {
			_, err := try(t.Context(), pool, sql)
			requireCode(t, err, sql, "42501")
		}
	})

	t.Run("CannotHoldAnothersJob", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		pool := dbtest.As(t, b.admin, "hippocampus_tenant", &ada)
		require.Equal(t, []bool{false}, query[bool](t, pool, "SELECT hippocampus._hold_river_job($1)", b.bea.job))
		require.Equal(t, []bool{true}, query[bool](t, pool, "SELECT hippocampus._hold_river_job($1)", b.ada.job))
		service := dbtest.As(t, b.admin, "hippocampus_service", nil)
		require.Equal(t, []bool{true}, query[bool](t, service, "SELECT hippocampus._hold_river_job($1)", b.bea.job))
	})

	t.Run("ChangesNothingOfAnothers", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		before := b.fingerprint(t)
		pool := dbtest.As(t, b.admin, "hippocampus_tenant", &ada)
		for _, table := range b.tables(t) {
			foreign := b.foreign(t, table)
			if foreign == "" {
				continue
			}
			columns := b.columns(t, table)
			for _, column := range columns {
				tag, err := try(t.Context(), pool, fmt.Sprintf("UPDATE hippocampus.%s x SET %s = x.%s WHERE %s", table, column, column, foreign))
				if err != nil {
					requireCode(t, err, table+"."+column, "42501")
				}
				require.Zero(t, tag.RowsAffected(), "%s.%s", table, column)
			}
			tag, err := try(t.Context(), pool, fmt.Sprintf("DELETE FROM hippocampus.%s x WHERE %s", table, foreign))
			if err != nil {
				requireCode(t, err, table, "42501")
			}
			require.Zero(t, tag.RowsAffected(), table)
			// Another's row again, as it is: refused before its key can collide.
			for _, row := range query[string](t, b.admin, fmt.Sprintf("SELECT to_jsonb(x)::text FROM hippocampus.%s x WHERE %s", table, foreign)) {
				names := strings.Join(columns, ", ")
				sql := fmt.Sprintf("INSERT INTO hippocampus.%s (%s) SELECT %s FROM jsonb_populate_record(NULL::hippocampus.%s, $1)", table, names, names, table)
				_, err := try(t.Context(), pool, sql, row)
				requireCode(t, err, sql, "42501")
			}
			// One's own rows cannot be given away.
			for column, value := range map[string]string{"user_id": "bea", "app_name": "bank"} {
				if strings.Contains(strings.Join(columns, " "), column) {
					tag, err := try(t.Context(), pool, fmt.Sprintf("UPDATE hippocampus.%s x SET %s = '%s' WHERE NOT (%s)", table, column, value, foreign))
					requireCode(t, err, fmt.Sprintf("%s.%s: %s", table, column, tag), "42501", "HC009")
				}
			}
		}
		require.Equal(t, before, b.fingerprint(t))
	})

	t.Run("ChosenIdsOfMemoriesHarmNobody", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		before := b.fingerprint(t)
		pool := dbtest.As(t, b.admin, "hippocampus_tenant", &ada)
		for _, sql := range []string{
			"INSERT INTO hippocampus.memories (id, user_id, app_name, content, content_hash, token_count, created_at) VALUES ($1, 'ada', 'shop', 'mine', sha256('x'), 1, '2020-01-01')",
			"INSERT INTO hippocampus.memory_sources (memory_id, thread_id, from_seq, to_seq, user_id, app_name) VALUES ($1, $2, 1, 1, 'ada', 'shop')",
			"SELECT hippocampus.put_embedding('ada', 'shop', 'memory', $1, array_fill(1, ARRAY[64])::public.vector)",
			"UPDATE hippocampus.memories SET superseded_by = $1 WHERE id = $1",
			"UPDATE hippocampus.memories SET superseded_by = NULL WHERE id = $1",
		} {
			args := []any{b.bea.memory}
			if strings.Contains(sql, "$2") {
				args = append(args, b.ada.thread)
			}
			_, err := pool.Exec(t.Context(), sql, args...)
			require.NoError(t, err, sql)
		}
		// Trusted roles that work for all tenants tell the two apart.
		worker := dbtest.As(t, b.admin, "hippocampus_worker", nil)
		_, err := worker.Exec(t.Context(), "UPDATE hippocampus.memories SET last_accessed_at = '2020-01-01' WHERE user_id = 'ada' AND id = $1", b.bea.memory)
		require.NoError(t, err)
		require.Equal(t, []int32{1}, query[int32](t, worker, "SELECT s.deleted FROM hippocampus.sweep_retention(p_threshold => 0.1, p_min_age_days => 7) s"))
		require.Equal(t, before, b.fingerprint(t))
	})

	t.Run("CopyIsBoundToo", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		conn, err := dbtest.As(t, b.admin, "hippocampus_tenant", &ada).Acquire(t.Context())
		require.NoError(t, err)
		defer conn.Release()
		var out strings.Builder
		_, err = conn.Conn().PgConn().CopyTo(t.Context(), &out, "COPY hippocampus.memories TO STDOUT")
		require.NoError(t, err)
		require.Contains(t, out.String(), "harmless")
		require.NotContains(t, out.String(), secret)
	})

	t.Run("DeletesOfItsOwnReachNobody", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		before := b.fingerprint(t)
		pool := dbtest.As(t, b.admin, "hippocampus_tenant", &ada)
		for _, sql := range []string{
			"SELECT hippocampus.forget_thread('ada', 'shop', '" + b.ada.thread.String() + "')", "DELETE FROM hippocampus.memories", "DELETE FROM hippocampus.facts",
			"DELETE FROM hippocampus.threads", "SELECT hippocampus.cleanup_low_value_memories(1, 0, p_now => now() + interval '1 day')",
			"SELECT hippocampus.trim_memories()", "DELETE FROM hippocampus.postings", "DELETE FROM hippocampus.embeddings",
		} {
			_, err := pool.Exec(t.Context(), sql)
			require.NoError(t, err, sql)
			require.Equal(t, before, b.fingerprint(t), sql)
		}
	})

	t.Run("DoesAllOfItsOwn", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		for _, role := range []string{"hippocampus_tenant", "hippocampus_service", "hippocampus_worker"} {
			pool := dbtest.As(t, b.admin, role, &ada)
			for _, f := range callable(t, b) {
				sql, args := call(t, f, ada, b.ada)
				_, err := try(t.Context(), pool, sql, args...)
				if f.Name == "load_skill" && role == "hippocampus_tenant" { // the operator's words
					requireCode(t, err, sql, "42501")
				} else if err != nil {
					requireCode(t, err, sql, "23505", "23514", "HC002", "HC008", "HC009", "HC010", "HC011", "HC012")
				}
			}
			for _, sql := range []string{
				"SELECT hippocampus.create_thread('ada', 'shop', 'another')",
				"SELECT hippocampus.append_events('" + b.ada.thread.String() + `', '[{"author": "user", "content": "x"}, {"author": "agent", "content": "y"}]')`,
				"SELECT hippocampus.append_event('" + b.ada.thread.String() + `', 'user', 'message', '{"text": "tea"}')`,
				"SELECT hippocampus.enqueue_consolidation('" + b.ada.thread.String() + "', 'deep_reflection')",
				"SELECT hippocampus.remember('ada', 'shop', 'new', p_thread_id => '" + b.ada.thread.String() + "', p_embedding => array_fill(1, ARRAY[64])::public.vector)",
				"SELECT hippocampus.remember('ada', 'shop', 'new', p_embedding => array_fill(1, ARRAY[64])::public.vector)",
				"SELECT hippocampus.upsert_fact('ada', 'shop', 'custom', 'word', '1', p_embedding => array_fill(1, ARRAY[64])::public.vector)",
				"SELECT hippocampus.record_access('ada', 'shop', ARRAY['" + b.ada.memory.String() + "']::uuid[])",
				"UPDATE hippocampus.memories SET superseded_by = gen_random_uuid() WHERE id = '" + b.ada.memory.String() + "'",
				"UPDATE hippocampus.threads SET state = '{}', version = version + 1 WHERE id = '" + b.ada.thread.String() + "'",
				"SELECT hippocampus.cleanup_low_value_memories(1, 0, p_user_id => 'ada', p_app_name => 'shop', p_now => now() + interval '1 day')",
				"SELECT hippocampus.forget('ada', 'shop', ARRAY['" + b.ada.fact.String() + "']::uuid[])",
				"SELECT hippocampus.forget_thread('ada', 'shop', '" + b.ada.thread.String() + "')",
			} {
				_, err := try(t.Context(), pool, sql)
				require.NoError(t, err, "%s: %s", role, sql)
			}
		}
	})

	t.Run("ForeignKeysTellNothing", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		pool := dbtest.As(t, b.admin, "hippocampus_tenant", &ada)
		// Whether another's row exists cannot be told from the error, nor from a collision.
		for _, sql := range []string{
			"INSERT INTO hippocampus.memory_sources (memory_id, thread_id, from_seq, to_seq, user_id, app_name) VALUES ($1, '" + b.ada.thread.String() + "', 1, 1, 'ada', 'shop')",
			"INSERT INTO hippocampus.memories (thread_id, user_id, app_name, content, content_hash, token_count) VALUES ($1, 'ada', 'shop', 'x', sha256('x'), 1)",
			"INSERT INTO hippocampus.consolidation_jobs (thread_id, user_id, app_name, job_type) VALUES ($1, 'ada', 'shop', 'fast_replay')",
			"SELECT hippocampus.append_event($1, 'user', 'message', '{}')", "SELECT hippocampus.enqueue_consolidation($1)",
			"SELECT hippocampus.forget_thread('ada', 'shop', $1)", "SELECT hippocampus.remember('ada', 'shop', 'x', p_thread_id => $1)",
		} {
			_, none := try(t.Context(), pool, sql, uuid.Nil)
			for _, theirs := range []uuid.UUID{b.bea.thread, b.bea.memory, b.bob.thread} {
				_, err := try(t.Context(), pool, sql, theirs)
				want := requireCode(t, none, sql, "23503", "HC002")
				got := requireCode(t, err, sql, "23503", "HC002")
				require.Equal(t, strings.ReplaceAll(want, uuid.Nil.String(), theirs.String()), got)
			}
		}
		for _, sql := range []string{
			"SELECT hippocampus.create_thread('ada', 'shop', '" + secret + " session')",
			"SELECT hippocampus.remember('ada', 'shop', '" + secret + " memory of tea')",
			"INSERT INTO hippocampus.memories (id, user_id, app_name, content, content_hash, token_count) VALUES ('" + b.bea.memory.String() + "', 'ada', 'shop', 'x', sha256('x'), 1)",
		} {
			_, err := try(t.Context(), pool, sql)
			require.NoError(t, err, sql)
		}
	})
}
