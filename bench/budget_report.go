package bench

import (
	"fmt"

	"github.com/hippocampus-memory/hippocampus/bench/dataset"
	"github.com/hippocampus-memory/hippocampus/bench/report"
)

// BudgetResults are the numbers of a budget run, for JSON.
type BudgetResults struct {
	Ingested *Ingested       `json:"ingested"`
	Windows  []*BudgetResult `json:"windows"`
}

// ReportBudget adds a budget run to a report.
func ReportBudget(r *report.Report, d *dataset.Dataset, done *Ingested, results []*BudgetResult) {
	r.Results = &BudgetResults{Ingested: done, Windows: results}
	reportData(r, d, done)
	all := &report.Table{
		Heads: []string{"window", "tokens", "evidence %", "all of it %", "tokens used", "over budget", "p50 ms", "p95 ms"},
		Notes: "Evidence is the share of the turns that answer a question whose text stands in its window, word for word.",
		Title: fmt.Sprintf("%s, evidence within a budget, %s", d.Name, d.Headline),
	}
	plot := &report.Plot{
		LogX: true, Name: "budget", Title: "Evidence by budget, " + d.Headline, X: "tokens", Y: "evidence in the window, %",
	}
	for _, w := range results {
		row := rowOf(w.Rows, d.Headline)
		if row == nil {
			continue
		}
		all.Row(w.Shares, w.Tokens, 100*row.Scores["recall"], 100*row.Scores["all"], fmt.Sprintf("%.0f", w.Used), w.Over,
			w.Window.P50, w.Window.P95)
		if n := len(plot.Series); n == 0 || plot.Series[n-1].Name != w.Shares {
			plot.Series = append(plot.Series, report.Series{Name: w.Shares})
		}
		s := &plot.Series[len(plot.Series)-1]
		s.Points = append(s.Points, [2]float64{float64(w.Tokens), 100 * row.Scores["recall"]})
	}
	r.Tables = append(r.Tables, all)
	if len(d.Rows) > 1 {
		r.Tables = append(r.Tables, budgetByGroup(d, results))
	}
	r.Plots = append(r.Plots, plot)
}

// budgetByGroup has a line for each group of questions, and a column for each window.
func budgetByGroup(d *dataset.Dataset, results []*BudgetResult) *report.Table {
	t := &report.Table{Heads: []string{"questions", "n"}, Title: d.Name + ", evidence in the window by group (%)"}
	for _, w := range results {
		head := fmt.Sprint(w.Tokens)
		if w.Shares == SharesMemory {
			head += " mem."
		}
		t.Heads = append(t.Heads, head)
	}
	for _, label := range d.Rows {
		var cells []any
		for _, w := range results {
			row := rowOf(w.Rows, label)
			if row == nil {
				break
			}
			if cells == nil {
				cells = []any{label, row.N}
			}
			cells = append(cells, 100*row.Scores["recall"])
		}
		if cells != nil {
			t.Row(cells...)
		}
	}
	return t
}
