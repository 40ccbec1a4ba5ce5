package metric_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/bench/metric"
)

const tiny = 1e-12

func TestFull(t *testing.T) {
	t.Parallel()

	t.Run("OneOfEachGroupIsEnough", func(t *testing.T) {
		t.Parallel()
		ranking := []string{"a", "x", "c", "y"}
		scores := metric.Full(ranking, [][]string{{"a", "b"}, {"d", "c"}})
		require.Equal(t, metric.Scores{"full@1": 0, "full@3": 1, "full@5": 1, "full@10": 1, "full@20": 1, "full@50": 1}, scores)
	})

	t.Run("MissingGroup", func(t *testing.T) {
		t.Parallel()
		require.Zero(t, metric.Full([]string{"a"}, [][]string{{"a"}, {"b"}})["full@50"])
	})
}

func TestGrade(t *testing.T) {
	t.Parallel()

	t.Run("Duplicates", func(t *testing.T) {
		t.Parallel()
		// The second a takes rank 2, so b is at 3; gold that is named twice is one.
		scores := metric.Grade([]string{"a", "a", "b"}, []string{"b", "a", "b"})
		require.InDelta(t, 0.5, scores["recall@1"], tiny)
		require.InDelta(t, 1, scores["recall@3"], tiny)
		require.InDelta(t, (1+1/math.Log2(4))/(1+1/math.Log2(3)), scores["ndcg@10"], tiny)
	})

	t.Run("EmptyRanking", func(t *testing.T) {
		t.Parallel()
		scores := metric.Grade(nil, []string{"a"})
		require.Len(t, scores, 3*len(metric.Cutoffs)+2)
		for name, value := range scores {
			require.Zero(t, value, name)
		}
	})

	t.Run("NoGold", func(t *testing.T) {
		t.Parallel()
		require.Nil(t, metric.Grade([]string{"a"}, nil))
	})

	t.Run("ThreeOfFourFound", func(t *testing.T) {
		t.Parallel()
		// at ranks 2, 4 and 11
		ranking := []string{"-1", "a", "-3", "b", "-5", "-6", "-7", "-8", "-9", "-10", "c"}
		scores := metric.Grade(ranking, []string{"a", "b", "c", "d"})
		for name, want := range map[string]float64{
			"recall@1": 0, "recall@3": 0.25, "recall@5": 0.5, "recall@10": 0.5, "recall@20": 0.75, "recall@50": 0.75,
			"hit@1": 0, "hit@3": 1, "hit@20": 1, "all@10": 0, "all@50": 0, "mrr": 0.5,
			// gain 1/log2(3) + 1/log2(5), of 1 + 1/log2(3) + 1/2 + 1/log2(5)
			"ndcg@10": (0.6309297535714575 + 0.43067655807339306) / 2.5616063116448506,
		} {
			require.InDelta(t, want, scores[name], tiny, name)
		}
	})

	t.Run("WholeGoldInFront", func(t *testing.T) {
		t.Parallel()
		scores := metric.Grade([]string{"b", "a", "x"}, []string{"a", "b"})
		require.InDelta(t, 1, scores["ndcg@10"], tiny)
		require.InDelta(t, 1, scores["all@3"], tiny)
		require.InDelta(t, 0.5, scores["recall@1"], tiny)
		require.InDelta(t, 1, scores["mrr"], tiny)
	})
}

func TestMean(t *testing.T) {
	t.Parallel()
	// A metric that some questions don't have is the mean of those that do.
	mean := metric.Mean([]metric.Scores{{"mrr": 1, "full@5": 1}, {"mrr": 0.5}, {"mrr": 0}})
	require.InDelta(t, 0.5, mean["mrr"], tiny)
	require.InDelta(t, 1, mean["full@5"], tiny)
	require.Empty(t, metric.Mean(nil))
}
