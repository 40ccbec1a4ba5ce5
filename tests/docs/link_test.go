package docs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

var (
	heading  = regexp.MustCompile(`(?m)^#+ (.*)$`)
	link     = regexp.MustCompile(`\]\(([^)#\s]*)(?:#([^)\s]*))?\)`)
	mention  = regexp.MustCompile(`\bdocs/[\w.-]+\.md\b`)
	quoted   = regexp.MustCompile("`[^`\n]*`")
	verbatim = regexp.MustCompile("(?ms)^```.*?^```$")
)

// read is a document's text.
func read(t *testing.T, root, document string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(root, document))
	require.NoError(t, err)
	return string(raw)
}

// TestReadmeIsShort keeps the README what a newcomer reads in five minutes: what is longer has a guide.
func TestReadmeIsShort(t *testing.T) {
	t.Parallel()
	root, err := dbtest.Root()
	require.NoError(t, err)
	readme := read(t, root, "README.md")
	require.LessOrEqual(t, strings.Count(readme, "\n"), 200)
	var sections []string
	for _, found := range heading.FindAllStringSubmatch(verbatim.ReplaceAllString(readme, ""), -1) {
		sections = append(sections, found[1])
	}
	require.Equal(t, []string{
		"Hippocampus", "Why", "Sixty seconds", "The same from Go", "How it works", "SQL API", "Configuration", "Operating", "Performance",
		"Limits and non-goals", "Layout", "Development", "Compatibility",
	}, sections)
}

// TestReadmeNamesFunctions looks up what the README's table of functions names.
func TestReadmeNamesFunctions(t *testing.T) {
	t.Parallel()
	root, err := dbtest.Root()
	require.NoError(t, err)
	_, table, found := strings.Cut(read(t, root, "README.md"), "| Function | Purpose | Returns |")
	require.True(t, found)
	table, _, _ = strings.Cut(table, "\n#")
	for _, row := range strings.Split(strings.TrimSpace(table), "\n")[1:] {
		names := regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(strings.Split(row, "|")[1], -1)
		require.NotEmpty(t, names, row)
		for _, name := range names {
			require.FileExists(t, filepath.Join(root, "sql", "functions", name[1]+".sql"))
		}
	}
}

// TestLinks follows the links of all documents within the repository, to the headings in them too.
func TestLinks(t *testing.T) {
	t.Parallel()
	root, err := dbtest.Root()
	require.NoError(t, err)
	listed := exec.CommandContext(t.Context(), "git", "ls-files", "*.md")
	listed.Dir = root
	out, err := listed.Output()
	require.NoError(t, err)
	documents := strings.Fields(string(out))
	require.Contains(t, documents, "README.md")
	for _, document := range documents {
		if strings.Contains(document, "testdata") {
			continue // what a program wrote
		}
		text := read(t, root, document)
		for _, name := range mention.FindAllString(quoted.ReplaceAllString(verbatim.ReplaceAllString(text, ""), ""), -1) {
			require.FileExists(t, filepath.Join(root, name), "named in %s", document)
		}
		for _, found := range link.FindAllStringSubmatch(verbatim.ReplaceAllString(text, ""), -1) {
			if strings.Contains(found[1], ":") {
				continue // another site's
			}
			target := document
			if found[1] != "" {
				target = filepath.Join(filepath.Dir(document), found[1])
			}
			_, err := os.Stat(filepath.Join(root, target))
			require.NoError(t, err, "linked in %s", document)
			if found[2] != "" {
				require.Contains(t, anchors(read(t, root, target)), found[2], "linked in %s", document)
			}
		}
	}
}

// anchors are the headings of a document, as a link names them.
func anchors(text string) []string {
	var found []string
	for _, h := range heading.FindAllStringSubmatch(verbatim.ReplaceAllString(text, ""), -1) {
		anchor := regexp.MustCompile(`[^\w -]`).ReplaceAllString(strings.ToLower(h[1]), "")
		found = append(found, strings.ReplaceAll(anchor, " ", "-"))
	}
	return found
}
