package offline

import (
	"regexp"
	"strings"

	"github.com/hippocampus-memory/hippocampus/model"
)

var (
	standing = `(?:from now on|in (?:the )?future|going forward|in general|as a rule)`
	// an order, softened or not, and what it forbids or demands
	order       = re(`^((?:(?:please|kindly|` + standing + `|remember(?: to)?|always remember(?: to)?|i want you to|i need you to|you (?:must|should))[,:]? )*)(do not(?: ever)?|never|always|avoid|stop|only|make sure (?:to|you|that you)|be sure to) (.+)$`)
	standingAt  = re(`\b` + standing + `\b|\b(?:every time|whenever|each time|by default)\b`)
	wish        = re(`^((?:(?:please|kindly)[,:]? )*` + standing + `,? (?:please )?)(.+)$`)
	noMeetings  = re(`^no (\w+(?: \w+)?) (on|before|after|during|in) (.+)$`)
	replyIn     = re(`\b(?:reply|respond|answer|write|speak|talk|communicate)\b.*\bin ((?-i:\p{Lu}\p{Ll}+))\b`)
	habit       = re(`^(?:i|we) (never|always|do not(?: ever)?|no longer) (?:ever )?(eat|drink|smoke|work|take|answer|use|fly|drive|travel|accept|schedule|wear|buy|read|skip|start|sleep|go to bed|have meetings|check) ?(.*)$`)
	pointsAway  = re(`\b(?:that|this|it|those|these|him|her|them|again)\b`)
	idiom       = wordSet(`worry forget hesitate mind be get think say tell know give let feel want need panic bother stop believe like love expect have care remember understand see hear even`)
	habitual    = wordSet(`use send call email contact suggest recommend reply answer respond write mention schedule book remind include add share ask commit push deploy format translate show speak address interrupt text message summarize explain repeat apologize`)
	ruleTail    = regexp.MustCompile(`(?i)\s*(?:,? please|,? thanks|,? thank you|,? ok(?:ay)?|anymore|any more)$`)
	smallWords  = wordSet(`a an the me my your you to for of any please`)
)

// maxRuleSize in words: longer is a story.
const maxRuleSize = 12

// englishRules reads standing instructions: what is never or always to be done.
// A plain "don't" counts for verbs one forbids for good, not for "don't do that".
func englishRules(text string) []draft {
	sentence := strings.TrimRight(ruleTail.ReplaceAllString(strings.TrimRight(text, ".! "), ""), ".! ")
	parts := englishClauses(sentence)
	head := strings.TrimSpace(filler.ReplaceAllString(sentence, ""))

	if m := order.FindStringSubmatch(head); m != nil {
		return orderRule(m, sentence)
	}
	if m := noMeetings.FindStringSubmatch(head); m != nil && len(strings.Fields(head)) <= maxRuleSize {
		return userRule(m[1]+" "+m[2]+" "+m[3], sentence, 0.55, 0.85)
	}
	if m := wish.FindStringSubmatch(head); m != nil && !pronoun.MatchString(m[2]) {
		return userRule(m[2], sentence, 0.5, 0.85)
	}
	if supposed.MatchString(text) {
		return nil
	}
	for _, part := range parts {
		m := habit.FindStringSubmatch(part)
		if m == nil || past.MatchString(part) {
			continue
		}
		rest := strings.TrimSpace(anymore.ReplaceAllString(m[3], ""))
		if rest != "" && (cleanObject(rest) == "" || pointsAway.MatchString(rest)) || len(strings.Fields(rest)) > 6 || rest == "" && m[2] != "smoke" && m[2] != "drink" && m[2] != "drive" && m[2] != "fly" {
			return nil
		}
		verb := strings.ToLower(m[2])
		told := map[bool]string{true: "always " + thirdPerson(verb), false: "never " + thirdPerson(verb)}[strings.EqualFold(m[1], "always")]
		if strings.HasPrefix(strings.ToLower(m[1]), "do not") || strings.EqualFold(m[1], "no longer") {
			told = "does not " + verb
		}
		return []draft{{
			kind: model.FactRule, key: verb + " " + ruleKey(rest), value: strings.TrimSpace(told + " " + rest),
			confidence: certain(text, 0.85), intensity: 0.55,
		}}
	}
	return nil
}

func orderRule(m []string, sentence string) []draft {
	softened, word, rest := strings.TrimSpace(m[1]), strings.ToLower(m[2]), m[3]
	verb := firstWord(rest)
	lasting := word == "never" || word == "always" || strings.HasSuffix(word, "ever") || standingAt.MatchString(sentence)
	switch {
	case idiom[verb] || len(strings.Fields(sentence)) > maxRuleSize+6:
		return nil
	case !lasting && pointsAway.MatchString(rest):
		return nil // "please don't delete that": this once
	case word == "do not" && !lasting && softened == "" && !habitual[verb]:
		return nil
	case (word == "only" || word == "stop" || strings.HasPrefix(word, "make") || strings.HasPrefix(word, "be sure")) && !lasting:
		return nil
	case word == "never" && verb == "mind":
		return nil
	}
	intensity := 0.55
	if word == "never" {
		intensity = 0.6
	}
	return userRule(rest, sentence, intensity, 0.85)
}

func userRule(about, sentence string, intensity, confidence float64) []draft {
	key := ruleKey(about)
	if replyIn.MatchString(about) {
		key = "reply_language" // a new language replaces the old
	}
	if key == "" {
		return nil
	}
	return []draft{{
		kind: model.FactRule, key: key, value: sentence, ruleOfUser: true,
		confidence: certain(sentence, confidence), intensity: intensity,
	}}
}

// ruleKey names what a rule is about by its first words, without the small ones
// and without "do not", so that allowing a thing replaces forbidding it.
func ruleKey(about string) string {
	var words []string
	for _, w := range strings.Fields(ruleTail.ReplaceAllString(strings.ToLower(about), "")) {
		w = strings.Trim(w, ".,!;:'\"()")
		if w != "" && !smallWords[w] {
			words = append(words, w)
		}
	}
	return strings.Join(words[:min(6, len(words))], "_")
}

// thirdPerson makes "eats" of "eat".
func thirdPerson(verb string) string {
	head, tail, _ := strings.Cut(verb, " ")
	switch {
	case head == "have":
		head = "has"
	case strings.HasSuffix(head, "y") && len(head) > 2 && !strings.ContainsRune("aeiou", rune(head[len(head)-2])):
		head = head[:len(head)-1] + "ies"
	case strings.HasSuffix(head, "s") || strings.HasSuffix(head, "sh") || strings.HasSuffix(head, "ch") || strings.HasSuffix(head, "x") || strings.HasSuffix(head, "o"):
		head += "es"
	default:
		head += "s"
	}
	return strings.TrimSpace(head + " " + tail)
}
