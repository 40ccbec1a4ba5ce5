package worker_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

// The operations that the provider is asked for.
const (
	opEmbed     = "embed"
	opReflect   = "reflect"
	opSummarize = "summarize"
)

// server speaks as OpenAI does. It can be made to hold its answers to an operation, and to give
// others than the plain ones.
type server struct {
	*httptest.Server

	mu      sync.Mutex
	answers map[string]http.HandlerFunc
	asked   map[string]int
	arrived chan string              // an operation that is held
	held    map[string]chan struct{} // closed to let go
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{
		answers: map[string]http.HandlerFunc{}, arrived: make(chan string, 1000), asked: map[string]int{},
		held: map[string]chan struct{}{},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", s.chat)
	mux.HandleFunc("POST /v1/embeddings", s.embed)
	s.Server = httptest.NewServer(mux)
	t.Cleanup(func() {
		s.mu.Lock()
		for operation := range s.held {
			s.letGo(operation)
		}
		s.mu.Unlock()
		s.Close()
	})
	return s
}

// hold keeps the answers to an operation back until release.
func (s *server) hold(operation string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held[operation] = make(chan struct{})
}

func (s *server) release(operation string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.letGo(operation)
}

func (s *server) letGo(operation string) {
	if ch := s.held[operation]; ch != nil {
		close(ch)
		delete(s.held, operation)
	}
}

// answer makes the server give another answer to an operation; nil the plain one.
func (s *server) answer(operation string, with http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[operation] = with
}

// calls is how often an operation was asked for.
func (s *server) calls(operation string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[operation]
}

// serve answers an operation.
func (s *server) serve(w http.ResponseWriter, r *http.Request, operation string, plain http.HandlerFunc) {
	s.mu.Lock()
	s.asked[operation]++
	answer, held := s.answers[operation], s.held[operation]
	s.mu.Unlock()
	if held != nil {
		s.arrived <- operation
		select {
		case <-held:
		case <-r.Context().Done():
			return
		}
	}
	if answer == nil {
		answer = plain
	}
	answer(w, r)
}

func (s *server) chat(w http.ResponseWriter, r *http.Request) {
	var request struct {
		ResponseFormat any `json:"response_format"`
		Messages       []struct {
			Content string `json:"content"`
		} `json:"messages"`
	}
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if request.ResponseFormat == nil {
		s.serve(w, r, opSummarize, func(w http.ResponseWriter, _ *http.Request) { say(w, "They talked about sushi.") })
		return
	}
	s.serve(w, r, opReflect, func(w http.ResponseWriter, _ *http.Request) {
		say(w, `{"facts": [{"type": "preference", "key": "food", "value": "sushi", "confidence": 0.9, "intensity": 0.5,
			"valid_from": null, "sequences": [1]}], "insights": [{"content": "They like sushi.", "importance": "high", "sequences": [1]}]}`)
	})
}

// say is a whole answer of a language model.
func say(w http.ResponseWriter, text string) {
	_ = json.NewEncoder(w).Encode(map[string]any{
		"choices": []any{map[string]any{"finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": text}}},
		"usage":   map[string]any{"prompt_tokens": 10, "completion_tokens": 5},
	})
}

func (s *server) embed(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Input []string `json:"input"`
	}
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.serve(w, r, opEmbed, func(w http.ResponseWriter, _ *http.Request) {
		data := make([]any, len(request.Input))
		for i, text := range request.Input {
			vector := make([]float32, dbtest.DefaultDimension)
			vector[len(text)%len(vector)] = 1
			data[i] = map[string]any{"index": i, "embedding": vector}
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"data": data})
	})
}

func status(code int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
		fmt.Fprint(w, body)
	}
}

func requireNoContent(t *testing.T, log string) {
	t.Helper()
	require.NotContains(t, strings.ToLower(log), "sushi", "content in the log")
}
