// Package gate limits how hard a provider is driven: so many requests at once,
// so many a second. A place is held only while a request runs, never while a
// caller waits to try again.
package gate

import (
	"context"
	"fmt"
	"math"

	"golang.org/x/time/rate"
)

// Gate is shared by the ports that use one model.
type Gate struct {
	places  chan struct{}
	limiter *rate.Limiter
}

// New returns a gate for maxConcurrent requests at once and perSecond requests
// a second (0 or +Inf: no limit), with bursts of one second's worth.
func New(maxConcurrent int, perSecond float64) *Gate {
	limit := rate.Inf
	burst := 1
	if perSecond > 0 && !math.IsInf(perSecond, 1) {
		limit, burst = rate.Limit(perSecond), max(1, int(perSecond))
	}
	return &Gate{
		places:  make(chan struct{}, max(1, maxConcurrent)),
		limiter: rate.NewLimiter(limit, burst),
	}
}

// Do runs f in a place, waiting for one, and for its turn, as long as the
// context lives. Its own errors wrap the context's, also when the wait would
// outlast the context's deadline.
func (g *Gate) Do(ctx context.Context, f func(ctx context.Context) error) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case g.places <- struct{}{}:
	}
	defer func() { <-g.places }()

	if err := g.limiter.Wait(ctx); err != nil {
		if ctxErr := ctx.Err(); ctxErr != nil {
			return ctxErr
		}
		return fmt.Errorf("rate limit of %v requests/s: %w", g.limiter.Limit(), context.DeadlineExceeded)
	}
	return f(ctx)
}
