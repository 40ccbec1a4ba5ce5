package offline

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Parts of patterns. Names must begin with a capital where the sentence has any.
const (
	now    = `(?:currently |now |still |both |also |already |just |recently |finally |actually |happily |newly |originally )*`
	upper  = `(?-i:[\p{Lu}][\p{L}\d.&'-]*(?: (?:(?:of|de|la|le|du|da|di|the|upon|am) )*[\p{Lu}][\p{L}\d.&'-]*)*)`
	proper = `((?:the )?` + upper + `)`
	// place and name are capitalised or, in a text without capitals, a few words.
	place  = `((?:the )?` + upper + `|[\p{Ll}'-]+(?: [\p{Ll}'-]+){0,2}$)`
	name   = `((?-i:[\p{Lu}][\p{L}'-]+(?: [\p{Lu}][\p{L}'.-]*){0,3})|[\p{Ll}]+(?: [\p{Ll}]+)?$)`
	animal = `(dog|cat|puppy|kitten|parrot|rabbit|bunny|hamster|horse|pony|turtle|tortoise|guinea pig|fish|bird|snake|lizard|ferret|pet)`
	kin    = `(wife|husband|partner|girlfriend|boyfriend|fianc[eé]e?|mother|mom|mum|father|dad|son|daughter|sister|brother|boss|manager|best friend|roommate)`
)

// englishPatterns are tried in order on each clause; the first that fits counts.
var englishPatterns = append([]pattern{
	{re(`^i ` + now + `(?:live|reside|am living|am based|am located|have been living) (?:now |currently |right )?(?:in|at|near|outside) ` + place), placeFact("location", 0.4)},
	{re(`^we ` + now + `(?:live|reside|are living|are based) (?:now |currently |right )?(?:in|at|near|outside) ` + proper), placeFact("location", 0.4)},
	{re(`^(?:i|we) (?:have |had )?` + now + `(?:moved|relocated) (?:back |over |out |down |up |here )?(?:from ` + upper + ` )?to ` + proper), placeFact("location", 0.5)},
	{re(`^i (?:am|come) ` + now + `from ` + place), placeFact("origin", 0.4)},
	{re(`^i was born in ` + proper), placeFact("birthplace", 0.4)},
	{re(`^my (?:full |first |real |last )?name is (?:actually )?` + name), nameFact("name")},
	{re(`^(?:please |just |you can |everyone |everybody |people |friends |they )*calls? me ((?-i:[\p{Lu}][\p{L}'-]+))$`), nameFact("name")},
	{re(`^i am called ` + name), nameFact("name")},
	{re(`^i ` + now + `(?:work|am working|am employed) as (?:a|an|the) (.+)$`), jobFact},
	{re(`^i am ` + now + `(?:a|an) (.+)$`), professionFact},
	{re(`^i ` + now + `(?:work|am working|am employed) (?:at|for) ` + proper), placeFact("employer", 0.4)},
	{re(`^i (?:have )?` + now + `(?:joined|started (?:working |a (?:new )?job )?at|got a (?:new )?job at) ` + proper), placeFact("employer", 0.45)},
	{re(`^my birthday is (?:on |coming up on )?(.+)$`), dateFact("birthday")},
	{re(`^i was born on (.+)$`), dateFact("birthday")},
	{re(`^i am (?:now )?(\d{1,3}) years old\b|^i (?:just )?turned (\d{1,3})\b`), func(m []string, c *clause) []draft {
		return c.profile("age", m[1]+m[2], 0.3)
	}},
	{re(`^i (?:am|have been|became|went|have become|have gone) ` + now + `(not |no longer )?(?:a |an )?(?:strict )?(vegetarian|vegan|pescatarian|lactose[- ]intolerant|gluten[- ]free|celiac|coeliac)\b`), func(m []string, c *clause) []draft {
		return c.since("diet", pick(m[1] == "", "", "not ")+strings.ToLower(m[2]), 0.6)
	}},
	{re(`^i (?:am|got) ` + now + `(married|single|divorced|engaged|widowed)(?: (?:to|since|last|yesterday)\b.*| in (?:19|20)\d\d)?$`), func(m []string, c *clause) []draft {
		return c.since("marital_status", strings.ToLower(m[1]), 0.5)
	}},
	{re(`^i have (\d|one|two|three|four|five|six|seven|eight|nine) (kids?|child(?:ren)?|sons?|daughters?)\b`), func(m []string, c *clause) []draft {
		return c.profile("children", strings.ToLower(m[1]+" "+m[2]), 0.5)
	}},
	{re(`^my ` + animal + `(?:'s name is| is called| is named) ` + name), func(m []string, c *clause) []draft { return petFact(c, m[1], m[2]) }},
	{re(`^my ` + kin + `(?:'s name is| is called| is named) ` + name), func(m []string, c *clause) []draft { return kinFact(c, m[1], m[2]) }},
	{re(`^i (?:have )?graduated from ` + proper), placeFact("alma_mater", 0.4)},
	{re(`^i (?:am majoring|major|majored) in (.+)$`), func(m []string, c *clause) []draft { return objectFact(c, "field_of_study", m[1]) }},
	{re(`^i ` + now + `speak ((?-i:\p{Lu}\p{Ll}+(?:(?:,| and|, and)? \p{Lu}\p{Ll}+)*))(?: fluently| at home)?$`), func(m []string, c *clause) []draft {
		return c.profile("languages", m[1], 0.4)
	}},
	{re(`^my (?:work |personal |private )?e-?mail(?: address)? is (\S+@\S+\.\w+)$`), func(m []string, c *clause) []draft {
		return c.profile("email", m[1], 0.4)
	}},
	{re(`^my time ?zone is (\S+)$`), func(m []string, c *clause) []draft { return c.profile("timezone", m[1], 0.4) }},
}, slices.Concat(englishEnds, englishTastes)...)

