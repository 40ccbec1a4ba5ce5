package service

import (
	"fmt"
	"slices"

	"github.com/hippocampus-memory/hippocampus/db"
)

// signals are what score_importance knows.
var signals = []string{"mentionedMe", "userDirectMessage", "actionTaken", "errorRecovered"}

// check refuses an event that can't be stored, naming the value by its path.
func (e *EventParams) check(path string) error {
	if e == nil {
		return fmt.Errorf("%w: %s is nil", db.ErrInvalidArgument, path)
	}
	if e.Text == "" && e.Content == nil {
		return fmt.Errorf("%w: %s has neither Text nor Content", db.ErrInvalidArgument, path)
	}
	if err := checkName(path+".Author", e.Author, maxID); err != nil {
		return err
	}
	for _, field := range []struct {
		name, value string
		maxBytes    int
	}{
		{"Branch", e.Branch, maxBranch},
		{"Category", e.Category, maxID},
		{"EventID", e.EventID, maxID},
		{"EventType", e.EventType, 64},
		{"InvocationID", e.InvocationID, maxID},
		{"Text", e.Text, maxText},
	} {
		if err := checkText(path+"."+field.name, field.value, field.maxBytes); err != nil {
			return err
		}
	}
	if err := checkTags(path+".Tags", e.Tags); err != nil {
		return err
	}
	if err := checkShare(path+".Importance", e.Importance); err != nil {
		return err
	}
	for _, signal := range e.Signals {
		if !slices.Contains(signals, signal) {
			return fmt.Errorf("%w: %s.Signals has %q, but may have %v", db.ErrInvalidArgument, path, signal, signals)
		}
	}
	if e.Content != nil {
		if err := checkJSON(path+".Content", e.Content); err != nil {
			return err
		}
	}
	return checkObject(path+".Metadata", e.Metadata)
}

func checkTags(name string, tags []string) error {
	if len(tags) > maxTags {
		return fmt.Errorf("%w: %s has %d tags, but may have %d", db.ErrInvalidArgument, name, len(tags), maxTags)
	}
	for i, tag := range tags {
		if err := checkText(fmt.Sprintf("%s[%d]", name, i), tag, maxText); err != nil {
			return err
		}
	}
	return nil
}
