// Package wire is the HTTP client every provider sends with. It keeps keys out
// of URLs, errors and other hosts, bounds what it reads, and turns what can go
// wrong on the way into a [*model.Error].
package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// MaxBody bounds the body of a response: 32 MiB.
const MaxBody = 32 << 20

// maxErrorBody bounds how much of a refusal is read.
const maxErrorBody = 64 << 10

// ErrBodyTooLarge is in the chain when a response was over the bound.
var ErrBodyTooLarge = errors.New("response body too large")

// Options of a client.
type Options struct {
	// Header is set on every request, e.g. the one that carries the key.
	Header http.Header
	// Secrets are struck out of every error text.
	Secrets []string
	// MaxBody in bytes. Defaults to MaxBody.
	MaxBody int64
	// Base sends. Defaults to a clone of http.DefaultTransport.
	Base http.RoundTripper
	// Now is the clock for Retry-After dates. Defaults to time.Now.
	Now func() time.Time
}

// NewClient returns a client whose transport reads the whole response before
// it returns, so that a body that breaks off is a network error, and answers
// any status outside 2xx with a *StatusError. It follows no redirect: the key
// would travel along.
func NewClient(o Options) *http.Client {
	if o.MaxBody <= 0 {
		o.MaxBody = MaxBody
	}
	if o.Base == nil {
		o.Base = newTransport()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &http.Client{
		Transport:     &transport{o},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// newTransport is http.DefaultTransport, proxies included, with enough idle
// connections for the requests that run at once.
func newTransport() http.RoundTripper {
	standard, ok := http.DefaultTransport.(*http.Transport)
	if !ok { // someone replaced it: theirs to know
		return http.DefaultTransport
	}
	t := standard.Clone()
	t.MaxIdleConnsPerHost = 16
	return t
}

type transport struct{ o Options }

// RoundTrip answers a refusal with an error, which http.RoundTripper's contract
// leaves to the layer above. It is done here because the layers above are two
// generated clients that each handle it in their own way: one drops
// Retry-After, the other repeats a 503 by itself.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	for name, values := range t.o.Header {
		req.Header[name] = values
	}
	resp, err := t.o.Base.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	trace := traceFrom(req.Context())
	trace.status = resp.StatusCode

	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
		return nil, newStatusError(resp, body, t.o.Secrets, t.o.Now())
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, t.o.MaxBody+1))
	if err != nil {
		return nil, fmt.Errorf("read response: %w", err)
	}
	if int64(len(body)) > t.o.MaxBody {
		return nil, fmt.Errorf("%w: over %d bytes", ErrBodyTooLarge, t.o.MaxBody)
	}
	trace.body = body
	resp.Body = io.NopCloser(bytes.NewReader(body))
	resp.ContentLength = int64(len(body))
	return resp, nil
}

// CloseIdleConnections lets http.Client close what it no longer needs.
func (t *transport) CloseIdleConnections() {
	if c, ok := t.o.Base.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// looksLikeKey matches keys as Google and OpenAI issue them, also half masked,
// as servers quote them back.
var looksLikeKey = regexp.MustCompile(`\b(?:sk-|AIza)[-_A-Za-z0-9*.]{4,}|(?i:\bbearer)\s+\S+|(?i:[?&]key=)[^&\s"]+`)

// redact strikes out secrets.
func redact(text string, secrets []string) string {
	for _, secret := range secrets {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "[key]")
			text = strings.ReplaceAll(text, url.QueryEscape(secret), "[key]")
		}
	}
	return looksLikeKey.ReplaceAllString(text, "[key]")
}
