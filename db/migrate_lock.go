package db

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// lockPatience is how long it is tried to lock the tables for the functions.
const lockPatience = time.Minute

// errTablesInUse is an attempt that gave way to those who write.
var errTablesInUse = errors.New("the tables are in use")

// lockTables takes what the triggers among the functions need of tables before anything is applied, in the order of the
// owner's list. Once it holds one, it is done before Postgres looks for a deadlock, of which a writer would be the victim. The
// first is waited for longer: nobody waits for this transaction yet, and an autovacuum gives way only then. The one that was
// not had comes first the next time: those who write it and others end meanwhile, and do not meet it halfway.
func (o *owner) lockTables(ctx context.Context, tx *sql.Tx) error {
	var milliseconds int64
	err := tx.QueryRowContext(ctx, "SELECT s.setting::bigint FROM pg_catalog.pg_settings s WHERE s.name = 'deadlock_timeout'").Scan(&milliseconds)
	if err != nil {
		return fmt.Errorf("read deadlock_timeout: %w", err)
	}
	deadlockTimeout := time.Duration(milliseconds) * time.Millisecond
	end := time.Now().Add(min(deadlockTimeout*3/2, 2*time.Second))
	for i, table := range o.tables {
		wait := max(time.Until(end).Milliseconds(), 1)
		// Without arguments pgx takes several statements.
		_, err := tx.ExecContext(ctx, fmt.Sprintf("SET LOCAL lock_timeout = %d; LOCK TABLE %s IN SHARE ROW EXCLUSIVE MODE", wait, table))
		var pgErr *pgconn.PgError
		if errors.As(err, &pgErr) && pgErr.Code == "55P03" { // lock_not_available
			copy(o.tables[1:i+1], o.tables[:i])
			o.tables[0] = table
			return errTablesInUse
		}
		if err != nil {
			return fmt.Errorf("lock %s: %w", table, err)
		}
		if i == 0 {
			end = time.Now().Add(min(deadlockTimeout/2, 500*time.Millisecond))
		}
	}
	_, err = tx.ExecContext(ctx, "SET LOCAL lock_timeout = 0")
	return err
}

// listTables gives the tables of the schema.
func (o *owner) listTables(ctx context.Context) ([]string, error) {
	rows, err := o.pool.Query(ctx, `SELECT c.oid::regclass::text FROM pg_catalog.pg_class c
		WHERE c.relnamespace = '`+schemaName+`'::regnamespace AND c.relkind IN ('r', 'p') ORDER BY 1`)
	if err != nil {
		return nil, fmt.Errorf("list the tables: %w", err)
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("list the tables: %w", err)
	}
	return tables, nil
}

// whenTablesAreFree repeats what locks the tables until it finds them free, for as long as the Migrator has patience.
func (m *Migrator) whenTablesAreFree(ctx context.Context, do func() error) error {
	end := time.Now().Add(m.patience)
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		err := do()
		if !errors.Is(err, errTablesInUse) {
			return err
		}
		holders, err := m.tableHolders(ctx)
		if err != nil {
			return err
		}
		if time.Now().After(end) {
			return fmt.Errorf("%w: %w, and were for %s by %s: end these transactions, or run migrate up again when less is written",
				ErrConflict, errTablesInUse, m.patience, cmp.Or(holders, "others, which have ended"))
		}
		m.config.Logger.InfoContext(ctx, "the tables are in use: trying again", slog.String("by", holders))
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for those who write: %w", ctx.Err())
		case <-time.After(wait):
		}
	}
}

// tableHolders names the oldest transactions that keep this one from locking the tables; nothing where they have ended.
func (m *Migrator) tableHolders(ctx context.Context) (string, error) {
	var holders string
	err := m.conn.QueryRow(ctx, `
		SELECT coalesce(string_agg(format('process %s (%s) with %s', h.pid, h.who, h.tables), ', ' ORDER BY h.since), '') FROM (
		    SELECT a.pid, min(a.xact_start) AS since, string_agg(DISTINCT c.relname::text, ', ') AS tables,
		           concat_ws(', ', a.usename, nullif(a.application_name, ''), a.backend_type, 'since ' || date_trunc('second', min(a.xact_start))) AS who
		    FROM pg_catalog.pg_locks l
		    JOIN pg_catalog.pg_database d ON d.oid = l.database AND d.datname = current_database()
		    JOIN pg_catalog.pg_class c ON c.oid = l.relation AND c.relnamespace = '`+schemaName+`'::regnamespace AND c.relkind IN ('r', 'p')
		    JOIN pg_catalog.pg_stat_activity a ON a.pid = l.pid
		    WHERE l.granted AND l.mode NOT IN ('AccessShareLock', 'RowShareLock')
		    GROUP BY a.pid, a.usename, a.application_name, a.backend_type ORDER BY since LIMIT 3) h`).Scan(&holders)
	if err != nil {
		return "", fmt.Errorf("look for who holds the tables: %w", err)
	}
	return holders, nil
}
