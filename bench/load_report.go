package bench

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hippocampus-memory/hippocampus/bench/report"
)

// ReportLoad adds a load run to a report.
func ReportLoad(r *report.Report, results *LoadResults) {
	r.Results = results
	o := results.Options
	rate := "as fast as they can"
	if o.Rate > 0 {
		rate = fmt.Sprintf("%.0f events/s each", o.Rate)
	}
	texts := fmt.Sprintf("synthetic texts of seed %d", o.Seed)
	if len(o.Texts) > 0 {
		texts = fmt.Sprintf("%d texts of conversations", len(o.Texts))
	}
	r.Fact("Load", "%d writers of %s, %s; %d readers; %d workers; %s", o.Writers, texts, rate, o.Readers, o.Workers, o.Duration)
	r.Fact("Throughput", "%.0f events/s, %.0f searches/s over %.1f s", results.EventRate, results.SearchRate, results.Seconds)
	if o.JobEvery > 0 {
		r.Fact("Consolidations", "%d asked for, one every %d events; %d had not ended when the clients stopped; %d failed",
			results.Jobs, o.JobEvery, results.Waiting, results.Failed)
	}
	t := &report.Table{
		Heads: []string{"what", "n", "p50", "p95", "p99", "max"},
		Notes: "Job to start is from the commit of a consolidation to its start by a worker; where consolidations wait for each other, that too.",
		Title: "Times (ms)",
	}
	for _, line := range []struct {
		what string
		of   Latency
	}{
		{fmt.Sprintf("append %d at once", o.Batch), results.Append},
		{"enqueue a consolidation", results.Enqueue},
		{"search", results.Search},
		{"job to start", results.Pickup},
		{"job to end", results.Done},
	} {
		if line.of.N > 0 {
			t.Row(line.what, line.of.N, line.of.P50, line.of.P95, line.of.P99, line.of.Max)
		}
	}
	errs := &report.Table{Heads: []string{"error", "n"}, Title: "Errors"}
	for _, what := range slices.Sorted(maps.Keys(results.Errors)) {
		errs.Row(what, results.Errors[what])
	}
	r.Tables = append(r.Tables, t)
	if len(errs.Rows) > 0 {
		r.Tables = append(r.Tables, errs)
	} else {
		r.Fact("Errors", "none")
	}
}
