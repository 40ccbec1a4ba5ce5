package chat

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/hippocampus-memory/hippocampus/model"
)

// CheckConversation refuses, with KindRejected, a conversation without text and
// one of more than maxChars characters (0: no limit).
func CheckConversation(provider, operation string, c *model.Conversation, maxChars int) error {
	reject := func(err error) error {
		return &model.Error{Kind: model.KindRejected, Provider: provider, Operation: operation, Err: err}
	}
	if c == nil {
		return reject(errors.New("no conversation"))
	}
	blank := true
	for i := range c.Turns {
		blank = blank && strings.TrimSpace(model.CleanText(c.Turns[i].Text)) == ""
	}
	if blank {
		return reject(fmt.Errorf("no text in %d turns", len(c.Turns)))
	}
	if n := c.Chars(); maxChars > 0 && n > maxChars {
		return reject(fmt.Errorf("the conversation has %d characters, over the limit of %d: give it in parts", n, maxChars))
	}
	return nil
}

// CheckStatements refuses, with KindRejected, a blank or over-long statement.
func CheckStatements(provider string, in *model.ClassifyInput, maxChars int) error {
	reject := func(err error) error {
		return &model.Error{Kind: model.KindRejected, Provider: provider, Operation: "classify", Err: err}
	}
	if in == nil || strings.TrimSpace(model.CleanText(in.Old)) == "" || strings.TrimSpace(model.CleanText(in.New)) == "" {
		return reject(errors.New("a statement is blank"))
	}
	if n := utf8.RuneCountInString(in.Old) + utf8.RuneCountInString(in.New); maxChars > 0 && n > maxChars {
		return reject(fmt.Errorf("the statements have %d characters, over the limit of %d", n, maxChars))
	}
	return nil
}
