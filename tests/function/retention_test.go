package function_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// stored is a memory as retention sees it.
type stored struct {
	ID               uuid.UUID
	RetentionScore   float64
	RunningIntensity float32
	AccessCount      int32
	EncounterCount   int32
	LastAccessedAt   time.Time
}

func (b *testBundle) memory(t *testing.T, id uuid.UUID) stored {
	t.Helper()
	return rowOf[stored](t, b, `SELECT m.id, m.retention_score, m.running_intensity, m.access_count, m.encounter_count,
		m.last_accessed_at FROM hippocampus.memories m WHERE m.id = $1`, id)
}

func (b *testBundle) preset(t *testing.T, preset string) {
	t.Helper()
	b.exec(t, "SELECT hippocampus.apply_retention_preset($1, $2)", b.AppName, preset)
}

// swept is what sweep_retention returns.
type swept struct {
	Scanned, Refreshed, Deleted int32
	AfterUserID, AfterAppName   *string
	AfterCreatedAt              *time.Time
	AfterID                     *uuid.UUID
}

func TestApplyRetentionPreset(t *testing.T) {
	t.Parallel()

	t.Run("ChangesThePolicyThatIsThere", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.preset(t, "busy")
		b.exec(t, "UPDATE hippocampus.retention_policies SET min_age_days = 3, model = 'strength' WHERE app_name = $1", b.AppName)
		b.preset(t, "archive")
		policy := rowOf[struct {
			DecayRate, Threshold float64
			MinAgeDays           int32
			Model, Preset        string
		}](t, b, "SELECT decay_rate, threshold, min_age_days, model, preset FROM hippocampus.retention_policies WHERE app_name = $1", b.AppName)
		require.Equal(t, 0.02, policy.DecayRate)
		require.Equal(t, 0.02, policy.Threshold)
		require.Equal(t, int32(3), policy.MinAgeDays)
		require.Equal(t, "ebbinghaus", policy.Model) // the presets are rates of this curve
		require.Equal(t, "archive", policy.Preset)
	})

	t.Run("DesignValues", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		for preset, want := range map[string][2]float64{
			"archive": {0.02, 0.02}, "busy": {0.15, 0.15}, "quiet": {0.05, 0.05}, "sensitive": {0.3, 0.2},
		} {
			b.preset(t, preset)
			policy := rowOf[struct{ DecayRate, Threshold float64 }](t, b,
				"SELECT p.decay_rate, p.threshold FROM hippocampus._retention_policy($1, 'semantic', 'chat') p", b.AppName)
			require.Equal(t, want, [2]float64{policy.DecayRate, policy.Threshold}, preset)
		}
	})

	t.Run("MostExactPolicyHolds", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.exec(t, `SELECT hippocampus.apply_retention_preset($1, 'busy'),
			hippocampus.apply_retention_preset($1, 'quiet', p_memory_type => 'episodic'),
			hippocampus.apply_retention_preset($1, 'sensitive', p_category => 'error'),
			hippocampus.apply_retention_preset($1, 'archive', 'semantic', 'error')`, b.AppName)
		for kind, preset := range map[[2]string]string{
			{"summary", "chat"}: "busy", {"episodic", "chat"}: "quiet", {"summary", "error"}: "sensitive",
			{"semantic", "error"}: "archive", {"episodic", "error"}: "quiet", // type before category
		} {
			require.Equal(t, preset, get[string](t, b, "SELECT (hippocampus._retention_policy($1, $2, $3)).preset",
				b.AppName, kind[0], kind[1]), "%v", kind)
		}
		require.Nil(t, get[*string](t, b, "SELECT (hippocampus._retention_policy($1, 'semantic', 'error')).preset", b.AppName+"'s other"))
	})

	t.Run("RefusesWhatIsUnknown", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.refuses(t, "HC009", "p_preset is 'lazy'", "SELECT hippocampus.apply_retention_preset($1, 'lazy')", b.AppName)
		b.refuses(t, "HC009", "p_preset is null", "SELECT hippocampus.apply_retention_preset($1, NULL)", b.AppName)
		b.refuses(t, "HC001", "p_app_name is empty", "SELECT hippocampus.apply_retention_preset('', 'busy')")
		b.refuses(t, "HC009", "p_memory_type is 'dream'", "SELECT hippocampus.apply_retention_preset($1, 'busy', 'dream')", b.AppName)
		b.refuses(t, "HC009", "p_category is 'fun'", "SELECT hippocampus.apply_retention_preset($1, 'busy', '*', 'fun')", b.AppName)
	})
}

