package wire

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hippocampus-memory/hippocampus/model"
)

// maxRetryAfter bounds what a server may ask for.
const maxRetryAfter = 24 * time.Hour

// maxMessage bounds the part of a refusal that goes into an error, in bytes.
const maxMessage = 500

// StatusError is a response outside 2xx.
type StatusError struct {
	Status     int
	RetryAfter time.Duration // 0: the server didn't say
	Message    string        // the server's own words: bounded, secrets struck out
	Codes      []string      // the server's names for what is wrong, e.g. context_length_exceeded
}

// Error has the server's words where they tell of a key, a model or a quota. A
// refusal of another sort may quote the request, which is what users said: of
// it the codes alone.
func (e *StatusError) Error() string {
	if e.Message != "" && e.told() {
		return e.Message
	}
	return strings.Join(append([]string{http.StatusText(e.Status)}, e.Codes...), ", ")
}

// told is whether Error has the server's words.
func (e *StatusError) told() bool {
	switch e.Status {
	case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden, http.StatusNotFound, http.StatusTooManyRequests:
		return true
	}
	return e.Status >= 300 && e.Status < 400
}

// looksLikeCode matches the names that servers give to faults.
var looksLikeCode = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{2,63}$`)

func (e *StatusError) addCodes(codes ...any) {
	for _, code := range codes {
		if name, ok := code.(string); ok && looksLikeCode.MatchString(name) && !slices.Contains(e.Codes, name) && len(e.Codes) < 4 {
			e.Codes = append(e.Codes, name)
		}
	}
}

// refusal is what Gemini and OpenAI have in common: {"error": {"message": …}}.
// Some compatible servers send {"error": "…"} or {"message": "…"}.
type refusal struct {
	Error   json.RawMessage `json:"error"`
	Message string          `json:"message"`
}

type refusalError struct {
	Message string `json:"message"`
	Code    any    `json:"code"` // OpenAI's are names, Google's numbers
	Status  any    `json:"status"`
	Type    any    `json:"type"`
	Details []struct {
		Reason     any    `json:"reason"`
		RetryDelay string `json:"retryDelay"` // google.rpc.RetryInfo, e.g. "34.07s"
	} `json:"details"`
}

func newStatusError(resp *http.Response, body []byte, secrets []string, now time.Time) *StatusError {
	e := &StatusError{Status: resp.StatusCode, RetryAfter: parseRetryAfter(resp.Header, now)}

	text := strings.TrimSpace(string(body))
	var outer refusal
	if json.Unmarshal(body, &outer) == nil {
		var inner refusalError
		var plain string
		switch {
		case json.Unmarshal(outer.Error, &inner) == nil && inner.Message != "":
			text = inner.Message
		case json.Unmarshal(outer.Error, &plain) == nil && plain != "":
			text = plain
		case outer.Message != "":
			text = outer.Message
		}
		e.addCodes(inner.Code, inner.Status, inner.Type)
		for _, detail := range inner.Details {
			e.addCodes(detail.Reason)
			if d, err := time.ParseDuration(detail.RetryDelay); err == nil {
				e.RetryAfter = max(e.RetryAfter, d)
			}
		}
	}
	e.RetryAfter = min(max(e.RetryAfter, 0), maxRetryAfter)

	text = redact(model.CleanText(text), secrets) // before the cut, which could halve a key
	if len(text) > maxMessage {
		text = strings.ToValidUTF8(text[:maxMessage], "") + "…"
	}
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		text = fmt.Sprintf("redirects are not followed: %s", http.StatusText(resp.StatusCode))
	}
	e.Message = text
	return e
}

// parseRetryAfter reads Retry-After in seconds or as a date, and the
// milliseconds that OpenAI sends.
func parseRetryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 && ms < 1e9 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	value := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseFloat(value, 64); err == nil {
		if s > 0 && s < 1e6 {
			return time.Duration(s * float64(time.Second))
		}
		return 0
	}
	if at, err := http.ParseTime(value); err == nil && at.After(now) {
		return at.Sub(now)
	}
	return 0
}
