package model

// Models is one provider's set, or a mixture of two.
type Models struct {
	Embedder   Embedder
	Summarizer Summarizer
	Reflector  Reflector
	Classifier Classifier
	// Close frees connections. It is never nil in a set made by a provider of
	// this repository, and nothing of the set may be used after it.
	Close func() error
}
