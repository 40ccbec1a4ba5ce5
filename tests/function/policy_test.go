package function_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The row of an app holds, else that of *, which cannot go, else the defaults of the table: of every kind of policy.
func TestPolicyThatHolds(t *testing.T) {
	t.Parallel()
	tables := map[string]struct{ lookup, column string }{
		"consolidation_policies": {"_consolidation_policy($1)", "window_events"},
		"learning_policies":      {"_learning_policy($1)", "min_steps"},
		"retention_policies":     {"_retention_policy($1, 'semantic', 'other')", "min_age_days"},
	}
	b := setup(t)
	require.Equal(t, []string{"consolidation_policies", "learning_policies", "retention_policies"}, list[string](t, b, `
		SELECT c.relname::text FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
		WHERE n.nspname = 'hippocampus' AND c.relkind = 'r' AND c.relname LIKE '%\_policies' ORDER BY 1`), "every kind is here")
	for table, policy := range tables {
		t.Run(table, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			holds := func() string {
				t.Helper()
				return get[string](t, b, "SELECT (to_jsonb(p) - 'updated_at' - 'app_name')::text FROM hippocampus."+policy.lookup+" p", b.AppName)
			}
			changed := func(app, value string) {
				t.Helper()
				b.exec(t, "UPDATE hippocampus."+table+" SET "+policy.column+" = "+value+" WHERE app_name = $1", app)
			}
			fresh := holds()
			b.refuses(t, "HC009", "cannot go", "DELETE FROM hippocampus."+table+" WHERE app_name = '*'")
			b.refuses(t, "HC009", "cannot go", "UPDATE hippocampus."+table+" SET app_name = 'x' WHERE app_name = '*'")
			changed("*", "17")
			deployment := holds()
			require.NotEqual(t, fresh, deployment)
			b.exec(t, "INSERT INTO hippocampus."+table+" (app_name) VALUES ($1)", b.AppName)
			require.Equal(t, fresh, holds(), "a row holds whole")
			changed(b.AppName, "18")
			require.NotEqual(t, deployment, holds())
			b.exec(t, "DELETE FROM hippocampus."+table+" WHERE app_name = $1", b.AppName)
			require.Equal(t, deployment, holds())

			// a restore, or its owner, may have left none: then what a fresh row says holds
			b.lose(t, table)
			require.Equal(t, fresh, holds())
			b.exec(t, "INSERT INTO hippocampus."+table+" DEFAULT VALUES")
			require.Equal(t, fresh, holds())
		})
	}
}

// lose deletes all rows of a table, whatever guards them. A TRUNCATE would have other tests wait for its lock.
func (b *testBundle) lose(t *testing.T, table string) {
	t.Helper()
	b.exec(t, "SET LOCAL session_replication_role = 'replica'")
	b.exec(t, "DELETE FROM hippocampus."+table)
	b.exec(t, "SET LOCAL session_replication_role = 'origin'")
}

// Without any policy, what the defaults say is what happens.
func TestNoPolicyAtAll(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.lose(t, "consolidation_policies")
	b.lose(t, "learning_policies")
	b.lose(t, "retention_policies")
	id := b.remember(t, "tea with milk")
	require.Equal(t, 1, get[int](t, b, "SELECT count(*) FROM hippocampus.search_memory($1, $2, 'tea', p_now => $3)", b.UserID, b.AppName, b.now))
	b.refuses(t, "HC009", "shar", "SELECT hippocampus.share_memory($1, $2, $3)", b.UserID, b.AppName, id)
	require.Zero(t, get[int](t, b, "SELECT hippocampus.enqueue_due_consolidations() + hippocampus.enqueue_due_sleeps() + hippocampus.adapt_consolidation()"))
	require.Equal(t, "complex_execution", get[string](t, b, "SELECT reason FROM hippocampus.record_experience($1, $2, 'move house', p_steps => 2, p_now => $3)",
		b.UserID, b.AppName, b.now))
	// a threshold that is given holds for the defaults too
	require.Zero(t, get[int](t, b, "SELECT hippocampus.cleanup_low_value_memories(NULL, NULL, $1, $2, p_now => $3::timestamptz)", b.UserID, b.AppName, b.now))
	require.Equal(t, 2, get[int](t, b, "SELECT hippocampus.cleanup_low_value_memories(0.9, 0, $1, $2, p_now => $3::timestamptz + interval '1 second')",
		b.UserID, b.AppName, b.now))
	// an app without a policy starts from the defaults
	b.exec(t, `SELECT hippocampus.put_consolidation_policy($1, '{"sharing": true}')`, b.AppName)
	require.Equal(t, 100, get[int](t, b, "SELECT window_events FROM hippocampus.consolidation_policies WHERE app_name = $1", b.AppName))
}

// What the deployment's row says of sleeps holds for an app without a row, as all else does.
func TestSleepsByTheDeploymentsPolicy(t *testing.T) {
	t.Parallel()
	b := setupAlone(t)
	b.remember(t, "tea with milk")
	require.Zero(t, get[int](t, b, "SELECT hippocampus.enqueue_due_sleeps(p_now => $1)", b.now))
	b.exec(t, `SELECT hippocampus.put_consolidation_policy('*', '{"sleep_enabled": true}')`)
	b.exec(t, `SELECT hippocampus.put_consolidation_policy($1, '{"sleep_enabled": false}')`, b.AppName)
	require.Zero(t, get[int](t, b, "SELECT hippocampus.enqueue_due_sleeps(p_now => $1)", b.now))
	b.exec(t, "DELETE FROM hippocampus.consolidation_policies WHERE app_name = $1", b.AppName)
	require.Equal(t, 1, get[int](t, b, "SELECT hippocampus.enqueue_due_sleeps(p_now => $1)", b.now))
}
