package service

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/hippocampus-memory/hippocampus/db"
)

// CreateThreadOptions are the options of [OpenMemoryService.CreateThread].
type CreateThreadOptions struct {
	// IfNotExists gives the thread that has the session id already, where there is one.
	//
	// Defaults to false: it is a [db.ErrConflict].
	IfNotExists bool

	// SessionID is the client's own name for the thread, 1 to 255 bytes, unique per user and app.
	//
	// Defaults to a random one.
	SessionID string

	// State is a JSON object that belongs to the thread, at most 1 MiB.
	//
	// Defaults to {}.
	State json.RawMessage
}

// CreateThread begins a conversation and returns the thread's id.
//
// Errors: [db.ErrInvalidScope]; [db.ErrConflict] where the session id is taken;
// [db.ErrInvalidArgument] and [db.ErrInvalidText] for a session id or state that can't be.
func (s *OpenMemoryService) CreateThread(ctx context.Context, scope Scope, opts *CreateThreadOptions) (uuid.UUID, error) {
	return s.createThread(ctx, s.bound(scope), scope, opts)
}

// CreateThreadTx begins a conversation as [OpenMemoryService.CreateThread] does.
//
// This variant joins the caller's transaction: the thread and what the caller writes beside it
// exist together or not at all. See the package's section on transactions.
func (s *OpenMemoryService) CreateThreadTx(
	ctx context.Context, tx pgx.Tx, scope Scope, opts *CreateThreadOptions,
) (id uuid.UUID, err error) {
	err = joinScope(ctx, tx, scope, func() error {
		id, err = s.createThread(ctx, tx, scope, opts)
		return err
	})
	return id, err
}

func (s *OpenMemoryService) createThread(
	ctx context.Context, conn db.DBTX, scope Scope, opts *CreateThreadOptions,
) (uuid.UUID, error) {
	if opts == nil {
		opts = &CreateThreadOptions{}
	}
	params := &db.ThreadCreateParams{
		AppName:     scope.AppName,
		IfNotExists: opts.IfNotExists,
		State:       json.RawMessage(`{}`),
		UserID:      scope.UserID,
	}
	if err := checkScope(scope); err != nil {
		return uuid.Nil, err
	}
	if opts.SessionID != "" {
		if err := checkName("SessionID", opts.SessionID, maxID); err != nil {
			return uuid.Nil, err
		}
		params.SessionID = &opts.SessionID
	}
	if opts.State != nil {
		if err := checkJSON("State", opts.State); err != nil {
			return uuid.Nil, err
		}
		params.State = opts.State
	}
	id, err := s.queries.ThreadCreate(ctx, conn, params)
	if err != nil {
		return uuid.Nil, fmt.Errorf("create a thread: %w", db.WrapGo(err))
	}
	return id, nil
}
