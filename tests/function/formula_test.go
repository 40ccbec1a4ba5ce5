package function_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestCalculateRetentionScore(t *testing.T) { //nolint:tparallel // its subtests share a transaction
	t.Parallel()
	b := setup(t)
	score := func(t *testing.T, accesses int, ago time.Duration, lambda float64) float64 {
		t.Helper()
		return get[float64](t, b, "SELECT hippocampus.calculate_retention_score($1, $2, $3, p_now => $4)",
			accesses, b.now.Add(-ago), lambda, b.now)
	}

	t.Run("DesignValues", func(t *testing.T) {
		require.InDelta(t, 0.2, score(t, 0, 0, 0.1), 1e-12)
		require.InDelta(t, 0.413637, score(t, 5, 3*day, 0.1), 5e-7)
		require.Equal(t, 1.0, score(t, 54, 0, 0.1)) // (1 + ln 55) / 5 = 1.0015: capped
		require.Less(t, score(t, 53, 0, 0.1), 1.0)
	})

	t.Run("DefaultRateIsATenth", func(t *testing.T) {
		for _, rate := range []string{"", ", p_decay_rate => NULL"} {
			got := get[float64](t, b, "SELECT hippocampus.calculate_retention_score(3, $1"+rate+", p_now => $2)",
				b.now.Add(-2*day), b.now)
			require.Equal(t, score(t, 3, 2*day, 0.1), got, "%q", rate)
		}
	})

	t.Run("DefaultClockIsNow", func(t *testing.T) {
		require.InDelta(t, 0.2, get[float64](t, b, "SELECT hippocampus.calculate_retention_score(0, now())"), 1e-12)
	})

	t.Run("FollowsItsFormula", func(t *testing.T) {
		for _, accesses := range []int{0, 1, 7, 30, 1000} {
			for _, days := range []float64{0, 0.5, 3, 30, 365} {
				for _, lambda := range []float64{0, 0.02, 0.05, 0.1, 0.15, 0.3} {
					want := min(1, math.Exp(-lambda*days)*(1+math.Log(1+float64(accesses)))/5)
					require.InDelta(t, want, score(t, accesses, time.Duration(days*float64(day)), lambda), 1e-12)
				}
			}
		}
	})

	t.Run("FreshUnreadFallsBelowATenth", func(t *testing.T) {
		// after ln 2 / 0.1 = 6.93 days, to the second
		lambda := 0.1
		at := time.Duration(math.Ln2 / lambda * float64(day))
		require.InDelta(t, 6.93, at.Hours()/24, 0.005)
		require.Greater(t, score(t, 0, at-time.Second, lambda), 0.1)
		require.Less(t, score(t, 0, at+time.Second, lambda), 0.1)
	})

	t.Run("FutureAccessCountsAsNow", func(t *testing.T) {
		require.Equal(t, score(t, 5, 0, 0.1), score(t, 5, -3*day, 0.1))
	})

	t.Run("NeverLeavesZeroToOne", func(t *testing.T) {
		require.Equal(t, 1.0, score(t, math.MaxInt32-1, 0, 0.1))
		require.Less(t, score(t, 0, 100_000*day, 100), 1e-300)
		require.Equal(t, score(t, 0, 0, 0.1), score(t, -5, 0, 0.1))
		require.Equal(t, score(t, 0, 0, 0.1), score(t, 0, 100_000*day, -1)) // no rate below none
	})

	t.Run("NullAccessCountIsNone", func(t *testing.T) {
		require.InDelta(t, 0.2, get[float64](t, b,
			"SELECT hippocampus.calculate_retention_score(NULL, $1, p_now => $1)", b.now), 1e-12)
	})
}

func TestDecayResistance(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for accesses, want := range map[int]string{0: "1.00", 5: "1.54", 20: "1.91", 100: "2.38"} {
		require.Equal(t, want, get[string](t, b, "SELECT round(hippocampus.decay_resistance($1)::numeric, 2)::text", accesses))
	}
	require.Equal(t, 1.0, get[float64](t, b, "SELECT hippocampus.decay_resistance(-1)"))
	require.Equal(t, 1.0, get[float64](t, b, "SELECT hippocampus.decay_resistance(NULL)"))
}

