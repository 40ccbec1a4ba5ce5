package offline

import (
	"context"
	"math"
	"unicode"

	"github.com/hippocampus-memory/hippocampus/model"
	"github.com/hippocampus-memory/hippocampus/model/internal/vector"
)

// embedder is "offline/hash-v1": signed feature hashing of stems, parts of
// words, and pairs of Han characters. Rare-looking words weigh more than common
// ones by word lists, since no corpus is counted; repeated words weigh by the
// logarithm. Documents and queries are embedded alike.
//
// Its cosine measures shared wording. Two texts that mean the same in different
// words are as far apart as any two texts, and typical similarities are lower
// than a trained model's: thresholds must be set for it.
//
// Any change to what it computes needs a new name: stored vectors carry it.
type embedder struct {
	dimension, maxChars int
}

var _ model.Embedder = (*embedder)(nil)

func (e *embedder) Dimension() int { return e.dimension }
func (e *embedder) Name() string   { return provider + "/hash-v1" }

func (e *embedder) Embed(ctx context.Context, texts []string, task model.Task) ([][]float32, error) {
	if err := vector.CheckTask(provider, task); err != nil {
		return nil, err
	}
	texts, err := vector.CleanTexts(provider, texts, e.maxChars)
	if err != nil {
		return nil, err
	}
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		vectors[i] = e.embed(text)
	}
	return vectors, vector.Finish(provider, vectors, len(texts), e.dimension)
}

// The weights of features. A word's parts together weigh half of the word, so
// that a misspelt or compound word still finds its kin.
const (
	weightStop     = 0.1
	weightCommon   = 0.45
	weightWord     = 1.0
	weightParts    = 0.5
	weightHan      = 0.35
	weightStopHan  = 0.05
	weightHanPair  = 1.0
	weightHalfPair = 0.5  // one of the two is a stop character
	weightStopPair = 0.15 // both are
)

// feature is counted, then weighed.
type feature struct {
	weight float64
	count  int
}

func (e *embedder) embed(text string) []float32 {
	features := map[string]*feature{}
	var order []string // a fixed order of addition keeps the sums bit-identical
	add := func(kind, name string, weight float64) {
		name = kind + name
		f := features[name]
		if f == nil {
			f = &feature{weight: weight}
			features[name] = f
			order = append(order, name)
		}
		f.count++
	}
	for _, t := range tokenize(text) {
		switch t.class {
		case classWord:
			addWord(add, t.text)
		case classCJK:
			addCJK(add, []rune(t.text))
		default:
			add("s|", t.text, weightWord)
		}
	}
	v := make([]float64, e.dimension)
	for _, name := range order {
		f := features[name]
		e.scatter(v, name, f.weight*(1+math.Log(float64(f.count))))
	}
	if isZero(v) { // everything cancelled out
		e.scatter(v, "t|"+text, weightWord)
	}
	out := make([]float32, e.dimension)
	for i, x := range v {
		out[i] = float32(x)
	}
	return out
}

func addWord(add func(kind, name string, weight float64), word string) {
	weight := weightWord
	switch {
	case lexicon.stop[word]:
		weight = weightStop
	case lexicon.common[word]:
		weight = weightCommon
	}
	base := stem(word)
	add("w|", base, weight)
	if weight == weightStop {
		return
	}
	runes := []rune("<" + base + ">")
	sizes := []int{3, 4}
	if unicode.Is(unicode.Hangul, runes[1]) {
		sizes = []int{2} // a syllable says as much as three letters
	}
	parts := 0
	for _, n := range sizes {
		parts += max(0, len(runes)-n+1)
	}
	for _, n := range sizes {
		for i := 0; i+n <= len(runes) && len(runes) > n; i++ {
			add("p|", string(runes[i:i+n]), weight*weightParts/math.Sqrt(float64(parts)))
		}
	}
}

func addCJK(add func(kind, name string, weight float64), runes []rune) {
	for i, r := range runes {
		weight := weightHan
		if weak(r) {
			weight = weightStopHan
		} else if len(runes) == 1 {
			weight = weightWord
		}
		add("c|", string(r), weight)
		if i+1 == len(runes) {
			break
		}
		pair := weightHanPair
		switch {
		case weak(r) && weak(runes[i+1]):
			pair = weightStopPair
		case weak(r) || weak(runes[i+1]):
			pair = weightHalfPair
		}
		add("c|", string(runes[i:i+2]), pair)
	}
}

// weak characters hold grammar rather than meaning.
func weak(r rune) bool { return lexicon.stopHan[r] || unicode.Is(unicode.Hiragana, r) }

// places is how many values a feature is spread over: with several, two words
// that meet by chance in one value hardly bring their texts nearer.
const places = 4

// scatter adds a feature to a vector with signs and at places that are hashed
// from its name (FNV-1a, then the finalizer of MurmurHash3 for each place, so
// that all bits depend on all of the name).
func (e *embedder) scatter(v []float64, name string, weight float64) {
	h := uint64(14695981039346656037)
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 1099511628211
	}
	weight /= math.Sqrt(places)
	for range places {
		h ^= h >> 33
		h *= 0xff51afd7ed558ccd
		h ^= h >> 33
		h *= 0xc4ceb9fe1a85ec53
		h ^= h >> 33
		sign := 1.0
		if h&1 == 0 {
			sign = -1
		}
		v[(h>>1)%uint64(e.dimension)] += float64(sign * weight) // rounded: no fused add
	}
}

func isZero(v []float64) bool {
	for _, x := range v {
		if float32(x) != 0 {
			return false
		}
	}
	return true
}
