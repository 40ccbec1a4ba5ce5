package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// table prints rows in columns. Chinese and Japanese characters are two columns wide, which
// text/tabwriter does not know.
type table struct {
	cells [][]string
	out   io.Writer
}

func (a *app) table(heads ...string) *table { return newTable(a.stdout, heads...) }

func newTable(out io.Writer, heads ...string) *table {
	return &table{cells: [][]string{heads}, out: out}
}

func (t *table) row(cells ...any) {
	row := make([]string, len(cells))
	for i, cell := range cells {
		switch v := cell.(type) {
		case float64:
			row[i] = fmt.Sprintf("%.3f", v)
		case int:
			row[i] = thousands(int64(v))
		case int64:
			row[i] = thousands(v)
		default:
			row[i] = fmt.Sprint(v)
		}
	}
	t.cells = append(t.cells, row)
}

// printOr prints the table, or a sentence where it has no rows.
func (t *table) printOr(none string) error {
	if len(t.cells) > 1 {
		return t.print()
	}
	if _, err := fmt.Fprintln(t.out, none); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return nil
}

// nothing says that a list is empty, whose it would be, and how it comes to be otherwise.
func (a *app) nothing(what, next string) string {
	return fmt.Sprintf("The user %s of the app %s has %s. %s", a.userID, a.appName, what, next)
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
	if _, err := io.WriteString(t.out, b.String()); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return nil
}

// thousands writes a number with commas.
func thousands(n int64) string {
	if n > -1000 && n < 1000 {
		return strconv.FormatInt(n, 10)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), max(n%1000, -(n%1000)))
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
