package db

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// What the SQL functions refuse, by the SQLSTATE that they raise. This is the one list of the
// project's private class HC.
var (
	ErrInvalidScope           = errors.New("invalid scope")               // HC001
	ErrThreadNotFound         = errors.New("thread not found")            // HC002
	ErrInvalidJobType         = errors.New("invalid job type")            // HC003
	ErrDimension              = errors.New("embedding dimension differs") // HC004
	ErrInvalidEmbedding       = errors.New("invalid embedding")           // HC005
	ErrTooLarge               = errors.New("content too large")           // HC006
	ErrInvalidBudget          = errors.New("invalid budget")              // HC007
	ErrVersionConflict        = errors.New("version conflict")            // HC008
	ErrInvalidArgument        = errors.New("invalid argument")            // HC009
	ErrSystemPromptOverBudget = errors.New("system prompt over budget")   // HC010
	ErrNotFound               = errors.New("not found")                   // HC011
	ErrTextNotFound           = errors.New("text not found in block")     // HC012
	ErrSequenceGap            = errors.New("sequence gap")                // HC013
	ErrEmbeddingModel         = errors.New("embedding model differs")     // HC014
)

// What Postgres itself refuses.
var (
	// ErrConflict is a row that is there already, or a transaction that lost against another
	// one (serialization failure, deadlock) and may be tried again.
	ErrConflict = errors.New("conflict")
	// ErrInvalidText is text with a NUL, or that is not UTF-8.
	ErrInvalidText = errors.New("invalid text")
	// ErrPermission is something that the login's roles don't allow.
	ErrPermission = errors.New("permission denied")
	// ErrReadOnly is a write to a standby, or to what was made read-only.
	ErrReadOnly = errors.New("the database is read-only")
)

// What migrations refuse.
var (
	// ErrBootstrap is something that an administrator must do first.
	ErrBootstrap = errors.New("an administrator is needed")
	// ErrConnect is a database that can't be reached.
	ErrConnect = errors.New("no connection")
	// ErrDatabaseNewer is a schema that is newer than this binary.
	ErrDatabaseNewer = errors.New("the database is newer than this binary")
	// ErrInvalidSchema is a schema that is not as migrations have left it.
	ErrInvalidSchema = errors.New("the schema is not valid")
	// ErrNotMigrated is a schema that is older than this binary, or not there.
	ErrNotMigrated = errors.New("the database is not migrated")
	// ErrServer is a server on which Hippocampus can't work.
	ErrServer = errors.New("the server does not fit")
)

// sentinelOf gives the error for what Postgres reports, or nil.
func sentinelOf(pgErr *pgconn.PgError) error {
	// foreign_key_violation: what a constraint refuses that no function looks at first.
	if pgErr.Code == "23503" && strings.HasSuffix(pgErr.ConstraintName, "_thread_id_fkey") {
		return ErrThreadNotFound
	}
	switch pgErr.Code {
	case "3F000", "42P01", "42883": // invalid_schema_name, undefined_table, undefined_function
		if strings.Contains(pgErr.Message, "hippocampus") {
			return ErrNotMigrated
		}
	}
	return sentinel(pgErr.Code)
}

// sentinel gives the error for a SQLSTATE, or nil.
func sentinel(state string) error {
	switch state {
	case "HC001":
		return ErrInvalidScope
	case "HC002":
		return ErrThreadNotFound
	case "HC003":
		return ErrInvalidJobType
	case "HC004":
		return ErrDimension
	case "HC005":
		return ErrInvalidEmbedding
	case "HC006":
		return ErrTooLarge
	case "HC007":
		return ErrInvalidBudget
	case "HC008":
		return ErrVersionConflict
	case "HC009", "23514": // check_violation
		return ErrInvalidArgument
	case "HC010":
		return ErrSystemPromptOverBudget
	case "HC011":
		return ErrNotFound
	case "HC012":
		return ErrTextNotFound
	case "HC013":
		return ErrSequenceGap
	case "HC014":
		return ErrEmbeddingModel
	case "22021", "22P05": // character_not_in_repertoire, untranslatable_character
		return ErrInvalidText
	case "23505", "40001", "40P01": // unique_violation, serialization_failure, deadlock_detected
		return ErrConflict
	case "25006": // read_only_sql_transaction
		return ErrReadOnly
	case "42501": // insufficient_privilege
		return ErrPermission
	}
	return nil
}

