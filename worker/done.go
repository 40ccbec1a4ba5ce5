package worker

import "time"

// Done is what a worker has done since it was made.
type Done struct {
	// Consolidations is how many have ended well, Failed how many have failed for good.
	Consolidations, Failed int64
	// Embedded is how many rows embedding jobs gave a vector; consolidations embed their own.
	Embedded int64
	// Counted is how many rows had their tokens counted.
	Counted int64
	// Storing is how long the transactions took that stored what consolidations made.
	Storing time.Duration
}

// Done tells what this worker has done.
func (w *Worker) Done() Done {
	return Done{Consolidations: w.finished.Load(), Counted: w.counted.Load(), Embedded: w.embedded.Load(), Failed: w.failed.Load(), Storing: time.Duration(w.storing.Load())}
}

// wrote counts a transaction that stored what a consolidation made.
func (w *Worker) wrote(took time.Duration) {
	w.storing.Add(int64(took))
	w.metrics.storeSeconds.Observe(took.Seconds())
}
