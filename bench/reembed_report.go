package bench

import "github.com/hippocampus-memory/hippocampus/bench/report"

// ReportReembed adds a re-embedding run to a report.
func ReportReembed(r *report.Report, results *ReembedResults) {
	r.Results = results
	r.Fact("Data", "synthetic: %d memories of %d tenants", results.Rows, results.Tenants)
	r.Fact("Models", "from %s to %s", results.From, results.To)
	if results.First > 1 {
		r.Fact("First embedding", "%.1f s", results.First)
	}
	if results.KilledAt > 0 {
		r.Fact("Killed", "at %d vectors, and started again", results.KilledAt)
	}
	r.Fact("Filled", "in %.1f s under reads and writes; switched in %.3f s; the old vectors dropped in %.1f s",
		results.Fill, results.Switch, results.Drop)
	r.Fact("Searches meanwhile", "%d failed, %d went without vectors, %d found nothing", results.Failed, results.Degraded, results.Empty)
	r.Fact("Written meanwhile", "%d memories; %d rows lacked a vector of the new model when it was whole", results.Written, results.Lacking)
	r.Fact("Before and after", "%d of %d questions gave the same memories with the same scores; %.1f %% of the memories are found by both",
		results.Same, results.Compared, 100*results.Shared)
	t := &report.Table{Heads: []string{"when", "n", "p50", "p95", "p99", "max"}, Title: "Searches about the change (ms)"}
	for _, line := range []struct {
		when string
		of   Latency
	}{{"before", results.Before}, {"while it was filled", results.During}, {"after the switch, new model", results.After}} {
		t.Row(line.when, line.of.N, line.of.P50, line.of.P95, line.of.P99, line.of.Max)
	}
	r.Tables = append(r.Tables, t)
}
