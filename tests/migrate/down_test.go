package migrate_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

func TestDown(t *testing.T) {
	t.Parallel()

	t.Run("AndUpFromEachVersion", func(t *testing.T) {
		t.Parallel()
		databaseURL := dbtest.Empty(t, "")
		targets := []int64{0}
		for _, applied := range up(t, databaseURL, 0).Applied {
			targets = append(targets, applied.Version)
		}
		before := snapshot(t, databaseURL)
		for i := len(targets) - 2; i >= 0; i-- { // the last is where it is
			target := targets[i]
			m := migrator(t, databaseURL, 0)
			report, err := m.Down(t.Context(), target)
			require.NoError(t, err)
			require.Equal(t, target, report.To)
			require.NotZero(t, report.Functions)
			require.ErrorIs(t, m.Validate(t.Context()), db.ErrNotMigrated)
			report = up(t, databaseURL, 0)
			require.Equal(t, target, report.From)
			require.Equal(t, before, snapshot(t, databaseURL), "after down to %d and up", target)
		}
	})

	t.Run("LeavesNothing", func(t *testing.T) {
		t.Parallel()
		databaseURL := dbtest.Empty(t, "")
		up(t, databaseURL, 0)
		_, err := migrator(t, databaseURL, 0).Down(t.Context(), 0)
		require.NoError(t, err)
		var left string
		err = connect(t, databaseURL).QueryRow(t.Context(), `
			SELECT coalesce(string_agg(x.name, ', '), '') FROM (
			    SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'hippocampus'::regnamespace
			    UNION ALL
			    SELECT p.proname FROM pg_proc p WHERE p.pronamespace = 'hippocampus'::regnamespace
			    UNION ALL
			    SELECT t.typname FROM pg_type t
			    WHERE t.typnamespace = 'hippocampus'::regnamespace AND t.typrelid = 0 AND t.typelem = 0
			) AS x (name) WHERE x.name NOT LIKE 'goose\_db\_version%'`).Scan(&left)
		require.NoError(t, err)
		require.Empty(t, left)
		// The dimension may be chosen anew.
		require.Equal(t, 8, up(t, databaseURL, 8).Dimension)
	})

	t.Run("RefusesWhatOthersUse", func(t *testing.T) {
		t.Parallel()
		databaseURL := dbtest.Empty(t, "")
		up(t, databaseURL, 0)
		before := snapshot(t, databaseURL)
		m := migrator(t, databaseURL, 0)
		for use, dependent := range map[string]string{
			"VIEW shop.found AS SELECT content FROM hippocampus.search_memory('ada', 'shop', 'tea')":               "view shop.found",
			"VIEW shop.kept AS SELECT m.content FROM hippocampus.memories m":                                       "view shop.kept",
			"TABLE shop.orders (note text DEFAULT hippocampus.estimate_tokens('tea')::text)":                       "table shop.orders",
			"TABLE shop.entries (entry hippocampus.memory_blocks)":                                                 "table shop.entries",
			"FUNCTION shop.tokens(p text) RETURNS integer BEGIN ATOMIC SELECT hippocampus.estimate_tokens(p); END": "function shop.tokens(pg_catalog.text)",
		} {
			execute(t, databaseURL, "CREATE SCHEMA shop", "CREATE "+use)
			_, err := m.Down(t.Context(), 0)
			require.ErrorIs(t, err, db.ErrInvalidArgument, use)
			require.ErrorContains(t, err, "is used by "+dependent+": drop these first")
			require.Equal(t, before, snapshot(t, databaseURL))
			execute(t, databaseURL, "DROP SCHEMA shop CASCADE")
		}
		// A table that stays may be used.
		execute(t, databaseURL, "CREATE VIEW kept AS SELECT m.content FROM hippocampus.memories m")
		_, err := m.Down(t.Context(), db.BinaryVersion()-1)
		require.NoError(t, err)
		up(t, databaseURL, 0)
		execute(t, databaseURL, "DROP VIEW kept")
		_, err = m.Down(t.Context(), 0)
		require.NoError(t, err)
	})

	// Vectors of documents, and of their anchors, go with their tables, and so does that they had an index.
	t.Run("TakesTheIndexesOfDocumentsAlong", func(t *testing.T) {
		t.Parallel()
		databaseURL := dbtest.Empty(t, "")
		up(t, databaseURL, 0)
		conn := connect(t, databaseURL)
		_, err := conn.Exec(t.Context(), `INSERT INTO hippocampus.vector_indexes (generation, user_id, app_name, source, index_name)
			SELECT 1, 'ada', 'app', s, s FROM unnest('{memory,chunk,anchor}'::text[]) s`)
		require.NoError(t, err)
		_, err = migrator(t, databaseURL, 0).Down(t.Context(), 11)
		require.NoError(t, err)
		var left string
		require.NoError(t, conn.QueryRow(t.Context(), "SELECT string_agg(source, ' ') FROM hippocampus.vector_indexes").Scan(&left))
		require.Equal(t, "memory", left)
	})

	t.Run("RefusesWhatIsNoOlderVersion", func(t *testing.T) {
		t.Parallel()
		databaseURL := dbtest.Empty(t, "")
		up(t, databaseURL, 0)
		before := snapshot(t, databaseURL)
		for _, target := range []int64{-1, db.BinaryVersion() + 1, 4711} {
			_, err := migrator(t, databaseURL, 0).Down(t.Context(), target)
			require.ErrorIs(t, err, db.ErrInvalidArgument)
			require.ErrorContains(t, err, fmt.Sprintf("version %d ", target))
		}
		report, err := migrator(t, databaseURL, 0).Down(t.Context(), db.BinaryVersion())
		require.NoError(t, err)
		require.Empty(t, report.Applied)
		require.Equal(t, before, snapshot(t, databaseURL))
	})
}