// englishEnds are what is no longer so.
var englishEnds = []pattern{
	{re(`^(?:i|we) ` + now + `no longer (?:live|reside) in ` + proper + `$`), endedFact(placeFact, "location", "no longer lives in ")},
	{re(`^(?:i|we) do not (?:live|reside) in ` + proper + ` any ?more$`), endedFact(placeFact, "location", "no longer lives in ")},
	{re(`^(?:i|we) (?:have )?` + now + `moved away from ` + proper + `$`), endedFact(placeFact, "location", "no longer lives in ")},
	{re(`^i (?:have )?` + now + `(?:quit|resigned from|left|lost) my (?:old )?(?:job|position) (?:at|with) ` + proper), endedFact(placeFact, "employer", "no longer works at ")},
	{re(`^i ` + now + `no longer work (?:at|for) ` + proper), endedFact(placeFact, "employer", "no longer works at ")},
	{re(`^i do not work (?:at|for) ` + proper + ` any ?more$`), endedFact(placeFact, "employer", "no longer works at ")},
}

func re(pattern string) *regexp.Regexp { return regexp.MustCompile(`(?i)` + pattern) }

// notAPlace are words that follow "live in" and "from" without naming a place.
var notAPlace = wordSet(`a an the my our your his her their this that these those peace fear hope love same such constant denial
	here there home work school dorms apartments suburbs town downtown city countryside it harmony poverty darkness pain what where scratch experience memory now time one`)

// notAName are words that follow "name is" or "call me" without naming anyone.
var notAName = wordSet(`a an the my your not so later when if back maybe crazy old lazy anytime asap not on in of hard weird strange
	long short common spelled pronounced tomorrow today tonight`)

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

func firstWord(text string) string {
	word, _, _ := strings.Cut(text, " ")
	return strings.ToLower(strings.Trim(word, "'.,"))
}

