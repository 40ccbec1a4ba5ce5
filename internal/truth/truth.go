// Package truth compares new facts with known ones: SQL finds what is near, a classifier reads both.
// The service and the worker share it.
package truth

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/model"
)

// Rounds is how often candidates that came up meanwhile are compared before the rules decide alone:
// another value of a key supersedes, anything else stands beside what is there.
const Rounds = 3

// The values of remember_facts' p_undecided.
const (
	Resolve = "resolve" // the rules decide
	Return  = "return"  // nothing is written of what is undecided
)

// Undecided is the action of an outcome that a classifier must decide on.
const Undecided = "undecided"

// Statement is a fact as remember_facts reads it.
type Statement struct {
	FactType   string          `json:"fact_type"`
	Key        string          `json:"key"`
	Value      json.RawMessage `json:"value"`
	Confidence float64         `json:"confidence"`
	Intensity  float64         `json:"intensity"`
	ValidFrom  *time.Time      `json:"valid_from,omitempty"`
	Embedding  []float32       `json:"embedding,omitempty"`
	TokenCount *int32          `json:"token_count,omitempty"`
	Metadata   json.RawMessage `json:"metadata,omitempty"`
	Decisions  []Decision      `json:"decisions,omitempty"`
	// Author is who said it, Trust is whose word that is, and Sequences are the events of its thread that it was drawn from: its trust
	// is the least of theirs.
	Author    string  `json:"author,omitempty"`
	Trust     string  `json:"trust,omitempty"`
	Sequences []int64 `json:"sequences,omitempty"`

	// Text is how it reads.
	Text string `json:"-"`
}

// Decision says how a fact relates to one that is known, by the words of both.
type Decision struct {
	Old       string         `json:"old"`
	New       string         `json:"new"`
	Relation  model.Relation `json:"relation"`
	Reason    string         `json:"reason,omitempty"`
	DecidedBy string         `json:"decided_by,omitempty"`
}

type candidate struct {
	Text string `json:"text"`
}

// Judge asks the classifier about what is undecided and adds its decisions to the statements, whose
// order is that of the outcomes' positions. It says whether there was anything to decide.
func Judge(
	ctx context.Context, classifier model.Classifier, statements []*Statement, outcomes []*db.FactOutcome,
) (judged bool, err error) {
	for _, o := range outcomes {
		if o.Action != Undecided {
			continue
		}
		var candidates []candidate
		if err := json.Unmarshal(o.Candidates, &candidates); err != nil {
			return judged, fmt.Errorf("read what a fact may repeat: %w", err)
		}
		s := statements[o.Position-1]
		for _, c := range candidates {
			answer, err := classifier.Classify(ctx, &model.ClassifyInput{New: s.Text, Old: c.Text})
			if err != nil {
				return judged, fmt.Errorf("compare two facts: %w", err)
			}
			s.Decisions = append(s.Decisions, Decision{
				DecidedBy: answer.Model, New: s.Text, Old: c.Text, Reason: model.CleanText(answer.Reason), Relation: answer.Relation,
			})
			judged = true
			if answer.Relation == model.RelationDuplicate {
				break // decides
			}
		}
	}
	return judged, nil
}
