package bench_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/bench"
	"github.com/hippocampus-memory/hippocampus/bench/report"
	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

func TestRetention(t *testing.T) {
	t.Parallel()
	e := &bench.Engine{Pool: dbtest.DB(t)}
	run := func(opts bench.RetentionOptions) ([][]string, error) {
		r := &report.Report{}
		if err := bench.Retention(t.Context(), e, &opts, r); err != nil {
			return nil, err
		}
		return r.Tables[0].Rows, nil
	}

	t.Run("BetweenRecencyAndTheOracle", func(t *testing.T) {
		t.Parallel()
		rows, err := run(bench.RetentionOptions{Memories: 1000, Keep: 500, Seed: 1, Seeds: 3, Spreads: []float64{3}})
		require.NoError(t, err)
		require.Len(t, rows, 3)
		for _, row := range rows {
			values := make([]float64, len(row))
			for i, cell := range row {
				values[i], err = strconv.ParseFloat(cell, 64)
				require.NoError(t, err)
			}
			strength, newest, history, known := values[2], values[5], values[6], values[7]
			require.Greater(t, strength, newest)
			require.Less(t, strength, known)
			require.Less(t, history, known)
			require.Greater(t, history, newest)
			require.LessOrEqual(t, known, 100.0)
		}
		again, err := run(bench.RetentionOptions{Memories: 1000, Keep: 500, Seed: 2, Seeds: 1, Spreads: []float64{3}})
		require.NoError(t, err)
		require.Equal(t, rows[1], again[0])
	})

	// Where few memories have most of the uses, their score tells them from the others, whatever the seed.
	t.Run("OfTheOraclesWhereAFewAreUsedMost", func(t *testing.T) {
		t.Parallel()
		rows, err := run(bench.RetentionOptions{Memories: 1000, Keep: 500, Seed: 100, Seeds: 10, Spreads: []float64{10}})
		require.NoError(t, err)
		for _, row := range rows {
			strength, err := strconv.ParseFloat(row[2], 64)
			require.NoError(t, err)
			newest, err := strconv.ParseFloat(row[5], 64)
			require.NoError(t, err)
			require.GreaterOrEqual(t, strength, 96.0, row)
			require.Less(t, newest, 80.0, row)
		}
	})

	t.Run("WhoKeepsAllLosesNothing", func(t *testing.T) {
		t.Parallel()
		rows, err := run(bench.RetentionOptions{Memories: 100, Keep: 100, Seed: 1, Seeds: 1, Spreads: []float64{3}})
		require.NoError(t, err)
		require.Equal(t, []string{"100.00", "100.00", "100.00", "100.00", "100.00", "100.00"}, rows[0][2:8])
	})

	t.Run("RefusesWhatCannotBe", func(t *testing.T) {
		t.Parallel()
		_, err := run(bench.RetentionOptions{Memories: 10, Keep: 11, Seeds: 1, Spreads: []float64{3}})
		require.ErrorContains(t, err, "keep is at most memories")
		_, err = run(bench.RetentionOptions{Memories: 10, Keep: 5, Seeds: 1, Spreads: []float64{1}})
		require.ErrorContains(t, err, "a spread of 1 is not above 1")
	})
}
