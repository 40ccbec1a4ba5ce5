package bench

import (
	"math"
	"slices"
	"time"
)

// Latency is a distribution of times, in milliseconds.
type Latency struct {
	N    int     `json:"n"`
	Mean float64 `json:"mean_ms"`
	P50  float64 `json:"p50_ms"`
	P95  float64 `json:"p95_ms"`
	P99  float64 `json:"p99_ms"`
	Max  float64 `json:"max_ms"`
}

// latency is the distribution of times, by nearest rank.
func latency(times []time.Duration) Latency {
	if len(times) == 0 {
		return Latency{}
	}
	sorted := slices.Sorted(slices.Values(times))
	var sum time.Duration
	for _, t := range sorted {
		sum += t
	}
	at := func(share float64) float64 {
		return milliseconds(sorted[max(0, int(math.Ceil(share*float64(len(sorted))))-1)])
	}
	return Latency{
		Max: milliseconds(sorted[len(sorted)-1]), Mean: milliseconds(sum) / float64(len(sorted)), N: len(sorted),
		P50: at(0.50), P95: at(0.95), P99: at(0.99),
	}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
