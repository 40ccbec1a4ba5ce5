package dataset

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hippocampus-memory/hippocampus/internal/conversation"
)

// Options are the options of [Read].
type Options struct {
	// Format is LoCoMo, LongMemEval or MemoryBank; empty to tell it from the files.
	Format string
	// Language is which of a folder's languages to read: that of events_en.jsonl, say.
	//
	// Defaults to en.
	Language string
	// Questions is the file of the questions. Else they are where the dataset has them: LoCoMo's and
	// LongMemEval's own files hold them, LongMemEval's questions.jsonl lies beside its sessions, and
	// MemoryBank's questions_en.jsonl beside its events_en.jsonl.
	Questions string
}

// Read reads a dataset from its files: LoCoMo's JSON; LongMemEval's JSON, or its questions and
// sessions as JSON lines; MemoryBank's exchanges. Files that end in .gz are decompressed. A folder
// stands for the dataset's files in it.
func Read(paths []string, opts *Options) (*Dataset, error) {
	if opts == nil {
		opts = &Options{}
	}
	if len(paths) == 0 {
		return nil, errors.New("give the dataset's files")
	}
	if info, err := os.Stat(paths[0]); err == nil && info.IsDir() {
		path, err := filesOf(paths[0], cmp.Or(opts.Language, "en"))
		if err != nil {
			return nil, err
		}
		paths = []string{path}
	}
	files := make([]file, len(paths))
	for i, path := range paths {
		raw, err := conversation.ReadAll(path)
		if err != nil {
			return nil, err
		}
		files[i] = file{path: path, raw: raw}
	}
	format := opts.Format
	if format == "" {
		if format = formatOf(files[0].raw); format == "" {
			return nil, fmt.Errorf("%s is of no format that is known; give --format", paths[0])
		}
	}
	var (
		d   *Dataset
		err error
	)
	switch format {
	case LoCoMo:
		d, err = openLoCoMo(files, opts)
	case LongMemEval:
		d, err = openLongMemEval(files, opts)
	case MemoryBank:
		d, err = openMemoryBank(files, opts)
	default:
		return nil, fmt.Errorf("the format %q is none of %s, %s, %s", format, LoCoMo, LongMemEval, MemoryBank)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", paths[0], err)
	}
	if len(d.Questions) == 0 {
		return nil, fmt.Errorf("%s: none of its questions has evidence", paths[0])
	}
	return d, nil
}

// filesOf finds a dataset's first file in a folder.
func filesOf(folder, language string) (string, error) {
	for _, pattern := range []string{"questions.jsonl", "events_" + language + ".jsonl", "*.json"} {
		if found, _ := filepath.Glob(filepath.Join(folder, pattern)); len(found) == 1 { // patterns of ours are well-formed
			return found[0], nil
		}
	}
	return "", fmt.Errorf("%s holds no dataset that is known, or several", folder)
}

type file struct {
	path string
	raw  []byte
}

// formatOf tells a format from the keys in the beginning of a file.
func formatOf(raw []byte) string {
	head := raw[:min(len(raw), 1<<20)]
	has := func(key string) bool { return bytes.Contains(head, []byte(`"`+key+`"`)) }
	switch {
	case has("haystack_session_ids"), has("haystack"), has("session_id") && has("turns"):
		return LongMemEval
	case has("sample_id"):
		return LoCoMo
	case has("query") && has("response"):
		return MemoryBank
	}
	return ""
}

func openLoCoMo(files []file, opts *Options) (*Dataset, error) {
	if err := oneFile(files); err != nil {
		return nil, err
	}
	questions, err := questionsOr(opts, files[0].path)
	if err != nil {
		return nil, err
	}
	return readLoCoMo(files[0].raw, questions)
}

// openLongMemEval takes the data set's own file, or questions and sessions, in either order; what is
// not given is looked for beside.
func openLongMemEval(files []file, opts *Options) (*Dataset, error) {
	var questions, sessions []byte
	for _, f := range files {
		if bytes.Contains(f.raw[:min(len(f.raw), 1<<20)], []byte(`"question_id"`)) {
			questions = f.raw
		} else {
			sessions = f.raw
		}
	}
	var err error
	if questions == nil {
		if questions, err = questionsOr(opts, filepath.Join(filepath.Dir(files[0].path), "questions.jsonl")); err != nil {
			return nil, err
		}
	}
	if sessions == nil && bytes.Contains(questions, []byte(`"haystack":`)) {
		if sessions, err = conversation.ReadAll(conversation.SessionsBeside(files[0].path)); err != nil {
			return nil, err
		}
	}
	return readLongMemEval(questions, sessions)
}

func openMemoryBank(files []file, opts *Options) (*Dataset, error) {
	if err := oneFile(files); err != nil {
		return nil, err
	}
	folder, base := filepath.Split(files[0].path)
	questions, err := questionsOr(opts, folder+strings.Replace(base, "events", "questions", 1))
	if err != nil {
		return nil, err
	}
	// The language is the end of the name: events_cn.jsonl.
	name := MemoryBank
	stem, _, _ := strings.Cut(base, ".")
	if _, language, ok := strings.Cut(stem, "_"); ok {
		name += "-" + language
	}
	return readMemoryBank(name, files[0].raw, questions)
}

func oneFile(files []file) error {
	if len(files) > 1 {
		return fmt.Errorf("it is one file, but %d were given", len(files))
	}
	return nil
}

func questionsOr(opts *Options, path string) ([]byte, error) {
	return conversation.ReadAll(cmp.Or(opts.Questions, path))
}
