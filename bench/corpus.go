package bench

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/google/uuid"
)

// The shape of a synthetic corpus. Its words follow Zipf's law, as those of natural text do; its
// vectors lie in clusters of a space of few dimensions, as embeddings do. Real embeddings are harder
// for an index still, so that recall figures of a synthetic corpus are upper bounds.
const (
	vocabulary       = 30_000
	clusters         = 400
	intrinsic        = 48
	clusterSpread    = 0.6
	turnsPerSession  = 20
	turnInterval     = 4 * time.Minute
	wordsMin, words  = 12, 19 // a turn has wordsMin to wordsMin+words-1
	queryWords       = 6
	sessionInterval  = 8 * time.Hour
	streamCentres    = 1 // streams of the seed
	streamProjection = 2
	streamTenants    = 1000
)

// corpusEnd is when the newest session of a synthetic corpus was.
var corpusEnd = time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)

// space is what all tenants of a corpus have in common: the clusters, and how they lie in the
// dimensions of the embedding.
type space struct {
	centres    [][]float64
	dimension  int
	projection [][]float64 // intrinsic × dimension
	seed       uint64
}

func newSpace(seed uint64, dimension int) *space {
	s := &space{dimension: dimension, seed: seed}
	random := s.random(streamCentres)
	for range clusters {
		s.centres = append(s.centres, gaussian(random, intrinsic))
	}
	random = s.random(streamProjection)
	for range intrinsic {
		s.projection = append(s.projection, gaussian(random, dimension))
	}
	return s
}

func (s *space) random(stream uint64) *rand.Rand {
	return rand.New(rand.NewPCG(s.seed, stream)) //nolint:gosec // data of a benchmark, not a secret
}

func gaussian(random *rand.Rand, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = random.NormFloat64()
	}
	return v
}

// source makes the rows, or the queries, of a tenant: the same for the same seed and stream.
type source struct {
	*space
	random *rand.Rand
	zipf   *rand.Zipf
}

func (s *space) source(stream uint64) *source {
	random := s.random(streamTenants + stream)
	return &source{random: random, space: s, zipf: rand.NewZipf(random, 1.1, 8, vocabulary-1)}
}

// vector is near one of the centres, and of unit length.
func (s *source) vector() []float32 {
	centre := s.centres[s.random.IntN(len(s.centres))]
	sum := make([]float64, s.dimension)
	for i, axis := range s.projection {
		at := centre[i] + clusterSpread*s.random.NormFloat64()
		for j, share := range axis {
			sum[j] += at * share
		}
	}
	norm := 0.0
	for _, x := range sum {
		norm += x * x
	}
	norm = math.Sqrt(norm)
	v := make([]float32, s.dimension)
	for i, x := range sum {
		v[i] = float32(x / norm)
	}
	return v
}

// text is a turn's, query that of a search.
func (s *source) text() string  { return s.sentence(wordsMin + s.random.IntN(words)) }
func (s *source) query() string { return s.sentence(queryWords) }

func (s *source) sentence(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(word(s.zipf.Uint64()))
	}
	return b.String()
}

// word is the nth word of the vocabulary, in syllables. None is a stop word of English.
func word(n uint64) string {
	const consonants, vowels = "bdfgklmnprtvz", "aiou"
	var b strings.Builder
	for n++; n > 0 || b.Len() < 4; n /= uint64(len(consonants) * len(vowels)) {
		syllable := n % uint64(len(consonants)*len(vowels))
		b.WriteByte(consonants[syllable/uint64(len(vowels))])
		b.WriteByte(vowels[syllable%uint64(len(vowels))])
	}
	return b.String() + "x"
}

func (s *source) id() uuid.UUID {
	var id uuid.UUID
	binary.BigEndian.PutUint64(id[:8], s.random.Uint64())
	binary.BigEndian.PutUint64(id[8:], s.random.Uint64())
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80 // a random UUID, by its version and variant
	return id
}

// tenantSize is a tenant of a corpus.
type tenantSize struct {
	user string
	rows int
	// fixed tenants are those that are measured.
	fixed bool
}

// tenantSizes shares rows among tenants: the fixed sizes that fit, the largest last to be left out,
// and what remains among the others, the nth of which has a share of 1/n.
func tenantSizes(rows, tenants int, fixed []int) []tenantSize {
	var all []tenantSize
	left := rows
	for _, size := range fixed {
		if size <= left {
			all = append(all, tenantSize{fixed: true, rows: size, user: fmt.Sprintf("tenant-%d", size)})
			left -= size
		}
	}
	others := tenants - len(all)
	if others <= 0 || left <= 0 {
		return all
	}
	harmonic := 0.0
	for n := range others {
		harmonic += 1 / float64(n+1)
	}
	rest := left
	for n := range others {
		size := int(math.Round(float64(left) / float64(n+1) / harmonic))
		size = max(1, min(size, rest-(others-n-1))) // one row each, at least, for those that follow
		if n == others-1 {
			size = rest
		}
		if size <= 0 || rest <= 0 {
			break
		}
		all = append(all, tenantSize{rows: size, user: fmt.Sprintf("other-%04d", n+1)})
		rest -= size
	}
	return all
}
