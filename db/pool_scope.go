package db

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Scope is a tenant: a user of an app. Every row of memory belongs to one.
type Scope struct {
	// UserID is the user, 1 to 255 bytes.
	UserID string
	// AppName is the app, 1 to 255 bytes, and not "*", which settings have for every app.
	AppName string
}

// validate refuses a scope in which row-level security would show nothing.
func (s Scope) validate() error {
	switch {
	case s.UserID == "" || len(s.UserID) > 255:
		return fmt.Errorf("%w: UserID has %d bytes, but must have 1 to 255", ErrInvalidScope, len(s.UserID))
	case s.AppName == "" || len(s.AppName) > 255:
		return fmt.Errorf("%w: AppName has %d bytes, but must have 1 to 255", ErrInvalidScope, len(s.AppName))
	case s.AppName == "*":
		return fmt.Errorf("%w: AppName is *, which means every app", ErrInvalidScope)
	}
	return nil
}

// Beginner is what begins a transaction: a pool, a connection or a transaction, which nests.
type Beginner interface {
	Begin(ctx context.Context) (pgx.Tx, error)
}

// WithScope runs fn in a transaction that is bound to a scope: it acts as the role
// hippocampus_tenant, to which row-level security shows the rows of this scope only. It commits
// if fn returns nil, and rolls back if fn returns an error or panics.
//
// The binding ends with the transaction and leaves nothing on the connection, so that poolers in
// transaction mode do too. Within a transaction of the caller's (pool is a pgx.Tx) it lasts to
// that transaction's end.
//
// Errors: [ErrInvalidScope]; [ErrPermission] where the login is not a member of hippocampus_tenant
// or hippocampus_service; else fn's own.
func WithScope(ctx context.Context, pool Beginner, scope Scope, fn func(tx pgx.Tx) error) error {
	if err := scope.validate(); err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		if err := BindScope(ctx, tx, scope); err != nil {
			return err
		}
		return fn(tx)
	})
}

// BindScope binds the rest of a transaction to a scope, as [WithScope] does, for one that the
// caller has begun.
//
// Errors: as those of WithScope.
func BindScope(ctx context.Context, tx pgx.Tx, scope Scope) error {
	if err := scope.validate(); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `SELECT set_config('role', 'hippocampus_tenant', true),
		set_config('hippocampus.user_id', $1, true), set_config('hippocampus.app_name', $2, true)`,
		scope.UserID, scope.AppName)
	if err != nil {
		return fmt.Errorf("bind the scope: %w", Wrap(err))
	}
	return nil
}

// NameModel says for the rest of the transaction which embedding model its vectors are of, so that they are compared
// with those of this model while another one takes its place; an empty name is that of the one that serves.
func NameModel(ctx context.Context, tx pgx.Tx, model string) error {
	if _, err := tx.Exec(ctx, "SELECT set_config('hippocampus.embedding_model', $1, true)", model); err != nil {
		return fmt.Errorf("name the embedding model: %w", Wrap(err))
	}
	return nil
}
