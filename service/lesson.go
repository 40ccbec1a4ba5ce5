package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/internal/truth"
)

// Lesson is a rule that was learned.
type Lesson struct {
	ID             uuid.UUID `json:"id"`
	Rule           string    `json:"rule"`
	Domain         string    `json:"domain"`
	Confidence     float64   `json:"confidence"`
	Source         string    `json:"source"`
	Key            string    `json:"key"`
	EncounterCount int       `json:"encounter_count"`
	// Trust is whose words it holds: operator, user or agent.
	Trust      string    `json:"trust"`
	ValidFrom  time.Time `json:"valid_from"`
	RecordedAt time.Time `json:"recorded_at"`
}

// LessonOptions are the options of [OpenMemoryService.RecordLesson].
type LessonOptions struct {
	// Confidence is how sure it is, 0 to 1.
	//
	// Defaults to 0.8.
	Confidence *float64
	// Domain is what field it is of.
	//
	// Defaults to general.
	Domain string
	// Key names what it is about: another rule of the same key contradicts it.
	//
	// Defaults to none: rules of a domain stand beside each other, unless they mean the same or the
	// config's Classifier finds that one ends the other.
	Key string
	// Source is where it came from.
	//
	// Defaults to user_correction.
	Source string
	// Trust is whose words it holds: operator, user or agent. A tool's are no lesson.
	//
	// Defaults to user.
	Trust string
}

