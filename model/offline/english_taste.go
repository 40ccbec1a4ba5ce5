package offline

import (
	"regexp"
	"strings"

	"github.com/hippocampus-memory/hippocampus/model"
)

// adverbs that may stand between "I" and the verb.
const adverbs = `(?:really |absolutely |truly |totally |just |still |also |honestly |genuinely |actually |definitely |certainly |do |kind of |kinda |sort of |quite |particularly |especially |so |deeply |simply |generally |usually |mostly |now |always |have always |personally |very much |currently )*`

// taste is a way to say that one likes something, and how it is told on.
type taste struct {
	said, told string
	intensity  float64
}

var tastes = []taste{
	{`love|am in love with`, "loves", 0.7},
	{`adore`, "adores", 0.75},
	{`like|enjoy|have come to like`, "likes", 0.4},
	{`prefer`, "prefers", 0.45},
	{`always want`, "always wants", 0.5},
	{`hate|loathe|despise|detest`, "hates", 0.75},
	{`(?:cannot|can not|could never) (?:stand|bear)`, "can't stand", 0.75},
	{`dislike|do not (?:really |particularly |much |even |actually )?(?:like|enjoy|love|care for)|am not (?:really )?(?:a (?:big |huge )?fan of|into|fond of)`, "dislikes", 0.5},
	{`no longer (?:really )?(?:like|love|enjoy|care for)`, "no longer likes", 0.6},
	{`am (?:such )?a (?:big |huge |massive |great )?fan of|(?:am|have been) (?:really |so |very )?(?:into|fond of)`, "is a fan of", 0.5},
	{`am (?:crazy about|obsessed with|addicted to)`, "is crazy about", 0.8},
}

var anymore = regexp.MustCompile(`(?i)\s+any ?more$`)

// englishTastes are preferences: tastes, and "my favourite … is …".
var englishTastes = tastePatterns()

func tastePatterns() []pattern {
	patterns := []pattern{{
		re(`^my (?:all[- ]time |absolute |personal )?favou?rite (\w+(?: \w+){0,2}) (?:is|are|has to be|has always been|will always be) (.+)$`),
		func(m []string, c *clause) []draft {
			object := cleanObject(m[2])
			if object == "" {
				return nil
			}
			return []draft{{kind: model.FactPreference, key: "favorite_" + m[1], value: object, confidence: c.confidence, intensity: 0.6}}
		},
	}}
	for _, t := range tastes {
		patterns = append(patterns, pattern{re(`^(?:i|we both) ` + adverbs + `(?:` + t.said + `) (.+)$`), t.draft})
	}
	return patterns
}

var instead = regexp.MustCompile(`(?i)^(.+?) (over|to|rather than|instead of|than) (.+)$`)

func (t taste) draft(m []string, c *clause) []draft {
	object, told, intensity := m[1], t.told, t.intensity
	if anymore.MatchString(object) {
		if told != "dislikes" && told != "no longer likes" {
			return nil
		}
		told, intensity = "no longer likes", 0.6
		object = anymore.ReplaceAllString(object, "")
	}
	suffix := ""
	if told == "prefers" {
		if v := instead.FindStringSubmatch(object); v != nil && !strings.EqualFold(firstWord(object), "to") {
			other := cleanObject(v[3])
			if other == "" {
				return nil
			}
			object, suffix = v[1], " over "+other
		}
	}
	object = cleanObject(object)
	if object == "" {
		return nil
	}
	return []draft{{
		kind: model.FactPreference, key: "about_" + subject(object), value: told + " " + object + suffix,
		confidence: c.confidence, intensity: intensity,
	}}
}

var (
	objectTail = regexp.MustCompile(`(?i)\s+(?:very much|a lot|so much|too|as well|these days|now|again|though|lately|more than anything(?: else)?|the most|the best|at the moment|right now|in general|with all my heart|most of all|myself|already|for sure|by the way|honestly|tbh|more|best|sometimes|either|at all)$`)
	objectCut  = regexp.MustCompile(`(?i)\s+(?:that|when|because|since|especially|if|after|before|while|as|who|where|how|even|and it|and they|and that|it is|they are)\b.*$`)
	// what such a word begins is no thing one could name later
	notAnObject = wordSet(`it this that these those them him her you your yours his its their theirs my our us me how what when where why who
		the both all some one everything something anything nothing everyone someone anyone being so very not more most doing going
		having getting seeing hearing knowing feeling here there working and or but if as is are was were am do does did`)
)

// cleanObject makes a thing of the end of a clause: "the mountains a lot" becomes
// "the mountains". It is empty for what can't be understood alone, such as "how
// you did that" or "my new one".
func cleanObject(text string) string {
	text = strings.TrimRight(strings.TrimSpace(text), ".!,… ")
	text = objectCut.ReplaceAllString(text, "")
	for {
		shorter := objectTail.ReplaceAllString(text, "")
		if shorter == text {
			break
		}
		text = shorter
	}
	text = timeTail.ReplaceAllString(text, "")
	words := strings.Fields(text)
	if len(words) == 0 || len(words) > 6 || len(text) > 60 || strings.ContainsAny(text, `"*_#|=`) {
		return ""
	}
	first := firstWord(text)
	named := first == "the" && len(words) > 1 && !vagueThing[strings.ToLower(words[1])] // "the Beatles"
	if notAnObject[first] && !named {
		return ""
	}
	if first == "to" && (len(words) < 2 || notAnObject[strings.ToLower(words[1])] || vagueVerb[strings.ToLower(words[1])]) {
		return ""
	}
	return text
}

var (
	vagueThing = wordSet(`way idea fact one ones thing things look sound feeling view part first last other others same whole new result results answer plan`)
	vagueVerb  = wordSet(`be think see know hear say have do get make go talk believe help thank share tell ask`)
	article    = regexp.MustCompile(`(?i)^(?:to|a|an|the|some|eating|drinking|watching|playing|listening to|reading) `)
)

// subject is the thing in an object, for the key: "to cook" and "eating sushi"
// become "cook" and "sushi".
func subject(object string) string {
	for {
		shorter := article.ReplaceAllString(object, "")
		if shorter == object || shorter == "" {
			return strings.ToLower(object)
		}
		object = shorter
	}
}
