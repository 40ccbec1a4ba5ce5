package document

import (
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
	heading string
	line    int // from 0
	section int
	text    string
	tokens  int
}

// Markdown cuts a Markdown document.
func (c Chunker) Markdown(source string) *Cut {
	title, blocks := markdownBlocks(source)
	return &Cut{Chunks: c.cut(blocks), Title: title}
}

// Text cuts a plain text, which has paragraphs and no headings.
func (c Chunker) Text(source string) *Cut {
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
	return &Cut{Chunks: c.cut(blocks)}
}

func (c Chunker) size(text string) int { return max(c.Count(text), len(text)/maxTokenBytes) }

func (c Chunker) cut(blocks []block) []Chunk {
	if c.MaxTokens == 0 {
		c.MaxTokens = 512
	}
	if c.MinTokens == 0 {
		c.MinTokens = 50
	}
	var pieces []piece
	for _, b := range blocks {
		for _, p := range c.split(b) {
			last := len(pieces) - 1
			if last >= 0 && pieces[last].section == p.section && pieces[last].tokens+p.tokens <= c.MaxTokens {
				pieces[last].text += p.text
				pieces[last].tokens += p.tokens
				continue
			}
			pieces = append(pieces, p)
		}
	}
	pieces = c.merge(pieces)
	chunks := make([]Chunk, 0, len(pieces))
	for _, p := range pieces {
		content := strings.TrimRight(p.text, " \t\r\n")
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
		heading := firstBytes(p.heading, maxHeading)
		chunks = append(chunks, Chunk{Content: content, Heading: heading, StartLine: start + 1, Tokens: c.Count(heading + "\n" + content)})
	}
	return chunks
}

// split gives a block as it is, or cut between lines where it is too large.
func (c Chunker) split(b block) []piece {
	p := piece{heading: b.heading, line: b.line, section: b.section, text: b.text, tokens: c.size(b.text)}
	if p.tokens <= c.MaxTokens {
		return []piece{p}
	}
	var pieces []piece
	line := b.line
	for _, text := range strings.SplitAfter(b.text, "\n") {
		for _, part := range c.splitLine(text) {
			tokens := c.size(part)
			last := len(pieces) - 1
			if last >= 0 && pieces[last].tokens+tokens <= c.MaxTokens {
				pieces[last].text += part
				pieces[last].tokens += tokens
			} else {
				pieces = append(pieces, piece{heading: b.heading, line: line, section: b.section, text: part, tokens: tokens})
			}
		}
		line++
	}
	return pieces
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
// the smaller one.
func (c Chunker) merge(pieces []piece) []piece {
	for i := 0; i < len(pieces) && len(pieces) > 1; {
		if pieces[i].tokens >= c.MinTokens {
			i++
			continue
		}
		into := i - 1
		if i == 0 || i+1 < len(pieces) && c.cost(pieces[i], pieces[i+1]) < c.cost(pieces[i], pieces[i-1]) {
			into = i
		}
		a, b := pieces[into], pieces[into+1]
		joined := piece{heading: a.heading, line: a.line, section: a.section, text: a.text + b.text, tokens: a.tokens + b.tokens}
		if b.tokens > a.tokens {
			joined.heading, joined.section = b.heading, b.section
		}
		pieces = append(append(pieces[:into:into], joined), pieces[into+2:]...)
		i = max(0, into)
	}
	return pieces
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