func TestCleanupLowValueMemories(t *testing.T) {
	t.Parallel()
	clean := func(t *testing.T, b *testBundle, named string, args ...any) int32 {
		t.Helper()
		return get[int32](t, b, "SELECT hippocampus.cleanup_low_value_memories(p_user_id => $1, p_app_name => $2, p_now => $3"+named+")",
			append([]any{b.UserID, b.AppName, b.now}, args...)...)
	}
	// aged gives memories of 0, 10, … 90 days, of which the default policy retains the first only.
	aged := func(t *testing.T, b *testBundle) []uuid.UUID {
		t.Helper()
		ids := make([]uuid.UUID, 10)
		for i := range ids {
			ids[i] = get[uuid.UUID](t, b, "SELECT hippocampus.remember($1, $2, $3, p_now => $4)",
				b.UserID, b.AppName, fmt.Sprintf("memory %d", i), b.now.Add(-time.Duration(i)*10*day))
		}
		return ids
	}
	left := func(t *testing.T, b *testBundle) []uuid.UUID {
		t.Helper()
		return list[uuid.UUID](t, b, "SELECT m.id FROM hippocampus.memories m WHERE m.user_id = $1 ORDER BY m.created_at DESC", b.UserID)
	}

	t.Run("AccessSaves", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		ids := aged(t, b)
		b.exec(t, "SELECT hippocampus.record_access($1, $2, $3, $4)", b.UserID, b.AppName, ids[9:], b.now)
		require.Equal(t, int32(8), clean(t, b, ""))
		require.Equal(t, []uuid.UUID{ids[0], ids[9]}, left(t, b))
	})

	t.Run("Defaults", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		ids := aged(t, b)
		require.Equal(t, int32(9), clean(t, b, ""))
		require.Equal(t, ids[:1], left(t, b))
	})

	t.Run("DeletesAllThatBelongsToARow", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.now = b.now.Add(-100 * day)
		b.rememberWith(t, "a vector in Oslo", "p_embedding => $5", vector(1))
		b.remember(t, "queued in Oslo")
		b.now = b.now.Add(100 * day)
		require.Equal(t, int32(2), clean(t, b, ""))
		for _, table := range []string{"memories", "embeddings", "embedding_queue", "row_terms", "postings"} {
			require.Zero(t, get[int](t, b, "SELECT count(*) FROM hippocampus."+table+" WHERE user_id = $1", b.UserID), table)
		}
	})

	t.Run("DryRunEqualsReal", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		aged(t, b)
		b.exec(t, "SELECT hippocampus.load_skill($1, $2, 'git', 'Rebase before you push.', p_now => $3)", b.UserID, b.AppName, b.now.Add(-1000*day)) // is pinned
		for _, how := range []string{
			", p_threshold => 0", ", p_threshold => 0.001", ", p_threshold => 0.02, p_min_age_days => 40", ", p_threshold => 0.1",
			", p_threshold => NULL, p_min_age_days => NULL", ", p_threshold => 1, p_min_age_days => 0",
		} {
			before := left(t, b)
			would := clean(t, b, how+", p_dry_run => true")
			require.Equal(t, before, left(t, b), how)
			require.Equal(t, would, clean(t, b, how), how)
			require.Len(t, left(t, b), len(before)-int(would), how)
		}
	})

	t.Run("AtTheEndOfTime", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.exec(t, "SELECT hippocampus.load_skill($1, $2, 'git', 'Rebase before you push.', p_now => $3)", b.UserID, b.AppName, b.now) // is pinned
		b.remember(t, "Seen in Oslo")
		for _, now := range []string{"9999-12-29 12:00:00+00", "9999-12-30 00:00:00+00"} {
			b.exec(t, "SELECT hippocampus.sweep_faded(p_user_id => $1, p_app_name => $2, p_now => $3::timestamptz)", b.UserID, b.AppName, now)
			require.Zero(t, get[int](t, b, "SELECT scanned FROM hippocampus.sweep_faded(p_user_id => $1, p_app_name => $2, p_now => $3::timestamptz)",
				b.UserID, b.AppName, now), "a pinned one is not looked at twice")
		}
		require.Equal(t, 1, get[int](t, b, "SELECT count(*) FROM hippocampus.memories WHERE user_id = $1 AND app_name = $2", b.UserID, b.AppName))
	})

	t.Run("MinimumAgeProtects", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		ids := aged(t, b)
		require.Equal(t, int32(4), clean(t, b, ", p_threshold => 1, p_min_age_days => 50"))
		require.Equal(t, ids[:6], left(t, b)) // the one of exactly 50 days is not older
		require.Equal(t, int32(5), clean(t, b, ", p_threshold => 1, p_min_age_days => 0"))
		require.Equal(t, ids[:1], left(t, b)) // the one of this moment is not older than 0 days
	})

	t.Run("NullIsByPolicy", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		ids := aged(t, b)
		b.exec(t, `INSERT INTO hippocampus.retention_policies (app_name, decay_rate, threshold, min_age_days) VALUES ($1, 0.02, 0.05, 30)`,
			b.AppName)
		// 0.2 · exp(-0.02 · days) < 0.05 from 69.3 days on
		require.Equal(t, int32(3), clean(t, b, ", p_threshold => NULL, p_min_age_days => NULL"))
		require.Equal(t, ids[:7], left(t, b))
	})

	t.Run("OfThisTenantOnly", func(t *testing.T) {
		t.Parallel()
		b, other := setup(t), setup(t)
		other.Tx = b.Tx
		aged(t, b)
		ids := aged(t, other)
		clean(t, b, ", p_threshold => 1, p_min_age_days => 0")
		require.Equal(t, ids, left(t, other))
	})

	t.Run("RefusesThresholdsOutOfRange", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		aged(t, b)
		before := b.counts(t)
		b.refuses(t, "HC009", "p_threshold is 1.5", "SELECT hippocampus.cleanup_low_value_memories(1.5)")
		b.refuses(t, "HC009", "p_threshold is -0.1", "SELECT hippocampus.cleanup_low_value_memories(-0.1)")
		b.refuses(t, "HC009", "p_threshold is NaN", "SELECT hippocampus.cleanup_low_value_memories('NaN')")
		b.refuses(t, "HC009", "p_min_age_days is -1", "SELECT hippocampus.cleanup_low_value_memories(0.1, -1)")
		require.Equal(t, before, b.counts(t))
	})

	t.Run("ZeroIsZero", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		ids := aged(t, b)
		require.Zero(t, clean(t, b, ", p_threshold => 0, p_min_age_days => 0"))
		require.Equal(t, ids, left(t, b))
	})
}

