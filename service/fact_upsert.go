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
)

// UpsertFactOptions are the options of [OpenMemoryService.UpsertFact].
type UpsertFactOptions struct {
	// Confidence is how sure it is, 0 to 1.
	//
	// Defaults to 1.
	Confidence *float64

	// Embedding is the vector of how the fact reads, from the deployment's embedding model.
	//
	// Defaults to none: the fact is found by its words, and a worker embeds it soon.
	Embedding []float32

	// Intensity is how strongly it is held, 0 to 1.
	//
	// Defaults to 0.5.
	Intensity *float64

	// Metadata is a JSON object of the client's own, at most 256 KiB.
	//
	// Defaults to {}.
	Metadata json.RawMessage

	// ThreadID is the thread that it came from.
	//
	// Defaults to none.
	ThreadID *uuid.UUID

	// Trust is whose words it holds: operator, user, agent or tool. A tool lays down no rule.
	//
	// Defaults to user.
	Trust string

	// ValidFrom is when it became true.
	//
	// Defaults to now.
	ValidFrom *time.Time
}

// UpsertFact states a fact and returns its row's id. The value is anything that makes JSON; the
// fact type is preference, rule, profile or custom.
//
// A key has one current value. An equal one strengthens it; a newer one takes its place, and the
// old one stays as history; one that is much less sure is kept as history alone, so that a guess
// does not replace what is known. Writers of one key follow each other.
//
// Errors: [db.ErrInvalidScope]; [db.ErrThreadNotFound]; [db.ErrDimension],
// [db.ErrInvalidEmbedding], [db.ErrEmbeddingModel]; for another value that can't be stored, which
// the error names, [db.ErrInvalidArgument], [db.ErrInvalidText] or [db.ErrTooLarge].
func (s *OpenMemoryService) UpsertFact(
	ctx context.Context, scope Scope, factType, key string, value any, opts *UpsertFactOptions,
) (uuid.UUID, error) {
	return s.upsertFact(ctx, s.bound(scope), scope, factType, key, value, opts)
}

// UpsertFactTx states a fact as [OpenMemoryService.UpsertFact] does.
//
// This variant joins the caller's transaction: the fact is stated if, and only if, what makes it
// true is done. Other writers of the key wait until the transaction ends, so keep it short. See
// the package's section on transactions.
func (s *OpenMemoryService) UpsertFactTx(
	ctx context.Context, tx pgx.Tx, scope Scope, factType, key string, value any, opts *UpsertFactOptions,
) (id uuid.UUID, err error) {
	err = joinScope(ctx, tx, scope, func() error {
		id, err = s.upsertFact(ctx, tx, scope, factType, key, value, opts)
		return err
	})
	return id, err
}

func (s *OpenMemoryService) upsertFact(
	ctx context.Context, conn db.DBTX, scope Scope, factType, key string, value any, opts *UpsertFactOptions,
) (uuid.UUID, error) {
	if opts == nil {
		opts = &UpsertFactOptions{}
	}
	raw, err := opts.check(scope, factType, key, value)
	if err != nil {
		return uuid.Nil, err
	}
	// How the fact will read, which is what its tokens are counted of, is SQL's to say.
	texts, err := s.queries.FactListTexts(ctx, conn, &db.FactListTextsParams{Keys: []string{key}, Values: []string{string(raw)}})
	if err != nil {
		return uuid.Nil, fmt.Errorf("upsert a fact: %w", db.WrapGo(err))
	}
	params := &db.FactUpsertParams{
		AppName: scope.AppName, Confidence: orValue(opts.Confidence, 1), FactType: factType,
		Intensity: orValue(opts.Intensity, 0.5), Key: key, Metadata: opts.Metadata, Now: s.now(),
		ThreadID: opts.ThreadID, TokenCount: s.count(texts[0]), Trust: or(opts.Trust, TrustUser), UserID: scope.UserID, ValidFrom: opts.ValidFrom,
		Value: raw,
	}
	params.Embedding, params.EmbeddingModel = s.vector(opts.Embedding)
	id, err := s.queries.FactUpsert(ctx, conn, params)
	if err != nil {
		return uuid.Nil, fmt.Errorf("upsert a fact: %w", db.WrapGo(err))
	}
	return id, nil
}

// check refuses a fact that can't be stored, and gives its value as JSON.
func (o *UpsertFactOptions) check(scope Scope, factType, key string, value any) (json.RawMessage, error) {
	if err := checkScope(scope); err != nil {
		return nil, err
	}
	if err := errors.Join(checkName("factType", factType, maxID), checkName("key", key, maxID)); err != nil {
		return nil, err
	}
	if text, ok := value.(string); ok { // which json.Marshal would mend in silence
		if err := checkText("value", text, maxText); err != nil {
			return nil, err
		}
	}
	raw, ok := value.(json.RawMessage)
	if !ok {
		var err error
		if raw, err = json.Marshal(value); err != nil {
			return nil, fmt.Errorf("%w: value makes no JSON: %w", db.ErrInvalidArgument, err)
		}
	}
	if err := checkJSON("value", raw); err != nil {
		return nil, err
	}
	if err := errors.Join(checkShare("Confidence", o.Confidence), checkShare("Intensity", o.Intensity)); err != nil {
		return nil, err
	}
	if err := errors.Join(checkVector("Embedding", o.Embedding), checkObject("Metadata", o.Metadata), checkText("Trust", o.Trust, maxID)); err != nil {
		return nil, err
	}
	return raw, nil
}
