package offline

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hippocampus-memory/hippocampus/model"
)

var (
	standing = `(?:from now on|in (?:the )?future|going forward|in general|as a rule)`
	// an order, softened or not, and what it forbids or demands
	order      = re(`^((?:(?:please|kindly|` + standing + `|remember(?: to)?|always remember(?: to)?|i want you to|i need you to|you (?:must|should))[,:]? )*)(do not(?: ever)?|never|always|avoid|stop|only|make sure (?:to|you|that you)|be sure to) (.+)$`)
	callMe     = regexp.MustCompile(`^call me \p{Lu}`) // a name, not a rule
	standingAt = re(`\b` + standing + `\b|\b(?:every time|whenever|each time|by default)\b`)
	wish       = re(`^((?:(?:please|kindly)[,:]? )*` + standing + `,? (?:please )?)(.+)$`)
	noMeetings = re(`^no ((?:\w+ )?(?:meetings?|calls?|e-?mails?|messages?|notifications?|alerts?|deploy(?:ment)?s|releases?|emojis?|jargon|work|homework|sugar|meat|alcohol|spoilers|surprises)) (on|before|after|during|in|at) (.+)$`)
	replyIn    = re(`\b(?:reply|respond|answer|speak|talk|communicate)\b.*\bin (?:english|chinese|mandarin|cantonese|french|german|spanish|italian|portuguese|russian|japanese|korean|arabic|hindi|dutch|polish|turkish|vietnamese|thai|swedish|greek|hebrew|ukrainian|indonesian)\b`)
	habit      = re(`^(?:i|we) (never|always|do not(?: ever)?|no longer) (?:ever )?(eat|drink|smoke|work|take|answer|use|fly|drive|travel|accept|schedule|wear|buy|read|skip|start|sleep|go to bed|have meetings|check)\b ?(.*)$`)
	pointsAway = re(`\b(?:that|this|it|those|these|him|her|them|again)\b`)
	// orders are verbs of what one tells an assistant to do for good
	orders = wordSet(`use send call email contact suggest recommend reply answer respond write mention schedule book remind include add
		share ask commit push deploy format translate show speak address interrupt text message summarize explain repeat apologize
		check test run make create start end keep put name talk sign order buy cook run review document log confirm verify notify alert
		double-check capitalize round convert cite link quote attach offer assume guess post publish reveal store save delete remove
		overwrite change edit touch merge wake disturb ring invite accept cancel plan set wait work charge pay spend print return begin
		finish provide give`)
	habitual   = wordSet(`use send call email contact suggest recommend reply answer respond write mention schedule book remind include add share ask commit push deploy format translate show speak address interrupt text message summarize explain repeat apologize`)
	ruleTail   = regexp.MustCompile(`(?i)\s*(?:,? please|,? thanks|,? thank you|,? ok(?:ay)?|anymore|any more)$`)
	smallWords = wordSet(`a an the me my your you to for of any please`)
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
	if m := noMeetings.FindStringSubmatch(sentence); m != nil && len(strings.Fields(sentence)) <= maxRuleSize {
		return userRule("no "+m[1]+" "+m[2]+" "+m[3], sentence, 0.55, 0.85)
	}
	if m := wish.FindStringSubmatch(head); m != nil && orders[firstWord(m[2])] && !callMe.MatchString(m[2]) {
		return userRule(m[2], sentence, 0.5, 0.85)
	}
	if supposed.MatchString(text) {
		return nil
	}
	for _, part := range parts {
		m := habit.FindStringSubmatch(part)
		if m == nil || past.MatchString(part) || endsSomething(part, text) {
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
		key := verb + " " + ruleKey(rest)
		if !strings.EqualFold(m[1], "always") {
			key = "never " + key
		}
		return []draft{{
			kind: model.FactRule, key: key, value: strings.TrimSpace(told + " " + rest),
			confidence: certain(text, 0.85), intensity: 0.55,
		}}
	}
	return nil
}

// endsSomething tells a clause that says what is no longer so from a habit. Rules are read without "any more".
func endsSomething(part, sentence string) bool {
	return len(firstMatch(englishEnds, &clause{text: part, whole: sentence})) > 0 ||
		len(firstMatch(englishEnds, &clause{text: part + " any more", whole: sentence})) > 0
}

func orderRule(m []string, sentence string) []draft {
	softened, word, rest := strings.TrimSpace(m[1]), strings.ToLower(m[2]), m[3]
	verb := firstWord(rest)
	lasting := word == "never" || word == "always" || strings.HasSuffix(word, "ever") || standingAt.MatchString(sentence)
	switch {
	case !orders[verb] || len(strings.Fields(sentence)) > maxRuleSize+6:
		return nil
	case !lasting && pointsAway.MatchString(rest):
		return nil // "please don't delete that": this once
	case word == "do not" && !lasting && softened == "" && !habitual[verb]:
		return nil
	case (word == "only" || word == "stop" || strings.HasPrefix(word, "make") || strings.HasPrefix(word, "be sure")) && !lasting:
		return nil
	}
	intensity := 0.55
	if word == "never" {
		intensity = 0.6
	}
	switch word {
	case "avoid", "stop", "only":
		rest = word + " " + rest
	case "never", "do not", "do not ever":
		rest = "never " + rest
	}
	return userRule(rest, sentence, intensity, 0.85)
}

// joint is what ties a sentence to the one before it.
var joint = regexp.MustCompile(`(?i)^(?:(?:and|but|so|also|then|oh)\b[, ]*)+`)

func userRule(about, sentence string, intensity, confidence float64) []draft {
	key := ruleKey(about)
	if replyIn.MatchString(about) {
		key = "reply_language" // a new language replaces the old
	}
	if key == "" {
		return nil
	}
	if rest := joint.ReplaceAllString(sentence, ""); rest != sentence {
		first, size := utf8.DecodeRuneInString(rest)
		sentence = string(unicode.ToUpper(first)) + rest[size:]
	}
	return []draft{{
		kind: model.FactRule, key: key, value: sentence, ruleOfUser: true,
		confidence: certain(sentence, confidence), intensity: intensity,
	}}
}

// ruleKey names a rule by its first words, without the small ones. It begins with
// "never" where the rule forbids, in whatever words: a key must not read as the
// opposite.
func ruleKey(about string) string {
	var words []string
	for _, w := range strings.Fields(ruleTail.ReplaceAllString(strings.ToLower(about), "")) {
		w = strings.Trim(w, ".,!;:'\"()")
		if w != "" && !smallWords[w] {
			words = append(words, w)
		}
	}
	return strings.Join(words[:min(7, len(words))], "_")
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
