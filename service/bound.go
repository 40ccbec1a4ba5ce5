package service

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hippocampus-memory/hippocampus/db"
)

// boundPool runs each statement in a transaction of its own that is bound to a scope, as
// [db.WithScope] does, but in one round trip instead of four: binding and statement are sent
// together, and Postgres makes one transaction of what is sent together.
type boundPool struct {
	pool  *pgxpool.Pool
	model string // whose vectors the statement's are
	scope Scope
}

func (s *OpenMemoryService) bound(scope Scope) db.DBTX {
	return &boundPool{model: s.embeddingModel(), pool: s.pool, scope: scope}
}

// embeddingModel is the model of the service's vectors, empty for the one that serves.
func (s *OpenMemoryService) embeddingModel() string {
	if s.config.Embedder == nil {
		return ""
	}
	return s.config.Embedder.Name()
}

// asModel runs fn in the caller's transaction with the service's model named, and gives the
// transaction back the one that it had.
func (s *OpenMemoryService) asModel(ctx context.Context, tx pgx.Tx, fn func() error) (err error) {
	name := s.embeddingModel()
	if name == "" {
		return fn()
	}
	var outer string
	const swap = `SELECT coalesce(current_setting('hippocampus.embedding_model', true), ''),
		set_config('hippocampus.embedding_model', $1, true)`
	if err := tx.QueryRow(ctx, swap, name).Scan(&outer, nil); err != nil {
		return fmt.Errorf("name the embedding model: %w", db.WrapGo(err))
	}
	defer func() {
		// If fn's statement failed, this fails too, and the rollback that must follow restores it.
		if restoreErr := db.NameModel(ctx, tx, outer); err == nil {
			err = restoreErr
		}
	}()
	return fn()
}

// joinAsModel runs fn in the caller's transaction, bound to the scope and with the service's model named.
func (s *OpenMemoryService) joinAsModel(ctx context.Context, tx pgx.Tx, scope Scope, fn func() error) error {
	return joinScope(ctx, tx, scope, func() error { return s.asModel(ctx, tx, fn) })
}

// queue lets [db.BindScope] and [db.NameModel], the one place each that knows how, write into a batch.
type queue struct {
	pgx.Tx
	batch *pgx.Batch
}

func (q *queue) Exec(_ context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	q.batch.Queue(sql, args...)
	return pgconn.CommandTag{}, nil
}

func (b *boundPool) send(ctx context.Context, sql string, args []any) (pgx.BatchResults, error) {
	batch := &pgx.Batch{}
	if err := db.BindScope(ctx, &queue{batch: batch}, b.scope); err != nil {
		return nil, err
	}
	if err := db.NameModel(ctx, &queue{batch: batch}, b.model); err != nil {
		return nil, err
	}
	batch.Queue(sql, args...)
	results := b.pool.SendBatch(ctx, batch)
	if _, err := results.Exec(); err != nil {
		_ = results.Close() // the same error again
		return nil, fmt.Errorf("bind the scope: %w", db.WrapGo(err))
	}
	if _, err := results.Exec(); err != nil {
		_ = results.Close()
		return nil, fmt.Errorf("name the embedding model: %w", db.WrapGo(err))
	}
	return results, nil
}

func (b *boundPool) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	results, err := b.send(ctx, sql, args)
	if err != nil {
		return pgconn.CommandTag{}, err
	}
	tag, err := results.Exec()
	if closeErr := results.Close(); err == nil {
		err = closeErr
	}
	return tag, err
}

func (b *boundPool) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	results, err := b.send(ctx, sql, args)
	if err != nil {
		return nil, err
	}
	rows, err := results.Query()
	if err != nil {
		_ = results.Close()
		return nil, err
	}
	return &boundRows{Rows: rows, results: results}, nil
}

func (b *boundPool) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	results, err := b.send(ctx, sql, args)
	return &boundRow{err: err, results: results}
}

// boundRows ends the transaction with the last row. Its commit may fail, which is the rows' error.
type boundRows struct {
	pgx.Rows
	closed  bool
	err     error
	results pgx.BatchResults
}

func (r *boundRows) Close() {
	if r.closed {
		return
	}
	r.closed = true
	r.Rows.Close()
	r.err = r.Rows.Err()
	if err := r.results.Close(); r.err == nil {
		r.err = err
	}
}

func (r *boundRows) Next() bool {
	if r.Rows.Next() {
		return true
	}
	r.Close()
	return false
}

func (r *boundRows) Err() error {
	if r.err != nil {
		return r.err
	}
	return r.Rows.Err()
}

type boundRow struct {
	err     error
	results pgx.BatchResults
}

func (r *boundRow) Scan(dest ...any) error {
	if r.err != nil {
		return r.err
	}
	err := r.results.QueryRow().Scan(dest...)
	if closeErr := r.results.Close(); err == nil {
		err = closeErr
	}
	return err
}

// joinScope runs fn in the caller's transaction, bound to the scope, and gives the transaction back
// the role and the scope that it had.
func joinScope(ctx context.Context, tx pgx.Tx, scope Scope, fn func() error) (err error) {
	batch := &pgx.Batch{}
	batch.Queue(`SELECT current_setting('role'), coalesce(current_setting('hippocampus.user_id', true), ''),
		coalesce(current_setting('hippocampus.app_name', true), '')`)
	if err := db.BindScope(ctx, &queue{batch: batch}, scope); err != nil {
		return err
	}
	results := tx.SendBatch(ctx, batch)
	var (
		role  string
		outer Scope
	)
	err = results.QueryRow().Scan(&role, &outer.UserID, &outer.AppName)
	if closeErr := results.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return fmt.Errorf("bind the scope: %w", db.WrapGo(err))
	}
	defer func() {
		const restore = `SELECT set_config('role', $1, true), set_config('hippocampus.user_id', $2, true),
			set_config('hippocampus.app_name', $3, true)`
		// If fn's statement failed, this fails too, and the rollback that must follow restores all.
		if _, restoreErr := tx.Exec(ctx, restore, role, outer.UserID, outer.AppName); err == nil && restoreErr != nil {
			err = fmt.Errorf("unbind the scope: %w", db.WrapGo(restoreErr))
		}
	}()
	if outer != scope && outer != (Scope{}) {
		return fmt.Errorf("%w: the transaction is bound to user %q of app %q, not to user %q of app %q",
			db.ErrInvalidScope, outer.UserID, outer.AppName, scope.UserID, scope.AppName)
	}
	return fn()
}
