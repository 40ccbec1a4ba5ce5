package docs_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

// TestGuideSQLBlocksRun runs what guides show, in their order, and again: whoever tries it tries it again.
func TestGuideSQLBlocksRun(t *testing.T) {
	t.Parallel()
	for _, guide := range []string{"experience.md", "store.md"} {
		t.Run(guide, func(t *testing.T) {
			t.Parallel()
			conn, err := dbtest.DB(t).Acquire(t.Context())
			require.NoError(t, err)
			defer conn.Release()
			for range 2 {
				for _, code := range blocksOf(t, filepath.Join("docs", guide), "sql") {
					_, err := conn.Conn().PgConn().Exec(t.Context(), code).ReadAll()
					require.NoError(t, err, code)
				}
			}
		})
	}
}
