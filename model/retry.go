package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sethvargo/go-retry"
)

// Retry repeats a call to a provider that failed for a passing reason:
// KindRateLimited or KindUnavailable. It waits with exponential back-off and
// jitter, or as long as the provider asked if that is longer, and gives the
// last error to the caller when it gives up. It is meant for the blink of an
// eye; patience is the job layer's.
//
// The zero value is ready to use.
type Retry struct {
	// BaseDelay is the wait before the second attempt, doubled for each one
	// after it, each ± 50 % at random. Defaults to 500 ms.
	BaseDelay time.Duration
	// MaxAttempts counts all attempts, the first included. Defaults to 3.
	MaxAttempts int
	// MaxDelay bounds one wait. When the provider asks for more, Retry gives up
	// at once rather than waiting less than it was told. Defaults to 20 s.
	MaxDelay time.Duration
	// MaxElapsed: no attempt starts later than this after the first. Defaults
	// to 2 min.
	MaxElapsed time.Duration
	// OnRetry is called before each wait with the number of the attempt that
	// failed, from 1. Optional.
	OnRetry func(ctx context.Context, attempt int, wait time.Duration, err error)

	// Now is the clock. Defaults to time.Now.
	Now func() time.Time
	// Sleep waits, or returns early with the context's error. Defaults to a timer.
	Sleep func(ctx context.Context, d time.Duration) error
}

// WithDefaults returns a copy with every unset field filled.
func (r Retry) WithDefaults() Retry {
	r.BaseDelay = cmp.Or(r.BaseDelay, 500*time.Millisecond)
	r.MaxAttempts = cmp.Or(r.MaxAttempts, 3)
	r.MaxDelay = cmp.Or(r.MaxDelay, 20*time.Second)
	r.MaxElapsed = cmp.Or(r.MaxElapsed, 2*time.Minute)
	if r.OnRetry == nil {
		r.OnRetry = func(context.Context, int, time.Duration, error) {}
	}
	if r.Now == nil {
		r.Now = time.Now
	}
	if r.Sleep == nil {
		r.Sleep = sleep
	}
	return r
}

// Validate refuses negative settings.
func (r Retry) Validate() error {
	if r.BaseDelay < 0 || r.MaxAttempts < 0 || r.MaxDelay < 0 || r.MaxElapsed < 0 {
		return fmt.Errorf("retry settings must not be negative: base delay %s, attempts %d, max delay %s, max elapsed %s",
			r.BaseDelay, r.MaxAttempts, r.MaxDelay, r.MaxElapsed)
	}
	return nil
}

// Do calls f until it succeeds, fails for good, or the limits are reached.
// A context that ends is never counted as a failure of the provider: Do
// returns the context's error.
func (r Retry) Do(ctx context.Context, f func(ctx context.Context) error) error {
	r = r.WithDefaults()
	backoff := retry.WithCappedDuration(r.MaxDelay,
		retry.WithJitterPercent(50, retry.NewExponential(r.BaseDelay)))
	start := r.Now()

	for attempt := 1; ; attempt++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := f(ctx)
		if err == nil {
			return nil
		}
		var failure *Error
		if !errors.As(err, &failure) || !passing(failure.Kind) || attempt >= r.MaxAttempts {
			return err
		}
		wait, _ := backoff.Next()
		if failure.RetryAfter > r.MaxDelay {
			return err
		}
		wait = max(wait, failure.RetryAfter)
		if r.Now().Add(wait).Sub(start) > r.MaxElapsed {
			return err
		}
		r.OnRetry(ctx, attempt, wait, err)
		if err := r.Sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// passing kinds are retried here. An invalid reply is not: who reads replies
// asks again once, and after that the job layer decides.
func passing(kind ErrorKind) bool { return kind == KindRateLimited || kind == KindUnavailable }

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
