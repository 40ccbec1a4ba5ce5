package document

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// sectionLevel is the deepest level of heading that begins a section.
const sectionLevel = 2

// block is a paragraph, a list, a table, a heading: what is not cut unless it must be.
type block struct {
	heading string
	line    int // from 0
	section int
	text    string // up to the next block
}

// markdownBlocks finds the blocks of a Markdown document, and its title. Together they are the
// document without its front matter.
func markdownBlocks(source string) (title string, blocks []block) {
	lines := strings.SplitAfter(source, "\n")
	title, skipped := frontMatter(lines)
	body := []byte(strings.Join(lines[skipped:], ""))
	lineOf := lineFinder(body)
	var (
		trail   [6]string
		section int
		bare    bool // a heading that has nothing below it yet
	)
	heads := func() string {
		var parts []string
		for _, part := range trail {
			if part != "" {
				parts = append(parts, part)
			}
		}
		return strings.Join(parts, " > ")
	}
	for n := goldmark.DefaultParser().Parse(text.NewReader(body)).FirstChild(); n != nil; n = n.NextSibling() {
		at, ok := firstByte(n)
		if !ok {
			continue // a rule, or an empty block of code: it stays with what stands before it
		}
		line := lineOf(at)
		if n.Kind() == ast.KindFencedCodeBlock && line > 0 {
			line-- // the fence
		}
		h, isHeading := n.(*ast.Heading)
		if bare && !isHeading { // a heading is not parted from what it is of
			bare = false
			continue
		}
		bare = isHeading
		if isHeading {
			name := plain(n, body)
			trail[h.Level-1] = name
			clear(trail[h.Level:])
			if h.Level <= sectionLevel {
				section++
			}
			if title == "" && h.Level == 1 {
				title = name
			}
		}
		blocks = append(blocks, block{heading: heads(), line: skipped + line, section: section})
	}
	if len(blocks) == 0 && strings.TrimSpace(string(body)) != "" {
		blocks = []block{{line: skipped}}
	}
	if len(blocks) > 0 {
		blocks[0].line = skipped // with link definitions and comments that stand before
	}
	fill(blocks, lines)
	return firstBytes(title, maxHeading), blocks
}

// fill gives each block the lines up to the next one.
func fill(blocks []block, lines []string) {
	for i := range blocks {
		end := len(lines)
		if i+1 < len(blocks) {
			end = blocks[i+1].line
		}
		blocks[i].text = strings.Join(lines[blocks[i].line:max(blocks[i].line, end)], "")
	}
}

// frontMatter gives the title that the front matter of a document says, and how many lines it has.
func frontMatter(lines []string) (title string, skip int) {
	if len(lines) == 0 || strings.TrimRight(lines[0], " \r\n") != "---" {
		return "", 0
	}
	for i, line := range lines[1:] {
		line = strings.TrimRight(line, " \r\n")
		if line == "---" || line == "..." {
			return title, i + 2
		}
		if value, ok := strings.CutPrefix(line, "title:"); ok {
			title = strings.Trim(strings.TrimSpace(value), `"'`)
		}
	}
	return "", 0 // it never ends: it was a rule
}

// firstByte is where the text of a node begins.
func firstByte(n ast.Node) (int, bool) {
	if n.Type() == ast.TypeBlock && n.Lines() != nil && n.Lines().Len() > 0 {
		return n.Lines().At(0).Start, true
	}
	for child := n.FirstChild(); child != nil && child.Type() == ast.TypeBlock; child = child.NextSibling() {
		if at, ok := firstByte(child); ok {
			return at, true
		}
	}
	return 0, false
}

// plain is the text of a heading without its marks.
func plain(n ast.Node, source []byte) string {
	var b bytes.Buffer
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the visitor has no errors
		switch t := n.(type) {
		case *ast.Text:
			if entering {
				b.Write(t.Segment.Value(source))
			}
		case *ast.String:
			if entering {
				b.Write(t.Value)
			}
		}
		return ast.WalkContinue, nil
	})
	return strings.Join(strings.Fields(strings.ReplaceAll(b.String(), " > ", " ")), " ")
}

// lineFinder tells the line of a byte; bytes are asked for in rising order.
func lineFinder(source []byte) func(at int) int {
	line, seen := 0, 0
	return func(at int) int {
		if at < seen {
			line, seen = 0, 0
		}
		line += bytes.Count(source[seen:at], []byte("\n"))
		seen = at
		return line
	}
}
