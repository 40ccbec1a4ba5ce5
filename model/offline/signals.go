package offline

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

var (
	strongSigns = regexp.MustCompile(`(?i)\b(really|absolutely|truly|totally|extremely|so much|very much|a lot|definitely|passionately)\b|非常|特别|超级|十分|极其|真的|最`)
	absolutes   = regexp.MustCompile(`(?i)\b(never|always|ever again|under no circumstances|non-negotiable|refuse)\b|从不|从来|绝不|绝对|永远|一直|一向|千万|务必`)
	important   = regexp.MustCompile(`(?i)\b(remember this|please remember|important|critical|crucial|must)\b|重要|记住|必须|一定`)
	weakSigns   = regexp.MustCompile(`(?i)\b(kind of|kinda|sort of|a bit|a little|somewhat|maybe|perhaps|i guess|probably|quite)\b|有点|有些|还算|可能|也许|大概|比较`)
	doubts      = regexp.MustCompile(`(?i)\b(i think|i guess|i suppose|maybe|perhaps|probably|possibly|not sure)\b|可能|也许|大概|好像|应该是|不确定`)
)

// emphasis is what a sentence's tone adds to or takes from the intensity of
// what it says.
func emphasis(text string) float64 {
	e := 0.0
	if strongSigns.MatchString(text) {
		e += 0.1
	}
	if absolutes.MatchString(text) {
		e += 0.15
	}
	if important.MatchString(text) {
		e += 0.15
	}
	if weakSigns.MatchString(text) {
		e -= 0.15
	}
	if strings.ContainsAny(text, "!！") {
		e += 0.05
	}
	return e
}

// certain is the confidence in a plain statement; doubt in its words lowers it.
func certain(text string, confidence float64) float64 {
	if doubts.MatchString(text) {
		return confidence - 0.3
	}
	return confidence
}

var months = map[string]time.Month{
	"january": 1, "february": 2, "march": 3, "april": 4, "may": 5, "june": 6, "july": 7, "august": 8,
	"september": 9, "october": 10, "november": 11, "december": 12,
	"jan": 1, "feb": 2, "mar": 3, "apr": 4, "jun": 6, "jul": 7, "aug": 8, "sep": 9, "sept": 9, "oct": 10, "nov": 11, "dec": 12,
}

const monthNames = `(?:january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)`

var (
	englishDate  = regexp.MustCompile(`(?i)\b(?:in|since) (?:(` + monthNames + `)\.?,? )?((?:19|20)\d\d)\b`)
	chineseDate  = regexp.MustCompile(`((?:19|20)\d\d)年(?:(\d{1,2})月)?`)
	relativeDate = regexp.MustCompile(`(?i)\b(yesterday|last week|last month|last year)\b|(昨天|上周|上个?月|去年)`)
)

// sinceWhen finds since when a sentence says something is true: a year, with a
// month if there is one, or a word like "last month" counted from the time of
// the turn. Nil when it doesn't say.
func sinceWhen(text string, at time.Time) *time.Time {
	date := func(year, month string) *time.Time {
		y, err := strconv.Atoi(year)
		if err != nil {
			return nil
		}
		m := months[strings.ToLower(month)]
		if n, err := strconv.Atoi(month); err == nil && n >= 1 && n <= 12 {
			m = time.Month(n)
		}
		t := time.Date(y, max(m, time.January), 1, 0, 0, 0, 0, time.UTC)
		return &t
	}
	if m := englishDate.FindStringSubmatch(text); m != nil {
		return date(m[2], m[1])
	}
	if m := chineseDate.FindStringSubmatch(text); m != nil {
		return date(m[1], m[2])
	}
	m := relativeDate.FindStringSubmatch(text)
	if m == nil || at.IsZero() {
		return nil
	}
	at = at.UTC()
	day := time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC)
	switch strings.ToLower(m[1] + m[2]) {
	case "yesterday", "昨天":
		day = day.AddDate(0, 0, -1)
	case "last week", "上周":
		day = day.AddDate(0, 0, -7)
	case "last month", "上月", "上个月":
		day = time.Date(at.Year(), at.Month()-1, 1, 0, 0, 0, 0, time.UTC)
	default: // last year
		day = time.Date(at.Year()-1, time.January, 1, 0, 0, 0, 0, time.UTC)
	}
	return &day
}
