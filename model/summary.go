package model

import "context"

// Usage is what a call cost in tokens, as the provider counted them: the sum
// over all requests the call made. Zero when the provider doesn't say.
type Usage struct {
	InputTokens, OutputTokens int
}

// Add returns the sum of two usages.
func (u Usage) Add(v Usage) Usage {
	return Usage{InputTokens: u.InputTokens + v.InputTokens, OutputTokens: u.OutputTokens + v.OutputTokens}
}

// Summary is a conversation in a few sentences.
type Summary struct {
	// Content is never blank.
	Content string
	// Model is who wrote it, e.g. "openai/gpt-6-luna" or "offline/extractive-v1".
	Model string
	Usage Usage
}

// Summarizer condenses the turns of a conversation, in the conversation's
// language, to about 120 words or 200 Chinese characters. The prior summary is
// context and is not repeated. A conversation without any text is refused with
// KindRejected; so is one over the provider's MaxInputChars.
type Summarizer interface {
	Summarize(ctx context.Context, c *Conversation) (*Summary, error)
}
