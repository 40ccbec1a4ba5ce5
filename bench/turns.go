package bench

import "time"

const (
	turnLength = 25 // runs that a way has before another has its turn
	warmUp     = 5  // runs before the measured ones of a turn
)

// way is one of several things that are measured beside each other.
type way struct {
	run   func(i int) error
	times *[]time.Duration
	cpu   *float64 // what the measured runs took of the processor, if meter tells
}

// inTurns measures runs of each way, 0 to runs-1. The ways take turns of turnLength, each after warm runs that are not
// measured, so that all have the same conditions. Not turns of one run: one that follows another way finds the
// processor's caches full of what that one read, and no client alternates so.
func inTurns(runs, warm int, meter func() float64, bar Bar, ways ...way) error {
	for from := 0; from < runs; from += turnLength {
		to := min(runs, from+turnLength)
		for _, w := range ways {
			for i := range warm {
				if err := w.run(i % runs); err != nil {
					return err
				}
			}
			var before float64
			if w.cpu != nil {
				before = meter()
			}
			for i := from; i < to; i++ {
				start := time.Now()
				if err := w.run(i); err != nil {
					return err
				}
				*w.times = append(*w.times, time.Since(start))
			}
			if w.cpu != nil {
				*w.cpu += meter() - before
			}
		}
		bar.Add(to - from)
	}
	return nil
}
