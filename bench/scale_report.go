package bench

import (
	"fmt"

	"github.com/hippocampus-memory/hippocampus/bench/report"
)

// ReportScale adds a scale run to a report.
func ReportScale(r *report.Report, results *ScaleResults, clients int) {
	r.Results = results
	r.Fact("Data", "synthetic, seed %d: %d memories of %d tenants, %d dimensions", results.Seed, results.Rows, results.Tenants, results.Dimension)
	if l := results.Load; l != nil && l.Reused {
		r.Fact("Load", "the corpus was there")
	} else if l != nil {
		r.Fact("Load", "%.1f s, %.0f memories/s with their words and vectors", l.Seconds, l.RowsPerSecond)
	}
	if results.Index > 0 {
		r.Fact("Vector indexes", "built in %.1f s, or found there", results.Index)
	}
	search := &report.Table{
		Heads: []string{"tenant", "p50", "p95", "p99", "words p50", "p95", fmt.Sprintf("%d clients p50", clients), "p95", "searches/s"},
		Notes: "search_memory for ten, warm, by words and vector; words: without a vector.",
		Title: "Search by size of tenant (ms)",
	}
	vector := &report.Table{
		Heads: []string{"tenant", "way", "recall@10 %", "bare p50 ms", "bare p95 ms", "search p50 ms", "search p95 ms", "overhead ms", "times"},
		Notes: "Search_memory by a vector alone beside the bare query for the ten nearest, exact or by the same index, under the same role and policies. " +
			"Recall is of the vector arm against an exact search; synthetic vectors are kinder to an index than real ones.",
		Title: "Vectors by size of tenant",
	}
	plot := &report.Plot{LogX: true, LogY: true, Name: "latency", Title: "Search by size of tenant", X: "memories of the tenant", Y: "ms"}
	lines := []struct {
		name string
		of   func(*TenantResult) float64
	}{
		{"search p50", func(t *TenantResult) float64 { return t.Search.P50 }},
		{"search p95", func(t *TenantResult) float64 { return t.Search.P95 }},
		{"words p50", func(t *TenantResult) float64 { return t.Words.P50 }},
		{"bare vector query p50", func(t *TenantResult) float64 { return t.Bare.P50 }},
		{fmt.Sprintf("search p95, %d clients", clients), func(t *TenantResult) float64 { return t.Many.P95 }},
	}
	plot.Series = make([]report.Series, len(lines))
	for _, t := range results.Measured {
		search.Row(t.User, t.Search.P50, t.Search.P95, t.Search.P99, t.Words.P50, t.Words.P95, t.Many.P50, t.Many.P95,
			fmt.Sprintf("%.0f", t.ManyRate))
		vector.Row(t.User, t.Way, t.VectorRecall, t.Bare.P50, t.Bare.P95, t.Vector.P50, t.Vector.P95, t.Vector.P50-t.Bare.P50,
			t.Vector.P50/max(t.Bare.P50, 1e-6))
		for i, line := range lines {
			plot.Series[i].Name = line.name
			if value := line.of(t); value > 0 {
				plot.Series[i].Points = append(plot.Series[i].Points, [2]float64{float64(t.Rows), value})
			}
		}
	}
	r.Tables = append(r.Tables, search, vector, sizeTable(results.Sizes))
	r.Plots = append(r.Plots, plot)
}

func sizeTable(sizes []*RelationSize) *report.Table {
	t := &report.Table{
		Heads: []string{"table", "rows", "table MiB", "indexes MiB"}, Notes: "All that the database holds, not this corpus alone.", Title: "Sizes",
	}
	for _, s := range sizes {
		t.Row(s.Table, s.Rows, float64(s.TableBytes)/(1<<20), float64(s.IndexBytes)/(1<<20))
	}
	return t
}
