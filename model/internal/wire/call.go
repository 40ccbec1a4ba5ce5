package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/hippocampus-memory/hippocampus/model"
	"github.com/hippocampus-memory/hippocampus/model/internal/gate"
)

// trace is what the transport saw of one request.
type trace struct {
	status int
	body   []byte
}

type traceKey struct{}

func traceFrom(ctx context.Context) *trace {
	if t, ok := ctx.Value(traceKey{}).(*trace); ok {
		return t
	}
	return &trace{}
}

// Caller runs a provider's requests: in turn through the gate, each with its
// own time limit, again when that helps, and with typed errors.
type Caller struct {
	Provider string
	Gate     *gate.Gate
	Retry    model.Retry
	Logger   *slog.Logger
	Secrets  []string
	// KeyFrom is where the key is set, and Address where the server is, with which it is: errors name them that may
	// come of a wrong one. Optional.
	KeyFrom, Address string
}

// Do makes one call of an operation. f is run once per attempt and sends at
// most one request through a client of NewClient. Its errors become
// *model.Error by what happened on the wire; one that is a *model.Error already
// is kept. keepReply says that a reply that can't be decoded, or a refusal's
// words, go into RawReply.
func (c *Caller) Do(ctx context.Context, operation string, limit time.Duration, keepReply bool, f func(ctx context.Context) error) error {
	policy := c.Retry
	told := policy.OnRetry
	policy.OnRetry = func(ctx context.Context, attempt int, wait time.Duration, err error) {
		c.Logger.WarnContext(ctx, "model: call failed, will try again",
			slog.String("provider", c.Provider), slog.String("operation", operation),
			slog.Int("attempt", attempt), slog.String("wait", wait.Round(time.Millisecond).String()), slog.String("error", err.Error()))
		if told != nil {
			told(ctx, attempt, wait, err)
		}
	}
	err := policy.Do(ctx, func(ctx context.Context) error {
		return c.Gate.Do(ctx, func(ctx context.Context) error {
			seen := &trace{}
			limited, cancel := context.WithTimeout(context.WithValue(ctx, traceKey{}, seen), limit)
			defer cancel()
			err := f(limited)
			if err == nil {
				return nil
			}
			if ctx.Err() != nil { // the caller's context, not the time limit
				return ctx.Err()
			}
			return c.typed(operation, limit, keepReply, seen, err)
		})
	})
	var typed *model.Error
	if err == nil || errors.As(err, &typed) {
		return err
	}
	return fmt.Errorf("%s %s: %w", c.Provider, operation, err)
}

// typed maps an error by where it arose.
func (c *Caller) typed(operation string, limit time.Duration, keepReply bool, seen *trace, err error) error {
	var typed *model.Error
	if errors.As(err, &typed) {
		if typed.Status == 0 {
			typed.Status = seen.status
		}
		return err
	}
	e := &model.Error{Provider: c.Provider, Operation: operation, Status: seen.status}
	var status *StatusError
	var transport *url.Error
	switch {
	case errors.As(err, &status):
		e.Kind, e.Status, e.RetryAfter = kindOf(status.Status), status.Status, status.RetryAfter
		e.Err = &redacted{text: status.Error() + c.check(status), err: status}
		if keepReply && !status.told() {
			e.RawReply = model.BoundReply(status.Message)
		}
	case errors.Is(err, ErrBodyTooLarge):
		e.Kind, e.Err = model.KindInvalidReply, ErrBodyTooLarge
	case errors.Is(err, context.DeadlineExceeded):
		e.Kind, e.Err = model.KindUnavailable, &redacted{text: fmt.Sprintf("no answer within %s", limit), err: context.DeadlineExceeded}
	case errors.As(err, &transport):
		e.Kind, e.Err = model.KindUnavailable, &redacted{text: redact(err.Error(), c.Secrets), err: transport.Err}
	case seen.status == 0: // refused by the client library, nothing was sent
		e.Kind, e.Err = model.KindRejected, &redacted{text: redact(err.Error(), c.Secrets), err: err}
	default: // an answer came and could not be decoded; the decoder's complaint may quote it
		text := fmt.Sprintf("the reply of %d bytes can't be decoded", len(seen.body))
		if c.Address != "" && !json.Valid(seen.body) {
			text += "; check " + c.Address
		}
		e.Kind, e.Err = model.KindInvalidReply, &redacted{text: text, err: err}
		if keepReply {
			e.RawReply = model.BoundReply(redact(string(seen.body), c.Secrets))
		}
	}
	return e
}

// check names what to look at after a refusal that a wrong setting may be behind.
func (c *Caller) check(e *StatusError) string {
	var settings []string
	switch {
	case e.Status == http.StatusUnauthorized, e.Status == http.StatusForbidden, slices.Contains(e.Codes, "API_KEY_INVALID"):
		settings = []string{c.KeyFrom}
	case e.Status == http.StatusNotFound:
		settings = []string{"the model's name", c.Address}
	case e.Status >= 300 && e.Status < 400, e.Status == http.StatusMethodNotAllowed:
		settings = []string{c.Address}
	}
	settings = slices.DeleteFunc(settings, func(s string) bool { return s == "" })
	if len(settings) == 0 {
		return ""
	}
	return "; check " + strings.Join(settings, " and ")
}

// redacted says err in words that hold no secret.
type redacted struct {
	text string
	err  error
}

func (r *redacted) Error() string { return r.text }
func (r *redacted) Unwrap() error { return r.err }

func kindOf(status int) model.ErrorKind {
	switch {
	case status == http.StatusTooManyRequests:
		return model.KindRateLimited
	case status >= 500, status == http.StatusRequestTimeout, status == http.StatusTooEarly:
		return model.KindUnavailable
	default:
		return model.KindRejected
	}
}
