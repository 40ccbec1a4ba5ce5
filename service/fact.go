package service

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/hippocampus-memory/hippocampus/db"
)

// Fact is a value that holds, or held, for a user.
type Fact struct {
	ID         uuid.UUID       `json:"id"`
	FactType   string          `json:"fact_type"`
	Key        string          `json:"key"`
	Value      json.RawMessage `json:"value"`
	Confidence float64         `json:"confidence"`
	// ValidFrom is when it became true, as far as is known.
	ValidFrom time.Time `json:"valid_from"`
	// ValidUntil is when it ceased to be true; nil while it is current.
	ValidUntil *time.Time `json:"valid_until,omitempty"`
	// RecordedAt is when it was learned.
	RecordedAt time.Time `json:"recorded_at"`
	// ClosedAt is when it was learned that it had ceased to be true.
	ClosedAt       *time.Time `json:"closed_at,omitempty"`
	SupersededBy   *uuid.UUID `json:"superseded_by,omitempty"`
	EncounterCount int        `json:"encounter_count"`
	TokenCount     int        `json:"token_count"`
	ThreadID       *uuid.UUID `json:"thread_id,omitempty"`
	// Trust is whose words it holds: operator, user, agent or tool.
	Trust    string          `json:"trust"`
	Metadata json.RawMessage `json:"metadata"`
}

// FactsOptions are the options of [OpenMemoryService.Facts].
type FactsOptions struct {
	// AsOf is the time at which the facts held.
	//
	// Defaults to now.
	AsOf *time.Time

	// FactType is preference, rule, profile or custom.
	//
	// Defaults to all.
	FactType string

	// Key is the facts' key.
	//
	// Defaults to all.
	Key string

	// KnownAt is the time at which they were known: what was learned later is left out.
	//
	// Defaults to now.
	KnownAt *time.Time
}

// Facts lists the facts that hold, or held at a time, by type and key.
//
// Errors: [db.ErrInvalidScope]; [db.ErrInvalidText].
func (s *OpenMemoryService) Facts(ctx context.Context, scope Scope, opts *FactsOptions) ([]*Fact, error) {
	return s.facts(ctx, s.bound(scope), scope, opts)
}

// FactsTx lists facts as [OpenMemoryService.Facts] does.
//
// This variant joins the caller's transaction, so it shows the facts that the transaction has
// stated and not committed. See the package's section on transactions.
func (s *OpenMemoryService) FactsTx(ctx context.Context, tx pgx.Tx, scope Scope, opts *FactsOptions) (facts []*Fact, err error) {
	err = joinScope(ctx, tx, scope, func() error {
		facts, err = s.facts(ctx, tx, scope, opts)
		return err
	})
	return facts, err
}

func (s *OpenMemoryService) facts(ctx context.Context, conn db.DBTX, scope Scope, opts *FactsOptions) ([]*Fact, error) {
	if opts == nil {
		opts = &FactsOptions{}
	}
	if err := checkScope(scope); err != nil {
		return nil, err
	}
	if err := checkTexts(maxID, "FactType", opts.FactType, "Key", opts.Key); err != nil {
		return nil, err
	}
	params := &db.FactListAsOfParams{
		AppName: scope.AppName, At: opts.AsOf, FactType: nonEmpty(opts.FactType), Key: nonEmpty(opts.Key), KnownAt: opts.KnownAt, UserID: scope.UserID,
	}
	if params.At == nil {
		params.At = s.now()
	}
	rows, err := s.queries.FactListAsOf(ctx, conn, params)
	if err != nil {
		return nil, fmt.Errorf("list facts: %w", db.WrapGo(err))
	}
	facts := make([]*Fact, len(rows))
	for i, row := range rows {
		facts[i] = &Fact{
			ClosedAt: row.ClosedAt, Confidence: row.Confidence,
			EncounterCount: int(row.EncounterCount), FactType: row.FactType, ID: row.ID, Key: row.Key,
			Metadata: row.Metadata, RecordedAt: row.RecordedAt, SupersededBy: row.SupersededBy, ThreadID: row.ThreadID,
			TokenCount: int(row.TokenCount), Trust: row.Trust, ValidFrom: row.ValidFrom, ValidUntil: row.ValidUntil, Value: row.Value,
		}
	}
	return facts, nil
}
