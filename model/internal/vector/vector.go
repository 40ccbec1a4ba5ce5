// Package vector holds the checks every embedder makes on what goes in and
// what comes out.
package vector

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/hippocampus-memory/hippocampus/model"
)

// CleanTexts makes texts fit to be embedded (valid UTF-8, no NUL) and refuses a
// blank one, or one over maxChars characters, with KindRejected and its index.
func CleanTexts(provider string, texts []string, maxChars int) ([]string, error) {
	clean := make([]string, len(texts))
	for i, text := range texts {
		text = model.CleanText(text)
		if strings.TrimSpace(text) == "" {
			return nil, rejected(provider, fmt.Errorf("text %d of %d is blank", i, len(texts)))
		}
		if n := utf8.RuneCountInString(text); n > maxChars {
			return nil, rejected(provider, fmt.Errorf("text %d of %d has %d characters, over the limit of %d", i, len(texts), n, maxChars))
		}
		clean[i] = text
	}
	return clean, nil
}

// CheckTask refuses a task no model knows.
func CheckTask(provider string, task model.Task) error {
	if task != model.TaskDocument && task != model.TaskQuery {
		return rejected(provider, fmt.Errorf("unknown task %q", task))
	}
	return nil
}

func rejected(provider string, err error) error {
	return &model.Error{Kind: model.KindRejected, Provider: provider, Operation: "embed", Err: err}
}

// Finish checks the vectors of one reply against what was asked for and brings
// each to unit length in place.
func Finish(provider string, vectors [][]float32, texts, dimension int) error {
	invalid := func(format string, args ...any) error {
		return &model.Error{Kind: model.KindInvalidReply, Provider: provider, Operation: "embed", Err: fmt.Errorf(format, args...)}
	}
	if len(vectors) != texts {
		return invalid("got %d vectors for %d texts", len(vectors), texts)
	}
	for i, v := range vectors {
		switch len(v) {
		case dimension:
		case 0:
			return invalid("vector %d has no values", i)
		default:
			return invalid("vector %d has %d values, want %d: %w", i, len(v), dimension, model.ErrDimension)
		}
		if err := Normalize(v); err != nil {
			return invalid("vector %d: %w", i, err)
		}
	}
	return nil
}

// Normalize brings v to unit length in place. It refuses NaN, infinity and the
// zero vector, which has no direction.
func Normalize(v []float32) error {
	var sum float64
	for j, x := range v {
		f := float64(x)
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return fmt.Errorf("value %d is %v", j, x)
		}
		sum += f * f
	}
	if sum == 0 {
		return fmt.Errorf("all %d values are zero", len(v))
	}
	norm := math.Sqrt(sum)
	for j, x := range v {
		v[j] = float32(float64(x) / norm)
	}
	return nil
}

// Batches cuts texts into runs of at most maxTexts and, unless a single text is
// longer, at most maxChars characters; the result are [start, end) pairs.
func Batches(texts []string, maxTexts, maxChars int) [][2]int {
	var batches [][2]int
	start, chars := 0, 0
	for i, text := range texts {
		n := utf8.RuneCountInString(text)
		if i > start && (i-start >= maxTexts || chars+n > maxChars) {
			batches = append(batches, [2]int{start, i})
			start, chars = i, 0
		}
		chars += n
	}
	if start < len(texts) {
		batches = append(batches, [2]int{start, len(texts)})
	}
	return batches
}
