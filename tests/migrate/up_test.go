package migrate_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/pgvector/pgvector-go"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

func TestUp(t *testing.T) {
	t.Parallel()

	t.Run("AgainDoesNothing", func(t *testing.T) {
		t.Parallel()
		databaseURL := dbtest.Empty(t, "")
		up(t, databaseURL, 0)
		before := snapshot(t, databaseURL)
		report := up(t, databaseURL, 0)
		require.Empty(t, report.Applied)
		require.Zero(t, report.Functions)
		require.Equal(t, db.BinaryVersion(), report.From)
		require.Equal(t, db.BinaryVersion(), report.To)
		require.Equal(t, db.DefaultDimension, report.Dimension)
		require.Less(t, report.Duration, 5*time.Second)
		require.Equal(t, before, snapshot(t, databaseURL))
		t.Logf("a second up took %s", report.Duration)
	})

	t.Run("ByManyAtOnce", func(t *testing.T) {
		t.Parallel()
		const processes = 20
		databaseURL := dbtest.Empty(t, "")
		type result struct {
			report *db.MigrationReport
			err    error
		}
		results := make(chan result)
		for range processes {
			go func() {
				m, err := db.NewMigrator(t.Context(), databaseURL, nil)
				if err != nil {
					results <- result{err: err}
					return
				}
				report, err := m.Up(t.Context())
				_ = m.Close()
				results <- result{report, err}
			}()
		}
		worked := 0
		for range processes {
			r := <-results
			require.NoError(t, r.err)
			require.Equal(t, db.BinaryVersion(), r.report.To)
			if len(r.report.Applied) > 0 {
				worked++
				require.Zero(t, r.report.From)
			}
		}
		require.Equal(t, 1, worked)
		require.NoError(t, migrator(t, databaseURL, 0).Validate(t.Context()))
	})

	t.Run("Fresh", func(t *testing.T) {
		t.Parallel()
		databaseURL := dbtest.Empty(t, "")
		m := migrator(t, databaseURL, 0)

		version, err := m.Version(t.Context())
		require.NoError(t, err)
		require.Zero(t, version)
		err = m.Validate(t.Context())
		require.ErrorIs(t, err, db.ErrInvalidSchema)
		require.ErrorIs(t, err, db.ErrNotMigrated)
		_, err = m.Down(t.Context(), 0)
		require.ErrorIs(t, err, db.ErrNotMigrated)

		report, err := m.Up(t.Context())
		require.NoError(t, err)
		require.Zero(t, report.From)
		require.Equal(t, db.BinaryVersion(), report.To)
		require.Equal(t, db.DefaultDimension, report.Dimension)
		require.NotZero(t, report.Functions)
		last := int64(0)
		for _, applied := range report.Applied {
			require.Greater(t, applied.Version, last)
			last = applied.Version
			require.Regexp(t, fmt.Sprintf(`^%05d_[a-z_]+\.(go|sql)$`, applied.Version), applied.Name)
		}
		require.NoError(t, m.Validate(t.Context()))
		require.NoError(t, db.CheckCompatible(t.Context(), connect(t, databaseURL)))
		t.Logf("a first up took %s", report.Duration)

		status, err := m.Status(t.Context())
		require.NoError(t, err)
		require.Equal(t, "applied", status.Functions)
		require.Equal(t, db.BinaryVersion(), status.Version)
		for _, migration := range status.Migrations {
			require.False(t, migration.AppliedAt.IsZero(), migration.Name)
		}
	})

	t.Run("WhateverTheLoginsSettings", func(t *testing.T) {
		t.Parallel()
		plain, odd := dbtest.Empty(t, ""), dbtest.Empty(t, "")
		up(t, plain, 0)
		up(t, odd+"&search_path=pg_temp&statement_timeout=1ms&TimeZone=Asia/Tokyo&check_function_bodies=off&standard_conforming_strings=off", 0)
		require.Equal(t, snapshot(t, plain), snapshot(t, odd))
		status, err := migrator(t, odd, 0).Status(t.Context())
		require.NoError(t, err)
		require.WithinDuration(t, time.Now(), status.Migrations[0].AppliedAt, time.Hour)
	})
}