// hints say what to do where Postgres doesn't.
var hints = map[error]string{
	ErrPermission: "the login needs one of Hippocampus's roles: GRANT hippocampus_service to an application or to whoever uses hippo, " +
		"hippocampus_worker to a worker, hippocampus_tenant or hippocampus_reader to a user's own connection; where it has one, " +
		"docs/sql-api.md says which of them may call a function",
	ErrNotMigrated: "run migrate up of this version against the database that the connection names",
	ErrReadOnly:    "name the primary server; where this is the primary, look at default_transaction_read_only of the login and the database",
}

// databaseError is an error of Postgres that is one of the sentinels above.
type databaseError struct {
	sentinel error
	err      error // as it came, with its *pgconn.PgError
	inGo     bool  // see WrapGo
	pg       *pgconn.PgError
}

// Error has the function's own words, which name the value and say what to do, and the SQLSTATE.
func (e *databaseError) Error() string {
	text := fmt.Sprintf("%s: %s (SQLSTATE %s)", e.sentinel, e.pg.Message, e.pg.Code)
	if hint := e.hint(); hint != "" {
		text += "; hint: " + hint
	}
	if e.inGo {
		text = parameter.ReplaceAllStringFunc(text, goName)
	}
	return text
}

// hint says what to do: the function's own words, ours where Postgres has none or knows no better.
func (e *databaseError) hint() string {
	switch {
	case e.sentinel == ErrNotMigrated: //nolint:errorlint // one of the sentinels, itself
		return hints[ErrNotMigrated]
	case e.sentinel == ErrPermission && strings.Contains(e.pg.Message, "row-level security policy"): //nolint:errorlint // the same
		return "a bound login writes the memory of one user and app: set hippocampus.user_id and hippocampus.app_name " +
			"in its transaction, to those that it writes for"
	case e.sentinel == ErrPermission && strings.Contains(e.pg.Message, `set role "hippocampus_tenant"`): //nolint:errorlint // the same
		return "hippo and the Go API act for one user at a time, which a member of hippocampus_reader or hippocampus_owner alone may not: " +
			"GRANT hippocampus_service TO the login"
	}
	return cmp.Or(e.pg.Hint, hints[e.sentinel])
}

// parameter matches a parameter of a SQL function, in named notation or by its name alone.
var parameter = regexp.MustCompile(`\bp_[a-z_]+( => true)?`)

// goName is what the Go API calls a parameter: SessionID for p_session_id.
func goName(parameter string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(parameter, "p_"), " ")
	words := strings.Split(name, "_")
	for i, word := range words {
		switch {
		case word == "id":
			words[i] = "ID"
		case word == "ids":
			words[i] = "IDs"
		case word != "":
			words[i] = strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return strings.Join(words, "")
}

// Unwrap makes [errors.Is] find the sentinel, and [errors.As] the *pgconn.PgError.
func (e *databaseError) Unwrap() []error { return []error{e.sentinel, e.err} }

// Wrap makes an error that came from Postgres one of this package's sentinels for [errors.Is],
// by its SQLSTATE and, for a thread that is not there, its constraint; its text keeps the message and the hint, and [errors.As] still finds the
// *pgconn.PgError. Any other error, and one that is wrapped already, comes back as it is: so do
// [context.Canceled] and [context.DeadlineExceeded] of a statement that the context ended.
// Wrap(nil) is nil.
func Wrap(err error) error {
	var pgErr *pgconn.PgError
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) ||
		!errors.As(err, &pgErr) {
		return err
	}
	s := sentinelOf(pgErr)
	if s == nil || errors.Is(err, s) {
		return err
	}
	return &databaseError{err: err, pg: pgErr, sentinel: s}
}

// WrapGo is [Wrap] for those who called no SQL function themselves: where the error's text names a
// parameter of one, such as p_session_id, it has the name that the Go API gives it, SessionID.
func WrapGo(err error) error {
	err = Wrap(err)
	if e, ok := err.(*databaseError); ok { //nolint:errorlint // only one that Wrap has just made
		inGo := *e
		inGo.inGo = true
		return &inGo
	}
	return err
}
