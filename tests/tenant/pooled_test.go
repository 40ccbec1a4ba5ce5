package tenant_test

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

// A connection that was refused something serves whoever has it next.
func TestRefusedConnectionServesOn(t *testing.T) {
	t.Parallel()
	conn, err := pgx.Connect(t.Context(), dbtest.DatabaseURL(dbtest.DB(t)))
	require.NoError(t, err)
	defer conn.Close(t.Context()) //nolint:errcheck // the test is over
	_, err = conn.Exec(t.Context(), "SET ROLE hippocampus_tenant")
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), "SELECT 1 FROM hippocampus.river_job")
	require.Error(t, err)
	_, err = conn.Exec(t.Context(), "RESET ROLE")
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), "SELECT hippocampus.remember('ada', 'notes', 'Ada moved to Porto')")
	require.NoError(t, err)
}