var timeTail = regexp.MustCompile(`(?i)\s+(?:now|currently|again|together|with .+|since .+|for .+|last .+|this .+|in (?:` + monthNames + ` )?(?:19|20)\d\d|yesterday|today|right now|these days|at the moment)$`)

func placeFact(key string, intensity float64) func(m []string, c *clause) []draft {
	return func(m []string, c *clause) []draft {
		value := strings.TrimRight(timeTail.ReplaceAllString(m[len(m)-1], ""), " .'-")
		bare := strings.TrimPrefix(strings.TrimPrefix(value, "the "), "The ")
		if !properName(bare, c.whole) || notAPlace[firstWord(bare)] || calendar[strings.ToLower(bare)] {
			return nil
		}
		return c.since(key, value, intensity)
	}
}

// endedFact reads what is no longer so, as read does what is. It says so under a key of its own (past_location_toulouse), since the place
// where someone lives by now may be known already; see [ends].
func endedFact(
	read func(key string, intensity float64) func(m []string, c *clause) []draft, key, told string,
) func(m []string, c *clause) []draft {
	return func(m []string, c *clause) []draft {
		drafts := read(key, 0.5)(m, c)
		for i := range drafts {
			drafts[i].key, drafts[i].value = pastKey+key+"_"+drafts[i].value, told+drafts[i].value
		}
		return drafts
	}
}

// properName tells whether text can name someone or something: it has a capital,
// or the whole sentence has none.
func properName(text, sentence string) bool {
	first, _ := utf8.DecodeRuneInString(text)
	return unicode.IsUpper(first) || unicode.IsLetter(first) && !strings.ContainsFunc(sentence, unicode.IsUpper)
}

var calendar = wordSet(`january february march april may june july august september october november december
	monday tuesday wednesday thursday friday saturday sunday spring summer autumn winter christmas easter`)

func nameFact(key string) func(m []string, c *clause) []draft {
	return func(m []string, c *clause) []draft {
		value := strings.TrimRight(m[len(m)-1], " .'-")
		if !properName(value, c.whole) || notAName[firstWord(value)] {
			return nil
		}
		return c.profile(key, value, 0.4)
	}
}

var jobCut = regexp.MustCompile(`(?i)\s+(?:at|for|in|with|who|that|and|from|based|by|on|since|because|now|working|where|of (?:my|the))\b.*$`)

func jobFact(m []string, c *clause) []draft {
	job := strings.ToLower(jobCut.ReplaceAllString(m[1], ""))
	if job == "" || len(strings.Fields(job)) > 5 || strings.Contains(job, `"`) {
		return nil
	}
	drafts := c.since("occupation", job, 0.45)
	if at := workplace.FindStringSubmatch(m[1]); at != nil {
		drafts = append(drafts, c.since("employer", strings.TrimRight(at[1], " .'-"), 0.4)...)
	}
	return drafts
}

var (
	workplace   = re(`\b(?:at|for) ` + proper)
	professions = regexp.MustCompile(`(?i)(?:^|[ -])(engineer|developer|programmer|designer|teacher|professor|lecturer|nurse|doctor|physician|surgeon|dentist|veterinarian|vet|lawyer|attorney|judge|accountant|auditor|analyst|scientist|researcher|chemist|physicist|biologist|mathematician|statistician|architect|artist|painter|sculptor|musician|singer|actor|actress|dancer|writer|author|journalist|editor|photographer|chef|cook|baker|waiter|waitress|barista|bartender|manager|director|consultant|salesperson|realtor|electrician|plumber|carpenter|mechanic|pilot|driver|firefighter|paramedic|policeman|soldier|farmer|gardener|librarian|translator|interpreter|therapist|psychologist|psychiatrist|counselor|social worker|student|secretary|recruiter|entrepreneur|founder|ceo|cto|freelancer|plumber|pharmacist|tailor|hairdresser|coach|trainer|tutor|technician|administrator|tester)$`)
)

