package db_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/pgvector/pgvector-go"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

func TestNewPool(t *testing.T) {
	t.Parallel()

	t.Run("KnowsVectors", func(t *testing.T) {
		t.Parallel()
		tx := dbtest.Tx(t) // its search_path is empty
		in := pgvector.NewHalfVector([]float32{1, -2, 0.5})
		var half pgvector.HalfVector
		var vectors []pgvector.Vector
		err := tx.QueryRow(t.Context(), "SELECT $1::public.halfvec, ARRAY[$2::public.vector]", in,
			pgvector.NewVector([]float32{7})).Scan(&half, &vectors)
		require.NoError(t, err)
		require.Equal(t, in, half)
		require.Equal(t, []float32{7}, vectors[0].Slice())
	})

	for _, mode := range []string{"exec", "simple_protocol"} {
		t.Run("BehindAPooler "+mode, func(t *testing.T) {
			t.Parallel()
			pool := newPool(t, dbtest.URL(t)+"&default_query_exec_mode="+mode)
			want := []uuid.UUID{uuid.New(), uuid.New()}
			var got []uuid.UUID
			require.NoError(t, pool.QueryRow(t.Context(), "SELECT $1::uuid[]", want).Scan(&got))
			require.Equal(t, want, got)
		})
	}

	t.Run("WithoutExtension", func(t *testing.T) {
		t.Parallel()
		pool, err := db.NewPool(t.Context(), &db.Config{
			ApplicationName: "the test", DatabaseURL: dbtest.Empty(t, "") + "&standard_conforming_strings=off", MaxConns: 3,
		})
		require.NoError(t, err)
		defer pool.Close()
		require.EqualValues(t, 3, pool.Config().MaxConns)
		var name string
		require.NoError(t, pool.QueryRow(t.Context(), "SHOW application_name").Scan(&name))
		require.Equal(t, "the test", name)
		require.NoError(t, pool.QueryRow(t.Context(), "SHOW standard_conforming_strings").Scan(&name))
		require.Equal(t, "on", name, "whatever the login's is")
		require.ErrorIs(t, db.CheckCompatible(t.Context(), pool), db.ErrNotMigrated)
	})

	t.Run("WrongMaxConns", func(t *testing.T) {
		t.Parallel()
		_, err := db.NewPool(t.Context(), &db.Config{DatabaseURL: dbtest.URL(t), MaxConns: -1})
		require.ErrorIs(t, err, db.ErrInvalidArgument)
	})
}

func TestWithScope(t *testing.T) {
	t.Parallel()

	type testBundle struct {
		pool    *pgxpool.Pool // of the superuser
		scope   db.Scope
		service *pgxpool.Pool
	}
	setup := func(t *testing.T) *testBundle {
		t.Helper()
		pool := dbtest.DB(t)
		scope := dbtest.NewScope(t)
		_, err := pool.Exec(t.Context(), `INSERT INTO hippocampus.threads (user_id, app_name, session_id)
			VALUES ($1, $2, 's'), ('another', $2, 's')`, scope.UserID, scope.AppName)
		require.NoError(t, err)
		return &testBundle{pool: pool, scope: scope, service: dbtest.As(t, pool, "hippocampus_service", nil)}
	}
	const threads = "SELECT count(*), current_user::text FROM hippocampus.threads"

	t.Run("LeavesNothingBehind", func(t *testing.T) {
		t.Parallel()
		bundle := setup(t)
		conn, err := bundle.service.Acquire(t.Context())
		require.NoError(t, err)
		defer conn.Release()
		before := struct{ role, user, app string }{}
		const query = `SELECT current_user::text, coalesce(current_setting('hippocampus.user_id', true), ''),
			coalesce(current_setting('hippocampus.app_name', true), '')`
		require.NoError(t, conn.QueryRow(t.Context(), query).Scan(&before.role, &before.user, &before.app))
		for _, end := range []error{nil, errors.New("rolled back")} {
			err = db.WithScope(t.Context(), conn, bundle.scope, func(tx pgx.Tx) error {
				after := before
				require.NoError(t, tx.QueryRow(t.Context(), query).Scan(&after.role, &after.user, &after.app))
				require.Equal(t, "hippocampus_tenant", after.role)
				require.Equal(t, bundle.scope.AppName, after.app)
				require.Equal(t, bundle.scope.UserID, after.user)
				return end
			})
			require.Equal(t, end, err)
			after := before
			require.NoError(t, conn.QueryRow(t.Context(), query).Scan(&after.role, &after.user, &after.app))
			require.Equal(t, before, after)
		}
	})

	t.Run("RefusesInvalidScope", func(t *testing.T) {
		t.Parallel()
		tx := dbtest.Tx(t)
		for _, scope := range []db.Scope{
			{},
			{UserID: "ada"},
			{AppName: "shop"},
			{UserID: "ada", AppName: "*"},
			{UserID: strings.Repeat("é", 128), AppName: "shop"},
			{UserID: "ada", AppName: strings.Repeat("a", 256)},
		} {
			err := db.WithScope(t.Context(), tx, scope, func(pgx.Tx) error { panic("not to be called") })
			require.ErrorIs(t, err, db.ErrInvalidScope)
			require.ErrorIs(t, db.BindScope(t.Context(), tx, scope), db.ErrInvalidScope)
		}
	})

	t.Run("RefusesStranger", func(t *testing.T) {
		t.Parallel()
		bundle := setup(t)
		for _, role := range []string{"hippocampus_reader", "hippocampus_owner"} {
			err := db.WithScope(t.Context(), dbtest.As(t, bundle.pool, role, nil), bundle.scope,
				func(pgx.Tx) error { panic("not to be called") })
			require.ErrorIs(t, err, db.ErrPermission)
			require.ErrorContains(t, err, "hint: hippo and the Go API act for one user at a time")
			require.NotContains(t, err.Error(), "needs one of Hippocampus's roles", "it has one")
		}
	})

	t.Run("ShowsOnlyItsRows", func(t *testing.T) {
		t.Parallel()
		bundle := setup(t)
		for name, pool := range map[string]*pgxpool.Pool{
			"superuser": bundle.pool,
			"service":   bundle.service,
			"tenant":    dbtest.As(t, bundle.pool, "hippocampus_tenant", nil),
		} {
			err := db.WithScope(t.Context(), pool, bundle.scope, func(tx pgx.Tx) error {
				var (
					n    int
					role string
				)
				require.NoError(t, tx.QueryRow(t.Context(), threads).Scan(&n, &role))
				require.Equal(t, 1, n, name)
				require.Equal(t, "hippocampus_tenant", role)
				_, err := tx.Exec(t.Context(), `INSERT INTO hippocampus.threads (user_id, app_name, session_id)
					VALUES ('another', $1, 'x')`, bundle.scope.AppName)
				return db.Wrap(err)
			})
			require.ErrorIs(t, err, db.ErrPermission, name)
		}
	})
}

// TestNewPoolWithoutAName says that nothing names a database, rather than that a server is down which nobody asked for.
func TestNewPoolWithoutAName(t *testing.T) {
	t.Setenv("PGHOST", "")
	t.Setenv("PGPORT", "1")
	_, err := db.NewPool(t.Context(), nil)
	require.ErrorIs(t, err, db.ErrConnect)
	require.ErrorContains(t, err, "no database is named")
	require.ErrorContains(t, err, "set DATABASE_URL or PGHOST")
}
