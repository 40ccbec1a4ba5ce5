package model

import (
	"cmp"
	"fmt"
	"log/slog"
	"math"
	"time"
)

// Limits is how a provider that is reached over a network is driven. The zero
// value means the defaults.
type Limits struct {
	// ChatTimeout bounds one request to a language model, not counting the wait
	// for a turn. Defaults to 60 s.
	ChatTimeout time.Duration
	// EmbedTimeout bounds one request for vectors. Defaults to 30 s.
	EmbedTimeout time.Duration
	// Logger is told of retries. Defaults to none.
	Logger *slog.Logger
	// MaxConcurrent bounds the requests under way at once, those for vectors and
	// those to the language model each on their own. Defaults to 4.
	MaxConcurrent int
	// MaxInputChars bounds what one call may send, in characters: a
	// conversation, two statements, or one text to embed. Over it the call is
	// refused with KindRejected; the caller cuts. Defaults to 200,000.
	MaxInputChars int
	// RequestsPerSecond bounds the rate of requests, of each of the two kinds,
	// with bursts of one second's worth. Defaults to 10; +Inf lifts it.
	RequestsPerSecond float64
	// Retry is what happens after a passing failure.
	Retry Retry
}

// WithDefaults returns a copy with every unset field filled.
func (l Limits) WithDefaults() Limits {
	l.ChatTimeout = cmp.Or(l.ChatTimeout, time.Minute)
	l.EmbedTimeout = cmp.Or(l.EmbedTimeout, 30*time.Second)
	if l.Logger == nil {
		l.Logger = slog.New(slog.DiscardHandler)
	}
	l.MaxConcurrent = cmp.Or(l.MaxConcurrent, 4)
	l.MaxInputChars = cmp.Or(l.MaxInputChars, 200_000)
	l.RequestsPerSecond = cmp.Or(l.RequestsPerSecond, 10)
	l.Retry = l.Retry.WithDefaults()
	return l
}

// Validate refuses negative settings.
func (l Limits) Validate() error {
	for name, value := range map[string]float64{
		"chat timeout": float64(l.ChatTimeout), "embed timeout": float64(l.EmbedTimeout),
		"max concurrent": float64(l.MaxConcurrent), "max input chars": float64(l.MaxInputChars),
		"requests per second": l.RequestsPerSecond,
	} {
		if value < 0 || math.IsNaN(value) {
			return fmt.Errorf("%s must not be negative: %v", name, value)
		}
	}
	return l.Retry.Validate()
}
