package worker

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/riverqueue/river/rivertype"
)

// pause is a time until which something is left alone.
type pause struct {
	mu    sync.Mutex
	until time.Time
}

// extend makes the pause last for at least d from now.
func (p *pause) extend(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if until := time.Now().Add(d); until.After(p.until) {
		p.until = until
	}
}

// remaining is how long the pause still lasts, 0 when it is over.
func (p *pause) remaining() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(0, time.Until(p.until))
}

// backoff is the wait before the next attempt: base, three times as long after each failure, at
// most limit, and up to a fifth more or less, so that those who failed together don't come back
// together.
func backoff(failures int, base, limit time.Duration) time.Duration {
	wait := base
	for i := 1; i < failures && wait < limit; i++ {
		wait *= 3
	}
	return jitter(min(wait, limit))
}

func jitter(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.8 + 0.4*rand.Float64())) //nolint:gosec // no secret
}

// retryPolicy is for the kinds that have none of their own. It never waits less than 10 seconds:
// River makes a job that waits less than 5 available at once, and of those that triggers enqueue
// only one of a kind may be available.
type retryPolicy struct{}

// NextRetry is when a failed job is tried again.
func (retryPolicy) NextRetry(job *rivertype.JobRow) time.Time {
	return time.Now().Add(backoff(job.Attempt, 15*time.Second, 10*time.Minute))
}
