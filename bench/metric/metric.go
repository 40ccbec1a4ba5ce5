// Package metric grades rankings: how much of what answers a question stands how far up. Relevance
// is binary; a mean is over questions, each of the same weight.
package metric

import (
	"fmt"
	"math"
	"slices"
)

// Cutoffs are the ranks at which a ranking is looked at.
var Cutoffs = []int{1, 3, 5, 10, 20, 50}

// Scores are the metrics of one ranking, or their means, by name: recall@5, hit@5, all@10, full@5,
// ndcg@10, mrr.
type Scores map[string]float64

// The names of the metrics that have no cutoff of ours.
const (
	MRR    = "mrr"
	NDCG10 = "ndcg@10"
)

// At is the name of a metric at a cutoff.
func At(name string, k int) string { return fmt.Sprintf("%s@%d", name, k) }

// Grade grades a ranking, best first, against what is gold. At each of the cutoffs k:
//
//	recall@k  the share of gold among the first k
//	hit@k     1 if any of gold is there
//	all@k     1 if all of gold is there
//
// and ndcg@10, with a gain of 1/log2(rank+1) each, and mrr, which is 1/rank of the first of gold
// over the whole ranking, 0 where none is ranked. What stands twice counts where it stands first,
// and takes its place both times. Gold must not be empty: there is nothing to find then, and Grade
// returns nil, so that the question is left out rather than counted as 1 or 0.
func Grade(ranking, gold []string) Scores {
	wanted := set(gold)
	if len(wanted) == 0 {
		return nil
	}
	ranks := make([]int, 0, len(wanted))
	found := make(map[string]bool, len(wanted))
	for i, id := range ranking {
		if wanted[id] && !found[id] {
			found[id] = true
			ranks = append(ranks, i+1)
		}
	}
	scores := Scores{MRR: 0}
	for _, k := range Cutoffs {
		n := 0
		for _, rank := range ranks {
			if rank <= k {
				n++
			}
		}
		scores[At("recall", k)] = float64(n) / float64(len(wanted))
		scores[At("hit", k)] = one(n > 0)
		scores[At("all", k)] = one(n == len(wanted))
	}
	var gain, ideal float64
	for _, rank := range ranks {
		if rank <= 10 {
			gain += 1 / math.Log2(float64(rank+1))
		}
	}
	for i := range min(len(wanted), 10) {
		ideal += 1 / math.Log2(float64(i+2))
	}
	scores[NDCG10] = gain / ideal
	if len(ranks) > 0 {
		scores[MRR] = 1 / float64(ranks[0])
	}
	return scores
}

// Full is, at each of the cutoffs, 1 if each group has one of its ids among the first k: full@k.
// It is for answers that can be had from one place or another.
func Full(ranking []string, groups [][]string) Scores {
	scores := Scores{}
	for _, k := range Cutoffs {
		top := set(ranking[:min(k, len(ranking))])
		met := 0
		for _, group := range groups {
			if slices.ContainsFunc(group, func(id string) bool { return top[id] }) {
				met++
			}
		}
		scores[At("full", k)] = one(met == len(groups))
	}
	return scores
}

// Mean is the mean of each metric over those that have it.
func Mean(all []Scores) Scores {
	sums, counts := Scores{}, map[string]int{}
	for _, scores := range all {
		for name, value := range scores {
			sums[name] += value
			counts[name]++
		}
	}
	for name := range sums {
		sums[name] /= float64(counts[name])
	}
	return sums
}

func set(ids []string) map[string]bool {
	s := make(map[string]bool, len(ids))
	for _, id := range ids {
		s[id] = true
	}
	return s
}

func one(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
