package document_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/document"
)

func write(t require.TestingT, dir, name, text string) {
	path := filepath.Join(dir, filepath.FromSlash(name))
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o750))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

func TestWalk(t *testing.T) {
	t.Parallel()

	t.Run("FollowsNoLinkOut", func(t *testing.T) {
		t.Parallel()
		dir, outside := t.TempDir(), t.TempDir()
		write(t, outside, "secret.md", "secret")
		write(t, dir, "a.md", "a")
		require.NoError(t, os.Symlink(filepath.Join(outside, "secret.md"), filepath.Join(dir, "b.md")))
		require.NoError(t, os.Symlink(outside, filepath.Join(dir, "c")))
		files, err := document.Walk(dir)
		require.NoError(t, err)
		defer files.Close() //nolint:errcheck // only read
		require.Equal(t, []string{"a.md"}, files.Names)
		_, err = files.Read("b.md")
		require.Error(t, err)
	})

	t.Run("RespectsGitignore", func(t *testing.T) {
		t.Parallel()
		repo := t.TempDir()
		require.NoError(t, os.Mkdir(filepath.Join(repo, ".git"), 0o750))
		write(t, repo, ".gitignore", "/docs/build/\n*.tmp.md\n")
		write(t, repo, "docs/.gitignore", "draft*\n")
		for _, name := range []string{
			"docs/a.md", "docs/b.TXT", "docs/build/out.md", "docs/draft.md", "docs/sub/x.tmp.md", "docs/sub/y.mdx", "docs/.hidden/z.md", "docs/code.go", "build/kept.md",
		} {
			write(t, repo, name, "text")
		}
		files, err := document.Walk(filepath.Join(repo, "docs"))
		require.NoError(t, err)
		defer files.Close() //nolint:errcheck // only read
		require.Equal(t, []string{"a.md", "b.TXT", "sub/y.mdx"}, files.Names)
	})

	t.Run("RefusesNamesThatAreNoText", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		write(t, dir, "good.md", "a")
		write(t, dir, "caf\xe9.md", "b")
		write(t, dir, "d\xe9j\xe0/vu.md", "c")
		files, err := document.Walk(dir)
		require.NoError(t, err)
		defer files.Close() //nolint:errcheck // only read
		require.Equal(t, []string{"caf\xe9.md", "d\xe9j\xe0", "good.md"}, files.Names)
		for _, name := range files.Names[:2] {
			_, err = files.Read(name)
			require.ErrorIs(t, err, document.ErrNoText)
		}
	})

	t.Run("RefusesWhatIsNoText", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		write(t, dir, "nul.md", "a\x00b")
		write(t, dir, "latin.md", "caf\xe9")
		write(t, dir, "good.md", "a\r\nb")
		files, err := document.Walk(dir)
		require.NoError(t, err)
		defer files.Close() //nolint:errcheck // only read
		for _, name := range []string{"nul.md", "latin.md"} {
			_, err := files.Read(name)
			require.ErrorIs(t, err, document.ErrNoText, name)
		}
		text, err := files.Read("good.md")
		require.NoError(t, err)
		require.Equal(t, "a\nb", text)
		_, err = document.Walk(filepath.Join(dir, "nowhere"))
		require.ErrorIs(t, err, os.ErrNotExist)
	})
}

func TestReadOfADevice(t *testing.T) {
	t.Parallel()
	files, err := document.Walk("/dev/zero")
	require.NoError(t, err)
	defer files.Close() //nolint:errcheck // only read
	_, err = files.Read("zero")
	require.ErrorIs(t, err, document.ErrNoText)
	require.ErrorContains(t, err, "more than")
}
