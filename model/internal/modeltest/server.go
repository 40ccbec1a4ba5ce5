// Package modeltest is a scripted HTTP server for the tests of providers.
package modeltest

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// Step answers one request.
type Step func(w http.ResponseWriter, r *http.Request)

// Request is what the server saw.
type Request struct {
	URL    string
	Header http.Header
	Body   map[string]any
}

// Server plays its steps in order and repeats the last.
type Server struct {
	*httptest.Server

	mu       sync.Mutex
	steps    []Step
	requests []Request
}

// New starts a server that ends with the test.
func New(t *testing.T, steps ...Step) *Server {
	t.Helper()
	s := &Server{steps: steps}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	data, _ := io.ReadAll(r.Body)
	seen := Request{URL: r.URL.String(), Header: r.Header.Clone()}
	_ = json.Unmarshal(data, &seen.Body)

	s.mu.Lock()
	step := s.steps[min(len(s.requests), len(s.steps)-1)]
	s.requests = append(s.requests, seen)
	s.mu.Unlock()
	step(w, r)
}

// Requests returns what was asked so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// JSON answers 200 with v as JSON.
func JSON(v any) Step {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	}
}

// Body answers with a status, headers (name, value, …) and a body as it is.
func Body(status int, body string, header ...string) Step {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// Break promises more than it sends and cuts the connection.
func Break() Step {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		_, _ = io.WriteString(w, `{"half`)
	}
}

// Never answers until the client goes away; asked is closed at the first request.
func Never() (step Step, asked <-chan struct{}) {
	signal := make(chan struct{})
	var once sync.Once
	return func(_ http.ResponseWriter, r *http.Request) {
		once.Do(func() { close(signal) })
		<-r.Context().Done()
	}, signal
}

// Waits collects what a Retry would have waited, without waiting.
type Waits struct {
	mu    sync.Mutex
	Slept []time.Duration
}

// Sleep is for model.Retry.Sleep.
func (w *Waits) Sleep(ctx context.Context, d time.Duration) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.Slept = append(w.Slept, d)
	return ctx.Err()
}

// Decode hands the JSON body of a request to f.
func Decode(t *testing.T, r *http.Request, f func(body map[string]any)) {
	t.Helper()
	var body map[string]any
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		t.Errorf("decode request: %v", err)
		return
	}
	f(body)
}

// Elsewhere is a transport that sends nothing and notes where it was to go.
type Elsewhere struct{ URLs []string }

// RoundTrip implements http.RoundTripper.
func (e *Elsewhere) RoundTrip(r *http.Request) (*http.Response, error) {
	e.URLs = append(e.URLs, r.URL.String())
	return nil, errors.New("nothing is sent")
}