func TestRefreshRetentionScores(t *testing.T) {
	t.Parallel()
	refresh := func(t *testing.T, b *testBundle) int32 {
		t.Helper()
		return get[int32](t, b, "SELECT hippocampus.refresh_retention_scores($1, $2, $3)", b.UserID, b.AppName, b.now)
	}

	t.Run("FirstScoreIsNotLost", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		insights := map[float64]uuid.UUID{}
		for _, score := range []float64{1.0, 0.7, 0.4} {
			insights[score] = b.rememberWith(t, fmt.Sprintf("insight of %v", score), "p_category => 'insight', p_initial_score => $5", score)
		}
		require.Zero(t, refresh(t, b)) // nothing has moved
		b.now = b.now.Add(3 * day)
		require.Equal(t, int32(3), refresh(t, b))
		for score, id := range insights {
			require.InDelta(t, score*math.Exp(-0.3), b.memory(t, id).RetentionScore, 1e-6, "%v", score)
		}
	})

	t.Run("LeavesWhatHardlyMoved", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		id := b.remember(t, "tea")
		b.now = b.now.Add(day / 4) // 0.2 · exp(-0.025) = 0.195
		require.Zero(t, refresh(t, b))
		require.InDelta(t, 0.2, b.memory(t, id).RetentionScore, 1e-6)
		b.now = b.now.Add(day) // 0.176
		require.Equal(t, int32(1), refresh(t, b))
		require.InDelta(t, 0.2*math.Exp(-0.125), b.memory(t, id).RetentionScore, 1e-6)
	})

	t.Run("PolicySaysHowTheFirstScoreEnters", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.exec(t, "INSERT INTO hippocampus.retention_policies (app_name, initial_weight) VALUES ($1, 0)", b.AppName)
		id := b.rememberWith(t, "an insight", "p_initial_score => 1")
		refresh(t, b)
		require.InDelta(t, 0.2, b.memory(t, id).RetentionScore, 1e-6) // the seed's curve alone
	})

	t.Run("StrengthModel", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.exec(t, "INSERT INTO hippocampus.retention_policies (app_name, model, initial_weight) VALUES ($1, 'strength', 0)", b.AppName)
		id := b.rememberWith(t, "strong", "p_intensity => 0.8")
		halfLife := math.Ln2 * 1000 // hours
		b.now = b.now.Add(time.Duration(halfLife * float64(time.Hour)))
		require.Equal(t, int32(1), refresh(t, b))
		require.InDelta(t, 0.4, b.memory(t, id).RetentionScore, 1e-6)
	})
}

func TestRetentionDistribution(t *testing.T) {
	t.Parallel()
	b := setup(t)
	type bands struct {
		Total, High, Medium, Low int64
		AverageScore             float64
	}
	distribution := func(t *testing.T) bands {
		t.Helper()
		return rowOf[bands](t, b, "SELECT * FROM hippocampus.retention_distribution($1, $2, $3)", b.UserID, b.AppName, b.now)
	}
	require.Equal(t, bands{}, distribution(t))
	for i, score := range []float64{1, 0.75, 0.5, 0.4, 0.35, 0} {
		b.rememberWith(t, fmt.Sprintf("memory %d", i), "p_initial_score => $5", score)
	}
	got := distribution(t)
	require.InDelta(t, (1+0.75+0.5+0.4+0.35+0.2)/6, got.AverageScore, 1e-6) // nothing fresh is below 0.2
	got.AverageScore = 0
	require.Equal(t, bands{Total: 6, High: 2, Medium: 3, Low: 1}, got)
}