// RecordLesson states a rule that was learned, and says what became of it. It is compared with the
// rules that are known as [OpenMemoryService.RememberFacts] compares facts: by meaning, where the
// config has an Embedder, and where two are alike but not the same, by its Classifier. A rule that
// is known is confirmed, and gains confidence; one that is contradicted loses some, and gives way
// unless it is still much surer. No connection is held while a model thinks.
//
// Errors: [db.ErrInvalidScope]; [db.ErrInvalidArgument], also for the words of a tool;
// [db.ErrInvalidText], [db.ErrTooLarge]; the models' *[model.Error].
func (s *OpenMemoryService) RecordLesson(ctx context.Context, scope Scope, rule string, opts *LessonOptions) (*FactOutcome, error) {
	params, statement, err := s.newLesson(scope, rule, opts)
	if err != nil {
		return nil, err
	}
	if err := s.readFacts(ctx, scope, []*StatedFact{statement}); err != nil {
		return nil, err
	}
	params.TokenCount = statement.statement.TokenCount
	judge, stated := &truth.Judge{Classifier: s.config.Classifier}, []*StatedFact{statement}
	for {
		var outcome *db.FactOutcome
		err := s.byVectors(ctx, stated, func() (err error) {
			params.Undecided = judge.Undecided()
			params.Embedding, params.EmbeddingModel = s.vector(statement.statement.Embedding)
			if outcome, err = s.queries.LessonRecord(ctx, s.bound(scope), params); err != nil {
				return fmt.Errorf("record a lesson: %w", db.WrapGo(err))
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if !truth.HasUndecided(outcome) {
			return newFactOutcome(outcome, &statement.statement), nil
		}
		if err := judge.Again(ctx, statements(stated), []*db.FactOutcome{outcome}); err != nil {
			return nil, fmt.Errorf("record a lesson: %w", err)
		}
		if params.Decisions, err = json.Marshal(statement.statement.Decisions); err != nil {
			return nil, fmt.Errorf("record a lesson: %w", err)
		}
	}
}

// RecordLessonTx states a rule as [OpenMemoryService.RecordLesson] does.
//
// This variant joins the caller's transaction, and calls no model, since a connection must not wait
// for one: the rule is compared by its words and its key alone. Other writers of the user's facts
// wait until the transaction ends. See the package's section on transactions.
func (s *OpenMemoryService) RecordLessonTx(
	ctx context.Context, tx pgx.Tx, scope Scope, rule string, opts *LessonOptions,
) (outcome *FactOutcome, err error) {
	params, statement, err := s.newLesson(scope, rule, opts)
	if err != nil {
		return nil, err
	}
	err = joinScope(ctx, tx, scope, func() error {
		row, err := s.queries.LessonRecord(ctx, tx, params)
		if err != nil {
			return fmt.Errorf("record a lesson: %w", db.WrapGo(err))
		}
		outcome = newFactOutcome(row, &statement.statement)
		return nil
	})
	return outcome, err
}

func (s *OpenMemoryService) newLesson(scope Scope, rule string, opts *LessonOptions) (*db.LessonRecordParams, *StatedFact, error) {
	if opts == nil {
		opts = &LessonOptions{}
	}
	if err := errors.Join(checkScope(scope), checkName("rule", rule, maxText), checkShare("Confidence", opts.Confidence),
		checkTexts(maxID, "Domain", opts.Domain, "Key", opts.Key, "Source", opts.Source, "Trust", opts.Trust)); err != nil {
		return nil, nil, err
	}
	value, err := json.Marshal(rule)
	if err != nil {
		return nil, nil, fmt.Errorf("record a lesson: %w", err)
	}
	params := &db.LessonRecordParams{
		AppName: scope.AppName, Confidence: orValue(opts.Confidence, 0.8), Decisions: json.RawMessage(`[]`),
		Domain: or(opts.Domain, "general"), Key: nonEmpty(opts.Key), Now: s.now(), Rule: rule, Sequences: []int64{},
		Source: or(opts.Source, "user_correction"), Trust: or(opts.Trust, TrustUser), Undecided: truth.Resolve, UserID: scope.UserID,
	}
	return params, &StatedFact{statement: truth.Statement{
		Confidence: params.Confidence, FactType: "rule", Intensity: 0.5, Key: or(opts.Key, params.Domain), Value: value,
	}}, nil
}

// WeighLesson confirms or contradicts a lesson, with a weight of 0 to 1, and returns its confidence.
// One that has lost too much no longer holds.
//
// Errors: [db.ErrInvalidScope]; [db.ErrNotFound]; [db.ErrInvalidArgument].
func (s *OpenMemoryService) WeighLesson(ctx context.Context, scope Scope, id uuid.UUID, confirmed bool, weight float64) (float64, error) {
	return s.weighLesson(ctx, s.bound(scope), scope, id, confirmed, weight)
}

// WeighLessonTx weighs a lesson as [OpenMemoryService.WeighLesson] does.
//
// This variant joins the caller's transaction. See the package's section on transactions.
func (s *OpenMemoryService) WeighLessonTx(
	ctx context.Context, tx pgx.Tx, scope Scope, id uuid.UUID, confirmed bool, weight float64,
) (confidence float64, err error) {
	err = joinScope(ctx, tx, scope, func() error {
		confidence, err = s.weighLesson(ctx, tx, scope, id, confirmed, weight)
		return err
	})
	return confidence, err
}

func (s *OpenMemoryService) weighLesson(
	ctx context.Context, conn db.DBTX, scope Scope, id uuid.UUID, confirmed bool, weight float64,
) (float64, error) {
	if err := errors.Join(checkScope(scope), checkShare("weight", &weight)); err != nil {
		return 0, err
	}
	confidence, err := s.queries.LessonWeigh(ctx, conn, &db.LessonWeighParams{
		AppName: scope.AppName, Confirmed: confirmed, LessonID: id, Now: s.now(), UserID: scope.UserID, Weight: weight,
	})
	if err != nil {
		return 0, fmt.Errorf("weigh a lesson: %w", db.WrapGo(err))
	}
	return confidence, nil
}

// Lessons lists the lessons that hold, the surest first; of one domain, or of all for "".
//
// Errors: [db.ErrInvalidScope]; [db.ErrInvalidText].
func (s *OpenMemoryService) Lessons(ctx context.Context, scope Scope, domain string) ([]*Lesson, error) {
	if err := errors.Join(checkScope(scope), checkText("domain", domain, maxID)); err != nil {
		return nil, err
	}
	rows, err := s.queries.LessonList(ctx, s.bound(scope), &db.LessonListParams{
		AppName: scope.AppName, Domain: nonEmpty(domain), MaxRows: maxLimit, UserID: scope.UserID,
	})
	if err != nil {
		return nil, fmt.Errorf("list lessons: %w", db.WrapGo(err))
	}
	lessons := make([]*Lesson, len(rows))
	for i, r := range rows {
		lessons[i] = &Lesson{
			Confidence: r.Confidence, Domain: r.Domain, EncounterCount: int(r.EncounterCount), ID: r.ID, Key: r.Key,
			RecordedAt: r.RecordedAt, Rule: r.Rule, Source: r.Source, Trust: r.Trust, ValidFrom: r.ValidFrom,
		}
	}
	return lessons, nil
}
