package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/internal/truth"
	"github.com/hippocampus-memory/hippocampus/model"
)

// StatedFact is a fact drawn from a text and compared with what is known, ready to be stored.
type StatedFact struct {
	statement truth.Statement
}

// Key is what the fact is about.
func (f *StatedFact) Key() string { return f.statement.Key }

// Text is how the fact reads.
func (f *StatedFact) Text() string { return f.statement.Text }

// Intensity is how strongly it was put, 0 to 1.
func (f *StatedFact) Intensity() float64 { return f.statement.Intensity }

// RememberFactsOptions are the options of [OpenMemoryService.RememberFacts].
type RememberFactsOptions struct {
	// At is when the text was said, from which "last month" counts.
	//
	// Defaults to now.
	At *time.Time

	// Author is who said it. Of a tool's words, and an agent's, no rule is drawn, and none is confirmed
	// or ended.
	//
	// Defaults to user.
	Author string

	// ThreadID is the thread that it came from.
	//
	// Defaults to none.
	ThreadID *uuid.UUID

	// Trust is whose word it is that the author said so: agent where an agent passes on what a user
	// is to have said. Of an agent's word no rule is drawn, and none is confirmed or ended.
	//
	// Defaults to the author's.
	Trust string
}

// FactOutcome is what became of a fact.
type FactOutcome struct {
	// Action is new; duplicate, which strengthened the fact that is there; supersedes, which ended
	// RelatedID; or distinct, which stands beside RelatedID.
	Action    string          `json:"action"`
	FactID    uuid.UUID       `json:"fact_id"`
	FactType  string          `json:"fact_type"`
	Key       string          `json:"key"`
	Value     json.RawMessage `json:"value"`
	RelatedID *uuid.UUID      `json:"related_id,omitempty"`
	// Similarity is that of the nearest fact that was there.
	Similarity float64 `json:"similarity"`
	// Intensity is how strongly this was put; RunningIntensity the average of all times.
	Intensity        float64 `json:"intensity"`
	RunningIntensity float64 `json:"running_intensity"`
}

// LearnedFacts is what [OpenMemoryService.RememberFacts] learned.
type LearnedFacts struct {
	Facts []*FactOutcome `json:"facts"`
	// Summary says it in a sentence.
	Summary string `json:"summary"`
}

// RememberFacts draws facts from a text, each with how strongly it was put, and stores what is new:
// it embeds them, looks for the nearest that are known, and where two are alike but not the same,
// lets the config's Classifier read both. A duplicate strengthens the fact that is there; a new
// value ends the old one, which stays as history; what holds at the same time stands beside it. The
// same fact from many callers at once is one row. No connection is held while a model thinks.
//
// Errors: [db.ErrInvalidScope]; [db.ErrInvalidArgument] for a config without a Reflector, and an
// empty text; [db.ErrInvalidText]; [db.ErrThreadNotFound]; the models' *[model.Error].
func (s *OpenMemoryService) RememberFacts(
	ctx context.Context, scope Scope, text string, opts *RememberFactsOptions,
) (*LearnedFacts, error) {
	facts, err := s.ExtractFacts(ctx, scope, text, opts)
	if err != nil {
		return nil, err
	}
	judge := &truth.Judge{Classifier: s.config.Classifier}
	for {
		var outcomes []*db.FactOutcome
		err := s.byVectors(ctx, facts, func() error {
			return db.WithScope(ctx, s.pool, scope, func(tx pgx.Tx) error {
				return s.asModel(ctx, tx, func() (err error) {
					outcomes, err = s.storeFacts(ctx, tx, scope, facts, opts, judge.Undecided(), false)
					if err == nil && truth.HasUndecided(outcomes...) {
						return errUndecided // a candidate came up meanwhile: all of it again
					}
					return err
				})
			})
		})
		if err == nil {
			return learnedFacts(facts, outcomes), nil
		}
		if !errors.Is(err, errUndecided) {
			return nil, err
		}
		if err := judge.Again(ctx, statements(facts), outcomes); err != nil {
			return nil, fmt.Errorf("remember facts: %w", err)
		}
	}
}

