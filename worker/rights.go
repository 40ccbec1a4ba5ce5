package worker

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hippocampus-memory/hippocampus/db"
)

// CheckRights refuses a schema or a login with which no worker can work, in a line that says what to
// do. [Worker.Start] asks it too.
//
// Errors: [db.ErrNotMigrated], [db.ErrDatabaseNewer], [db.ErrPermission], [db.ErrReadOnly].
func CheckRights(ctx context.Context, pool *pgxpool.Pool) error {
	login := pool.Config().ConnConfig.User
	refusal := fmt.Errorf("%w: the login %s must be a member of the worker's role: GRANT hippocampus_worker TO %q",
		db.ErrPermission, login, login)
	err := db.CheckCompatible(ctx, pool)
	if errors.Is(err, db.ErrPermission) {
		return refusal
	}
	if err != nil {
		return err
	}
	const query = "SELECT pg_has_role('hippocampus_worker', 'USAGE'), current_setting('transaction_read_only') = 'on'"
	var member, readOnly bool
	if err := pool.QueryRow(ctx, query).Scan(&member, &readOnly); err != nil {
		return fmt.Errorf("look at the login's roles: %w", db.Wrap(err))
	}
	switch {
	case !member:
		return refusal
	case readOnly: // of River's queues, some would start, and wait for jobs that they cannot take
		return fmt.Errorf("%w: a worker writes: name the primary server; where this is the primary, "+
			"look at default_transaction_read_only of the login and the database", db.ErrReadOnly)
	}
	return nil
}
