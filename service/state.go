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

// State is a JSON object that is kept by key: a thread's own, a user's, or an app's.
type State struct {
	// Values is the object.
	Values json.RawMessage `json:"values"`
	// Version grows with every write; what an optimistic writer compares. 0 where nothing was ever
	// merged. A thread's is the thread's: an append moves it too.
	Version int64 `json:"version"`
	// UpdatedAt is the time of the last write; zero where there was none.
	UpdatedAt time.Time `json:"updated_at"`
}

// StateOptions are the options of the verbs that merge state.
type StateOptions struct {
	// ExpectedVersion is the version that the caller has read, 0 for a state that must not be there
	// yet: if somebody else has written it since, it is a [db.ErrVersionConflict].
	//
	// Defaults to any.
	ExpectedVersion *int64
}

// UserState reads the state that all threads of a user share (ADK's user: keys). It is empty, at
// version 0, where nothing was ever merged.
//
// Errors: [db.ErrInvalidScope].
func (s *OpenMemoryService) UserState(ctx context.Context, scope Scope) (*State, error) {
	return s.userState(ctx, s.bound(scope), scope)
}

// UserStateTx reads a user's state as [OpenMemoryService.UserState] does.
//
// This variant joins the caller's transaction, so it shows what the transaction has written and
// not committed. See the package's section on transactions.
func (s *OpenMemoryService) UserStateTx(ctx context.Context, tx pgx.Tx, scope Scope) (state *State, err error) {
	err = joinScope(ctx, tx, scope, func() error {
		state, err = s.userState(ctx, tx, scope)
		return err
	})
	return state, err
}

func (s *OpenMemoryService) userState(ctx context.Context, conn db.DBTX, scope Scope) (*State, error) {
	if err := checkScope(scope); err != nil {
		return nil, err
	}
	row, err := s.queries.StateGetUser(ctx, conn, &db.StateGetUserParams{AppName: scope.AppName, UserID: scope.UserID})
	return readState(err, row.State, row.Version, row.UpdatedAt)
}

// AppState reads the state that all users of the scope's app share (ADK's app: keys). It is empty,
// at version 0, where nothing was ever merged.
//
// Errors: [db.ErrInvalidScope].
func (s *OpenMemoryService) AppState(ctx context.Context, scope Scope) (*State, error) {
	return s.appState(ctx, s.bound(scope), scope)
}

// AppStateTx reads an app's state as [OpenMemoryService.AppState] does.
//
// This variant joins the caller's transaction, so it shows what the transaction has written and
// not committed. See the package's section on transactions.
func (s *OpenMemoryService) AppStateTx(ctx context.Context, tx pgx.Tx, scope Scope) (state *State, err error) {
	err = joinScope(ctx, tx, scope, func() error {
		state, err = s.appState(ctx, tx, scope)
		return err
	})
	return state, err
}

func (s *OpenMemoryService) appState(ctx context.Context, conn db.DBTX, scope Scope) (*State, error) {
	if err := checkScope(scope); err != nil {
		return nil, err
	}
	row, err := s.queries.StateGetApp(ctx, conn, scope.AppName)
	return readState(err, row.State, row.Version, row.UpdatedAt)
}

func readState(err error, values json.RawMessage, version int64, updatedAt time.Time) (*State, error) {
	if errors.Is(err, pgx.ErrNoRows) {
		return &State{Values: json.RawMessage(`{}`)}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read state: %w", db.WrapGo(err))
	}
	return &State{UpdatedAt: updatedAt, Values: values, Version: version}, nil
}

// MergeUserState merges the keys of a JSON object into the state that all threads of a user share,
// and returns what came of it; a null takes its key away. A key's value is replaced as a whole. Of
// those who merge at once, none loses another's keys.
//
// Errors: [db.ErrInvalidScope]; [db.ErrVersionConflict]; [db.ErrTooLarge] for a state beyond 1 MiB;
// [db.ErrInvalidArgument] and [db.ErrInvalidText] for a delta that can't be stored.
func (s *OpenMemoryService) MergeUserState(
	ctx context.Context, scope Scope, delta json.RawMessage, opts *StateOptions,
) (*State, error) {
	return s.mergeUserState(ctx, s.bound(scope), scope, delta, opts)
}

// MergeUserStateTx merges keys as [OpenMemoryService.MergeUserState] does.
//
// This variant joins the caller's transaction: the keys are set if, and only if, what they tell is
// done. Other writers of the state wait until the transaction ends. See the package's section on
// transactions.
func (s *OpenMemoryService) MergeUserStateTx(
	ctx context.Context, tx pgx.Tx, scope Scope, delta json.RawMessage, opts *StateOptions,
) (state *State, err error) {
	err = joinScope(ctx, tx, scope, func() error {
		state, err = s.mergeUserState(ctx, tx, scope, delta, opts)
		return err
	})
	return state, err
}

