package assembler

import (
	"container/heap"
	"strings"
	"unicode"

	"github.com/dlclark/regexp2/v2"
	"github.com/tiktoken-go/tokenizer"
)

// The library cuts a text into pieces by a pattern, and each piece into tokens. In release 0.10.0
// the engine generated for the pattern is wrong about one part of it, \s*[\r\n]+: of a blank run
// such as "\n \n" it takes the first line break alone, where the pattern takes all. So its counts
// of texts with blank lines that are not empty differ from OpenAI's, and its time grows with the
// square of such a run's length: a megabyte of " \n" takes ten minutes.
//
// A blankCounter finds those runs, counts them itself, and leaves all else to the library.
type blankCounter struct {
	pattern *regexp2.Regexp
	ranks   map[string]int // the tokens of which blank runs may consist
}

// patterns are the library's own; those of the older encodings have no such part.
var patterns = map[string]string{
	string(tokenizer.Cl100kBase): `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|` +
		`\s*[\r\n]+|\s+(?!\S)|\s+`,
	string(tokenizer.O200kBase): `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|` +
		`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|` +
		`\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`,
}

// spaces are all characters of white space.
const spaces = "\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a" +
	"\u2028\u2029\u202f\u205f\u3000"

func newBlankCounter(codec tokenizer.Codec, pattern string) *blankCounter {
	counter := &blankCounter{pattern: regexp2.MustCompile(pattern, regexp2.None), ranks: map[string]int{}}
	for id := range uint(1 << 18) {
		token, err := codec.Decode([]uint{id})
		if err == nil && isBlank(token) {
			counter.ranks[token] = int(id)
		}
	}
	return counter
}

// isBlank tells whether a token could be a part of white space: its bytes stand in some.
func isBlank(token string) bool {
	for i := range len(token) {
		if strings.IndexByte(spaces, token[i]) < 0 {
			return false
		}
	}
	return true
}

// hasBlankLine tells whether other white space stands between two line breaks, and nothing else.
func hasBlankLine(text string) bool {
	const none, lineBreak, space = 0, 1, 2
	seen := none
	for _, r := range text {
		switch {
		case r == '\n' || r == '\r':
			if seen == space {
				return true
			}
			seen = lineBreak
		case seen != none && unicode.IsSpace(r):
			seen = space
		default:
			seen = none
		}
	}
	return false
}

// count counts a text; plain counts the stretches between blank runs.
func (c *blankCounter) count(text string, plain func(string) int) int {
	runes := []rune(text)
	total, from := 0, 0
	match, err := c.pattern.FindRunesMatch(runes)
	for match != nil && err == nil {
		start, end := match.RuneIndex, match.RuneIndex+match.RuneLength
		until := blankEnd(runes, start, end)
		if until == end {
			match, err = c.pattern.FindNextMatch(match)
			continue
		}
		total += plain(string(runes[from:start])) + c.merge(string(runes[start:until]))
		from = until
		match, err = c.pattern.FindRunesMatchStartingAt(runes, until)
	}
	return total + plain(string(runes[from:]))
}

// blankEnd is where the piece should end that the library's engine ends at end: for white space
// that ends in a line break, after the last line break of the run.
func blankEnd(runes []rune, start, end int) int {
	if last := runes[end-1]; last != '\n' && last != '\r' {
		return end
	}
	for _, r := range runes[start:end] {
		if !unicode.IsSpace(r) {
			return end
		}
	}
	until := end
	for at := end; at < len(runes) && unicode.IsSpace(runes[at]); at++ {
		if runes[at] == '\n' || runes[at] == '\r' {
			until = at + 1
		}
	}
	return until
}

// merge counts the tokens of a blank piece: byte-pair encoding, from single bytes on, always of
// the pair that makes the token of the lowest rank, the leftmost first.
func (c *blankCounter) merge(piece string) int {
	if _, ok := c.ranks[piece]; ok {
		return 1
	}
	n := len(piece)
	next, previous := make([]int, n+1), make([]int, n+1) // of the part that begins at a byte
	for i := range n + 1 {
		next[i], previous[i] = i+1, i-1
	}
	var pairs pairHeap
	push := func(left int) {
		if left < 0 || next[left] >= n {
			return
		}
		end := next[next[left]]
		if rank, ok := c.ranks[piece[left:end]]; ok {
			heap.Push(&pairs, pair{end: end, left: left, rank: rank})
		}
	}
	for i := range n {
		push(i)
	}
	parts := n
	gone := make([]bool, n+1)
	for len(pairs) > 0 {
		p := heap.Pop(&pairs).(pair)
		if gone[p.left] || next[p.left] >= n || next[next[p.left]] != p.end {
			continue // one of its parts has been merged since
		}
		gone[next[p.left]] = true
		next[p.left] = p.end
		previous[p.end] = p.left
		parts--
		push(p.left)
		push(previous[p.left])
	}
	return parts
}

// pair is two neighbouring parts that make a token.
type pair struct{ rank, left, end int }

type pairHeap []pair

func (h pairHeap) Len() int      { return len(h) }
func (h pairHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *pairHeap) Push(x any)   { *h = append(*h, x.(pair)) }

func (h pairHeap) Less(i, j int) bool {
	return h[i].rank < h[j].rank || h[i].rank == h[j].rank && h[i].left < h[j].left
}

func (h *pairHeap) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}
