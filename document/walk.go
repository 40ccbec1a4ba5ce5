package document

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	ignore "github.com/sabhiram/go-gitignore"
)

// MaxFile is the size of the largest file that is read, in bytes.
const MaxFile = 8 << 20

// extensions are those of files that are read.
var extensions = []string{".markdown", ".md", ".mdx", ".txt"}

// IsMarkdown tells by a file's name whether it is Markdown; what is not is plain text.
func IsMarkdown(name string) bool { return strings.ToLower(path.Ext(name)) != ".txt" }

// ErrNoText is a file that is no text, or too large.
var ErrNoText = errors.New("no text")

// Files are the documents of a folder, or one file.
type Files struct {
	// Names are their paths within the folder, with slashes, in order.
	Names []string
	root  *os.Root
}

// Close closes the folder.
func (f *Files) Close() error { return f.root.Close() }

// Walk lists the Markdown and plain text files of a folder, or the one file that is named. Files that
// a .gitignore leaves out, of the folder or of the repository that it is in, are left out, and so is
// what begins with a dot. Symbolic links are not followed, so that nothing is read from outside.
func Walk(name string) (*Files, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if !info.IsDir() {
		root, err := os.OpenRoot(filepath.Dir(name))
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		return &Files{Names: []string{filepath.Base(name)}, root: root}, nil
	}
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	f := &Files{root: root}
	rules, err := outerRules(name)
	if err == nil {
		err = f.walk(".", rules)
	}
	if err != nil {
		_ = root.Close()
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return f, nil
}

// Read reads a file. It fails with [ErrNoText] for one that is too large or no text in UTF-8, its name
// included.
func (f *Files) Read(name string) (string, error) {
	if !utf8.ValidString(name) {
		return "", fmt.Errorf("%w: the name %q is not UTF-8", ErrNoText, name)
	}
	file, err := f.root.Open(filepath.FromSlash(name))
	if err != nil {
		return "", fmt.Errorf("read %s: %w", name, err)
	}
	defer file.Close() //nolint:errcheck // only read
	info, err := file.Stat()
	if err != nil {
		return "", fmt.Errorf("read %s: %w", name, err)
	}
	if info.Size() > MaxFile {
		return "", fmt.Errorf("%w: %s has %d bytes, and may have %d", ErrNoText, name, info.Size(), MaxFile)
	}
	raw, err := fs.ReadFile(f.root.FS(), name)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", name, err)
	}
	if bytes.IndexByte(raw, 0) >= 0 || !utf8.Valid(raw) {
		return "", fmt.Errorf("%w: %s is not UTF-8", ErrNoText, name)
	}
	return strings.ReplaceAll(string(raw), "\r\n", "\n"), nil
}

// rule is a .gitignore, and where the walk is from its folder.
type rule struct {
	ignore *ignore.GitIgnore
	prefix string // what stands before a path of the walk, seen from there
	below  string // or the folder of the walk that it is in
}

// outerRules are the .gitignores of the folders around one, up to the repository's own.
func outerRules(name string) ([]rule, error) {
	dir, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	var rules []rule
	for prefix := ""; ; {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return rules, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return nil, nil // in no repository
		}
		prefix = filepath.Base(dir) + "/" + prefix
		dir = parent
		raw, err := os.ReadFile(filepath.Join(dir, ".gitignore"))
		switch {
		case err == nil:
			rules = slices.Insert(rules, 0, rule{ignore: ignore.CompileIgnoreLines(strings.Split(string(raw), "\n")...), prefix: prefix})
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
}

func (f *Files) walk(dir string, rules []rule) error {
	raw, err := fs.ReadFile(f.root.FS(), path.Join(dir, ".gitignore"))
	switch {
	case err == nil:
		rules = append(slices.Clip(rules), rule{below: dir, ignore: ignore.CompileIgnoreLines(strings.Split(string(raw), "\n")...)})
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	entries, err := fs.ReadDir(f.root.FS(), dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		switch {
		case strings.HasPrefix(e.Name(), "."), ignored(rules, name, e.IsDir()):
		case e.IsDir() && utf8.ValidString(name):
			if err := f.walk(name, rules); err != nil {
				return err
			}
		case e.IsDir(): // its files have no path that can be stored, as Read says
			f.Names = append(f.Names, name)
		case e.Type().IsRegular() && slices.Contains(extensions, strings.ToLower(path.Ext(e.Name()))):
			f.Names = append(f.Names, name)
		}
	}
	return nil
}

// ignored tells whether the last rule that speaks of a path leaves it out.
func ignored(rules []rule, name string, dir bool) bool {
	out := false
	for _, r := range rules {
		seen := r.prefix + name
		if r.below != "" && r.below != "." {
			seen = strings.TrimPrefix(name, r.below+"/")
		}
		if dir {
			seen += "/"
		}
		if matches, pattern := r.ignore.MatchesPathHow(seen); pattern != nil {
			out = matches
		}
	}
	return out
}
