package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hippocampus-memory/hippocampus/bench/report"
)

// RetentionOptions say what [Retention] makes and keeps.
type RetentionOptions struct {
	// Memories is how many there are, Keep how many of them may stay.
	Memories, Keep int
	// Seed makes the first history, the numbers after it the others; Seeds is how many histories.
	Seed  uint64
	Seeds int
	// Spreads are by what factor memories differ in how often they are used, within one σ; above 1.
	// At 3 a tenth of the memories has 43 % of the uses, at 5.4 a fifth has 80 %, at 10 a tenth has 85 %.
	// [FitRetention] finds the one of real use.
	Spreads []float64
	// Rate is how many uses a day the median memory has; above 0, at most 100.
	Rate float64
}

const (
	retentionPast   = 120.0 // days in which memories are stored and used
	retentionFuture = 30.0  // days whose uses are what a memory is worth
	endingShare     = 0.1   // of how many memories the use ends at some instant
)

// used is a memory with what is known of its use when it is judged, and how often it is used after.
type used struct {
	stored, accessed float64 // days before it is judged
	accesses         int32
	value            float64
	expected         float64 // the uses to come that one could expect who knows its rate and its end
}

// makeUse makes a history. Memories are stored evenly over the past. How often one is used differs
// widely (log-normal), and for some, use ends at an instant of their past or the time to come. When a
// memory was stored says nothing of how often it is used.
func makeUse(n int, median, spread float64, seed uint64) []used {
	rnd := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // a history that can be made again
	memories := make([]used, n)
	for i := range memories {
		stored := rnd.Float64() * retentionPast
		rate := median * math.Exp(math.Log(spread)*rnd.NormFloat64())
		end := retentionFuture
		if rnd.Float64() < endingShare {
			end = -stored + rnd.Float64()*(stored+retentionFuture)
		}
		m := used{stored: stored, accessed: stored, expected: rate * max(end, 0)}
		for at := -stored + rnd.ExpFloat64()/rate; at < end; at += rnd.ExpFloat64() / rate {
			if at > 0 {
				m.value++
			} else {
				m.accesses++
				m.accessed = -at
			}
		}
		memories[i] = m
	}
	return memories
}

// judge has the database score a history: by strength, and by Ebbinghaus's curve, at their defaults.
func judge(ctx context.Context, e *Engine, memories []used) (strength, ebbinghaus []float64, err error) {
	now := time.Now()
	accessed, counts := make([]time.Time, len(memories)), make([]int32, len(memories))
	for i, m := range memories {
		accessed[i] = now.Add(-time.Duration(m.accessed * 24 * float64(time.Hour)))
		counts[i] = m.accesses
	}
	rows, err := e.Pool.Query(ctx, `SELECT hippocampus.effective_strength(least(1.0, 0.5 + 0.02 * u.n), u.n, u.at, $3) AS strength,
			hippocampus.calculate_retention_score(u.n, u.at, p_now => $3) AS ebbinghaus
		FROM unnest($1::integer[], $2::timestamptz[]) WITH ORDINALITY AS u (n, at, place) ORDER BY u.place`, counts, accessed, now)
	if err != nil {
		return nil, nil, fmt.Errorf("score memories: %w", err)
	}
	var s, b float64
	_, err = pgx.ForEachRow(rows, []any{&s, &b}, func() error {
		strength, ebbinghaus = append(strength, s), append(ebbinghaus, b)
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("score memories: %w", err)
	}
	return strength, ebbinghaus, nil
}

// foreseen is how many uses of a memory are to be expected by one who sees what a score sees (when it was stored, how
// often and when last it was used) and besides knows how the histories are made, this one's rate and spread included: the mean
// over all rates, each weighed by how well it explains what is seen. No score that sees no more keeps more in the long run.
func foreseen(m *used, median, spread float64) float64 {
	const steps, reach = 80, 4.0 // the rates from -4 σ to 4 σ
	var weights [steps + 1]float64
	most := math.Inf(-1)
	rate := func(i int) float64 { return median * math.Pow(spread, reach*(2*float64(i)/steps-1)) }
	for i := range weights {
		z := reach * (2*float64(i)/steps - 1)
		weights[i] = float64(m.accesses)*math.Log(rate(i)) - rate(i)*m.stored - z*z/2
		most = max(most, weights[i])
	}
	var uses, all float64
	ends := endingShare / (m.stored + retentionFuture) // that it ends on a certain day
	for i, weight := range weights {
		weight, r := math.Exp(weight-most), rate(i)
		uses += weight * r * ((1-endingShare)*retentionFuture + ends*retentionFuture*retentionFuture/2)
		// it goes on; it ends in the time to come; it ended after its last use
		all += weight * (1 - endingShare + ends*retentionFuture + ends*(math.Exp(min(r*m.accessed, 700))-1)/r)
	}
	return uses / all
}

// kept is the value of the keep memories that score highest.
func kept(memories []used, keep int, score func(i int) float64) float64 {
	order := make([]int, len(memories))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(score(b), score(a)) })
	var value float64
	for _, i := range order[:keep] {
		value += memories[i].value
	}
	return value
}

