package offline

import (
	"cmp"
	"context"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hippocampus-memory/hippocampus/model"
	"github.com/hippocampus-memory/hippocampus/model/internal/chat"
)

// The length of a summary.
const (
	summaryWords = 120 // English and other spaced languages
	summaryHan   = 200 // characters, for Chinese
)

// summarizer is "offline/extractive-v1": it scores sentences by how many of the
// conversation's frequent words they hold, by place, speaker, names, numbers and
// words of decision, and prints the best in their order, each after its speaker.
type summarizer struct{ maxChars int }

var _ model.Summarizer = (*summarizer)(nil)

func (s *summarizer) Summarize(ctx context.Context, c *model.Conversation) (*model.Summary, error) {
	if err := chat.CheckConversation(provider, "summarize", c, s.maxChars); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	language := c.ResolvedLanguage()
	all := sentencesOf(c)
	content := printSentences(c, selectSentences(c, all, language), language)
	if content == "" { // nothing but signs: keep the first that isn't blank
		for i := range c.Turns {
			if text := strings.TrimSpace(model.CleanText(c.Turns[i].Text)); text != "" {
				content = label(c.Turns[i].Author, language) + colon(language) + cut(text, language)
				break
			}
		}
	}
	return &model.Summary{Content: content, Model: provider + "/extractive-v1"}, nil
}

// candidate is a sentence with its terms and score.
type candidate struct {
	sentence
	index int // place among all sentences
	terms []string
	score float64
	size  int
}

// selectSentences picks the best sentences that fit, in order. Each pick lowers
// the worth of what repeats it.
func selectSentences(c *model.Conversation, all []sentence, language string) []candidate {
	candidates := scoreSentences(c, all)
	budget, size := summaryWords, wordCount
	if language == model.LanguageChinese {
		budget, size = summaryHan, utf8.RuneCountInString
	}
	for i := range candidates {
		candidates[i].text = cut(candidates[i].text, language)
		candidates[i].size = size(label(c.Turns[candidates[i].turn].Author, language)+colon(language)) + size(candidates[i].text)
	}
	whole := slices.Clone(candidates) // by index
	var chosen []candidate
	taken, seen := map[int]bool{}, map[string]bool{}
	floor := 0.0 // what is worth a fifth of the best is better left out
	for {
		candidates = slices.DeleteFunc(candidates, func(x candidate) bool {
			return taken[x.index] || x.size > budget || worth(x, seen) <= floor
		})
		if len(candidates) == 0 {
			break
		}
		best := slices.MaxFunc(candidates, func(a, b candidate) int {
			return cmp.Or(cmp.Compare(worth(a, seen), worth(b, seen)), b.index-a.index) // of equals, the earlier
		})
		candidates = slices.DeleteFunc(candidates, func(x candidate) bool { return x.index == best.index })
		picked, size := withAntecedents(whole, best.index, taken)
		if size > budget {
			continue // "He is called Bento" tells nothing by itself
		}
		budget -= size
		floor = max(floor, best.score/5)
		for _, x := range picked {
			taken[x.index] = true
			chosen = append(chosen, x)
			for _, t := range x.terms {
				seen[t] = true
			}
		}
	}
	slices.SortFunc(chosen, func(a, b candidate) int { return a.index - b.index })
	return chosen
}

// pronounStart begins a sentence that is about what the one before it names.
var pronounStart = regexp.MustCompile(`(?i)^["“'(]*(?:(?:and|but|so|because|then) )?(?:he|she|it|they|him|her|them|his|hers|its|their|this|these|those|that)(?:\b|['’])|^[“"（]*(?:他|她|它|这|那|其)`)

// withAntecedents gives a sentence with those before it, of the same turn, that
// say who "he" or "it" is, as far as they aren't taken already, and their size.
func withAntecedents(whole []candidate, index int, taken map[int]bool) (picked []candidate, size int) {
	for i := index; ; i-- {
		x := whole[i]
		if !taken[i] {
			picked = append(picked, x)
			size += x.size
		}
		if i == 0 || whole[i-1].turn != x.turn || !pronounStart.MatchString(x.text) || smallTalk.MatchString(whole[i-1].text) {
			return picked, size
		}
	}
}

// wordCount counts words; in scripts that don't separate them, two characters
// are taken for one.
func wordCount(text string) int {
	n := len(strings.Fields(text))
	cjk := 0
	for _, r := range text {
		if classOf(r) == classCJK {
			cjk++
		}
	}
	return n + cjk/2
}

// worth is a score less the share of terms that are already told.
func worth(c candidate, seen map[string]bool) float64 {
	told := 0
	for _, t := range c.terms {
		if seen[t] {
			told++
		}
	}
	return c.score * (1 - 0.8*float64(told)/float64(max(1, len(c.terms))))
}

