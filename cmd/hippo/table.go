package main

import (
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// table prints rows in columns. Chinese and Japanese characters are two columns wide, which
// text/tabwriter does not know.
type table struct {
	a     *app
	cells [][]string
}

func (a *app) table(heads ...string) *table { return &table{a: a, cells: [][]string{heads}} }

func (t *table) row(cells ...any) {
	row := make([]string, len(cells))
	for i, cell := range cells {
		switch v := cell.(type) {
		case float64:
			row[i] = fmt.Sprintf("%.3f", v)
		default:
			row[i] = fmt.Sprint(v)
		}
	}
	t.cells = append(t.cells, row)
}

func (t *table) print() error {
	widths := make([]int, len(t.cells[0]))
	for _, row := range t.cells {
		for i, cell := range row {
			widths[i] = max(widths[i], columns(cell))
		}
	}
	var b strings.Builder
	for _, row := range t.cells {
		for i, cell := range row {
			b.WriteString(cell)
			if i < len(row)-1 {
				b.WriteString(strings.Repeat(" ", widths[i]-columns(cell)+2))
			}
		}
		b.WriteByte('\n')
	}
	if _, err := fmt.Fprint(t.a.stdout, b.String()); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return nil
}

// columns is how wide a terminal draws a text.
func columns(text string) int {
	n := 0
	for _, r := range text {
		switch kind := width.LookupRune(r).Kind(); {
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		case kind == width.EastAsianWide || kind == width.EastAsianFullwidth || r >= 0x1F300 && r <= 0x1FAFF:
			n += 2
		default:
			n++
		}
	}
	return n
}