func (s *OpenMemoryService) mergeUserState(
	ctx context.Context, conn db.DBTX, scope Scope, delta json.RawMessage, opts *StateOptions,
) (*State, error) {
	if err := errors.Join(checkScope(scope), checkObject("delta", delta)); err != nil {
		return nil, err
	}
	row, err := s.queries.StateMergeUser(ctx, conn, &db.StateMergeUserParams{
		AppName: scope.AppName, Delta: orEmptyObject(delta), ExpectedVersion: opts.expected(), UserID: scope.UserID,
	})
	if err != nil {
		return nil, fmt.Errorf("merge a user's state: %w", db.WrapGo(err))
	}
	return &State{UpdatedAt: row.UpdatedAt, Values: row.State, Version: row.Version}, nil
}

// MergeAppState merges the keys of a JSON object into the state that all users of an app share, as
// [OpenMemoryService.MergeUserState] does.
//
// It runs as the pool's login, which must be a member of hippocampus_service: a tenant may not
// write what the app's other users read.
//
// Errors: [db.ErrPermission]; as those of [OpenMemoryService.MergeUserState].
func (s *OpenMemoryService) MergeAppState(
	ctx context.Context, appName string, delta json.RawMessage, opts *StateOptions,
) (*State, error) {
	return s.mergeAppState(ctx, s.pool, appName, delta, opts)
}

// MergeAppStateTx merges keys as [OpenMemoryService.MergeAppState] does.
//
// This variant joins the caller's transaction, with the rights that it has. Other writers of the
// app's state wait until it ends, so merge it last.
func (s *OpenMemoryService) MergeAppStateTx(
	ctx context.Context, tx pgx.Tx, appName string, delta json.RawMessage, opts *StateOptions,
) (*State, error) {
	return s.mergeAppState(ctx, tx, appName, delta, opts)
}

func (s *OpenMemoryService) mergeAppState(
	ctx context.Context, conn db.DBTX, appName string, delta json.RawMessage, opts *StateOptions,
) (*State, error) {
	if err := errors.Join(checkScope(Scope{AppName: appName}), checkObject("delta", delta)); err != nil {
		return nil, err
	}
	row, err := s.queries.StateMergeApp(ctx, conn, &db.StateMergeAppParams{
		AppName: appName, Delta: orEmptyObject(delta), ExpectedVersion: opts.expected(),
	})
	if err != nil {
		return nil, fmt.Errorf("merge an app's state: %w", db.WrapGo(err))
	}
	return &State{UpdatedAt: row.UpdatedAt, Values: row.State, Version: row.Version}, nil
}

// MergeThreadState merges the keys of a JSON object into a thread's own state, as
// [OpenMemoryService.MergeUserState] does. Its version is the thread's, which an append moves too.
//
// Errors: [db.ErrThreadNotFound]; as those of [OpenMemoryService.MergeUserState].
func (s *OpenMemoryService) MergeThreadState(
	ctx context.Context, scope Scope, threadID uuid.UUID, delta json.RawMessage, opts *StateOptions,
) (*State, error) {
	return s.mergeThreadState(ctx, s.bound(scope), scope, threadID, delta, opts)
}

// MergeThreadStateTx merges keys as [OpenMemoryService.MergeThreadState] does.
//
// This variant joins the caller's transaction: the keys are set if, and only if, what they tell is
// done. Other writers of the thread wait until the transaction ends. See the package's section on
// transactions.
func (s *OpenMemoryService) MergeThreadStateTx(
	ctx context.Context, tx pgx.Tx, scope Scope, threadID uuid.UUID, delta json.RawMessage, opts *StateOptions,
) (state *State, err error) {
	err = joinScope(ctx, tx, scope, func() error {
		state, err = s.mergeThreadState(ctx, tx, scope, threadID, delta, opts)
		return err
	})
	return state, err
}

func (s *OpenMemoryService) mergeThreadState(
	ctx context.Context, conn db.DBTX, scope Scope, threadID uuid.UUID, delta json.RawMessage, opts *StateOptions,
) (*State, error) {
	if err := errors.Join(checkScope(scope), checkObject("delta", delta)); err != nil {
		return nil, err
	}
	row, err := s.queries.StateMergeThread(ctx, conn, &db.StateMergeThreadParams{
		Delta: orEmptyObject(delta), ExpectedVersion: opts.expected(), ThreadID: threadID,
	})
	if err != nil {
		return nil, fmt.Errorf("merge a thread's state: %w", db.WrapGo(err))
	}
	return &State{UpdatedAt: row.UpdatedAt, Values: row.State, Version: row.Version}, nil
}

func (o *StateOptions) expected() *int64 {
	if o == nil {
		return nil
	}
	return o.ExpectedVersion
}
