// Package report renders what a run measured: to a terminal, as Markdown with plots, and as JSON.
package report

import (
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// Report is a run of a benchmark.
type Report struct {
	// Title is what was measured.
	Title string `json:"title"`
	// Command is the command line.
	Command string `json:"command"`
	// Started is when it began.
	Started time.Time `json:"started"`
	// Seconds is how long it took.
	Seconds float64 `json:"seconds"`
	// Stopped is why the run did not come to its end; empty if it did.
	Stopped string `json:"stopped,omitempty"`
	// Environment is where it ran.
	Environment *Environment `json:"environment"`
	// Facts are what it ran on: data, sizes, seeds, settings.
	Facts []Fact `json:"facts"`
	// Tables are what it measured, as text.
	Tables []*Table `json:"-"`
	// Plots are drawn beside the Markdown.
	Plots []*Plot `json:"-"`
	// Results are what it measured, as numbers.
	Results any `json:"results"`
}

// Fact is a name and a value.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Table is rows of text. The first column is text, the others are numbers.
type Table struct {
	Title string
	Notes string
	Heads []string
	Rows  [][]string
}

// Fact adds a fact.
func (r *Report) Fact(name, format string, args ...any) {
	r.Facts = append(r.Facts, Fact{Name: name, Value: fmt.Sprintf(format, args...)})
}

// Row adds a row. Floats are printed with two digits.
func (t *Table) Row(cells ...any) {
	row := make([]string, len(cells))
	for i, cell := range cells {
		switch v := cell.(type) {
		case float64:
			row[i] = fmt.Sprintf("%.2f", v)
		default:
			row[i] = fmt.Sprint(v)
		}
	}
	t.Rows = append(t.Rows, row)
}

// WriteJSON writes the report as JSON.
func (r *Report) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(r); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}
