package document

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// sectionLevel is the deepest level of heading that begins a section.
const sectionLevel = 2

// block is a paragraph, a list, a table, a heading: what is not cut unless it must be.
type block struct {
	heading *heading
	line    int // from 0
	section int
	text    string // up to the next block
}

// heading is a heading and those above it. A document may have as many as lines, and a chunk needs the names of a few.
type heading struct {
	above *heading
	level int
	raw   string // with its marks
}

// under gives a heading its place below those of a lower level.
func (h *heading) under(level int, raw string) *heading {
	for h != nil && h.level >= level {
		h = h.above
	}
	return &heading{above: h, level: level, raw: raw}
}

// trail is the names of a heading and of those above it, outermost first.
func (h *heading) trail() string {
	var names []string
	for ; h != nil; h = h.above {
		if name := plain(h.raw); name != "" {
			names = append(names, name)
		}
	}
	slices.Reverse(names)
	return firstBytes(strings.Join(names, " > "), maxHeading)
}

// newBlockParser makes a parser of what a document is cut by, and of nothing else: what stands within a paragraph is
// not looked at, for which some texts would take hours.
func newBlockParser() parser.Parser {
	return parser.NewParser(parser.WithBlockParsers(parser.DefaultBlockParsers()...))
}

// maxIndent is how far into a line a quotation or a list may begin, in bytes.
const maxIndent = 100

// markers are what a quotation or a list begins with, after blanks.
var markers = regexp.MustCompile(`^[ \t]*(?:>|[-+*](?:[ \t]|$)|[0-9]{1,9}[.)](?:[ \t]|$))`)

// shallow is a document, byte by byte, without the quotations and lists that begin far into their lines: a line of
// nothing but these would nest as deep as it is long, for which a parser takes the square of that, or more.
func shallow(lines []string) []byte {
	var body []byte
	for _, line := range lines {
		at := len(body)
		body = append(body, line...)
		text := strings.TrimRight(line, "\r\n")
		for i := 0; i < len(text); {
			marker := markers.FindStringIndex(text[i:])
			if marker == nil {
				break
			}
			if i += marker[1]; i > maxIndent {
				blanks := len(text[i-marker[1]:]) - len(strings.TrimLeft(text[i-marker[1]:], " \t"))
				body[at+i-marker[1]+blanks] = 'x'
				break
			}
		}
	}
	return body
}

// markdownBlocks finds the blocks of a Markdown document, and its title. Together they are the
// document without its front matter.
func markdownBlocks(ctx context.Context, source string) (title string, blocks []block, err error) {
	lines := strings.SplitAfter(source, "\n")
	title, skipped := frontMatter(lines)
	body := shallow(lines[skipped:])
	lineOf := lineFinder(body)
	var (
		above   *heading
		section int
		bare    bool // a heading that has nothing below it yet
	)
	for n := newBlockParser().Parse(text.NewReader(body)).FirstChild(); n != nil; n = n.NextSibling() {
		if err := ctx.Err(); err != nil {
			return "", nil, fmt.Errorf("cut a document: %w", err)
		}
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
			above = above.under(h.Level, rawHeading(h, body))
			if h.Level <= sectionLevel {
				section++
			}
			if title == "" && h.Level == 1 {
				title = plain(above.raw)
			}
		}
		blocks = append(blocks, block{heading: above, line: skipped + line, section: section})
	}
	if len(blocks) == 0 && strings.TrimSpace(string(body)) != "" {
		blocks = []block{{line: skipped}}
	}
	if len(blocks) > 0 {
		blocks[0].line = skipped // with comments that stand before
	}
	fill(blocks, lines)
	return firstBytes(title, maxHeading), blocks, nil
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

// rawHeading is what a heading says, with its marks, on one line; of a long one the beginning, which is more than a
// trail has room for.
func rawHeading(h *ast.Heading, source []byte) string {
	var b strings.Builder
	for _, segment := range h.Lines().Sliced(0, h.Lines().Len()) {
		b.Write(segment.Value(source))
		if b.Len() > 2*maxHeading {
			break
		}
		b.WriteByte(' ')
	}
	return firstBytes(b.String(), 2*maxHeading)
}

// plain is the text of a heading without its marks.
func plain(heading string) string {
	if !strings.ContainsAny(heading, "`*_[]<>&\\!") {
		return oneName(heading)
	}
	source := []byte("# " + heading)
	var b strings.Builder
	_ = ast.Walk(goldmark.DefaultParser().Parse(text.NewReader(source)), func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the visitor has no errors
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
	return oneName(b.String())
}

// oneName is a name in which none that stands beside it in a trail can begin.
func oneName(name string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(name, " > ", " ")), " ")
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
