package model

// Models is one provider's set, or a mixture of two.
type Models struct {
	Embedder   Embedder
	Summarizer Summarizer
	Reflector  Reflector
	Classifier Classifier
	// MaxInputChars is what one call of the language model may be given, MaxEmbedChars what one text to embed may
	// have, in characters; 0 where no bound is known. A call over it is refused, so who calls gives it in parts.
	MaxInputChars, MaxEmbedChars int
	// MaxEmbedTokens is how much of a text its vector stands for, in tokens; 0 leaves it to those who embed
	// ([DefaultEmbedTokens]).
	MaxEmbedTokens int
	// Close frees connections. It is never nil in a set made by a provider of
	// this repository, and nothing of the set may be used after it.
	Close func() error
}
