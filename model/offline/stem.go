package offline

import "strings"

// stem brings forms of an English word together: "hiking", "hiked", "hikes" and
// "hike" all become "hik". The result is for comparing, not for reading. Words
// with other letters than a–z are left alone.
func stem(word string) string {
	word = strings.TrimSuffix(strings.TrimSuffix(word, "'s"), "'")
	if base, found := lexicon.irregular[word]; found {
		word = base
	}
	if len(word) < 3 || strings.ContainsFunc(word, func(r rune) bool { return r < 'a' || r > 'z' }) {
		return word
	}
	word = plural(word)
	switch {
	case strings.HasSuffix(word, "ied") && len(word) > 4:
		word = word[:len(word)-3] + "y"
	case strings.HasSuffix(word, "ing") && len(word) > 5 && vowel(word[:len(word)-3]):
		word = undouble(word[:len(word)-3])
	case strings.HasSuffix(word, "ed") && len(word) > 4 && vowel(word[:len(word)-2]):
		word = undouble(word[:len(word)-2])
	case strings.HasSuffix(word, "ly") && len(word) > 5:
		word = word[:len(word)-2]
	}
	if len(word) > 3 {
		word = strings.TrimSuffix(word, "e")
	}
	return word
}

func plural(word string) string {
	switch {
	case strings.HasSuffix(word, "ies") && len(word) > 4:
		return word[:len(word)-3] + "y"
	case strings.HasSuffix(word, "sses"), strings.HasSuffix(word, "shes"), strings.HasSuffix(word, "ches"), strings.HasSuffix(word, "xes"):
		return word[:len(word)-2]
	case strings.HasSuffix(word, "ss"), strings.HasSuffix(word, "us"), strings.HasSuffix(word, "is"):
		return word
	case strings.HasSuffix(word, "s") && len(word) > 3:
		return word[:len(word)-1]
	}
	return word
}

func vowel(s string) bool { return strings.ContainsAny(s, "aeiouy") }

// undouble takes one of two equal consonants off the end: runn → run.
func undouble(word string) string {
	n := len(word)
	if n > 3 && word[n-1] == word[n-2] && !strings.ContainsRune("aeioulsz", rune(word[n-1])) {
		return word[:n-1]
	}
	return word
}
