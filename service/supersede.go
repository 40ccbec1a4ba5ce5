package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/hippocampus-memory/hippocampus/db"
)

// SupersedeOptions are the options of [OpenMemoryService.Supersede].
type SupersedeOptions struct {
	// At is when a fact ceased to be true.
	//
	// Defaults to when the new one began.
	At *time.Time

	// Reason says why, at most 4 KiB.
	//
	// Defaults to none.
	Reason string
}

// Supersede says that a memory or fact takes the place of another, which stays as history.
//
// Errors: [db.ErrInvalidScope]; [db.ErrNotFound] for an id that is not there; [db.ErrInvalidArgument]
// where one of the two is not current, or one is a fact and the other a memory.
func (s *OpenMemoryService) Supersede(ctx context.Context, scope Scope, oldID, newID uuid.UUID, opts *SupersedeOptions) error {
	return s.supersede(ctx, s.bound(scope), scope, oldID, newID, opts)
}

// SupersedeTx supersedes as [OpenMemoryService.Supersede] does.
//
// This variant joins the caller's transaction. Other writers of the user's facts wait until it ends.
// See the package's section on transactions.
func (s *OpenMemoryService) SupersedeTx(
	ctx context.Context, tx pgx.Tx, scope Scope, oldID, newID uuid.UUID, opts *SupersedeOptions,
) error {
	return joinScope(ctx, tx, scope, func() error { return s.supersede(ctx, tx, scope, oldID, newID, opts) })
}

func (s *OpenMemoryService) supersede(
	ctx context.Context, conn db.DBTX, scope Scope, oldID, newID uuid.UUID, opts *SupersedeOptions,
) error {
	if opts == nil {
		opts = &SupersedeOptions{}
	}
	if err := errors.Join(checkScope(scope), checkText("Reason", opts.Reason, maxReason)); err != nil {
		return err
	}
	err := s.queries.FactSupersede(ctx, conn, &db.FactSupersedeParams{
		AppName: scope.AppName, At: opts.At, NewID: newID, Now: s.now(), OldID: oldID, Reason: nonEmpty(opts.Reason), UserID: scope.UserID,
	})
	if err != nil {
		return fmt.Errorf("supersede: %w", db.WrapGo(err))
	}
	return nil
}

// RevertSupersession takes a supersession back: the retired memory or fact holds again. A fact that
// took its place under the same key stays as history, up to where that one begins.
//
// Errors: [db.ErrInvalidScope]; [db.ErrNotFound] for what is not superseded; [db.ErrInvalidArgument]
// where others followed since.
func (s *OpenMemoryService) RevertSupersession(ctx context.Context, scope Scope, id uuid.UUID) error {
	return s.revertSupersession(ctx, s.bound(scope), scope, id)
}

// RevertSupersessionTx takes back as [OpenMemoryService.RevertSupersession] does.
//
// This variant joins the caller's transaction. See the package's section on transactions.
func (s *OpenMemoryService) RevertSupersessionTx(ctx context.Context, tx pgx.Tx, scope Scope, id uuid.UUID) error {
	return joinScope(ctx, tx, scope, func() error { return s.revertSupersession(ctx, tx, scope, id) })
}

func (s *OpenMemoryService) revertSupersession(ctx context.Context, conn db.DBTX, scope Scope, id uuid.UUID) error {
	if err := checkScope(scope); err != nil {
		return err
	}
	err := s.queries.FactRevertSupersession(ctx, conn, &db.FactRevertSupersessionParams{
		AppName: scope.AppName, ID: id, Now: s.now(), UserID: scope.UserID,
	})
	if err != nil {
		return fmt.Errorf("revert a supersession: %w", db.WrapGo(err))
	}
	return nil
}
