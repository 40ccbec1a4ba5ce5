package worker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/internal/truth"
)

// undecidedError is a fact or a lesson that is like one that is known, which no classifier has compared it with.
type undecidedError struct {
	statement *truth.Statement
	outcome   *db.FactOutcome
}

func (e *undecidedError) Error() string { return "a fact is undecided" }

// newJudge is who compares what was learned from one conversation with what is known. The models were paid for it, so
// the classifier is waited for until the given time, and where it fails the rules decide: nothing is thrown away.
func (w *Worker) newJudge(ctx context.Context, until time.Time, attributes ...any) *truth.Judge {
	j := &truth.Judge{OnFailure: func(err error) error {
		w.logger.WarnContext(ctx, "facts are stored by the rules alone, as the classifier fails", append(attributes, "error", err)...)
		return nil
	}}
	if w.config.Models.Classifier != nil {
		j.Classifier = &patientClassifier{Worker: w, until: until}
	}
	return j
}

// isOutlived is whether vectors could not be compared or stored, as the deployment has dropped those of this worker's
// model: another one serves, and this process is to be started again with that. Until then it works without vectors.
func (w *Worker) isOutlived(ctx context.Context, err error) bool {
	if err = db.Wrap(err); !errors.Is(err, db.ErrEmbeddingModel) && !errors.Is(err, db.ErrDimension) {
		return false
	}
	w.setDropped(ctx, err)
	return true
}

// setDropped notes, and says once, that the deployment has no vectors of this worker's model any more.
func (w *Worker) setDropped(ctx context.Context, err error) {
	if !w.dropped.Swap(true) {
		w.logger.WarnContext(ctx, "the deployment has no vectors of this worker's model any more: it goes on without them; "+
			"start it again with the model that serves", "embedder", w.config.Models.Embedder.Name(), "error", err)
	}
}

// compare looks for what each fact may repeat or replace, and lets the classifier read both. It
// holds no connection meanwhile: what comes up until the facts are stored is compared then.
func (c *consolidation) compare(ctx context.Context, p *piece, l *learned) error {
	c.judge = c.newJudge(ctx, c.until(), "job", c.job.ID)
	for _, f := range l.facts {
		f.statement = truth.Statement{
			Confidence: f.Confidence, Embedding: f.vector, FactType: f.Type, Intensity: f.Intensity, Key: f.Key,
			Sequences: f.sequences, Text: f.text, Value: f.Value,
		}
	}
	for _, f := range l.facts {
		if !c.judge.Asks() {
			break
		}
		outcome, err := c.lookFor(ctx, p, l, f)
		if c.isOutlived(ctx, err) && l.dropVectors() {
			outcome, err = c.lookFor(ctx, p, l, f)
		}
		if err != nil {
			return fmt.Errorf("look for facts that are alike: %w", db.Wrap(err))
		}
		if err := c.judge.Compare(ctx, []*truth.Statement{&f.statement}, []*db.FactOutcome{outcome}); err != nil {
			return err
		}
	}
	return nil
}

// lookFor is what a fact would be to those that are there.
func (c *consolidation) lookFor(ctx context.Context, p *piece, l *learned, f *newFact) (outcome *db.FactOutcome, err error) {
	err = c.inModel(ctx, func(tx pgx.Tx) (err error) {
		outcome, err = c.rememberFact(ctx, tx, p, &f.statement, l.reflector, truth.Return, true)
		return err
	})
	return outcome, err
}

// dropVectors takes the vectors of all that was learned; it says whether there were any.
func (l *learned) dropVectors() bool {
	if l.embedder == "" {
		return false
	}
	for _, m := range l.memories() {
		m.vector = nil
	}
	for _, f := range l.facts {
		f.vector, f.statement.Embedding = nil, nil
	}
	l.withoutEmbedding, l.embedder = len(l.memories())+len(l.facts), ""
	return true
}
