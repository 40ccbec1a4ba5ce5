package bench_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/bench"
	"github.com/hippocampus-memory/hippocampus/bench/report"
	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

// keeping is a row of the table, each way of keeping with its mean and its least.
type keeping struct{ strength, ebbinghaus, last, newest, history, known [2]float64 }

func TestRetention(t *testing.T) {
	t.Parallel()
	e := &bench.Engine{Pool: dbtest.DB(t)}
	run := func(opts bench.RetentionOptions) (keeping, error) {
		r := &report.Report{}
		if err := bench.Retention(t.Context(), e, &opts, r); err != nil {
			return keeping{}, err
		}
		require.Len(t, r.Tables[0].Rows, len(opts.Spreads))
		row := r.Tables[0].Rows[0]
		require.Len(t, row, len(r.Tables[0].Heads))
		var k keeping
		for i, way := range []*[2]float64{&k.strength, &k.ebbinghaus, &k.last, &k.newest, &k.history, &k.known} {
			for j := range way {
				value, err := strconv.ParseFloat(row[1+2*i+j], 64)
				require.NoError(t, err)
				way[j] = value
			}
			require.GreaterOrEqual(t, way[0], way[1])
			require.LessOrEqual(t, way[0], 100.0)
		}
		return k, nil
	}

	t.Run("BetweenRecencyAndTheOracle", func(t *testing.T) {
		t.Parallel()
		opts := bench.RetentionOptions{Memories: 1000, Keep: 500, Rate: 0.03, Seed: 1, Seeds: 3, Spreads: []float64{3.3}}
		k, err := run(opts)
		require.NoError(t, err)
		require.Greater(t, k.strength[0], k.last[0])
		require.Greater(t, k.last[0], k.newest[0])
		require.Less(t, k.strength[0], k.history[0])
		require.Less(t, k.history[0], k.known[0])
		again, err := run(opts)
		require.NoError(t, err)
		require.Equal(t, k.known, again.known)
		opts.Rate = 0.3
		often, err := run(opts)
		require.NoError(t, err)
		require.Greater(t, often.history[0], k.history[0], "the more use, the more a history tells")
	})

	// Where few memories have most of the uses, their score tells them from the others, whatever the seed.
	t.Run("OfTheOraclesWhereAFewAreUsedMost", func(t *testing.T) {
		t.Parallel()
		k, err := run(bench.RetentionOptions{Memories: 1000, Keep: 500, Rate: 0.03, Seed: 100, Seeds: 10, Spreads: []float64{10}})
		require.NoError(t, err)
		require.GreaterOrEqual(t, k.strength[1], 96.0)
		require.Less(t, k.newest[0], 80.0)
	})

	t.Run("WhoKeepsAllLosesNothing", func(t *testing.T) {
		t.Parallel()
		k, err := run(bench.RetentionOptions{Memories: 100, Keep: 100, Rate: 0.03, Seed: 1, Seeds: 1, Spreads: []float64{3}})
		require.NoError(t, err)
		all := [2]float64{100, 100}
		require.Equal(t, keeping{all, all, all, all, all, all}, k)
	})

	t.Run("RefusesWhatCannotBe", func(t *testing.T) {
		t.Parallel()
		_, err := run(bench.RetentionOptions{Memories: 10, Keep: 11, Rate: 1, Seeds: 1, Spreads: []float64{3}})
		require.ErrorContains(t, err, "keep is at most memories")
		_, err = run(bench.RetentionOptions{Memories: 10, Keep: 5, Rate: 1, Seeds: 1, Spreads: []float64{1}})
		require.ErrorContains(t, err, "a spread of 1 is not above 1")
		_, err = run(bench.RetentionOptions{Memories: 10, Keep: 5, Seeds: 1, Spreads: []float64{3}})
		require.ErrorContains(t, err, "a rate of 0 is not above 0")
	})
}
