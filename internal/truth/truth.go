// Package truth compares new facts with known ones: SQL finds what is near, a classifier reads both.
// The service and the worker share it.
package truth

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/model"
)

// rounds is how often candidates that came up meanwhile are compared before the rules decide alone.
const rounds = 3

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

// Judge has a classifier read what is undecided of one conversation, or of one call. Where it can't, the rules
// decide alone: another value of a key supersedes, anything else stands beside what is there. The same Judge serves
// facts and lessons, of the service and of the worker.
type Judge struct {
	// Classifier reads both. Without one the rules decide alone.
	Classifier model.Classifier

	// OnFailure is told why the classifier could not be asked. If it returns nil, the rules decide on all that is
	// left, and nobody is asked again.
	//
	// Defaults to returning the error.
	OnFailure func(error) error

	gaveUp bool
	round  int
}

// Asks is whether what is undecided is to be brought here.
func (j *Judge) Asks() bool { return j.Classifier != nil && !j.gaveUp && j.round < rounds }

// GaveUp is whether the rules decided as the classifier failed.
func (j *Judge) GaveUp() bool { return j.gaveUp }

// Undecided is the p_undecided with which facts are to be stored now.
func (j *Judge) Undecided() string {
	if j.Asks() {
		return Return
	}
	return Resolve
}

// Again compares what came up since the statements were compared: a few times, after which the rules decide.
func (j *Judge) Again(ctx context.Context, statements []*Statement, outcomes []*db.FactOutcome) error {
	j.round++
	return j.Compare(ctx, statements, outcomes)
}

// Compare asks the classifier about what is undecided and adds its decisions to the statements, whose
// order is that of the outcomes' positions.
func (j *Judge) Compare(ctx context.Context, statements []*Statement, outcomes []*db.FactOutcome) error {
	for _, o := range outcomes {
		if o.Action != Undecided {
			continue
		}
		var candidates []candidate
		if err := json.Unmarshal(o.Candidates, &candidates); err != nil {
			return fmt.Errorf("read what a fact may repeat: %w", err)
		}
		s := statements[o.Position-1]
		for _, c := range candidates {
			answer, err := j.Classifier.Classify(ctx, &model.ClassifyInput{New: s.Text, Old: c.Text})
			if err != nil {
				return j.fail(ctx, fmt.Errorf("compare two facts: %w", err))
			}
			s.Decisions = append(s.Decisions, Decision{
				DecidedBy: answer.Model, New: s.Text, Old: c.Text, Reason: model.CleanText(answer.Reason), Relation: answer.Relation,
			})
			if answer.Relation == model.RelationDuplicate {
				break // decides
			}
		}
	}
	return nil
}

func (j *Judge) fail(ctx context.Context, err error) error {
	if ctx.Err() != nil || j.OnFailure == nil {
		return err
	}
	if err = j.OnFailure(err); err == nil {
		j.gaveUp = true
	}
	return err
}

// HasUndecided is whether a classifier must read one of the outcomes.
func HasUndecided(outcomes ...*db.FactOutcome) bool {
	return slices.ContainsFunc(outcomes, func(o *db.FactOutcome) bool { return o.Action == Undecided })
}
