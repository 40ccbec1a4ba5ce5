package document

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"
)

// The kinds of terms, best first.
const (
	KindEntity  = "entity"
	KindProject = "project"
	KindHeading = "heading"
	KindBold    = "bold"
	KindWord    = "word"
)

const (
	// maxWitnesses is how many rows are remembered that say a term.
	maxWitnesses = 8
	// maxPhraseWords is how many words a term may have.
	maxPhraseWords = 5
	// maxPhraseHan is how many characters a term of a script without spaces may have.
	maxPhraseHan = 8
	// phraseShare is how much of a vocabulary is headings and bold terms, if there are so many.
	phraseShare = 0.6
	// commonShare is how many of all rows a single word may stand in, to tell them apart.
	commonShare = 0.1
	// pruneAt is how many words, and how many phrases, are counted before those are dropped that were seen least.
	pruneAt = 2_000_000
	// firstUnspaced is the first character of the scripts that are written without spaces.
	firstUnspaced = '\u0e01'
)

// stopHan are characters of Chinese that begin and end no term: particles, pronouns, conjunctions.
const stopHan = "的了是在和与或及不也都而就这那其之以为于把被让从到对将会能可要很更最个们它他她我你您有没无上下中里着过等该此但若因所并则又再只还才呢吗吧啊"

// Term is a term that a question may name.
type Term struct {
	Kind string
	Term string
	// DF is how many rows say it.
	DF int
	// Witnesses are those rows, where they are eight at most.
	Witnesses []uuid.UUID

	longer int // the greatest DF of a Chinese term that has this one within it
	row    int // the last that says it, by its number
	score  float64
	tf     int
}

// Vocabulary counts the terms of a corpus, row by row: phrases of headings and in bold, names, and
// single words. Chinese words are runs of two to four characters.
type Vocabulary struct {
	mostPhrases, mostWords int              // there may be, before those are dropped that were seen least
	phrases                map[string]*Term // by their words in lower case
	rows                   int
	words                  map[string]*Term
}

// NewVocabulary makes an empty one.
func NewVocabulary() *Vocabulary { return newVocabulary(pruneAt) }

func newVocabulary(most int) *Vocabulary {
	return &Vocabulary{mostPhrases: most, mostWords: most, phrases: map[string]*Term{}, words: map[string]*Term{}}
}

var (
	boldTerm = regexp.MustCompile(`\*\*([^*\n]{2,80})\*\*|__([^_\n]{2,80})__`)
	fence    = regexp.MustCompile("(?ms)^[ \t]*```.*?^[ \t]*```[ \t]*$")
	link     = regexp.MustCompile(`https?://\S+|\]\([^)\n]*\)`)
)

// Row is a row of a corpus.
type Row struct {
	Content string
	// Heading is the headings above it, with " > " between.
	Heading string
	ID      uuid.UUID
	// Name is the title of a document about an entity or a project, whose kind is NameKind.
	Name, NameKind string
}

// Add counts a row.
func (v *Vocabulary) Add(r *Row) {
	v.rows++
	if r.Name != "" {
		v.phrase(r.ID, r.Name, r.NameKind)
	}
	for part := range strings.SplitSeq(r.Heading, " > ") {
		v.phrase(r.ID, part, KindHeading)
	}
	text := r.Content
	if strings.Contains(text, "```") {
		text = fence.ReplaceAllString(text, " ")
	}
	if strings.Contains(text, "**") || strings.Contains(text, "__") {
		for _, m := range boldTerm.FindAllStringSubmatch(text, -1) {
			v.phrase(r.ID, cmp.Or(m[1], m[2]), KindBold)
		}
	}
	if strings.Contains(text, "](") || strings.Contains(text, "://") {
		text = link.ReplaceAllString(text, " ")
	}
	eachWord(text, func(w string, unspaced bool) {
		if unspaced {
			for _, term := range hanTerms(w) {
				v.word(r.ID, term)
			}
		} else if isWord(w) {
			v.word(r.ID, strings.ToLower(w))
		}
	})
	v.mostPhrases = prune(v.phrases, v.mostPhrases)
	v.mostWords = prune(v.words, v.mostWords)
}

// prune drops the terms that were seen least where there are more than so many, until half as many are left, so that
// not every further row is a walk through all. Names are kept, as each is a document's. It gives how many there may
// be next.
func prune(terms map[string]*Term, most int) (next int) {
	if len(terms) <= most {
		return most
	}
	const often = 1024
	var seen [often + 1]int // how many terms were seen so often
	for _, t := range terms {
		if !t.isName() {
			seen[min(t.tf, often)]++
		}
	}
	left, least := len(terms), 0
	for left > most/2 && least < often {
		least++
		left -= seen[least]
	}
	for name, t := range terms {
		if !t.isName() && min(t.tf, often) <= least {
			delete(terms, name)
		}
	}
	return max(most, 2*len(terms)) // more, where even the names are too many
}

// isName is whether a term is the title of a document about an entity or a project.
func (t *Term) isName() bool { return t.Kind == KindEntity || t.Kind == KindProject }

// eachWord gives the words of a text, and runs of a script without spaces.
func eachWord(text string, give func(word string, unspaced bool)) {
	const none, letters, run = 0, 1, 2
	state, from := none, 0
	for i, r := range text {
		next := none
		switch {
		case r < utf8.RuneSelf:
			if r|0x20 >= 'a' && r|0x20 <= 'z' || r >= '0' && r <= '9' || r == '_' && state == letters {
				next = letters
			}
		case isUnspacedRune(r):
			next = run
		case unicode.In(r, unicode.L, unicode.N) || state == letters && unicode.Is(unicode.M, r):
			next = letters
		}
		if next != state {
			if state != none {
				give(text[from:i], state == run)
			}
			state, from = next, i
		}
	}
	if state != none {
		give(text[from:], state == run)
	}
}

