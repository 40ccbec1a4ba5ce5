package dbtest

import (
	"context"
	"crypto/rand"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// Login makes a login of the test's own, with the attributes and the statements given, in which
// $login stands for its name. It is dropped when the test ends, so databases that it owns must be
// made after it. It gives its name and password; see [WithLogin].
func Login(t testing.TB, attributes string, statements ...string) (name, password string) {
	t.Helper()
	pool, err := admin()
	require.NoError(t, err)
	name = strings.ToLower("hippocampus_test_login_" + rand.Text()[:10])
	password = rand.Text()
	_, err = pool.Exec(t.Context(), "CREATE ROLE "+name+" LOGIN PASSWORD '"+password+"' "+attributes)
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		// The grants that it made or has would keep it.
		_, err := pool.Exec(ctx, "DROP OWNED BY "+name+" CASCADE")
		require.NoError(t, err)
		_, err = pool.Exec(ctx, "DROP ROLE "+name)
		require.NoError(t, err)
	})
	for _, statement := range statements {
		_, err = pool.Exec(t.Context(), strings.ReplaceAll(statement, "$login", pgx.Identifier{name}.Sanitize()))
		require.NoError(t, err)
	}
	return name, password
}

// WithLogin is a database URL with another login.
func WithLogin(t testing.TB, databaseURL, name, password string) string {
	t.Helper()
	changed, err := withLogin(databaseURL, name, password)
	require.NoError(t, err)
	return changed
}
