package dbtest

import (
	"sync"
	"time"
)

// Epoch is the time at which a new [Clock] stands, a Monday at noon.
var Epoch = time.Date(2026, time.January, 5, 12, 0, 0, 0, time.UTC)

// Clock stands still until it is moved. Its zero value stands at [Epoch]. It is safe for
// concurrent use.
type Clock struct {
	mu     sync.Mutex
	offset time.Duration
}

// Now is the clock's time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Epoch.Add(c.offset)
}

// Advance moves the clock, and gives its new time.
func (c *Clock) Advance(d time.Duration) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offset += d
	return Epoch.Add(c.offset)
}
