package document

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
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
// a .gitignore leaves out, of the folder or of the repository that it is in, are left out as git does
// it, and so is what begins with a dot; the folder itself is read, whatever they say of it. Symbolic links are not followed, so that nothing is read from outside.
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
	ignores, err := outerIgnores(name)
	if err == nil {
		err = f.walk(".", ignores)
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
	raw, err := io.ReadAll(io.LimitReader(file, MaxFile+1)) // a device says that it has no bytes, and has no end
	if err != nil {
		return "", fmt.Errorf("read %s: %w", name, err)
	}
	if len(raw) > MaxFile {
		return "", fmt.Errorf("%w: %s has more than %d bytes", ErrNoText, name, MaxFile)
	}
	if bytes.IndexByte(raw, 0) >= 0 || !utf8.Valid(raw) {
		return "", fmt.Errorf("%w: %s is not UTF-8", ErrNoText, name)
	}
	return strings.ReplaceAll(string(raw), "\r\n", "\n"), nil
}

// ignoreFile is a .gitignore, and where the walk is from its folder.
type ignoreFile struct {
	below  string // the folder of the walk that it is in
	prefix string // or what stands before a path of the walk, seen from there
	rules  []ignoreRule
}

// outerIgnores are the .gitignores of the folders around one, up to the repository's own.
func outerIgnores(name string) ([]ignoreFile, error) {
	dir, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	var files []ignoreFile
	for prefix := ""; ; {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			slices.Reverse(files)
			return files, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return nil, nil // in no repository
		}
		prefix = filepath.Base(dir) + "/" + prefix
		dir = parent
		rules, err := readIgnore(os.DirFS(dir), ".", os.Lstat, filepath.Join(dir, ignoreName))
		if err != nil {
			return nil, err
		}
		files = append(files, ignoreFile{prefix: prefix, rules: rules})
	}
}

const ignoreName = ".gitignore"

// readIgnore reads the .gitignore of a folder, if there is one. One that is a link is not read, as git has it.
func readIgnore(files fs.FS, dir string, lstat func(string) (fs.FileInfo, error), name string) ([]ignoreRule, error) {
	info, err := lstat(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	raw, err := fs.ReadFile(files, path.Join(dir, ignoreName))
	if err != nil {
		return nil, err
	}
	return parseIgnore(string(raw)), nil
}

func (f *Files) walk(dir string, ignores []ignoreFile) error {
	rules, err := readIgnore(f.root.FS(), dir, f.root.Lstat, filepath.Join(filepath.FromSlash(dir), ignoreName))
	if err != nil {
		return err
	}
	ignores = append(slices.Clip(ignores), ignoreFile{below: dir, rules: rules})
	entries, err := fs.ReadDir(f.root.FS(), dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		switch {
		case strings.HasPrefix(e.Name(), "."), ignored(ignores, name, e.IsDir()):
		case e.IsDir() && utf8.ValidString(name):
			if err := f.walk(name, ignores); err != nil {
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

// ignored tells whether the last rule that speaks of a path leaves it out: the nearest .gitignore's, of one its last.
func ignored(ignores []ignoreFile, name string, folder bool) bool {
	for _, f := range slices.Backward(ignores) {
		seen := f.prefix + name
		if f.below != "." {
			seen = strings.TrimPrefix(seen, f.below+"/")
		}
		for _, r := range slices.Backward(f.rules) {
			if r.matches(seen, folder) {
				return !r.keeps
			}
		}
	}
	return false
}
