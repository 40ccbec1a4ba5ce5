package model

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// DefaultEmbedTokens is how much of a text its vector stands for where nothing else is configured, in tokens.
const DefaultEmbedTokens = 2_000

// EmbedChars is how many characters of a text its vector stands for at most: eight for each of the tokens that it may
// have, and no more than the embedder takes (0 is unknown). All that is embedded, what is stored and what is asked
// for, is the [Head] of so many tokens and characters.
func EmbedChars(maxTokens, embedderTakes int) int {
	if embedderTakes > 0 {
		return min(8*maxTokens, embedderTakes)
	}
	return 8 * maxTokens
}

// Head is the beginning of a text that has at most so many tokens, by count, and characters.
func Head(count func(text string) int, text string, maxTokens, maxChars int) string {
	whole := text
	text = FirstRunes(text, maxChars)
	for {
		tokens := count(text)
		if tokens <= maxTokens {
			if len(text) < len(whole) {
				text = endedWell(text, whole[len(text):])
			}
			return text
		}
		runes := utf8.RuneCountInString(text)
		keep := min(int(int64(runes)*int64(maxTokens)/int64(tokens)), runes-1)
		if keep < 1 {
			return FirstRunes(text, 1)
		}
		text = FirstRunes(text, keep)
	}
}

// endedWell is a head without the sentence, or else the word, in which it was cut off: half a word is another one. It
// gives up a quarter at most, so that a text without either is cut where it is.
func endedWell(head, rest string) string {
	next, size := utf8.DecodeRuneInString(rest)
	if !unicode.IsSpace(next) {
		size = 0
	}
	from := len(head) * 3 / 4
	end, last := 0, head[from:]+rest[:size]
	for _, sign := range []string{"\n", ". ", "! ", "? ", "。", "！", "？"} {
		if i := strings.LastIndex(last, sign); i >= 0 {
			end = max(end, from+i+len(sign))
		}
	}
	if end == 0 {
		if i := strings.LastIndexFunc(last, unicode.IsSpace); i >= 0 {
			_, size := utf8.DecodeRuneInString(last[i:])
			end = from + i + size
		}
	}
	if end == 0 {
		return head
	}
	return head[:min(end, len(head))]
}

// FirstRunes is the beginning of a text that has at most n characters.
func FirstRunes(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for i := range text {
		if n == 0 {
			return text[:i]
		}
		n--
	}
	return text
}
