package worker

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/internal/truth"
	"github.com/hippocampus-memory/hippocampus/model"
)

// newLesson is a rule that is to be stated.
type newLesson struct {
	params    *db.LessonRecordParams
	statement truth.Statement // how it reads, and what a classifier said of it
}

// lessonsOf are the rules that the model drew from corrections, and from no words but a person's. One that the
// model gives no source of came from the only correction, unless a tool has said something, too.
func lessonsOf(r *model.Reflection, events, corrections []*harvestedEvent) []*newLesson {
	if r == nil || len(corrections) == 0 {
		return nil
	}
	only := len(corrections) == 1 && !slices.ContainsFunc(events, func(e *harvestedEvent) bool { return e.Trust == "tool" })
	said := map[int64]*harvestedEvent{}
	for _, e := range events {
		said[e.SequenceNum] = e
	}
	var lessons []*newLesson
	for _, f := range r.Facts {
		if f.Type != model.FactRule {
			continue
		}
		sequences := f.Sequences
		if len(sequences) == 0 && only {
			sequences = []int64{corrections[0].SequenceNum}
		}
		corrected, persons := false, true
		for _, n := range sequences {
			e := said[n]
			corrected = corrected || e != nil && slices.Contains(corrections, e)
			persons = persons && e != nil && isPersons(e)
		}
		var rule string
		if json.Unmarshal(f.Value, &rule) != nil {
			rule = string(f.Value)
		}
		if rule = strings.TrimSpace(model.CleanText(rule)); !corrected || !persons || rule == "" {
			continue
		}
		value, err := json.Marshal(rule)
		if err != nil {
			panic("worker: a string was not encoded: " + err.Error())
		}
		lessons = append(lessons, &newLesson{
			params: &db.LessonRecordParams{
				Confidence: f.Confidence, Decisions: json.RawMessage(`[]`), Domain: domainOf(f.Key), Key: new(f.Key), Rule: rule,
				Sequences: sequences, Source: "user_correction", Trust: "user",
			},
			statement: truth.Statement{Key: f.Key, Value: value},
		})
	}
	slices.SortStableFunc(lessons, func(a, b *newLesson) int { return cmp.Compare(a.statement.Key, b.statement.Key) })
	return lessons
}

// domainOf is the field that a key is of: python_style for python_style_io, style for style.
func domainOf(key string) string {
	if i := strings.LastIndexByte(key, '_'); i > 0 {
		key = key[:i]
	}
	return model.FirstRunes(key, 30)
}

// compareLessons looks for the rules that lessons may confirm or contradict, as a consolidation does for
// facts: by meaning, and where two are alike, by the classifier. It holds no connection meanwhile.
func (w *harvestWorker) compareLessons(ctx context.Context, d *dueHarvest, lessons []*newLesson, judge *truth.Judge, until time.Time) error {
	if len(lessons) == 0 {
		return nil
	}
	read := &db.FactListTextsParams{}
	for _, l := range lessons {
		read.Keys, read.Values = append(read.Keys, l.statement.Key), append(read.Values, string(l.statement.Value))
	}
	texts, err := w.queries.FactListTexts(ctx, w.pool, read)
	if err != nil {
		return fmt.Errorf("read the model's lessons: %w", db.Wrap(err))
	}
	embeddable := make([]string, len(texts))
	for i, text := range texts {
		embeddable[i] = w.embeddable(text)
	}
	vectors, err := w.embedOrNot(ctx, until, embeddable, "thread", d.ThreadID)
	if err != nil {
		return err
	}
	for i, l := range lessons {
		l.statement.Text = texts[i]
		l.params.AppName, l.params.ThreadID, l.params.UserID = d.AppName, &d.ThreadID, d.UserID
		l.params.TokenCount = new(int32(w.config.Counter.Count(texts[i])))
		if vectors != nil {
			l.params.Embedding, l.params.EmbeddingModel = w.vector(vectors[i])
		}
	}
	for _, l := range lessons {
		if !judge.Asks() {
			break
		}
		outcome, err := w.lookForRules(ctx, l)
		if w.isOutlived(ctx, err) && dropVectors(lessons) {
			outcome, err = w.lookForRules(ctx, l)
		}
		if err != nil {
			return fmt.Errorf("look for rules that are alike: %w", db.Wrap(err))
		}
		if err := l.decide(ctx, judge.Compare, outcome); err != nil {
			return err
		}
	}
	return nil
}

// lookForRules is what a lesson would be to the rules that are there.
func (w *harvestWorker) lookForRules(ctx context.Context, l *newLesson) (outcome *db.FactOutcome, err error) {
	dry := *l.params
	dry.DryRun, dry.Undecided = true, truth.Return
	err = w.inModel(ctx, func(tx pgx.Tx) (err error) {
		outcome, err = w.queries.LessonRecord(ctx, tx, &dry)
		return err
	})
	return outcome, err
}

// dropVectors takes the vectors of lessons; it says whether there were any.
func dropVectors(lessons []*newLesson) (had bool) {
	for _, l := range lessons {
		had = had || l.params.Embedding != nil
		l.params.Embedding, l.params.EmbeddingModel = nil, nil
	}
	return had
}

// decide lets a judge read a lesson and what it is like.
func (l *newLesson) decide(
	ctx context.Context, judge func(context.Context, []*truth.Statement, []*db.FactOutcome) error, outcome *db.FactOutcome,
) error {
	if err := judge(ctx, []*truth.Statement{&l.statement}, []*db.FactOutcome{outcome}); err != nil {
		return err
	}
	if len(l.statement.Decisions) == 0 {
		return nil
	}
	decisions, err := json.Marshal(l.statement.Decisions)
	if err != nil {
		return fmt.Errorf("write the decisions on a lesson: %w", err)
	}
	l.params.Decisions = decisions
	return nil
}

// recordLesson states a lesson. What is undecided is an *undecidedError.
func (w *harvestWorker) recordLesson(ctx context.Context, conn db.DBTX, l *newLesson, undecided string) error {
	l.params.Undecided = undecided
	outcome, err := w.queries.LessonRecord(ctx, conn, l.params)
	if err != nil {
		return fmt.Errorf("record a lesson: %w", db.Wrap(err))
	}
	if truth.HasUndecided(outcome) {
		return &undecidedError{statement: &l.statement, outcome: outcome}
	}
	return nil
}
