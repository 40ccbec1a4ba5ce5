package service

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/hippocampus-memory/hippocampus/db"
)

// Forget deletes memories and facts, with their vectors, words and provenance, and what else tells
// the same from the same events, and returns how many there were. An id of another tenant is not
// there. No consolidation brings them back; the text of the events that told them stays in the log,
// out of every search: see [OpenMemoryService.ForgetMemory] and [OpenMemoryService.ForgetThread].
//
// Errors: [db.ErrInvalidScope].
func (s *OpenMemoryService) Forget(ctx context.Context, scope Scope, ids ...uuid.UUID) (int, error) {
	return s.forget(ctx, s.bound(scope), scope, ids)
}

// ForgetTx forgets as [OpenMemoryService.Forget] does.
//
// This variant joins the caller's transaction: delete the application's own data and what was
// remembered of it in one. See the package's section on transactions.
func (s *OpenMemoryService) ForgetTx(ctx context.Context, tx pgx.Tx, scope Scope, ids ...uuid.UUID) (forgotten int, err error) {
	err = joinScope(ctx, tx, scope, func() error {
		forgotten, err = s.forget(ctx, tx, scope, ids)
		return err
	})
	return forgotten, err
}

func (s *OpenMemoryService) forget(ctx context.Context, conn db.DBTX, scope Scope, ids []uuid.UUID) (int, error) {
	if err := checkScope(scope); err != nil {
		return 0, err
	}
	if ids == nil {
		ids = []uuid.UUID{}
	}
	forgotten, err := s.queries.MemoryForget(ctx, conn, &db.MemoryForgetParams{
		AppName: scope.AppName, Ids: ids, Log: LogKeep, UserID: scope.UserID,
	})
	if err != nil {
		return 0, fmt.Errorf("forget: %w", db.WrapGo(err))
	}
	return int(forgotten), nil
}

// ForgetThread deletes a conversation: its events and jobs, and the memories and facts that came
// from it alone, of which it returns the number. What other conversations tell as well stays.
//
// Errors: [db.ErrInvalidScope]; [db.ErrThreadNotFound].
func (s *OpenMemoryService) ForgetThread(ctx context.Context, scope Scope, threadID uuid.UUID) (int, error) {
	return s.forgetThread(ctx, s.bound(scope), scope, threadID)
}

// ForgetThreadTx forgets a conversation as [OpenMemoryService.ForgetThread] does.
//
// This variant joins the caller's transaction: delete the application's own data and the
// conversation in one. See the package's section on transactions.
func (s *OpenMemoryService) ForgetThreadTx(
	ctx context.Context, tx pgx.Tx, scope Scope, threadID uuid.UUID,
) (forgotten int, err error) {
	err = joinScope(ctx, tx, scope, func() error {
		forgotten, err = s.forgetThread(ctx, tx, scope, threadID)
		return err
	})
	return forgotten, err
}

func (s *OpenMemoryService) forgetThread(ctx context.Context, conn db.DBTX, scope Scope, threadID uuid.UUID) (int, error) {
	if err := checkScope(scope); err != nil {
		return 0, err
	}
	forgotten, err := s.queries.ThreadForget(ctx, conn, &db.ThreadForgetParams{
		AppName: scope.AppName, ThreadID: threadID, UserID: scope.UserID,
	})
	if err != nil {
		return 0, fmt.Errorf("forget a thread: %w", db.WrapGo(err))
	}
	return int(forgotten), nil
}

// RecordAccess counts a use of memories, as a search does: each is strengthened a little, since
// what is recalled fades more slowly. It returns how many there were. Count what a context window
// showed and the agent used.
//
// Errors: [db.ErrInvalidScope].
func (s *OpenMemoryService) RecordAccess(ctx context.Context, scope Scope, ids ...uuid.UUID) (int, error) {
	if err := checkScope(scope); err != nil {
		return 0, err
	}
	return s.recordAccess(ctx, s.bound(scope), scope, ids)
}

// RecordAccessTx counts as [OpenMemoryService.RecordAccess] does.
//
// This variant joins the caller's transaction. The memories stay locked until it ends, so keep it
// short. See the package's section on transactions.
func (s *OpenMemoryService) RecordAccessTx(
	ctx context.Context, tx pgx.Tx, scope Scope, ids ...uuid.UUID,
) (found int, err error) {
	if err := checkScope(scope); err != nil {
		return 0, err
	}
	err = joinScope(ctx, tx, scope, func() error {
		found, err = s.recordAccess(ctx, tx, scope, ids)
		return err
	})
	return found, err
}
