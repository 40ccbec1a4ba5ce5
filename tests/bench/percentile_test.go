package bench

import (
	"slices"
	"testing"
	"time"
)

// latencies collects the time of each operation.
type latencies []time.Duration

// time runs fn and keeps how long it took.
func (l *latencies) time(fn func()) {
	start := time.Now()
	fn()
	*l = append(*l, time.Since(start))
}

// report prints percentiles beside the mean.
func (l latencies) report(b *testing.B) {
	b.Helper()
	if len(l) == 0 {
		return
	}
	slices.Sort(l)
	at := func(share float64) float64 {
		return float64(l[min(len(l)-1, int(share*float64(len(l))))].Microseconds()) / 1000
	}
	b.ReportMetric(at(0.50), "p50-ms")
	b.ReportMetric(at(0.95), "p95-ms")
	b.ReportMetric(at(0.99), "p99-ms")
}
