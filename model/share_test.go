package model_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/model"
)

func TestShare(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ given, want float64 }{
		{0, 0},
		{1, 1},
		{0.4, 0.4},
		{1.4, 1},
		{-0.1, 0},
		{95, 1},
		{1e-300, 0},
		{1e-29, 1e-29},
		{math.Inf(1), 1},
		{math.Inf(-1), 0},
		{math.NaN(), 0},
	} {
		require.InDelta(t, c.want, model.Share(c.given), 0, "%v", c.given)
	}
}
