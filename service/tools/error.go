package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/model"
)

// The codes of an [Error].
const (
	CodeMalformed        = "malformed_arguments" // what the tool's schema does not allow
	CodeInvalidArgument  = "invalid_argument"
	CodeNotFound         = "not_found"
	CodeTextNotFound     = "text_not_found"
	CodeTooLarge         = "too_large"
	CodeVersionConflict  = "version_conflict"
	CodeModelUnavailable = "model_unavailable"
)

// Error tells a model what was wrong with its call and what it may do.
type Error struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`

	cause error
}

// Error is the message with the hint.
func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Message
	}
	return e.Message + ". " + e.Hint
}

// Unwrap gives the engine's error, if it came from there.
func (e *Error) Unwrap() error { return e.cause }

// JSON is the error as an object with the key error.
func (e *Error) JSON() json.RawMessage {
	raw, err := marshal(map[string]*Error{"error": e}, "")
	if err != nil { // which texts alone can't cause
		return json.RawMessage(`{"error": {}}`)
	}
	return raw
}

func malformed(format string, args ...any) *Error {
	return &Error{Code: CodeMalformed, Message: fmt.Sprintf(format, args...), Hint: "Look at the tool's input schema and call it again."}
}

var codes = []struct {
	sentinel error
	code     string
}{
	{db.ErrTextNotFound, CodeTextNotFound},
	{db.ErrNotFound, CodeNotFound},
	{db.ErrThreadNotFound, CodeNotFound},
	{db.ErrTooLarge, CodeTooLarge},
	{db.ErrVersionConflict, CodeVersionConflict},
	{db.ErrConflict, CodeVersionConflict},
	{db.ErrInvalidArgument, CodeInvalidArgument},
	{db.ErrInvalidText, CodeInvalidArgument},
}

// argument matches a parameter of a SQL function, whose prefix a model has not seen.
var argument = regexp.MustCompile(`\bp_([a-z_]+)`)

// forModel makes an [Error] of what a model can do something about. Anything else stays as it is.
func forModel(err error) error {
	var told *Error
	if errors.As(err, &told) {
		return told
	}
	for _, c := range codes {
		if !errors.Is(err, c.sentinel) {
			continue
		}
		var pgErr *pgconn.PgError
		if errors.As(err, &pgErr) && strings.HasPrefix(pgErr.Code, "HC") {
			return &Error{
				Code: c.code, Hint: argument.ReplaceAllString(pgErr.Hint, "$1"), Message: argument.ReplaceAllString(pgErr.Message, "$1"), cause: err,
			}
		}
		return &Error{Code: c.code, Message: err.Error(), cause: err}
	}
	var failed *model.Error
	if errors.As(err, &failed) && !errors.Is(err, context.Canceled) {
		return &Error{
			Code: CodeModelUnavailable, Message: "the language model behind this tool did not answer as it should",
			Hint: "Nothing was written. Try again later.", cause: err,
		}
	}
	return err
}
