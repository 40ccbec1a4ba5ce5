package dataset

import (
	"errors"
	"fmt"
	"os"
)

// Options are the options of [Read].
type Options struct {
	// Format is one of the formats; empty to tell it from the files.
	Format string
	// Questions is the file of the questions, where it isn't the obvious one.
	Questions string
}

// Read reads a dataset from its files.
func Read(paths []string, opts *Options) (*Dataset, error) {
	if len(paths) == 0 {
		return nil, errors.New("give the dataset's files")
	}
	raw, err := os.ReadFile(paths[0])
	if err != nil {
		return nil, fmt.Errorf("read the dataset: %w", err)
	}
	questions := raw
	if opts.Questions != "" {
		if questions, err = os.ReadFile(opts.Questions); err != nil {
			return nil, fmt.Errorf("read the questions: %w", err)
		}
	}
	return readLoCoMo(raw, questions)
}
