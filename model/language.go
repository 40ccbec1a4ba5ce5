package model

import (
	"strings"
	"unicode"
)

// The languages prompts are written in. A conversation in any other language
// gets the English prompt, which asks for an answer in the language spoken.
const (
	LanguageEnglish = "en"
	LanguageChinese = "zh"
)

// DetectLanguage tells Chinese from everything else. The answer is
// LanguageChinese when at least three letters in ten are Han and fewer than one
// in ten is kana or Hangul, so that Japanese and Korean are not taken for
// Chinese; otherwise, and for no text at all, it is LanguageEnglish.
func DetectLanguage(texts ...string) string {
	var letters, han, kana int
	for _, text := range texts {
		for _, r := range text {
			switch {
			case unicode.Is(unicode.Han, r):
				han++
			case unicode.In(r, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
				kana++
			case !unicode.IsLetter(r):
				continue
			}
			letters++
		}
	}
	if letters > 0 && han*10 >= letters*3 && kana*10 < letters {
		return LanguageChinese
	}
	return LanguageEnglish
}

// resolveLanguage takes a language tag such as "en", "zh" or "zh-CN" at its
// word; for any other, and for none, the texts decide.
func resolveLanguage(tag string, texts ...string) string {
	base, _, _ := strings.Cut(strings.ReplaceAll(strings.ToLower(tag), "_", "-"), "-")
	if base == LanguageEnglish || base == LanguageChinese {
		return base
	}
	return DetectLanguage(texts...)
}