// phrase counts a heading, a bold term or a name, unless it is too long to be named.
func (v *Vocabulary) phrase(id uuid.UUID, text, kind string) {
	text = strings.Trim(strings.Join(strings.Fields(text), " "), " .,:;!?*_`'\"#()[]（）：。，、！？")
	n := 0
	eachWord(text, func(w string, unspaced bool) {
		n++
		if unspaced && utf8.RuneCountInString(w) > maxPhraseHan {
			n += maxPhraseWords
		}
	})
	if n == 0 || n > maxPhraseWords || len(text) > 200 || n == 1 && utf8.RuneCountInString(text) < 2 {
		return
	}
	v.count(v.phrases, id, strings.ToLower(text), text, kind)
}

func (v *Vocabulary) word(id uuid.UUID, text string) { v.count(v.words, id, text, text, KindWord) }

var kinds = []string{KindEntity, KindProject, KindHeading, KindBold, KindWord}

func (v *Vocabulary) count(terms map[string]*Term, id uuid.UUID, key, text, kind string) {
	t := terms[key]
	if t == nil {
		t = &Term{Kind: kind, Term: text}
		terms[key] = t
	}
	if t.Kind != kind && slices.Index(kinds, kind) < slices.Index(kinds, t.Kind) {
		t.Kind = kind
	}
	t.tf++
	if t.row == v.rows {
		return // a row counts once for a term
	}
	t.row = v.rows
	t.DF++
	switch {
	case t.DF <= maxWitnesses:
		t.Witnesses = append(t.Witnesses, id)
	default:
		t.Witnesses = nil
	}
}

// isWord leaves out numbers, and what is too short to mean one thing.
func isWord(w string) bool {
	n := utf8.RuneCountInString(w)
	return n >= 3 && n <= 40 && strings.ContainsFunc(w, unicode.IsLetter) && (w[0] < '0' || w[0] > '9')
}

// hanTerms are the runs of two to four characters that neither begin nor end with a particle.
func hanTerms(run string) []string {
	runes := []rune(run)
	var terms []string
	for i := range runes {
		if strings.ContainsRune(stopHan, runes[i]) {
			continue
		}
		for n := 2; n <= 4 && i+n <= len(runes); n++ {
			if !strings.ContainsRune(stopHan, runes[i+n-1]) {
				terms = append(terms, string(runes[i:i+n]))
			}
		}
	}
	return terms
}

// Terms gives the most telling terms, at most limit of them, best first within each kind: names, then
// phrases by (1 + ln DF) · IDF, then words by (1 + ln TF) · IDF. A word stands in two rows at least,
// and in no more than a tenth of all. isStop tells which words are stop words.
func (v *Vocabulary) Terms(limit int, isStop func(words []string) (map[string]bool, error)) ([]*Term, error) {
	idf := func(t *Term) float64 { return math.Log(float64(v.rows+1) / float64(t.DF)) }
	var names, phrases, words []*Term
	for _, t := range v.phrases {
		t.score = (1 + math.Log(float64(t.DF))) * idf(t)
		if t.isName() {
			names = append(names, t)
		} else {
			phrases = append(phrases, t)
		}
	}
	v.findLonger()
	for key, t := range v.words {
		if t.DF < 2 || float64(t.DF) > max(2, commonShare*float64(v.rows)) || v.phrases[key] != nil || within(key, t) {
			continue
		}
		t.score = (1 + math.Log(float64(t.tf))) * idf(t)
		words = append(words, t)
	}
	best(names)
	best(phrases)
	best(words)
	words = words[:min(len(words), 4*limit)] // of which few enough are stop words
	asked := make([]string, len(words))
	for i, t := range words {
		asked[i] = t.Term
	}
	stop, err := isStop(asked)
	if err != nil {
		return nil, err
	}
	words = slices.DeleteFunc(words, func(t *Term) bool { return stop[t.Term] })
	names = names[:min(len(names), limit)]
	left := limit - len(names)
	n := max(int(phraseShare*float64(left)), left-len(words))
	phrases = phrases[:min(len(phrases), n)]
	return slices.Concat(names, phrases, words[:min(len(words), left-len(phrases))]), nil
}

// findLonger notes for each Chinese term how often it stands within a longer one.
func (v *Vocabulary) findLonger() {
	for key, t := range v.words {
		if t.DF < 2 || !isUnspaced(key) {
			continue
		}
		runes := []rune(key)
		for n := 2; n < len(runes); n++ {
			for i := 0; i+n <= len(runes); i++ {
				if part := v.words[string(runes[i:i+n])]; part != nil {
					part.longer = max(part.longer, t.DF)
				}
			}
		}
	}
}

func isUnspaced(term string) bool {
	first, _ := utf8.DecodeRuneInString(term)
	return isUnspacedRune(first)
}

func isUnspacedRune(r rune) bool {
	return r >= firstUnspaced && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}

// within tells whether a Chinese term is a part of a longer one that stands in almost as many rows.
func within(key string, t *Term) bool {
	return isUnspaced(key) && float64(t.longer) >= 0.8*float64(t.DF)
}

func best(terms []*Term) {
	slices.SortFunc(terms, func(a, b *Term) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.Term, b.Term))
	})
}
