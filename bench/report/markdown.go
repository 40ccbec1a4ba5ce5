package report

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// WriteMarkdown writes the report as Markdown. Image gives the name of the file in which it finds a
// plot, or nothing for a plot that has none.
func (r *Report) WriteMarkdown(w io.Writer, image func(*Plot) string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", r.Title)
	fmt.Fprintf(&b, "    %s\n\n", r.Command)
	if r.Stopped != "" {
		fmt.Fprintf(&b, "**The run was stopped before its end (%s); this is what there was.**\n\n", r.Stopped)
	}
	facts := []Fact{{"Started", r.Started.UTC().Format(time.RFC3339)}, {"Took", fmt.Sprintf("%.1f s", r.Seconds)}}
	if r.Environment != nil {
		facts = append(facts, r.Environment.facts()...)
	}
	b.WriteString("| | |\n|---|---|\n")
	for _, f := range append(facts, r.Facts...) {
		fmt.Fprintf(&b, "| %s | %s |\n", cell(f.Name), cell(f.Value))
	}
	for _, t := range r.Tables {
		t.markdown(&b)
	}
	for _, p := range r.Plots {
		if name := image(p); name != "" {
			fmt.Fprintf(&b, "\n![%s](%s)\n", p.Title, name)
		}
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

func (t *Table) markdown(b *strings.Builder) {
	fmt.Fprintf(b, "\n## %s\n\n", t.Title)
	if t.Notes != "" {
		fmt.Fprintf(b, "%s\n\n", t.Notes)
	}
	line := func(cells []string) {
		for _, c := range cells {
			fmt.Fprintf(b, "| %s ", cell(c))
		}
		b.WriteString("|\n")
	}
	line(t.Heads)
	b.WriteString("|---|" + strings.Repeat("--:|", len(t.Heads)-1) + "\n")
	for _, row := range t.Rows {
		line(row)
	}
}

// cell is a text as a cell of a table may hold it.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ").Replace(text)
}
