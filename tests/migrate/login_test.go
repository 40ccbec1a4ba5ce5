package migrate_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/db"
	sqlfiles "github.com/hippocampus-memory/hippocampus/sql"
	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

func TestLogin(t *testing.T) {
	t.Parallel()
	// Makes sure that the roles exist, which are the cluster's.
	databaseURL := dbtest.Empty(t, "")
	execute(t, databaseURL, sqlfiles.Bootstrap)

	t.Run("CreatesRoles", func(t *testing.T) {
		t.Parallel()
		// What Postgres 16 gives to a login with CREATEROLE that has created these roles.
		const created = " TO $login WITH ADMIN TRUE, INHERIT FALSE, SET FALSE"
		name, password := dbtest.Login(t, "CREATEROLE", "GRANT hippocampus_owner"+created,
			"GRANT hippocampus_reader"+created, "GRANT hippocampus_service"+created,
			"GRANT hippocampus_tenant"+created, "GRANT hippocampus_worker"+created)
		adminURL := dbtest.Empty(t, name)
		loginURL := dbtest.WithLogin(t, adminURL, name, password)

		_, err := migrator(t, loginURL, 0).Up(t.Context())
		require.ErrorIs(t, err, db.ErrBootstrap) // pgvector is not there, and not a trusted extension
		require.ErrorContains(t, err, `permission denied to create extension "vector"`)

		execute(t, adminURL, "CREATE EXTENSION vector")
		up(t, loginURL, 0)
		m := migrator(t, loginURL, 0)
		require.NoError(t, m.Validate(t.Context()))
		_, err = m.Down(t.Context(), 0)
		require.NoError(t, err)
		_, err = m.Up(t.Context())
		require.NoError(t, err)
	})

	for title, grants := range map[string][]string{
		"MemberOfOwner":             {"GRANT hippocampus_owner TO $login"},
		"MemberOfOwnerWithoutRight": {"GRANT hippocampus_owner TO $login WITH INHERIT FALSE, SET TRUE"},
		"MemberOfWorker":            {"GRANT hippocampus_worker TO $login"},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			name, password := dbtest.Login(t, "", grants...)
			adminURL := dbtest.Empty(t, "")
			loginURL := dbtest.WithLogin(t, adminURL, name, password)

			_, err := migrator(t, loginURL, 0).Up(t.Context())
			require.ErrorIs(t, err, db.ErrBootstrap)
			require.ErrorContains(t, err, "migrate bootstrap")
			require.ErrorContains(t, err, "GRANT hippocampus_owner TO \""+name+`"`)
			t.Log(err)

			execute(t, adminURL, sqlfiles.Bootstrap)
			up(t, loginURL, 0)
			reference := dbtest.Empty(t, "")
			up(t, reference, 0)
			require.Equal(t, snapshot(t, reference), snapshot(t, adminURL))
			m := migrator(t, loginURL, 0)
			require.NoError(t, m.Validate(t.Context()))
			_, err = m.Down(t.Context(), 0)
			require.NoError(t, err)
		})
	}

	t.Run("Stranger", func(t *testing.T) {
		t.Parallel()
		name, password := dbtest.Login(t, "")
		adminURL := dbtest.Empty(t, "")
		up(t, adminURL, 0)
		m := migrator(t, dbtest.WithLogin(t, adminURL, name, password), 0)
		for _, call := range []func() error{
			func() error { _, err := m.Down(t.Context(), 0); return err },
			func() error { _, err := m.Status(t.Context()); return err },
			func() error { _, err := m.Up(t.Context()); return err },
			func() error { return m.Validate(t.Context()) },
			func() error { _, err := m.Version(t.Context()); return err },
		} {
			err := call()
			require.ErrorIs(t, err, db.ErrBootstrap)
			require.ErrorContains(t, err, "GRANT hippocampus_owner TO \""+name+`"`)
		}
		stranger := connect(t, dbtest.WithLogin(t, adminURL, name, password))
		require.ErrorIs(t, db.CheckCompatible(t.Context(), stranger), db.ErrPermission)
	})

	t.Run("SchemaOfAnother", func(t *testing.T) {
		t.Parallel()
		adminURL := dbtest.Empty(t, "")
		execute(t, adminURL, "CREATE SCHEMA hippocampus")
		_, err := migrator(t, adminURL, 0).Up(t.Context())
		require.ErrorIs(t, err, db.ErrBootstrap)
		require.ErrorContains(t, err, "the schema hippocampus belongs to")
	})

	t.Run("RestoredWithoutOwners", func(t *testing.T) {
		t.Parallel()
		adminURL := dbtest.Empty(t, "")
		up(t, adminURL, 0)
		execute(t, adminURL, "ALTER TABLE hippocampus.goose_db_version OWNER TO CURRENT_USER")
		m := migrator(t, adminURL, 0)
		for _, schemaOwner := range []string{"hippocampus_owner", "CURRENT_USER"} {
			execute(t, adminURL, "ALTER SCHEMA hippocampus OWNER TO "+schemaOwner)
			for _, call := range []func() error{
				func() error { _, err := m.Status(t.Context()); return err },
				func() error { _, err := m.Up(t.Context()); return err },
				func() error { return m.Validate(t.Context()) },
			} {
				err := call()
				require.ErrorIs(t, err, db.ErrBootstrap)
				require.ErrorContains(t, err, "without --no-owner and --no-acl")
			}
		}
	})

	for _, role := range []string{"reader", "service", "tenant", "worker"} {
		t.Run("VersionIsReadAs "+role, func(t *testing.T) {
			t.Parallel()
			pool := dbtest.As(t, dbtest.DB(t), "hippocampus_"+role, nil)
			require.NoError(t, db.CheckCompatible(t.Context(), pool))
		})
	}
}
