package dbtest

import (
	"crypto/rand"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// Another process, of another state of sql/, may have been started with another database of the same
// server in its URL.
func TestTemplateInUseIsKept(t *testing.T) {
	t.Parallel()
	here, err := serverURL()
	require.NoError(t, err)
	there, err := withDatabase(here, "template1")
	require.NoError(t, err)
	connect := func(url string) *template {
		conn, err := connectForLocks(t.Context(), url)
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close(t.Context()) })
		return &template{use: conn}
	}
	ours, theirs := connect(here), connect(there)
	name := templatePrefix + "of_another_state_" + strings.ToLower(rand.Text())
	_, err = ours.use.Exec(t.Context(), "CREATE DATABASE "+pgx.Identifier{name}.Sanitize()+" IS_TEMPLATE true")
	require.NoError(t, err)
	exists := func() (found bool) {
		require.NoError(t, ours.use.QueryRow(t.Context(), "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", name).Scan(&found))
		return found
	}

	_, err = theirs.use.Exec(t.Context(), "SELECT pg_advisory_lock_shared(hashtextextended($1, 0))", name)
	require.NoError(t, err)
	require.NoError(t, ours.dropUnused(t.Context(), name))
	require.True(t, exists())
	require.NoError(t, theirs.use.Close(t.Context())) // the process ends
	require.Eventually(t, func() bool {
		require.NoError(t, ours.dropUnused(t.Context(), name))
		return !exists()
	}, 30*time.Second, 10*time.Millisecond)
}
