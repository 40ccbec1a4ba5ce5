package model

import "context"

// Task tells an embedder what the text is for. Some models place a question
// and its answer closer together when they know which is which.
type Task string

// The tasks an Embedder must accept.
const (
	TaskDocument Task = "document" // text that is stored and searched
	TaskQuery    Task = "query"    // text that is searched with
)

// Embedder turns texts into vectors.
type Embedder interface {
	// Embed returns one unit-length vector of Dimension() finite values per
	// text, in order. No text gives no vector and no error. A blank text has no
	// meaning to embed: it is refused with KindRejected and an error that names
	// its index, and nothing is sent. Either every text gets its vector or the
	// call fails; there is no partial result.
	Embed(ctx context.Context, texts []string, task Task) ([][]float32, error)

	// Dimension is the number of values of every vector.
	Dimension() int

	// Name identifies the vector space, e.g. "gemini/gemini-embedding-001" or
	// "offline/hash-v1". It is stored with each vector; vectors of different
	// names are never compared.
	Name() string
}
