package dbtest_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

func TestDB(t *testing.T) {
	t.Parallel()

	t.Run("HasSchemaAndNoRows", func(t *testing.T) {
		t.Parallel()
		start := time.Now()
		pool := dbtest.DB(t)
		t.Logf("clone: %s", time.Since(start))
		var dimension, threads int
		var searchPath, commit string
		err := pool.QueryRow(t.Context(), `
			SELECT (SELECT m.dimension FROM hippocampus.embedding_models m),
			       (SELECT count(*) FROM hippocampus.threads),
			       current_setting('search_path'), current_setting('synchronous_commit')`).
			Scan(&dimension, &threads, &searchPath, &commit)
		require.NoError(t, err)
		require.Equal(t, dbtest.DefaultDimension, dimension)
		require.Zero(t, threads)
		require.Empty(t, searchPath)
		require.Equal(t, "off", commit)
	})
}

func TestTx(t *testing.T) {
	t.Parallel()
	for range 2 {
		t.Run("RollsBack", func(t *testing.T) {
			t.Parallel() // the one that comes second waits for the first to roll back
			tx := dbtest.Tx(t)
			_, err := tx.Exec(t.Context(), `INSERT INTO hippocampus.settings (key, value) VALUES ('ranking/dbtest', '{"text": 1}')`)
			require.NoError(t, err)
		})
	}
}

func TestAs(t *testing.T) {
	t.Parallel()
	pool := dbtest.DB(t)
	scope := db.Scope{UserID: "ada", AppName: "shop"}
	tenant := dbtest.As(t, pool, "hippocampus_tenant", &scope)
	var user string
	require.NoError(t, tenant.QueryRow(t.Context(), "SELECT current_setting('hippocampus.user_id')").Scan(&user))
	require.Equal(t, "ada", user)
	_, err := tenant.Exec(t.Context(), "SET ROLE hippocampus_service")
	require.ErrorIs(t, db.Wrap(err), db.ErrPermission)

	nobody := dbtest.As(t, pool, "", nil)
	_, err = nobody.Exec(t.Context(), "SELECT * FROM hippocampus.threads")
	require.ErrorIs(t, db.Wrap(err), db.ErrPermission)

	service := dbtest.As(t, pool, "hippocampus_service", nil)
	err = db.WithScope(t.Context(), service, scope, func(tx pgx.Tx) error {
		var role string
		require.NoError(t, tx.QueryRow(t.Context(), "SELECT current_user::text").Scan(&role))
		require.Equal(t, "hippocampus_tenant", role)
		return nil
	})
	require.NoError(t, err)
}
