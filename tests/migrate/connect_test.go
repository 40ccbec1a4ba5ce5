package migrate_test

import (
	"context"
	"net"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

func TestConnect(t *testing.T) {
	t.Parallel()
	const secret = "s3cret%2Fword"

	// fail connects in vain, and gives the message: one line without the password.
	fail := func(t *testing.T, databaseURL string, sentinel error) string {
		t.Helper()
		_, err := db.NewMigrator(t.Context(), databaseURL, nil)
		require.ErrorIs(t, err, sentinel)
		_, poolErr := db.NewPool(t.Context(), &db.Config{DatabaseURL: databaseURL})
		require.EqualError(t, poolErr, err.Error())
		require.NotContains(t, err.Error(), "\n")
		require.NotContains(t, err.Error(), "s3cret")
		t.Log(err)
		return err.Error()
	}
	parsed := func(t *testing.T) *url.URL {
		t.Helper()
		u, err := url.Parse(dbtest.URL(t))
		require.NoError(t, err)
		return u
	}

	t.Run("NoDatabase", func(t *testing.T) {
		t.Parallel()
		message := fail(t, dbtest.WithDatabase(t, dbtest.URL(t), "hippocampus_test_none"), db.ErrConnect)
		require.Contains(t, message, "has no database hippocampus_test_none")
	})

	t.Run("NoHost", func(t *testing.T) {
		t.Parallel()
		require.Contains(t, fail(t, "postgres://u:"+secret+"@no.such.host.invalid/db", db.ErrConnect), "no.such.host.invalid")
	})

	t.Run("ReadOnly", func(t *testing.T) {
		t.Parallel()
		readOnly := func(databaseURL string) *db.Migrator {
			u, err := url.Parse(databaseURL)
			require.NoError(t, err)
			u.RawQuery += "&default_transaction_read_only=on"
			return migrator(t, u.String(), 0)
		}
		_, upErr := readOnly(dbtest.Empty(t, "")).Up(t.Context())
		_, downErr := readOnly(dbtest.DatabaseURL(dbtest.DB(t))).Down(t.Context(), 0)
		for _, err := range []error{upErr, downErr} {
			require.ErrorIs(t, err, db.ErrReadOnly)
			require.ErrorContains(t, err, "look at default_transaction_read_only")
		}
	})

	t.Run("NoServer", func(t *testing.T) {
		t.Parallel()
		// A port that was free a moment ago.
		listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
		require.NoError(t, err)
		address := listener.Addr().String()
		require.NoError(t, listener.Close())
		require.Contains(t, fail(t, "postgres://u:"+secret+"@"+address+"/db", db.ErrConnect), "no Postgres at "+address)
	})

	t.Run("NoURL", func(t *testing.T) {
		t.Parallel()
		for _, broken := range []string{
			"postgres://u:s3cret%zz@host/db",
			"postgres://u:s3cret word@host/db",
			"postgres://u:s3cret@host:99999/db",
			"postgres://u:s3cret@host/db?sslmode=sometimes",
			"mysql://u:s3cret@host/db",
			"host=h password='s3cret",
			"s3cret",
		} {
			require.Contains(t, fail(t, broken, db.ErrInvalidArgument), "the database URL can't be read: ")
		}
	})

	t.Run("WaitForTheLockEndsWithTheContext", func(t *testing.T) {
		t.Parallel()
		databaseURL := dbtest.Empty(t, "")
		execute(t, databaseURL, "SELECT 1")
		holder := connect(t, databaseURL)
		_, err := holder.Exec(t.Context(), "SELECT pg_advisory_lock($1)", int64(0x686970706f))
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		m := migrator(t, databaseURL, 0)
		done := make(chan error)
		go func() {
			_, err := m.Up(ctx)
			done <- err
		}()
		cancel()
		require.ErrorIs(t, <-done, context.Canceled)
	})

	t.Run("WrongPassword", func(t *testing.T) {
		t.Parallel()
		u := parsed(t)
		if password, _ := u.User.Password(); password == "" {
			t.Skip("the server asks for no password")
		}
		u.User = url.UserPassword(u.User.Username(), "s3cret")
		message := fail(t, u.String(), db.ErrConnect)
		require.Contains(t, message, "refuses the password of user "+u.User.Username())
		require.Contains(t, message, strings.Split(u.Host, "?")[0])
	})
}
