package offline

import (
	_ "embed" // the word lists
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

//go:embed words/stop.en.txt
var stopEnglish string

//go:embed words/common.en.txt
var commonEnglish string

//go:embed words/stop.zh.txt
var stopChinese string

//go:embed words/irregular.en.txt
var irregularEnglish string

//go:embed words/places.zh.txt
var placesChinese string

// lexicon is what is known about words; read-only once made.
var lexicon = newLexicon()

type lexiconData struct {
	stop, common map[string]bool
	stopHan      map[rune]bool
	irregular    map[string]string // past tense or plural → base form
	places       map[string]bool   // provinces, cities and countries, in Chinese
}

func newLexicon() *lexiconData {
	l := &lexiconData{
		stop: map[string]bool{}, common: map[string]bool{},
		stopHan: map[rune]bool{}, irregular: map[string]string{}, places: map[string]bool{},
	}
	for _, w := range strings.Fields(stopEnglish) {
		l.stop[w] = true
	}
	for _, w := range strings.Fields(commonEnglish) {
		l.common[w] = true
	}
	for _, r := range stopChinese {
		if unicode.Is(unicode.Han, r) {
			l.stopHan[r] = true
		}
	}
	for _, w := range strings.Fields(placesChinese) {
		l.places[w] = true
	}
	for pair := range strings.Lines(irregularEnglish) {
		if form, base, found := strings.Cut(strings.TrimSpace(pair), " "); found {
			l.irregular[form] = base
		}
	}
	return l
}

// class is the kind of script a token is written in.
type class int

const (
	classNone   class = iota // punctuation and space: between tokens
	classWord                // letters and digits of scripts that separate words
	classCJK                 // Han and kana, which don't
	classSymbol              // emoji and other signs, one a token
)

// token is a run of one class: a word, an unbroken run of Han and kana, a sign.
type token struct {
	text  string // NFKC, lower case
	class class
}

func classOf(r rune) class {
	switch {
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) || r == 'ー' || r == '々':
		return classCJK
	case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
		return classWord
	case unicode.In(r, unicode.So, unicode.Sm, unicode.Sc):
		return classSymbol
	default:
		return classNone
	}
}

// tokenize cuts a text into tokens. An apostrophe inside a word belongs to it.
func tokenize(text string) []token {
	runes := []rune(strings.ToLower(norm.NFKC.String(text)))
	var tokens []token
	for i := 0; i < len(runes); {
		c := classOf(runes[i])
		j := i + 1
		switch c {
		case classNone:
			i = j
			continue
		case classWord, classCJK:
			for j < len(runes) && (classOf(runes[j]) == c || c == classWord && apostrophe(runes, j)) {
				j++
			}
		}
		word := strings.ReplaceAll(string(runes[i:j]), "’", "'")
		tokens = append(tokens, token{text: word, class: c})
		i = j
	}
	return tokens
}

func apostrophe(runes []rune, at int) bool {
	return (runes[at] == '\'' || runes[at] == '’') && at+1 < len(runes) && classOf(runes[at+1]) == classWord
}

// terms are the units two texts are compared by: stems of words without stop
// words, and pairs of Han characters.
func terms(text string) []string {
	var terms []string
	for _, t := range tokenize(text) {
		switch t.class {
		case classWord:
			if !lexicon.stop[t.text] {
				terms = append(terms, stem(t.text))
			}
		case classCJK:
			runes := []rune(t.text)
			if len(runes) == 1 {
				terms = append(terms, t.text)
			}
			for i := 0; i+1 < len(runes); i++ {
				if !lexicon.stopHan[runes[i]] || !lexicon.stopHan[runes[i+1]] {
					terms = append(terms, string(runes[i:i+2]))
				}
			}
		case classSymbol:
			terms = append(terms, t.text)
		}
	}
	return terms
}
