package bench

import (
	"errors"
	"math"

	"github.com/hippocampus-memory/hippocampus/bench/dataset"
	"github.com/hippocampus-memory/hippocampus/bench/report"
)

// uses are how many memories were used how often: uses[2] of them twice.
type uses []int

// total is how many memories there are, and how many uses all have together.
func (u uses) total() (memories, all int) {
	for k, n := range u {
		memories += n
		all += k * n
	}
	return memories, all
}

// usesOf counts, by conversation, how often its turns are evidence of the questions of the dataset's headline.
func usesOf(d *dataset.Dataset) map[string]uses {
	asked := map[string]map[string]int{}
	for _, q := range d.Questions {
		if !q.In(d.Headline) {
			continue
		}
		if asked[q.Conversation] == nil {
			asked[q.Conversation] = map[string]int{}
		}
		for _, turn := range q.Gold {
			asked[q.Conversation][turn]++
		}
	}
	found := map[string]uses{}
	for id, turns := range asked {
		there := map[string]bool{} // an exchange of two events may be one turn
		for _, session := range d.Conversation(id).Sessions {
			for i := range session.Events {
				there[d.Turn(session.Events[i].EventID)] = true
			}
		}
		counted := uses{len(there)}
		for _, n := range turns {
			for len(counted) <= n {
				counted = append(counted, 0)
			}
			counted[n]++
			counted[0]--
		}
		found[id] = counted
	}
	return found
}

// chance is the logarithm of how likely a memory is to be used k times whose rate is log-normal: of the mean over all
// rates of the chance by each, Poisson's. The logarithm of the rate has the mean mu and the deviation sigma. The sum is
// taken round the rate that has the greatest part in it, as far as any has a part that counts.
func chance(k int, mu, sigma float64) float64 {
	const steps, reach = 40, 7.0
	lg, _ := math.Lgamma(float64(k + 1))
	part := func(rate float64) float64 {
		z := (rate - mu) / sigma
		return float64(k)*rate - math.Exp(rate) - lg - z*z/2
	}
	peak := highest(min(mu, math.Log(float64(k)+0.1)), max(mu, math.Log(float64(k)+0.1)), part)
	width := 1 / math.Sqrt(math.Exp(peak)+1/(sigma*sigma))
	var sum float64
	for i := range steps + 1 {
		sum += math.Exp(part(peak+width*reach*(2*float64(i)/steps-1)) - part(peak))
	}
	return part(peak) + math.Log(sum*width*2*reach/steps/(sigma*math.Sqrt(2*math.Pi)))
}

// likelihood is the logarithm of how likely the uses of memories are with their most likely mean rate, and that rate's.
func (u uses) likelihood(sigma float64) (best, mu float64) {
	of := func(mu float64) float64 {
		var sum float64
		for k, n := range u {
			if n > 0 {
				sum += float64(n) * chance(k, mu, sigma)
			}
		}
		return sum
	}
	mu = highest(-12, 5, of)
	return of(mu), mu
}

// highest is where a function with one peak has it, to within a thousandth.
func highest(from, to float64, of func(float64) float64) float64 {
	golden := (math.Sqrt(5) - 1) / 2
	a, b := to-golden*(to-from), from+golden*(to-from)
	left, right := of(a), of(b)
	for to-from > 1e-3 {
		if left > right {
			to, b, right = b, a, left
			a = to - golden*(to-from)
			left = of(a)
		} else {
			from, a, left = a, b, right
			b = from + golden*(to-from)
			right = of(b)
		}
	}
	return (from + to) / 2
}

// fitted is the spread that is most likely, and between which two it is, 19 times in 20.
type fitted struct{ spread, least, most float64 }

// fitSpread finds the spread of conversations that have one in common, but each a mean rate of its own: of two that
// are asked about more or less, neither says that memories differ more. Deviations are looked for from 0.01 to 4.
func fitSpread(conversations []uses) fitted {
	const low, high = 0.01, 4.0
	of := func(sigma float64) (sum float64) {
		for _, u := range conversations {
			best, _ := u.likelihood(sigma)
			sum += best
		}
		return sum
	}
	at := highest(low, high, of)
	bound := of(at) - 1.92 // half of the 95 % point of χ² with one degree of freedom
	// edge is where the likelihood crosses the bound, between a deviation beyond it and the best
	edge := func(beyond float64) float64 {
		within := at
		if of(beyond) >= bound {
			return beyond
		}
		for math.Abs(beyond-within) > 1e-2 {
			if middle := (beyond + within) / 2; of(middle) >= bound {
				within = middle
			} else {
				beyond = middle
			}
		}
		return within
	}
	return fitted{spread: math.Exp(at), least: math.Exp(edge(low)), most: math.Exp(edge(high))}
}

// share is what part of the uses the most used part of memories has whose spread it is.
func share(part, spread float64) float64 {
	normal := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	return normal(math.Log(spread) - math.Sqrt2*math.Erfinv(1-2*part))
}

// FitRetention says how unevenly the turns of real conversations are used: how often each is evidence of a question
// of the dataset's headline. It returns the spread that they have in common. Few questions make uses look more uneven than they
// are, since chance alone gives one turn two of them and another none: so it is no share of the uses that is taken,
// but the spread under which what is seen is most likely.
func FitRetention(d *dataset.Dataset, r *report.Report) (spread float64, err error) {
	found := usesOf(d)
	if len(found) == 0 {
		return 0, errors.New("none of the questions says which turns answer it: there is no use to count")
	}
	table := &report.Table{
		Title: "Spread of real use",
		Heads: []string{"conversation", "memories", "uses", "never", "once", "twice", "oftener", "spread", "from", "to", "a tenth has %", "a fifth has %"},
		Notes: "How often each turn is evidence of a question, and the spread that makes this most likely, if rates are log-normal and uses come at random; from and to hold it 19 times in 20. Of all: one spread, and a mean rate of each conversation's own. What the most used tenth and fifth have follows from the spread.",
	}
	row := func(name string, f fitted, conversations ...uses) {
		var memories, all, never, once, twice int
		for _, u := range conversations {
			m, n := u.total()
			memories, all, never = memories+m, all+n, never+u[0]
			if len(u) > 1 {
				once += u[1]
			}
			if len(u) > 2 {
				twice += u[2]
			}
		}
		table.Row(name, memories, all, never, once, twice, memories-never-once-twice, f.spread, f.least, f.most, 100*share(0.1, f.spread), 100*share(0.2, f.spread))
	}
	var all []uses
	for _, c := range d.Conversations {
		if u, ok := found[c.ID]; ok {
			all = append(all, u)
			if _, n := u.total(); len(found) <= 20 && n > 0 {
				row(c.ID, fitSpread([]uses{u}), u)
			}
		}
	}
	f := fitSpread(all)
	row("all", f, all...)
	r.Tables = append(r.Tables, table)
	return f.spread, nil
}
