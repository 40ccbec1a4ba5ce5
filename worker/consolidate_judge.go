package worker

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/internal/truth"
)

// undecidedError is a fact that is like one that is known, which no classifier has compared it with.
type undecidedError struct {
	fact    *newFact
	outcome *db.FactOutcome
}

func (e *undecidedError) Error() string {
	return fmt.Sprintf("the fact %q is undecided", e.fact.Key)
}

// compare looks for what each fact may repeat or replace, and lets the classifier read both. It
// holds no connection meanwhile: what comes up until the facts are stored is compared then.
func (c *consolidation) compare(ctx context.Context, p *piece, l *learned) error {
	for _, f := range l.facts {
		f.statement = truth.Statement{
			Confidence: f.Confidence, Embedding: f.vector, FactType: f.Type, Intensity: f.Intensity, Key: f.Key,
			Sequences: f.sequences, Text: f.text, Value: f.Value,
		}
		if c.config.Models.Classifier == nil {
			continue
		}
		var outcome *db.FactOutcome
		err := c.inModel(ctx, func(tx pgx.Tx) (err error) {
			outcome, err = c.rememberFact(ctx, tx, p, &f.statement, l.reflector, truth.Return, true)
			return err
		})
		if err != nil {
			return fmt.Errorf("look for facts like %q: %w", f.Key, db.Wrap(err))
		}
		if err := c.judge(ctx, f, outcome); err != nil {
			return err
		}
	}
	return nil
}

func (c *consolidation) judge(ctx context.Context, f *newFact, outcome *db.FactOutcome) error {
	_, err := truth.Judge(ctx, c.config.Models.Classifier, []*truth.Statement{&f.statement}, []*db.FactOutcome{outcome})
	return err
}
