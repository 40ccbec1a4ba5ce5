package offline

import (
	"regexp"
	"strings"
	"time"

	"github.com/hippocampus-memory/hippocampus/model"
)

// carried are verbs that go on about the same speaker: "I live in Rome and work
// as a nurse".
const carried = `love|like|enjoy|hate|dislike|prefer|adore|live|work|speak|do not like|cannot stand|am`

var (
	quotedSpan = regexp.MustCompile(`"[^"]*"|“[^”]*”|「[^」]*」|『[^』]*』|«[^»]*»`)
	// reported speech and thought of others
	reported = regexp.MustCompile(`(?i)\b(said|says|saying|told|tells|asked|asks|replied|wrote|claims?|claimed|according to|quot(?:e|ing|ed)|heard|thinks|joked|mentioned|answered|was like)\b`)
	ownWords = regexp.MustCompile(`(?i)\b(?:i|i have|i already|as i) (?:said|told|mentioned|wrote)\b`)
	supposed = regexp.MustCompile(`(?i)\b(if|unless|suppose|supposing|imagine|imagining|wish|would|could|might|pretend|hypothetically|whether|as though|dream(?:ed|t)? that)\b`)
	past     = regexp.MustCompile(`(?i)\bused to\b`)

	contractions = strings.NewReplacer(
		"I'm", "I am", "i'm", "i am", "I've", "I have", "i've", "i have", "Don't", "Do not", "don't", "do not", "DON'T", "DO NOT",
		"can't", "cannot", "Can't", "Cannot", "doesn't", "does not", "won't", "will not", "haven't", "have not",
		"isn't", "is not", "aren't", "are not", "I'd", "I would", "i'd", "i would", "We've", "We have", "we've", "we have", "We're", "We are", "we're", "we are", "didn't", "did not", "can not", "cannot",
		"wouldn't", "would not", "couldn't", "could not", "shouldn't", "should not")

	clauseCut   = regexp.MustCompile(`(?i)\s*[,;:()—–]+\s*|\s+-\s+|\s+(?:but|because|although|though|so|while|which|whereas|and (?:i|my|we|please|never|always|` + carried + `))\b\s*`)
	keepAfter   = regexp.MustCompile(`(?i)and (i|my|we|please|never|always|` + carried + `)\b`)
	conjunction = regexp.MustCompile(`(?i)\b(?:and|but)\b`)
	goesOn      = regexp.MustCompile(`(?i)^(?:really |also |absolutely |still |now )*(?:` + carried + `)\b`)
	filler      = regexp.MustCompile(`(?i)^(?:well|oh|yes|yeah|yep|no|nope|nah|also|and|but|so|then|actually|honestly|personally|btw|by the way|hi|hello|hey|thanks|thank you|ok|okay|sure|now|plus|anyway|haha|lol|wow|fyi|please (?:note|remember) that|remember that|note that|for the record|you know|i think|i guess|i suppose|maybe|i mean|to be honest|tbh|in fact|of course|currently|nowadays|these days|recently|as of today|as you know|fun fact|yesterday|today|(?:since )?(?:last|this) (?:week|month|year|spring|summer|autumn|fall|winter)|since (?:` + monthNames + ` )?(?:19|20)\d\d|since ` + monthNames + `)\b[\s,:!.]*`)
)

// englishDrafts reads what an English sentence says of its speaker.
func englishDrafts(text string, at time.Time) []draft {
	if isQuestion(text) {
		return nil
	}
	text = strings.Join(strings.Fields(contractions.Replace(strings.ReplaceAll(text, "’", "'"))), " ")
	if reported.MatchString(ownWords.ReplaceAllString(text, "")) {
		return nil
	}
	text = quotedSpan.ReplaceAllString(text, "\"\"") // an empty quotation fits no pattern
	drafts := englishRules(text)
	if supposed.MatchString(text) {
		return drafts
	}
	c := &clause{whole: text, at: at}
	drafts = append(drafts, wholeSentence(c)...)
	for _, part := range englishClauses(text) {
		if past.MatchString(part) {
			continue
		}
		if !speaksOfSelf[firstWord(part)] {
			continue
		}
		c.text = part
		c.confidence = certain(text, 0.9)
		drafts = append(drafts, firstMatch(englishPatterns, c)...)
	}
	return drafts
}

// speaksOfSelf are the words a pattern can begin with.
var speaksOfSelf = wordSet(`i we my call calls please just you everyone everybody people friends they`)

// englishClauses cuts a sentence where one statement may end and another begin,
// and takes words like "well," off the front of each.
func englishClauses(text string) []string {
	var parts []string
	start, joined := 0, false
	add := func(end int) {
		part := text[start:end]
		if joined && len(parts) > 0 && firstWord(parts[len(parts)-1]) == "i" && goesOn.MatchString(part) {
			part = "I " + part
		}
		parts = append(parts, part)
	}
	for _, at := range clauseCut.FindAllStringIndex(text, -1) {
		add(at[0])
		cut := text[at[0]:at[1]]
		start, joined = at[1], conjunction.MatchString(cut)
		if keep := keepAfter.FindStringSubmatchIndex(cut); keep != nil {
			start = at[0] + keep[2] // the word begins the next clause
		}
	}
	add(len(text))
	for i, part := range parts {
		part = strings.TrimRight(strings.TrimSpace(part), ".!… ")
		for {
			rest := filler.ReplaceAllString(part, "")
			if rest == part {
				break
			}
			part = strings.TrimSpace(rest)
		}
		parts[i] = part
	}
	return parts
}

// clause is part of a sentence with what is known about it.
type clause struct {
	text       string // without fillers and closing signs
	whole      string // the sentence
	at         time.Time
	confidence float64
}

// pattern makes drafts of a clause that matches; nil means it does not after all.
type pattern struct {
	re   *regexp.Regexp
	make func(m []string, c *clause) []draft
}

// firstMatch gives the drafts of the first pattern that has any.
func firstMatch(patterns []pattern, c *clause) []draft {
	for _, p := range patterns {
		if m := p.re.FindStringSubmatch(c.text); m != nil {
			if drafts := p.make(m, c); len(drafts) > 0 {
				return drafts
			}
		}
	}
	return nil
}

// profile is a draft of who someone is.
func (c *clause) profile(key, value string, intensity float64) []draft {
	return []draft{{kind: model.FactProfile, key: key, value: value, confidence: c.confidence, intensity: intensity}}
}

// since is profile with the date the sentence gives.
func (c *clause) since(key, value string, intensity float64) []draft {
	d := c.profile(key, value, intensity)
	d[0].validFrom = sinceWhen(c.whole, c.at)
	return d
}
