package model

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// ErrorKind says what went wrong in the only terms a caller can act on.
type ErrorKind string

// The kinds of an Error.
const (
	// KindRateLimited: the provider asks for patience (HTTP 429). Try again
	// after RetryAfter; a job should be snoozed, not failed.
	KindRateLimited ErrorKind = "rate_limited"
	// KindUnavailable: the provider could not answer (HTTP 5xx or 408, network,
	// the call's own time limit).
	KindUnavailable ErrorKind = "unavailable"
	// KindInvalidReply: an answer came that can't be used: garbage, half a JSON,
	// an empty list, the wrong number or dimension of vectors, a blocked, empty
	// or truncated text.
	KindInvalidReply ErrorKind = "invalid_reply"
	// KindRejected: the request itself was refused (any other 4xx, or by this
	// side before sending). The same request will be refused again.
	KindRejected ErrorKind = "rejected"
)

// ErrDimension is in the chain where a model makes vectors of another dimension than was set: it does so of every
// text, now and later.
var ErrDimension = errors.New("the dimension that is set is not the model's own")

// MaxRawReply bounds Error.RawReply, in bytes.
const MaxRawReply = 64 << 10

// Error is every failure of a provider. Find it with errors.As.
type Error struct {
	Kind ErrorKind
	// Provider is "gemini", "openai" or "offline".
	Provider string
	// Operation is "embed", "summarize", "reflect" or "classify".
	Operation string
	// Status is the HTTP status, or 0 when none came.
	Status int
	// RetryAfter is how long the provider asked to wait; 0 when it didn't say.
	RetryAfter time.Duration
	// RawReply is the model's own text when that is what's wrong, or the
	// server's words when it refused the request, at most MaxRawReply bytes;
	// never a header or a key. It may hold what users said, so it is not part
	// of Error().
	RawReply string
	// Err is the cause.
	Err error
}

// Error says who failed at what and why, without the raw reply.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s: %s", e.Provider, e.Operation, strings.ReplaceAll(string(e.Kind), "_", " "))
	if e.Status != 0 {
		fmt.Fprintf(&b, " (HTTP %d)", e.Status)
	}
	if e.RetryAfter > 0 {
		fmt.Fprintf(&b, ", retry after %s", e.RetryAfter)
	}
	if e.Err != nil {
		b.WriteString(": ")
		b.WriteString(e.Err.Error())
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Retryable reports whether the same call may succeed later: true for every
// kind but KindRejected. An invalid reply is worth a bounded number of tries,
// since the next one may differ.
func (e *Error) Retryable() bool { return e.Kind != KindRejected }

// BoundReply cuts a reply to MaxRawReply bytes at a character boundary and
// makes it valid UTF-8 without NUL.
func BoundReply(reply string) string {
	if len(reply) > MaxRawReply {
		cut := MaxRawReply
		for MaxRawReply-cut < utf8.UTFMax && !utf8.RuneStart(reply[cut]) {
			cut--
		}
		reply = reply[:cut]
	}
	reply = CleanText(reply)
	if len(reply) > MaxRawReply { // invalid bytes grow to three each
		reply = BoundReply(reply)
	}
	return reply
}

// CleanText makes text valid UTF-8 (bad bytes become U+FFFD) without NUL, the
// two things Postgres refuses in text.
func CleanText(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "")
}
