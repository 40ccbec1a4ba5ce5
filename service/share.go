package service

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/hippocampus-memory/hippocampus/db"
)

// ShareMemory shows a memory to all users of the app, as shared by a name; an empty one stands for
// the user's id. Others see its words, category, tags and time, and never its thread, metadata,
// links or sources. The app's policy must allow it; see put_consolidation_policy. What was made of
// other memories, such as a summary, is refused, since it may tell of private ones; a shared memory
// that is linked as derived from others is private again.
//
// Errors: [db.ErrInvalidScope]; [db.ErrNotFound]; [db.ErrInvalidArgument].
func (s *OpenMemoryService) ShareMemory(ctx context.Context, scope Scope, id uuid.UUID, sharedBy string) error {
	return s.shareMemory(ctx, s.bound(scope), scope, id, sharedBy)
}

// ShareMemoryTx shares as [OpenMemoryService.ShareMemory] does.
//
// This variant joins the caller's transaction: others see the memory when it commits. See the
// package's section on transactions.
func (s *OpenMemoryService) ShareMemoryTx(ctx context.Context, tx pgx.Tx, scope Scope, id uuid.UUID, sharedBy string) error {
	return joinScope(ctx, tx, scope, func() error { return s.shareMemory(ctx, tx, scope, id, sharedBy) })
}

func (s *OpenMemoryService) shareMemory(ctx context.Context, conn db.DBTX, scope Scope, id uuid.UUID, sharedBy string) error {
	if err := checkScope(scope); err != nil {
		return err
	}
	if err := checkText("SharedBy", sharedBy, maxID); err != nil {
		return err
	}
	err := s.queries.RecallShare(ctx, conn, &db.RecallShareParams{
		AppName: scope.AppName, MemoryID: id, SharedBy: nonEmpty(sharedBy), UserID: scope.UserID,
	})
	if err != nil {
		return fmt.Errorf("share a memory: %w", db.WrapGo(err))
	}
	return nil
}

// UnshareMemory takes a shared memory back, and tells whether it was shared.
//
// Errors: [db.ErrInvalidScope].
func (s *OpenMemoryService) UnshareMemory(ctx context.Context, scope Scope, id uuid.UUID) (bool, error) {
	return s.unshareMemory(ctx, s.bound(scope), scope, id)
}

// UnshareMemoryTx takes a memory back as [OpenMemoryService.UnshareMemory] does.
//
// This variant joins the caller's transaction. See the package's section on transactions.
func (s *OpenMemoryService) UnshareMemoryTx(ctx context.Context, tx pgx.Tx, scope Scope, id uuid.UUID) (was bool, err error) {
	err = joinScope(ctx, tx, scope, func() error {
		was, err = s.unshareMemory(ctx, tx, scope, id)
		return err
	})
	return was, err
}

func (s *OpenMemoryService) unshareMemory(ctx context.Context, conn db.DBTX, scope Scope, id uuid.UUID) (bool, error) {
	if err := checkScope(scope); err != nil {
		return false, err
	}
	was, err := s.queries.RecallUnshare(ctx, conn, &db.RecallUnshareParams{
		AppName: scope.AppName, MemoryID: id, UserID: scope.UserID,
	})
	if err != nil {
		return false, fmt.Errorf("unshare a memory: %w", db.WrapGo(err))
	}
	return was, nil
}
