package dbtest

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/db"
)

// As gives a pool on the same database whose login is a member of only one role, such as
// "hippocampus_tenant" (or of none, for ""), and no superuser. With a scope, each of its sessions
// has it set from the start; without one, row-level security shows a bound role nothing.
func As(t testing.TB, pool *pgxpool.Pool, role string, scope *db.Scope) *pgxpool.Pool {
	t.Helper()
	name, password, err := login(t.Context(), role)
	require.NoError(t, err)
	roleURL, err := withLogin(DatabaseURL(pool), name, password)
	require.NoError(t, err)
	var afterConnect func(context.Context, *pgx.Conn) error
	if scope != nil {
		afterConnect = func(ctx context.Context, conn *pgx.Conn) error {
			_, err := conn.Exec(ctx, `SELECT set_config('hippocampus.user_id', $1, false),
				set_config('hippocampus.app_name', $2, false)`, scope.UserID, scope.AppName)
			return err
		}
	}
	return newPool(t, roleURL, int(pool.Config().MaxConns), afterConnect)
}

var logins struct {
	sync.Mutex
	ready map[string]bool
}

// login makes a login of one role, once a cluster. Its password is derived from the superuser's,
// so that every process knows it and nobody else does.
func login(ctx context.Context, role string) (name, password string, err error) {
	logins.Lock()
	defer logins.Unlock()
	pool, err := admin()
	if err != nil {
		return "", "", err
	}
	name = "hippocampus_test_" + strings.TrimPrefix(role, "hippocampus_")
	if role == "" {
		name = "hippocampus_test_nobody"
	}
	mac := hmac.New(sha256.New, []byte(pool.Config().ConnConfig.Password))
	mac.Write([]byte(name))
	password = hex.EncodeToString(mac.Sum(nil))
	if logins.ready[name] {
		return name, password, nil
	}
	err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		return makeLogin(ctx, tx, name, password, role)
	})
	if err != nil {
		return "", "", fmt.Errorf("make the login %s: %w", name, err)
	}
	if logins.ready == nil {
		logins.ready = map[string]bool{}
	}
	logins.ready[name] = true
	return name, password, nil
}

func makeLogin(ctx context.Context, tx pgx.Tx, name, password, role string) error {
	if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", makeLock+" logins"); err != nil {
		return err
	}
	var exists bool
	err := tx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.rolname = $1)", name).Scan(&exists)
	if err != nil {
		return err
	}
	verb := "CREATE"
	if exists {
		verb = "ALTER"
	}
	query := fmt.Sprintf("%s ROLE %s LOGIN PASSWORD '%s'", verb, pgx.Identifier{name}.Sanitize(), password)
	if _, err := tx.Exec(ctx, query); err != nil || role == "" {
		return err
	}
	var member bool
	if err := tx.QueryRow(ctx, "SELECT pg_has_role($1, $2, 'MEMBER')", name, role).Scan(&member); err != nil || member {
		return err
	}
	_, err = tx.Exec(ctx, fmt.Sprintf("GRANT %s TO %s", pgx.Identifier{role}.Sanitize(), pgx.Identifier{name}.Sanitize()))
	return err
}

func withLogin(databaseURL, user, password string) (string, error) {
	if !strings.Contains(databaseURL, "://") {
		return fmt.Sprintf("%s user=%s password=%s", databaseURL, user, password), nil
	}
	u, err := url.Parse(databaseURL)
	if err != nil {
		return "", fmt.Errorf("read the database URL: %w", err)
	}
	u.User = url.UserPassword(user, password)
	return u.String(), nil
}
