package bench

import (
	"fmt"

	"github.com/hippocampus-memory/hippocampus/bench/report"
)

// What the two tiers should keep to.
const (
	targetShortTerm = 1.0  // ms, p50
	targetRecall    = 10.0 // ms, p95
	targetStore     = 50.0 // ms, p50
	targetMegabytes = 100.0
)

// ReportTiers adds a run to a report.
func ReportTiers(r *report.Report, results *TiersResults) {
	r.Results = results
	o := results.Options
	r.Fact("Data", "synthetic, seed %d: %d memories of %d personas", o.Scale.Seed, o.Scale.Rows, o.Scale.Tenants)
	if s := results.Sized; s != nil {
		r.Fact("Personas", "recall of %d of all sizes in turns, and of one with %d memories", len(results.Personas), s.Memories)
	}
	if results.AppendCPU > 0 {
		r.Fact("Processor", "%.2f ms an event, %.2f ms where a policy is enabled and the event urgent (%.2f times)",
			results.AppendCPU, results.PolicyCPU, results.PolicyCPU/results.AppendCPU)
	}
	megabytes, vectorIndexes := 0.0, 0.0
	parts := &report.Table{
		Heads: []string{"table", "MB", "vector indexes MB"},
		Notes: "Shares of what the tables of this database take, indexes included, in millions of bytes. Only personas with many memories have a vector index.",
		Title: "10,000 memories on disk",
	}
	for _, p := range results.Parts {
		megabytes += p.Bytes / 1e6
		vectorIndexes += p.VectorIndex / 1e6
		parts.Row(p.Table, p.Bytes/1e6, p.VectorIndex/1e6)
	}
	parts.Row("all", megabytes, vectorIndexes)
	targets := &report.Table{
		Heads: []string{"what", "n", "p50 ms", "p95 ms", "target", "met"},
		Notes: "Append and window are statements in one connection; recall goes through the service, bound to the persona, without counting the use.",
		Title: "Targets",
	}
	add := func(what string, l Latency, target float64, isP95 bool) {
		if l.N == 0 {
			return
		}
		percentile, value := "p50", l.P50
		if isP95 {
			percentile, value = "p95", l.P95
		}
		targets.Row(what, l.N, l.P50, l.P95, fmt.Sprintf("%s < %.0f ms", percentile, target), met(value < target))
	}
	add("append an event", results.Append, targetShortTerm, false)
	add("append an urgent event, policy enabled", results.Policy, targetShortTerm, false)
	add("read short-term memory", results.Window, targetShortTerm, false)
	add("recall the newest 50", results.Recall, targetRecall, true)
	add("recall by type and importance", results.Filtered, targetRecall, true)
	add("recall what is similar", results.Similar, targetRecall, true)
	if results.Sized != nil {
		for i, what := range []string{"recall the newest 50", "recall by type and importance", "recall what is similar"} {
			add(fmt.Sprintf("%s of %d memories", what, results.Sized.Memories), results.OfSized[i], targetRecall, true)
		}
	}
	add(fmt.Sprintf("write a consolidation of %d events", o.Batch), results.Store, targetStore, false)
	if megabytes > 0 {
		targets.Row("10,000 memories on disk", o.Scale.Rows, "", "", fmt.Sprintf("%.0f MB, is %.1f", targetMegabytes, megabytes), met(megabytes < targetMegabytes))
	}
	r.Tables = append(r.Tables, targets, parts)
}

func met(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}
