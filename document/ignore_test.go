package document_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/hippocampus-memory/hippocampus/document"
)

// walked are the files that a walk finds.
func walked(t require.TestingT, dir string) []string {
	files, err := document.Walk(dir)
	require.NoError(t, err)
	defer files.Close() //nolint:errcheck // only read
	return files.Names
}

func TestGitignore(t *testing.T) {
	t.Parallel()

	t.Run("NearerRulesCome", func(t *testing.T) {
		t.Parallel()
		repo := t.TempDir()
		require.NoError(t, os.Mkdir(filepath.Join(repo, ".git"), 0o750))
		write(t, repo, ".gitignore", "*.md\r\n!README.md\n/out/\n")
		write(t, repo, "docs/.gitignore", "# all of these\n!keep.md\n!sub/**/kept.md\nREADME.md\n")
		write(t, repo, "out/.gitignore", "!*.md\n") // nothing comes back out of a folder that is left out
		for _, name := range []string{"README.md", "a.md", "docs/README.md", "docs/a.md", "docs/keep.md", "docs/sub/x/kept.md", "docs/sub/keep.md", "out/keep.md", "z.txt"} {
			write(t, repo, name, "text")
		}
		require.Equal(t, []string{"README.md", "docs/keep.md", "docs/sub/keep.md", "docs/sub/x/kept.md", "z.txt"}, walked(t, repo))
		require.Equal(t, []string{"keep.md", "sub/keep.md", "sub/x/kept.md"}, walked(t, filepath.Join(repo, "docs")))
		require.Equal(t, []string{"keep.md"}, walked(t, filepath.Join(repo, "out"))) // that was asked for by name
	})

	t.Run("ALinkIsNotRead", func(t *testing.T) {
		t.Parallel()
		dir, outside := t.TempDir(), t.TempDir()
		write(t, outside, "rules", "*.md\n")
		write(t, dir, "a.md", "a")
		require.NoError(t, os.Symlink(filepath.Join(outside, "rules"), filepath.Join(dir, ".gitignore")))
		require.Equal(t, []string{"a.md"}, walked(t, dir))
	})

	t.Run("AsGitDoesIt", func(t *testing.T) {
		t.Parallel()
		git, err := exec.LookPath("git")
		require.NoError(t, err, "git is what this compares with: install it")
		dirs := []string{"", "a/", "a/b/", "a/b/c/", "b/", "[x]/", "a b/"}
		names := []string{"a.md", "b.md", "ab.md", "a b.md", "A.md", "é.md", "a*.md", "b.txt", "#a.md", "!a.md", "[x].md", `a\.md`}
		var files []string
		for _, dir := range dirs {
			for _, name := range names {
				files = append(files, dir+name)
			}
		}
		token := rapid.SampledFrom([]string{
			"a", "b", "c", ".md", "A", "é", "*", "**", "?", "/", "/", "**/", "/**", "/**/", "[ab]", "[!a]", "[^b]", "[a-c]", "[]x[]", "[[:alpha:]]", "[[:upper:]]",
			"[[:none:]]", "[a", "[b-]", `[\]x]`, `\`, `\*`, `\!`, `\#`, "#", "!", " ", `\ `, "\t", "[x]", "!a.md", "a.md", "*.md", "b/",
		})
		line := rapid.Custom(func(t *rapid.T) string {
			return rapid.SampledFrom([]string{"", "", "!", "/"}).Draw(t, "mark") + strings.Join(rapid.SliceOfN(token, 1, 5).Draw(t, "tokens"), "")
		})
		repo := t.TempDir()
		for _, file := range files {
			write(t, repo, file, "text")
		}
		require.NoError(t, exec.Command(git, "init", "-q", repo).Run())
		rapid.Check(t, func(t *rapid.T) {
			for _, dir := range []string{"", "a/", "a/b/", "b/"} {
				rules := rapid.SliceOfN(line, 0, 4).Draw(t, "rules of "+dir)
				write(t, repo, dir+".gitignore", strings.Join(rules, "\n"))
			}
			check := exec.Command(git, "-C", repo, "-c", "core.excludesFile=", "check-ignore", "--no-index", "--stdin", "-z")
			check.Stdin = strings.NewReader(strings.Join(files, "\x00") + "\x00")
			out, err := check.Output()
			exit := &exec.ExitError{}
			if errors.As(err, &exit) && exit.ExitCode() == 1 { // it leaves none out
				err = nil
			}
			require.NoError(t, err)
			left := strings.Split(string(bytes.TrimSuffix(out, []byte{0})), "\x00")
			kept := slices.DeleteFunc(slices.Clone(files), func(name string) bool { return slices.Contains(left, name) })
			require.ElementsMatch(t, kept, walked(t, repo))
		})
	})
}