// Retention makes histories of memories whose later use is known, keeps some of each by a score, and
// reports what part of the value is left that one who knows the future would have kept: the mean over
// the histories of a spread, and the least.
func Retention(ctx context.Context, e *Engine, opts *RetentionOptions, r *report.Report) error {
	if err := opts.check(); err != nil {
		return err
	}
	table := &report.Table{
		Title: "Value kept, % of the oracle's: mean and least",
		Heads: []string{"spread", "strength", "least", "ebbinghaus", "least", "last use", "least", "newest", "least", "history", "least", "rates known", "least"},
		Notes: "newest keeps what was stored last, last use what was used last; history keeps by the uses that are to be expected of what a score sees too, for one who knows how these histories are made: what it loses, no such score gains; rates known keeps by how often each is truly used, the most that one can do who does not know when: where that is below a figure, no score reaches it. The scores are the database's, at their defaults.",
	}
	for _, spread := range opts.Spreads {
		var mean, least [6]float64
		for i := range opts.Seeds {
			parts, err := opts.parts(ctx, e, spread, opts.Seed+uint64(i))
			if err != nil {
				return err
			}
			for j, part := range parts {
				mean[j] += part / float64(opts.Seeds)
				if i == 0 || part < least[j] {
					least[j] = part
				}
			}
		}
		cells := []any{fmt.Sprintf("%.3g", spread)}
		for j := range mean {
			cells = append(cells, mean[j], least[j])
		}
		table.Row(cells...)
	}
	r.Fact("Memories", "%d, of which %d are kept; the median one is used once in %.3g days", opts.Memories, opts.Keep, 1/opts.Rate)
	r.Fact("Histories", "%d of a spread, from seed %d", opts.Seeds, opts.Seed)
	r.Tables = append(r.Tables, table)
	return nil
}

// check refuses what cannot be made.
func (opts *RetentionOptions) check() error {
	if opts.Memories < 1 || opts.Keep < 1 || opts.Keep > opts.Memories || opts.Seeds < 1 {
		return errors.New("memories, keep and seeds are at least 1, and keep is at most memories")
	}
	if !(opts.Rate > 0 && opts.Rate <= 100) {
		return fmt.Errorf("a rate of %v is not above 0 and at most 100 uses a day", opts.Rate)
	}
	if len(opts.Spreads) == 0 {
		return errors.New("there is no spread")
	}
	for _, spread := range opts.Spreads {
		if !(spread > 1 && spread <= 100) {
			return fmt.Errorf("a spread of %v is not above 1 and at most 100", spread)
		}
	}
	return nil
}

// parts are what each way of keeping keeps of one history, in the order of the table, in % of the oracle's.
func (opts *RetentionOptions) parts(ctx context.Context, e *Engine, spread float64, seed uint64) ([6]float64, error) {
	memories := makeUse(opts.Memories, opts.Rate, spread, seed)
	strength, ebbinghaus, err := judge(ctx, e, memories)
	if err != nil {
		return [6]float64{}, err
	}
	oracle := kept(memories, opts.Keep, func(i int) float64 { return memories[i].value })
	if oracle == 0 {
		return [6]float64{}, fmt.Errorf("no memory of seed %d is used again: give more memories", seed)
	}
	part := func(score func(i int) float64) float64 { return 100 * kept(memories, opts.Keep, score) / oracle }
	return [6]float64{
		part(func(i int) float64 { return strength[i] }), part(func(i int) float64 { return ebbinghaus[i] }),
		part(func(i int) float64 { return -memories[i].accessed }), part(func(i int) float64 { return -memories[i].stored }),
		part(func(i int) float64 { return foreseen(&memories[i], opts.Rate, spread) }),
		part(func(i int) float64 { return memories[i].expected }),
	}, nil
}