func TestEffectiveStrength(t *testing.T) { //nolint:tparallel // its subtests share a transaction
	t.Parallel()
	b := setup(t)
	strength := func(t *testing.T, intensity float64, accesses int, ago time.Duration) float64 {
		t.Helper()
		return get[float64](t, b, "SELECT hippocampus.effective_strength($1, $2, $3, $4)", intensity, accesses, b.now.Add(-ago), b.now)
	}

	t.Run("FutureAccessCountsAsNow", func(t *testing.T) {
		require.Equal(t, 0.5, strength(t, 0.5, 3, -day))
	})

	t.Run("HalfLives", func(t *testing.T) {
		for accesses, days := range map[int]float64{0: 28.9, 5: 44.4, 20: 55.3, 100: 68.9} {
			half := time.Duration(math.Ln2 / 0.001 * (1 + 0.3*math.Log(1+float64(accesses))) * float64(time.Hour))
			require.InDelta(t, days, half.Hours()/24, 0.05)
			require.InDelta(t, 0.4, strength(t, 0.8, accesses, half), 1e-9)
		}
	})

	t.Run("StaysAboveNothingForever", func(t *testing.T) {
		require.GreaterOrEqual(t, strength(t, 1, 0, 1_000_000*time.Hour), 0.0)
		require.Equal(t, 0.0, strength(t, 0, 0, day))
	})
}

func TestScoreImportance(t *testing.T) { //nolint:tparallel // its subtests share a transaction
	t.Parallel()
	b := setup(t)
	score := func(t *testing.T, category any, context string) float64 {
		t.Helper()
		return get[float64](t, b, "SELECT hippocampus.score_importance($1, $2)", category, context)
	}

	t.Run("Adjustments", func(t *testing.T) {
		for name, more := range map[string]float64{
			"mentionedMe": 0.2, "userDirectMessage": 0.15, "actionTaken": 0.1, "errorRecovered": 0.15,
		} {
			require.InDelta(t, 0.4+more, score(t, "observation", `{"`+name+`": true}`), 1e-12)
			require.InDelta(t, 0.4, score(t, "observation", `{"`+name+`": false}`), 1e-12)
			require.InDelta(t, 0.4, score(t, "observation", `{"`+name+`": null}`), 1e-12)
			require.InDelta(t, 0.4, score(t, "observation", `{"`+name+`": "true"}`), 1e-12) // a text is no truth
		}
		require.InDelta(t, 0.4+0.2+0.15+0.1, score(t, "observation",
			`{"mentionedMe": true, "userDirectMessage": true, "actionTaken": true}`), 1e-12)
	})

	t.Run("ClampedToOne", func(t *testing.T) {
		all := `{"mentionedMe": true, "userDirectMessage": true, "actionTaken": true, "errorRecovered": true}`
		for _, category := range []string{"chat", "decision", "error", "insight", "other", "task", "tool-use"} {
			require.Equal(t, 1.0, score(t, category, all), category)
		}
		require.Equal(t, 1.0, score(t, "observation", all)) // 0.4 + 0.6, exactly
	})

	t.Run("ContextOfAnyShape", func(t *testing.T) {
		for _, context := range []string{`[]`, `null`, `"mentionedMe"`, `7`, `{}`} {
			require.InDelta(t, 0.6, score(t, "chat", context), 1e-12, context)
		}
		require.InDelta(t, 0.6, get[float64](t, b, "SELECT hippocampus.score_importance('chat', NULL)"), 1e-12)
		require.InDelta(t, 0.6, get[float64](t, b, "SELECT hippocampus.score_importance('chat')"), 1e-12)
	})

	t.Run("Weights", func(t *testing.T) {
		for category, weight := range map[string]float64{
			"chat": 0.6, "decision": 0.8, "error": 0.9, "insight": 0.85, "observation": 0.4, "other": 0.5, "task": 0.7,
			"tool-use": 0.7, "unheard of": 0.5,
		} {
			require.InDelta(t, weight, score(t, category, `{}`), 1e-12, category)
		}
		require.InDelta(t, 0.5, score(t, nil, `{}`), 1e-12)
	})
}

func TestCurvesOfWhatCannotBe(t *testing.T) {
	t.Parallel()
	b := setup(t)
	strength := func(intensity string) float64 {
		return get[float64](t, b, "SELECT hippocampus.effective_strength('"+intensity+"', 3, $1, $1)", b.now)
	}
	require.Equal(t, []float64{0, 0, 0, 1, 1, 0.5}, []float64{strength("NaN"), strength("-1"), strength("-Infinity"), strength("2"), strength("Infinity"), strength("0.5")})
	for _, times := range []string{"'infinity', p_now => 'infinity'", "'-infinity', p_now => '2026-01-01'", "'2026-01-01', p_now => '294276-01-01'"} {
		b.refuses(t, "HC009", " is ", "SELECT hippocampus.effective_strength(0.5, 3, "+times+")")
		b.refuses(t, "HC009", " is ", "SELECT hippocampus.calculate_retention_score(3, "+times+")")
	}
	for _, rate := range []string{"1e308", "Infinity", "NaN"} {
		require.Less(t, get[float64](t, b, "SELECT hippocampus.calculate_retention_score(3, $1, p_decay_rate => $2::text::float8, p_now => $3)", b.now.Add(-day), rate, b.now), 1e-300)
	}
}
