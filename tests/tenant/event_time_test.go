package tenant_test

import (
	"testing"

	"github.com/jackc/pgx/v5/pgtype"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

// TestEventOfAnother is about a question that tells a time by an event: what a neighbour's memory or fact says of such
// an event is no time for a login that is bound, whosever scope it asks in.
func TestEventOfAnother(t *testing.T) {
	t.Parallel()
	b := setup(t)
	remember := func(scope db.Scope, content, at string) {
		_, err := b.admin.Exec(t.Context(), "SELECT hippocampus.remember($1, $2, $3, p_now => $4::timestamptz)", scope.UserID, scope.AppName, content, at)
		require.NoError(t, err)
	}
	remember(ada, "I moved to Lisbon", "2026-03-01")
	for _, other := range []db.Scope{bea, namesake} {
		remember(other, "The wedding was today", "2026-02-01")
		_, err := b.admin.Exec(t.Context(), `SELECT hippocampus.upsert_fact($1, $2, 'custom', 'wedding', '"in June"', p_valid_from => '2025-06-01')`,
			other.UserID, other.AppName)
		require.NoError(t, err)
	}
	for _, role := range []string{"hippocampus_tenant", "hippocampus_reader"} {
		pool := dbtest.As(t, b.admin, role, &ada)
		when := func(scope db.Scope, question string) (r pgtype.Range[pgtype.Timestamptz]) {
			t.Helper()
			require.NoError(t, pool.QueryRow(t.Context(), "SELECT hippocampus._event_time($1, $2, $3)", scope.UserID, scope.AppName, question).Scan(&r))
			return r
		}
		require.True(t, when(ada, "Where did I eat before I moved?").Valid, role)
		for _, scope := range []db.Scope{ada, bea, namesake} {
			require.False(t, when(scope, "Where did I eat before the wedding?").Valid, "%s %v", role, scope)
		}
	}
}
