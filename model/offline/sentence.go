package offline

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/hippocampus-memory/hippocampus/model"
)

// sentence is one sentence of a turn.
type sentence struct {
	turn     int    // index into Conversation.Turns
	text     string // trimmed, its closing sign included
	question bool
}

// sentencesOf cuts the turns of a conversation into sentences.
func sentencesOf(c *model.Conversation) []sentence {
	var all []sentence
	for i := range c.Turns {
		for _, text := range splitSentences(prose(c.Turns[i].Text)) {
			all = append(all, sentence{turn: i, text: text, question: isQuestion(text)})
		}
	}
	return all
}

// codeBlock is a fenced block, closed or not.
var codeBlock = regexp.MustCompile("(?s)```.*?(?:```|$)")

// prose is what a turn says without its blocks of code, unless it is all code.
func prose(text string) string {
	text = model.CleanText(text)
	if rest := codeBlock.ReplaceAllString(text, "\n"); strings.TrimSpace(rest) != "" {
		return rest
	}
	return text
}

// abbreviations end in a dot that ends no sentence.
var abbreviations = map[string]bool{
	"mr": true, "mrs": true, "ms": true, "dr": true, "prof": true, "st": true, "vs": true, "e.g": true, "i.e": true,
	"approx": true, "no": true, "jr": true, "sr": true, "inc": true,
}

// splitSentences cuts at line ends, at 。！？； and at . ! ? that end a word,
// except after an abbreviation or before a lower-case letter.
func splitSentences(text string) []string {
	runes := []rune(text)
	var out []string
	start := 0
	flush := func(end int) {
		if s := strings.TrimSpace(string(runes[start:end])); strings.ContainsFunc(s, func(r rune) bool {
			return unicode.IsLetter(r) || unicode.IsDigit(r)
		}) {
			out = append(out, s)
		}
		start = end
	}
	for i := 0; i < len(runes); i++ {
		switch r := runes[i]; r {
		case '\n', '\r':
			flush(i)
		case '。', '！', '？', '；', '.', '!', '?', '…':
			for i+1 < len(runes) && (strings.ContainsRune("。！？.!?…", runes[i+1]) || strings.ContainsRune("\"”’」』)）", runes[i+1])) {
				i++
			}
			if r < 0x80 && !endsSentence(runes, i, start) {
				continue
			}
			flush(i + 1)
		}
	}
	flush(len(runes))
	return out
}

// endsSentence judges . ! ? at position i of a sentence begun at start.
func endsSentence(runes []rune, i, start int) bool {
	if i+1 == len(runes) {
		return true
	}
	if !unicode.IsSpace(runes[i+1]) {
		return unicode.Is(unicode.Han, runes[i+1])
	}
	next := i + 1
	for next < len(runes) && unicode.IsSpace(runes[next]) {
		next++
	}
	if next < len(runes) && unicode.IsLower(runes[next]) && runes[i] == '.' {
		return lowerStyle(runes)
	}
	word := i
	for word > start && !unicode.IsSpace(runes[word-1]) {
		word--
	}
	return !abbreviations[strings.ToLower(string(runes[word:i]))] || runes[i] != '.'
}

// lowerStyle tells a text typed without capitals, in which a small letter after
// a full stop means nothing.
func lowerStyle(runes []rune) bool {
	for _, r := range runes {
		if unicode.IsUpper(r) && r != 'I' {
			return false
		}
	}
	return true
}

var chineseQuestions = []string{"是不是", "有没有", "能不能", "会不会", "要不要", "怎么", "为什么", "什么", "哪里", "哪个", "哪儿", "多少", "谁"}

// isQuestion judges by the closing sign and, for Chinese, by question words.
func isQuestion(text string) bool {
	trimmed := strings.TrimRight(text, " \"”’」』)）!！。.~～")
	if strings.HasSuffix(trimmed, "?") || strings.HasSuffix(trimmed, "？") {
		return true
	}
	if strings.HasSuffix(trimmed, "吗") || strings.HasSuffix(trimmed, "呢") {
		return true
	}
	for _, word := range chineseQuestions {
		if strings.Contains(trimmed, word) {
			return true
		}
	}
	return false
}