func TestDimension(t *testing.T) {
	t.Parallel()

	for _, dimension := range []int{1, 3, 1536, 4000} {
		t.Run(fmt.Sprint(dimension), func(t *testing.T) {
			t.Parallel()
			databaseURL := dbtest.Empty(t, "")
			require.Equal(t, dimension, up(t, databaseURL, dimension).Dimension)
			require.Equal(t, dimension, up(t, databaseURL, dimension).Dimension)
			require.Equal(t, dimension, up(t, databaseURL, 0).Dimension)

			var stored int
			err := connect(t, databaseURL).QueryRow(t.Context(),
				"SELECT m.dimension FROM hippocampus.embedding_models m WHERE m.status = 'serving'").Scan(&stored)
			require.NoError(t, err)
			require.Equal(t, dimension, stored)
			requireVectorInline(t, databaseURL, dimension)

			other := migrator(t, databaseURL, 7)
			_, err = other.Up(t.Context())
			require.ErrorIs(t, err, db.ErrDimension)
			require.ErrorContains(t, err, "dimension 7 ")
			require.ErrorContains(t, err, fmt.Sprintf("have %d:", dimension))
			require.ErrorIs(t, other.Validate(t.Context()), db.ErrInvalidSchema)
		})
	}

	for _, dimension := range []int{-1, 4001} {
		t.Run(fmt.Sprintf("%dIsOutOfRange", dimension), func(t *testing.T) {
			t.Parallel()
			_, err := db.NewMigrator(t.Context(), dbtest.URL(t), &db.MigratorConfig{Dimension: dimension})
			require.ErrorIs(t, err, db.ErrInvalidArgument)
			require.ErrorContains(t, err, fmt.Sprint(dimension))
		})
	}
}

// requireVectorInline stores a memory with a vector of a user with a long name: nothing of a row that fits a page may
// be moved out of it, or a search would fetch each row's tenant from elsewhere.
func requireVectorInline(t *testing.T, databaseURL string, dimension int) {
	t.Helper()
	values := make([]float32, dimension)
	values[0] = 1
	conn := connect(t, databaseURL)
	_, err := conn.Exec(t.Context(), "SELECT hippocampus.remember(repeat('user', 20), repeat('app', 20), 'x', p_embedding => $1::text::vector)",
		pgvector.NewVector(values))
	require.NoError(t, err)
	var outside int64
	require.NoError(t, conn.QueryRow(t.Context(), `SELECT pg_relation_size(c.reltoastrelid) FROM pg_class c
		WHERE c.oid = 'hippocampus.embeddings'::regclass`).Scan(&outside))
	require.Zero(t, outside)
}

func TestNewerDatabase(t *testing.T) {
	t.Parallel()
	databaseURL := dbtest.Empty(t, "")
	up(t, databaseURL, 0)
	execute(t, databaseURL, "INSERT INTO hippocampus.goose_db_version (version_id, is_applied) VALUES (99999, true)")
	before := snapshot(t, databaseURL)
	m := migrator(t, databaseURL, 0)

	_, err := m.Up(t.Context())
	require.ErrorIs(t, err, db.ErrDatabaseNewer)
	require.ErrorContains(t, err, "at version 99999")
	_, err = m.Down(t.Context(), 0)
	require.ErrorIs(t, err, db.ErrDatabaseNewer)
	err = m.Validate(t.Context())
	require.ErrorIs(t, err, db.ErrDatabaseNewer)
	require.ErrorIs(t, err, db.ErrInvalidSchema)
	status, err := m.Status(t.Context())
	require.NoError(t, err)
	require.Equal(t, int64(99999), status.Migrations[len(status.Migrations)-1].Version)
	require.Equal(t, before, snapshot(t, databaseURL))
}
