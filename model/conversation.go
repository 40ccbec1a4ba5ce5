package model

import (
	"time"
	"unicode/utf8"
)

// Turn is one event of a conversation, as models see it.
type Turn struct {
	// Sequence is the event's number in its thread. Facts and insights point
	// back to it.
	Sequence int64
	// Author is who spoke: "user", "agent", "tool", "system", or a name.
	Author string
	// Text is what was said.
	Text string
	// At is when it was said; zero when unknown.
	At time.Time
}

// Conversation is a run of turns in order, the input of Summarizer and Reflector.
type Conversation struct {
	Turns []Turn
	// Language of the prompts and of an offline answer: "en" or "zh". Empty
	// means DetectLanguage decides.
	Language string
	// PriorSummary is an optional summary of what came before. It gives a model
	// context; nothing is extracted from it.
	PriorSummary string
}

// Chars is the size of the conversation in characters (Unicode code points):
// texts, authors and the prior summary.
func (c *Conversation) Chars() int {
	n := utf8.RuneCountInString(c.PriorSummary)
	for i := range c.Turns {
		n += utf8.RuneCountInString(c.Turns[i].Author) + utf8.RuneCountInString(c.Turns[i].Text)
	}
	return n
}

// ResolvedLanguage is LanguageEnglish or LanguageChinese if Language says so
// (also as "en-GB" or "zh-CN"), and otherwise what DetectLanguage finds in the
// turns.
func (c *Conversation) ResolvedLanguage() string {
	texts := make([]string, len(c.Turns))
	for i := range c.Turns {
		texts[i] = c.Turns[i].Text
	}
	return resolveLanguage(c.Language, texts...)
}
