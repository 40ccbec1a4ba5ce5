package document

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Chunk is a piece of a document.
type Chunk struct {
	Content string `json:"content"`
	// Heading is the headings above it, outermost first, with " > " between.
	Heading string `json:"heading"`
	// StartLine is the line of the file at which it begins, from 1.
	StartLine int `json:"start_line"`
	// Tokens are those of heading and content.
	Tokens int `json:"token_count"`
}

// Cut is a document in pieces.
type Cut struct {
	// Title is what its front matter or its first heading of the first level says; may be empty.
	Title  string
	Chunks []Chunk
}

// Chunker cuts documents. A section (from one heading of the first or second level to the next) is a
// chunk. One of more than MaxTokens is cut between paragraphs, and a paragraph that is longer by
// itself between lines. A piece of fewer than MinTokens goes to a neighbour, which may then have up
// to MinTokens more than MaxTokens, unless it is all there is.
type Chunker struct {
	// Count counts tokens. Required.
	Count func(text string) int

	// MaxTokens is the size above which a section is cut.
	//
	// Defaults to 512.
	MaxTokens int

	// MinTokens is the size of the smallest chunk.
	//
	// Defaults to 50.
	MinTokens int
}

// maxTokenBytes is how many bytes count as a token at least: a run of blanks can be one token of any
// length, and a chunk may have 64 KiB.
const maxTokenBytes = 64

// maxHeading bounds a heading trail, in bytes.
const maxHeading = 1000

// piece is a run of lines that may become a chunk.
type piece struct {
	heading *heading
	line    int // from 0
	section int
	texts   []string // one after the other
	tokens  int
}

// Markdown cuts a Markdown document.
//
// Errors: the context's.
func (c Chunker) Markdown(ctx context.Context, source string) (*Cut, error) {
	title, blocks, err := markdownBlocks(ctx, source)
	if err != nil {
		return nil, err
	}
	chunks, err := c.cut(ctx, blocks)
	if err != nil {
		return nil, err
	}
	return &Cut{Chunks: chunks, Title: title}, nil
}

// Text cuts a plain text, which has paragraphs and no headings.
//
// Errors: the context's.
func (c Chunker) Text(ctx context.Context, source string) (*Cut, error) {
	var blocks []block
	lines := strings.SplitAfter(source, "\n")
	blank := true
	for i, line := range lines {
		now := strings.TrimSpace(line) == ""
		if !now && blank {
			blocks = append(blocks, block{line: i})
		}
		blank = now
	}
	fill(blocks, lines)
	chunks, err := c.cut(ctx, blocks)
	if err != nil {
		return nil, err
	}
	return &Cut{Chunks: chunks}, nil
}

// size is how many tokens a text counts as. One that is too large by its length alone is not counted: it is cut, and
// its parts are.
func (c Chunker) size(text string) int {
	least := len(text) / maxTokenBytes
	if least > c.MaxTokens {
		return least
	}
	return max(c.Count(text), least)
}

func (c Chunker) cut(ctx context.Context, blocks []block) ([]Chunk, error) {
	if c.MaxTokens == 0 {
		c.MaxTokens = 512
	}
	if c.MinTokens == 0 {
		c.MinTokens = 50
	}
	var pieces []piece
	for _, b := range blocks {
		parts, err := c.split(ctx, b)
		if err != nil {
			return nil, err
		}
		for _, p := range parts {
			last := len(pieces) - 1
			if last >= 0 && pieces[last].section == p.section && pieces[last].tokens+p.tokens <= c.MaxTokens {
				pieces[last].add(p)
				continue
			}
			pieces = append(pieces, p)
		}
	}
	pieces = c.merge(pieces)
	chunks := make([]Chunk, 0, len(pieces))
	for _, p := range pieces {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("cut a document: %w", err)
		}
		content := strings.TrimRight(strings.Join(p.texts, ""), " \t\r\n")
		start := p.line
		for {
			line, rest, found := strings.Cut(content, "\n")
			if !found || strings.TrimSpace(line) != "" {
				break
			}
			content = rest
			start++
		}
		if strings.TrimSpace(content) == "" {
			continue
		}
		trail := p.heading.trail()
		chunks = append(chunks, Chunk{Content: content, Heading: trail, StartLine: start + 1, Tokens: c.Count(trail + "\n" + content)})
	}
	return chunks, nil
}

// add puts a piece at the end of another one.
func (p *piece) add(next piece) {
	p.texts = append(p.texts, next.texts...)
	p.tokens += next.tokens
}

// split gives a block as it is, or cut between lines where it is too large.
func (c Chunker) split(ctx context.Context, b block) ([]piece, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("cut a document: %w", err)
	}
	p := piece{heading: b.heading, line: b.line, section: b.section, texts: []string{b.text}, tokens: c.size(b.text)}
	if p.tokens <= c.MaxTokens {
		return []piece{p}, nil
	}
	var pieces []piece
	line := b.line
	for text := range strings.SplitAfterSeq(b.text, "\n") {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("cut a document: %w", err)
		}
		for _, part := range c.splitLine(text) {
			next := piece{heading: b.heading, line: line, section: b.section, texts: []string{part}, tokens: c.size(part)}
			last := len(pieces) - 1
			if last >= 0 && pieces[last].tokens+next.tokens <= c.MaxTokens {
				pieces[last].add(next)
			} else {
				pieces = append(pieces, next)
			}
		}
		line++
	}
	return pieces, nil
}

// splitLine halves a line, between words where it has some, until its parts are small enough.
func (c Chunker) splitLine(line string) []string {
	if c.size(line) <= c.MaxTokens || utf8.RuneCountInString(line) < 2 {
		return []string{line}
	}
	at := len(line) / 2
	if space := strings.LastIndexByte(line[:at], ' '); space > at/2 {
		at = space + 1
	}
	for !utf8.RuneStart(line[at]) {
		at--
	}
	if at == 0 {
		_, at = utf8.DecodeRuneInString(line)
	}
	return append(c.splitLine(line[:at]), c.splitLine(line[at:])...)
}

// merge gives each piece that is too small to the neighbour that fits best: of its own section, then
// the smaller one. Each piece is looked at once: those before it are large enough for good.
func (c Chunker) merge(pieces []piece) []piece {
	var done []piece
	for i := 0; i < len(pieces); i++ {
		p := pieces[i]
		last := len(done) - 1
		switch {
		case p.tokens >= c.MinTokens, last < 0 && i+1 == len(pieces):
			done = append(done, p)
		case last < 0, i+1 < len(pieces) && c.cost(p, pieces[i+1]) < c.cost(p, done[last]):
			pieces[i+1] = joined(p, pieces[i+1])
		default:
			done[last] = joined(done[last], p)
		}
	}
	return done
}

// joined are two pieces as one, under the heading of the larger.
func joined(a, b piece) piece {
	heading, section := a.heading, a.section
	if b.tokens > a.tokens {
		heading, section = b.heading, b.section
	}
	a.add(b)
	a.heading, a.section = heading, section
	return a
}

func (c Chunker) cost(small, neighbour piece) int {
	cost := neighbour.tokens
	if small.section != neighbour.section {
		cost += c.MaxTokens
	}
	if small.tokens+neighbour.tokens > c.MaxTokens {
		cost += 4 * c.MaxTokens
	}
	return cost
}

func firstBytes(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}