// ExtractFacts draws facts from a text as [OpenMemoryService.RememberFacts] does, compares them with
// what is known, and stores nothing: give them to [OpenMemoryService.RememberFactsTx].
//
// Errors: as those of RememberFacts.
func (s *OpenMemoryService) ExtractFacts(
	ctx context.Context, scope Scope, text string, opts *RememberFactsOptions,
) ([]*StatedFact, error) {
	if opts == nil {
		opts = &RememberFactsOptions{}
	}
	if s.config.Reflector == nil {
		return nil, fmt.Errorf("%w: the config has no Reflector, which draws facts from a text; state them with UpsertFact", db.ErrInvalidArgument)
	}
	if err := errors.Join(checkScope(scope), checkName("text", text, maxText), checkTexts(maxID, "Author", opts.Author, "Trust", opts.Trust)); err != nil {
		return nil, err
	}
	at := opts.At
	if at == nil {
		at = s.now()
	}
	if at == nil {
		at = new(time.Now())
	}
	reflection, err := s.config.Reflector.Reflect(ctx, &model.Conversation{
		Turns: []model.Turn{{At: *at, Author: or(opts.Author, "user"), Sequence: 1, Text: text}},
	})
	if err != nil {
		return nil, fmt.Errorf("draw facts from a text: %w", err)
	}
	facts := make([]*StatedFact, len(reflection.Facts))
	for i, f := range reflection.Facts {
		facts[i] = &StatedFact{statement: truth.Statement{
			Author: or(opts.Author, "user"), Confidence: f.Confidence, FactType: f.Type, Intensity: f.Intensity, Key: f.Key,
			Trust: opts.Trust, ValidFrom: f.ValidFrom, Value: f.Value,
		}}
	}
	if len(facts) == 0 {
		return facts, nil
	}
	if err := s.readFacts(ctx, scope, facts); err != nil {
		return nil, err
	}
	if s.config.Classifier == nil {
		return facts, nil
	}
	var outcomes []*db.FactOutcome
	err = s.byVectors(ctx, facts, func() (err error) {
		outcomes, err = s.storeFacts(ctx, s.bound(scope), scope, facts, opts, truth.Return, true)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := (&truth.Judge{Classifier: s.config.Classifier}).Compare(ctx, statements(facts), outcomes); err != nil {
		return nil, fmt.Errorf("extract facts: %w", err)
	}
	return facts, nil
}

// RememberFactsTx stores facts that [OpenMemoryService.ExtractFacts] has drawn.
//
// This variant joins the caller's transaction, and calls no model, since a connection must not wait
// for one: what came up since the facts were drawn is not compared by a classifier; another value of
// a key supersedes, anything else stands beside what is there. Other writers of the user's facts
// wait until the transaction ends. See the package's section on transactions.
//
// Errors: [db.ErrInvalidScope]; [db.ErrThreadNotFound]; [db.ErrInvalidArgument].
func (s *OpenMemoryService) RememberFactsTx(
	ctx context.Context, tx pgx.Tx, scope Scope, facts []*StatedFact, opts *RememberFactsOptions,
) (learned *LearnedFacts, err error) {
	if at := slices.Index(facts, nil); at >= 0 {
		return nil, fmt.Errorf("%w: facts[%d] is nil", db.ErrInvalidArgument, at)
	}
	err = s.joinAsModel(ctx, tx, scope, func() error {
		return s.byVectors(ctx, facts, func() error {
			return pgx.BeginFunc(ctx, tx, func(part pgx.Tx) error { // or an error would end the caller's transaction
				outcomes, err := s.storeFacts(ctx, part, scope, facts, opts, truth.Resolve, false)
				if err != nil {
					return err
				}
				learned = learnedFacts(facts, outcomes)
				return nil
			})
		})
	})
	return learned, err
}

var errUndecided = errors.New("a fact is undecided")

// byVectors runs what compares or stores facts by their vectors: again without them, by keys and words, where the
// deployment has dropped those of the service's model meanwhile.
func (s *OpenMemoryService) byVectors(ctx context.Context, facts []*StatedFact, run func() error) error {
	err := run()
	if !slices.ContainsFunc(facts, func(f *StatedFact) bool { return f.statement.Embedding != nil }) || !s.outlived(ctx, err) {
		return err
	}
	for _, f := range facts {
		f.statement.Embedding = nil
	}
	return run()
}

// readFacts asks the database how the facts read, which it alone decides, and embeds that. Where the
// embedder fails, they are compared by their keys and words alone, and embedded by a worker soon.
func (s *OpenMemoryService) readFacts(ctx context.Context, scope Scope, facts []*StatedFact) error {
	params := &db.FactListTextsParams{}
	for _, f := range facts {
		params.Keys = append(params.Keys, f.statement.Key)
		params.Values = append(params.Values, string(f.statement.Value))
	}
	texts, err := s.queries.FactListTexts(ctx, s.bound(scope), params)
	if err != nil {
		return fmt.Errorf("read the model's facts: %w", db.WrapGo(err))
	}
	for i, f := range facts {
		f.statement.Text, f.statement.TokenCount = texts[i], s.count(texts[i])
	}
	if s.config.Embedder == nil {
		return nil
	}
	for i, text := range texts {
		texts[i] = s.embeddable(text)
	}
	vectors, err := s.config.Embedder.Embed(ctx, texts, model.TaskDocument)
	if err == nil && len(vectors) != len(texts) {
		err = fmt.Errorf("%w: %d vectors for %d texts", db.ErrInvalidEmbedding, len(vectors), len(texts))
	}
	if err != nil {
		if ctx.Err() != nil || s.config.RequireEmbedding {
			return fmt.Errorf("embed facts: %w", err)
		}
		s.config.Logger.WarnContext(ctx, "service: facts are compared without their vectors", "error", err)
		return nil
	}
	for i, f := range facts {
		f.statement.Embedding = vectors[i]
	}
	return nil
}

func (s *OpenMemoryService) storeFacts(
	ctx context.Context, conn db.DBTX, scope Scope, facts []*StatedFact, opts *RememberFactsOptions, undecided string, dryRun bool,
) ([]*db.FactOutcome, error) {
	raw, err := json.Marshal(statements(facts))
	if err != nil {
		return nil, fmt.Errorf("remember facts: %w", err)
	}
	params := &db.FactRememberParams{
		AppName: scope.AppName, DryRun: dryRun, Facts: raw, Now: s.now(), Undecided: undecided, UserID: scope.UserID,
	}
	if opts != nil {
		params.ThreadID = opts.ThreadID
	}
	if s.config.Embedder != nil {
		params.EmbeddingModel = new(s.config.Embedder.Name())
	}
	outcomes, err := s.queries.FactRemember(ctx, conn, params)
	if err != nil {
		return nil, fmt.Errorf("remember facts: %w", db.WrapGo(err))
	}
	return outcomes, nil
}

func statements(facts []*StatedFact) []*truth.Statement {
	all := make([]*truth.Statement, len(facts))
	for i, f := range facts {
		all[i] = &f.statement
	}
	return all
}

func learnedFacts(facts []*StatedFact, outcomes []*db.FactOutcome) *LearnedFacts {
	learned := &LearnedFacts{Facts: make([]*FactOutcome, len(outcomes))}
	parts := make([]string, len(outcomes))
	for i, o := range outcomes {
		f := facts[o.Position-1]
		learned.Facts[i] = newFactOutcome(o, &f.statement)
		if parts[i] = fmt.Sprintf("%s (%s)", o.Action, f.statement.Text); o.Action == "duplicate" {
			parts[i] = fmt.Sprintf("known (%s — intensity %.2f, now %.2f on average)", f.statement.Text, f.statement.Intensity, o.RunningIntensity)
		}
	}
	switch len(parts) {
	case 0:
		learned.Summary = "Learned nothing: the text states no lasting fact."
	case 1:
		learned.Summary = "Learned 1 fact: " + parts[0] + "."
	default:
		learned.Summary = fmt.Sprintf("Learned %d facts: %s.", len(parts), strings.Join(parts, ", "))
	}
	return learned
}

func newFactOutcome(o *db.FactOutcome, statement *truth.Statement) *FactOutcome {
	return &FactOutcome{
		Action: o.Action, FactID: deref(o.FactID), FactType: o.FactType, Intensity: statement.Intensity, Key: o.Key,
		RelatedID: o.RelatedID, RunningIntensity: o.RunningIntensity, Similarity: o.Similarity, Value: o.Value,
	}
}