func professionFact(m []string, c *clause) []draft {
	if !professions.MatchString(jobCut.ReplaceAllString(m[1], "")) {
		return nil
	}
	return jobFact(m, c)
}

var (
	dateLike = regexp.MustCompile(`(?i)\b` + monthNames + `\b|\d{1,2}[/.-]\d{1,2}`)
	dateTail = regexp.MustCompile(`(?i)(?:\s+and\b.*|\s+in .*(?:city|town).*)$`)
)

func dateFact(key string) func(m []string, c *clause) []draft {
	return func(m []string, c *clause) []draft {
		value := strings.TrimPrefix(dateTail.ReplaceAllString(m[1], ""), "the ")
		if !dateLike.MatchString(value) || len(strings.Fields(value)) > 5 {
			return nil
		}
		return c.profile(key, value, 0.4)
	}
}

func petFact(c *clause, kind, called string) []draft {
	called = strings.TrimRight(called, " .'-")
	if !properName(called, c.whole) || notAName[firstWord(called)] {
		return nil
	}
	return c.profile("pet_"+called, "has a "+strings.ToLower(kind)+" named "+called, 0.5)
}

// several are relatives one can have more than one of: the name is in the key.
var several = wordSet(`son daughter sister brother`)

func kinFact(c *clause, kind, called string) []draft {
	kind, called = strings.ToLower(kind), strings.TrimRight(called, " .'-")
	if !properName(called, c.whole) || notAName[firstWord(called)] {
		return nil
	}
	key := kind
	switch kind {
	case "mom", "mum":
		key = "mother"
	case "dad":
		key = "father"
	}
	if several[kind] {
		key += "_" + called
	}
	return c.profile(key, called, 0.4)
}

func objectFact(c *clause, key, object string) []draft {
	if object = cleanObject(object); object == "" {
		return nil
	}
	return c.profile(key, object, 0.4)
}

var (
	havePet    = re(`(?:^|[ ,])(?:i|we) ` + now + `(?:have|own|adopted|got|rescued)\b`)
	aPet       = re(`(?:have|own|adopted|got|rescued|and|,) (?:a|an|my|one|our)(?: [\p{Ll}-]+){0,2} ` + animal + `,? (?:named|called|whose name is) ` + name)
	allergicTo = re(`(?:^|[ ,])i am (not |no longer )?(?:\w+ )?allergic to ([^.!?;()]+)`)
	listCut    = regexp.MustCompile(`(?i)\s*,\s*(?:and |or )?|\s+(?:and|or|as well as)\s+`)
	listEnd    = regexp.MustCompile(`(?i)\s+(?:but|so|because|which|since|while|though)\b.*$`)
	pronoun    = regexp.MustCompile(`(?i)^(?:i|we|my|he|she|they|it|you|please|that|this|also|have|has|am|is|are|was)\b`)
)

// wholeSentence reads what commas belong to: lists and names in apposition.
func wholeSentence(c *clause) []draft {
	if past.MatchString(c.whole) {
		return nil
	}
	c.confidence = certain(c.whole, 0.9)
	var drafts []draft
	if havePet.MatchString(c.whole) {
		for _, m := range aPet.FindAllStringSubmatch(c.whole, -1) {
			drafts = append(drafts, petFact(c, m[1], m[2])...)
		}
	}
	m := allergicTo.FindStringSubmatch(c.whole)
	if m == nil {
		return drafts
	}
	polarity := pick(m[1] == "", "allergic to ", "not allergic to ")
	for _, item := range listCut.Split(listEnd.ReplaceAllString(m[2], ""), -1) {
		item = cleanObject(item)
		if item == "" || pronoun.MatchString(item) || len(strings.Fields(item)) > 3 {
			break // the list is over
		}
		item = strings.ToLower(item)
		drafts = append(drafts, c.profile("allergy_"+item, polarity+item, 0.65)...)
	}
	return drafts
}
