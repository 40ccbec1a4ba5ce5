package db_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

func TestWrap(t *testing.T) {
	t.Parallel()
	sentinels := map[string]error{
		"22021": db.ErrInvalidText, "22P05": db.ErrInvalidText,
		"23514": db.ErrInvalidArgument,
		"23505": db.ErrConflict, "40001": db.ErrConflict, "40P01": db.ErrConflict,
		"25006": db.ErrReadOnly,
		"42501": db.ErrPermission,
		"HC001": db.ErrInvalidScope, "HC002": db.ErrThreadNotFound, "HC003": db.ErrInvalidJobType,
		"HC004": db.ErrDimension, "HC005": db.ErrInvalidEmbedding, "HC006": db.ErrTooLarge,
		"HC007": db.ErrInvalidBudget, "HC008": db.ErrVersionConflict, "HC009": db.ErrInvalidArgument,
		"HC010": db.ErrSystemPromptOverBudget, "HC011": db.ErrNotFound, "HC012": db.ErrTextNotFound,
		"HC013": db.ErrSequenceGap, "HC014": db.ErrEmbeddingModel,
	}

	t.Run("FromPostgres", func(t *testing.T) {
		t.Parallel()
		tx := dbtest.Tx(t)
		for state, sentinel := range sentinels {
			attempt, err := tx.Begin(t.Context())
			require.NoError(t, err)
			_, err = attempt.Exec(t.Context(), fmt.Sprintf(
				`DO $$ BEGIN RAISE EXCEPTION 'the value is 7' USING ERRCODE = '%s', HINT = 'take 8'; END $$`, state))
			wrapped := db.Wrap(fmt.Errorf("do it: %w", err))
			require.ErrorIs(t, wrapped, sentinel, state)
			require.EqualError(t, wrapped, fmt.Sprintf("%s: the value is 7 (SQLSTATE %s); hint: take 8", sentinel, state))
			var pgErr *pgconn.PgError
			require.ErrorAs(t, wrapped, &pgErr)
			require.Equal(t, wrapped, db.Wrap(wrapped))
			require.NoError(t, attempt.Rollback(t.Context()))
		}
	})

	t.Run("ForeignKeyOnThreads", func(t *testing.T) {
		t.Parallel()
		err := &pgconn.PgError{Code: "23503", ConstraintName: "events_thread_id_fkey", Message: "violates"}
		require.ErrorIs(t, db.Wrap(err), db.ErrThreadNotFound)
		require.EqualError(t, db.Wrap(err), "thread not found: violates (SQLSTATE 23503)")
		other := &pgconn.PgError{Code: "23503", ConstraintName: "memory_sources_memory_id_fkey"}
		require.Equal(t, error(other), db.Wrap(other))
	})

	t.Run("NotMigrated", func(t *testing.T) {
		t.Parallel()
		tx := dbtest.Tx(t)
		for _, query := range []string{"SELECT hippocampus.from_tomorrow()", "SELECT FROM hippocampus.from_tomorrow"} {
			attempt, err := tx.Begin(t.Context())
			require.NoError(t, err)
			_, err = attempt.Exec(t.Context(), query)
			require.ErrorIs(t, db.Wrap(err), db.ErrNotMigrated)
			require.ErrorContains(t, db.Wrap(err), "hint: run migrate up")
			require.NoError(t, attempt.Rollback(t.Context()))
		}
		_, err := tx.Exec(t.Context(), "SELECT of_somebody_else()")
		require.NotErrorIs(t, db.Wrap(err), db.ErrNotMigrated)
	})

	t.Run("HintsWherePostgresHasNone", func(t *testing.T) {
		t.Parallel()
		require.ErrorContains(t, db.Wrap(&pgconn.PgError{Code: "42501", Message: "denied"}), "(SQLSTATE 42501); hint: the login needs one of")
		require.ErrorContains(t, db.Wrap(&pgconn.PgError{Code: "42501", Message: `new row violates row-level security policy for table "memories"`}),
			"hint: a bound login writes the memory of one user and app: set hippocampus.user_id")
		require.ErrorContains(t, db.Wrap(&pgconn.PgError{Code: "42501", Message: "permission denied for function put_setting"}),
			"where it has one, docs/sql-api.md says which of them may call a function")
		require.ErrorContains(t, db.Wrap(&pgconn.PgError{Code: "25006", Message: "cannot"}), "hint: name the primary server")
		require.ErrorContains(t, db.Wrap(&pgconn.PgError{Code: "42501", Message: "denied", Hint: "ask"}), "hint: ask")
	})

	t.Run("InGo", func(t *testing.T) {
		t.Parallel()
		err := &pgconn.PgError{Code: "HC009", Message: "p_session_id is empty", Hint: "Or pass p_if_not_exists => true."}
		require.EqualError(t, db.WrapGo(err), "invalid argument: SessionID is empty (SQLSTATE HC009); hint: Or pass IfNotExists.")
		require.ErrorContains(t, db.Wrap(err), "p_session_id")
		require.ErrorIs(t, db.WrapGo(err), db.ErrInvalidArgument)
		require.NoError(t, db.WrapGo(nil))
	})

	t.Run("LeavesOthersAlone", func(t *testing.T) {
		t.Parallel()
		require.NoError(t, db.Wrap(nil))
		for _, err := range []error{
			context.Canceled, pgx.ErrNoRows, errors.New("another"), &pgconn.PgError{Code: "22012"}, &pgconn.PgError{Code: "57014"},
			fmt.Errorf("%w: %w", context.DeadlineExceeded, &pgconn.PgError{Code: "42501"}),
		} {
			require.Equal(t, err, db.Wrap(err))
		}
	})

	t.Run("NULCharacter", func(t *testing.T) {
		t.Parallel()
		_, err := dbtest.Tx(t).Exec(t.Context(), "SELECT $1::text", "a\x00b")
		require.ErrorIs(t, db.Wrap(err), db.ErrInvalidText)
		_, err = dbtest.Tx(t).Exec(t.Context(), "SELECT $1::jsonb", `"a\u0000b"`)
		require.ErrorIs(t, db.Wrap(err), db.ErrInvalidText)
	})

	// errors.go is the one list: the functions raise nothing else of the class.
	t.Run("KnowsAllThatFunctionsRaise", func(t *testing.T) {
		t.Parallel()
		root, err := dbtest.Root()
		require.NoError(t, err)
		names, err := filepath.Glob(filepath.Join(root, "sql", "functions", "*.sql"))
		require.NoError(t, err)
		states := regexp.MustCompile(`\bHC[0-9]{3}\b`)
		for _, name := range names {
			body, err := os.ReadFile(name)
			require.NoError(t, err)
			for _, state := range states.FindAllString(string(body), -1) {
				require.Contains(t, sentinels, state, name)
			}
		}
	})
}