var (
	decisionWords = regexp.MustCompile(`(?i)\b(decided?|decision|agreed?|plan(?:s|ned|ning)?|will|must|deadline|because|important|concluded?|conclusion|result|solved?|fix(?:ed)?|problem|error|failed|moved|bought|started|joined|got)\b|决定|决策|计划|打算|同意|结论|因为|重要|必须|结果|解决|问题|错误|失败|搬|买了|开始|加入`)
	smallTalk     = regexp.MustCompile(`(?i)^(hi|hey|hello|thanks|thank you|bye|good (morning|evening|night)|how are you|take care|see you|sounds good|great|awesome|wow|you're welcome|no problem|ok(ay)?|sure|(good|nice|great) to (see|meet|hear)|talk (to you )?(soon|later)|anything new|what's (up|new))\b|^(你好|您好|谢谢|再见|早上好|晚安|好的|不客气|没问题)`)
	offerOfHelp   = regexp.MustCompile(`(?i)\b(anything else|how (can|may) i help|let me know|feel free|happy to help)\b|还有(什么|其他)|有什么可以帮|随时告诉我`)
	hasNumber     = regexp.MustCompile(`\d`)
	hasName       = regexp.MustCompile(`\S\s+\p{Lu}\p{Ll}+`)
)

func scoreSentences(c *model.Conversation, all []sentence) []candidate {
	people := authorsOf(c)
	frequency := map[string]float64{}
	candidates := make([]candidate, 0, len(all))
	for i, s := range all {
		ts := terms(s.text)
		slices.Sort(ts)
		ts = slices.Compact(ts)
		for _, t := range ts {
			frequency[t]++
		}
		candidates = append(candidates, candidate{sentence: s, index: i, terms: ts})
	}
	for i := range candidates {
		x := &candidates[i]
		for _, t := range x.terms {
			x.score += 1 + math.Log(frequency[t])
		}
		x.score /= math.Sqrt(float64(max(4, len(x.terms)))) // neither short nor long is better
		x.score *= bonus(x, people, c.Turns[x.turn].Author, len(all))
	}
	return candidates
}

func bonus(x *candidate, people authors, author string, total int) float64 {
	f := 1.0
	if people.person(author) {
		f *= 1.25
	}
	if roleOf(author) == roleTool {
		f *= 0.5
	}
	if x.index == 0 || x.index >= total-2 {
		f *= 1.1 // how it began and how it ended
	}
	if decisionWords.MatchString(x.text) && !x.question {
		f *= 1.4
	}
	if hasNumber.MatchString(x.text) {
		f *= 1.15
	}
	if hasName.MatchString(x.text) {
		f *= 1.15
	}
	switch {
	case x.question && !people.person(author):
		f *= 0.4
	case x.question && !people.hasUser:
		f *= 0.6 // between two people, answers tell more
	}
	if len(x.terms) < 2 {
		f *= 0.3
	}
	if smallTalk.MatchString(x.text) && len(x.terms) < 5 || offerOfHelp.MatchString(x.text) && !people.person(author) {
		f *= 0.1
	}
	return f
}

func printSentences(c *model.Conversation, chosen []candidate, language string) string {
	var b strings.Builder
	last := ""
	for i, x := range chosen {
		speaker := label(c.Turns[x.turn].Author, language)
		switch {
		case i == 0:
			b.WriteString(speaker + colon(language))
		case speaker != last:
			b.WriteString("\n" + speaker + colon(language))
		case !endsWide(b.String()):
			b.WriteString(" ")
		}
		last = speaker
		b.WriteString(closed(x.text, language))
	}
	return b.String()
}

// endsWide tells a text that ends with a sign which has a space of its own, as 。 has.
func endsWide(text string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(text, "”’…"))
	return last >= 0x3000
}

func colon(language string) string { return pick(language == model.LanguageChinese, "：", ": ") }

// closed gives a sentence without a closing sign one.
func closed(text, language string) string {
	last, _ := utf8.DecodeLastRuneInString(text)
	if unicode.IsPunct(last) || unicode.IsSymbol(last) {
		return text
	}
	return text + pick(language == model.LanguageChinese, "。", ".")
}

// cut shortens a text that alone is longer than half a summary.
func cut(text, language string) string {
	text = strings.Join(strings.Fields(text), " ")
	if language == model.LanguageChinese {
		if runes := []rune(text); len(runes) > summaryHan/2 {
			return string(runes[:summaryHan/2]) + "…"
		}
		return text
	}
	if words := strings.Fields(text); len(words) > summaryWords/2 {
		text = strings.Join(words[:summaryWords/2], " ") + " …"
	}
	// A language without spaces, or one endless word.
	if runes := []rune(text); len(runes) > summaryWords*8 {
		text = string(runes[:summaryWords*8]) + "…"
	}
	return text
}
