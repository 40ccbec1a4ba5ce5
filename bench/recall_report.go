package bench

import (
	"encoding/json"
	"fmt"

	"github.com/hippocampus-memory/hippocampus/bench/dataset"
	"github.com/hippocampus-memory/hippocampus/bench/metric"
	"github.com/hippocampus-memory/hippocampus/bench/report"
)

// RecallResults are the numbers of a recall run, for JSON.
type RecallResults struct {
	Ingested *Ingested        `json:"ingested"`
	Tables   []*Table         `json:"tables"`
	Ranking  json.RawMessage  `json:"ranking"`
	Search   Latency          `json:"search"`
	Variants []*VariantResult `json:"variants,omitempty"`
	// SummariesInTopTen is the share of the first ten places that summaries took.
	SummariesInTopTen float64 `json:"summaries_in_top_ten"`
}

// recallColumns are the metrics that a table shows.
var recallColumns = []struct{ head, name string }{
	{"R@1", metric.At("recall", 1)},
	{"R@5", metric.At("recall", 5)},
	{"R@10", metric.At("recall", 10)},
	{"R@20", metric.At("recall", 20)},
	{"hit@1", metric.At("hit", 1)},
	{"hit@5", metric.At("hit", 5)},
	{"hit@10", metric.At("hit", 10)},
	{"all@10", metric.At("all", 10)},
	{"full@5", metric.At("full", 5)},
	{"NDCG@10", metric.NDCG10},
	{"MRR", metric.MRR},
}

// ReportRecall adds a recall run to a report.
func ReportRecall(r *report.Report, d *dataset.Dataset, done *Ingested, result *RecallResult, variants []*VariantResult) {
	results := &RecallResults{
		Ingested: done, Ranking: result.Ranking, Search: result.Search, SummariesInTopTen: result.Summaries, Tables: Score(d, result.Answers), Variants: variants,
	}
	r.Results = results
	reportData(r, d, done)
	r.Fact("Ranking", "the setting %s: %s", result.RankingKey, result.Ranking)
	r.Fact("Search", "p50 %.1f, p95 %.1f, p99 %.1f ms over %d, without the embedding of the query", result.Search.P50, result.Search.P95,
		result.Search.P99, result.Search.N)
	r.Fact("Summaries", "%.1f %% of the first ten places", 100*result.Summaries)
	for _, t := range results.Tables {
		r.Tables = append(r.Tables, t.report(fmt.Sprintf("%s, by %s (%%)", d.Name, t.Level)))
	}
	if len(variants) > 0 {
		r.Tables = append(r.Tables, ablationTable(d, results))
	}
	r.Plots = append(r.Plots, recallPlot(d, results.Tables))
}

// reportData says what a run is on.
func reportData(r *report.Report, d *dataset.Dataset, done *Ingested) {
	r.Fact("Data", "%s: %d conversations, %d sessions, %d events, %d questions", d.Name, done.Conversations, done.Sessions, done.Events,
		len(d.Questions))
	if len(d.Excluded) > 0 {
		n := 0
		for _, excluded := range d.Excluded {
			n += excluded
		}
		r.Fact("Questions left out", "%d, without evidence that is there", n)
	}
	r.Fact("Ingest", "%.1f s; %d of the conversations were there", done.Seconds, done.Reused)
}

func (t *Table) report(title string) *report.Table {
	out := &report.Table{Title: title, Heads: []string{"questions", "n"}}
	if len(t.Rows) == 0 {
		return out
	}
	for _, c := range recallColumns {
		if _, ok := t.Rows[0].Scores[c.name]; ok {
			out.Heads = append(out.Heads, c.head)
		}
	}
	for _, row := range t.Rows {
		cells := []any{row.Label, row.N}
		for _, c := range recallColumns {
			if score, ok := row.Scores[c.name]; ok {
				cells = append(cells, 100*score)
			}
		}
		out.Row(cells...)
	}
	return out
}

// ablationTable has a line for each variant, with the headline.
func ablationTable(d *dataset.Dataset, results *RecallResults) *report.Table {
	t := &report.Table{
		Heads: []string{
			"variant", "turn R@5", "R@10", "R@20", "all@10", "NDCG@10", "MRR", "session R@5", "all@10", "MRR", "better", "worse", "p50 ms",
		},
		Notes: "Better and worse count the questions whose turn R@10 is another than with the app's setting.",
		Title: fmt.Sprintf("Rankings, %s (%%)", d.Headline),
	}
	line := func(name string, tables []*Table, search Latency, better, worse any) {
		cells := []any{name}
		for level, names := range [][]string{
			{"recall@5", "recall@10", "recall@20", "all@10", metric.NDCG10, metric.MRR},
			{"recall@5", "all@10", metric.MRR},
		} {
			row := headlineOf(d, tables, []string{LevelTurn, LevelSession}[level])
			for _, name := range names {
				cells = append(cells, 100*row.Scores[name])
			}
		}
		t.Row(append(cells, better, worse, search.P50)...)
	}
	line("as set", results.Tables, results.Search, "", "")
	for _, v := range results.Variants {
		line(v.Name, v.Tables, v.Search, v.Better, v.Worse)
	}
	return t
}

func headlineOf(d *dataset.Dataset, tables []*Table, level string) *Row {
	for _, t := range tables {
		if t.Level == level {
			if row := t.Row(d.Headline); row != nil {
				return row
			}
		}
	}
	return &Row{Label: d.Headline}
}

// recallPlot draws recall by k, at each level.
func recallPlot(d *dataset.Dataset, tables []*Table) *report.Plot {
	p := &report.Plot{LogX: true, Name: "recall", Title: fmt.Sprintf("Recall by k, %s", d.Headline), X: "k", Y: "recall, %"}
	for _, t := range tables {
		row := t.Row(d.Headline)
		if row == nil {
			continue
		}
		s := report.Series{Name: t.Level}
		for _, k := range metric.Cutoffs {
			s.Points = append(s.Points, [2]float64{float64(k), 100 * row.Scores[metric.At("recall", k)]})
		}
		p.Series = append(p.Series, s)
	}
	return p
}
