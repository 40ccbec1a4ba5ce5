package migrate_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

// TestFrozen sees that no released migration was changed.
func TestFrozen(t *testing.T) {
	t.Parallel()
	root, err := dbtest.Root()
	require.NoError(t, err)
	folder := filepath.Join(root, "sql", "schema")
	list, err := os.ReadFile(filepath.Join(folder, "frozen.sum"))
	require.NoError(t, err)
	for line := range strings.Lines(string(list)) {
		if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" {
			continue
		}
		want, name, ok := strings.Cut(strings.TrimSpace(line), "  ")
		require.True(t, ok, "not a line of sha256sum: %s", line)
		body, err := os.ReadFile(filepath.Join(folder, name))
		require.NoError(t, err)
		sum := sha256.Sum256(body)
		require.Equal(t, want, hex.EncodeToString(sum[:]), "%s was released and must not change: add a migration", name)
	}
}
