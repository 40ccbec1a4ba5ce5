package service_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/service"
)

func TestReadSkill(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(folder, "git"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "git", "SKILL.md"), []byte("Rebase."), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "tea.md"), []byte("泡茶"), 0o600))
	require.NoError(t, syscall.Mkfifo(filepath.Join(folder, "pipe.md"), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(folder, "folder.md"), 0o700))
	require.NoError(t, os.Symlink("/etc/hostname", filepath.Join(folder, "outside.md")))

	for name, want := range map[string]string{"git": "Rebase.", "tea": "泡茶"} {
		text, err := service.ReadSkill(folder, name)
		require.NoError(t, err)
		require.Equal(t, want, text)
	}
	_, err := service.ReadSkill(folder, "none")
	require.ErrorIs(t, err, db.ErrNotFound)
	for _, name := range []string{"pipe", "folder", "", "..", "../tea", ".tea"} {
		_, err := service.ReadSkill(folder, name)
		require.ErrorIs(t, err, db.ErrInvalidArgument, "%q", name)
	}
	_, err = service.ReadSkill(folder, "outside")
	require.ErrorContains(t, err, `read skill "outside"`)
}
