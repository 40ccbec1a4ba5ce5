package function_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// happens appends n events of an importance, the last of them at a time of the bundle's clock, a second apart.
func (b *testBundle) happens(t *testing.T, thread uuid.UUID, n int, importance float64, last time.Duration) {
	t.Helper()
	b.exec(t, `SELECT hippocampus.append_events($1, (SELECT jsonb_agg(jsonb_build_object('author', 'user', 'content', 'event ' || i,
		'importance', $3::float8, 'created_at', $4::timestamptz - make_interval(secs => $2::int - i)) ORDER BY i) FROM generate_series(1, $2::int) i))`,
		thread, n, importance, b.now.Add(last))
}

// policy sets fields of the policy of the bundle's app.
func (b *testBundle) policy(t *testing.T, fields string) {
	t.Helper()
	b.exec(t, "SELECT hippocampus.put_consolidation_policy($1, $2)", b.AppName, fields)
}

func TestShortTermMemory(t *testing.T) {
	t.Parallel()
	window := func(t *testing.T, b *testBundle, thread any, unconsolidated bool) []int64 {
		t.Helper()
		return list[int64](t, b, `SELECT e.sequence_num FROM hippocampus.short_term_memory($1, $2, $3, $4, $5) e`,
			b.UserID, b.AppName, thread, unconsolidated, b.now)
	}

	t.Run("HoldsTheLastHundred", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread := b.thread(t)
		b.happens(t, thread, 150, 0.4, 0)
		got := window(t, b, thread, false)
		require.Len(t, got, 100)
		require.Equal(t, int64(51), got[0])
		require.Equal(t, int64(150), got[99])
		require.Equal(t, got, window(t, b, nil, false))
		require.Equal(t, int64(150), get[int64](t, b, "SELECT count(*) FROM hippocampus.events WHERE thread_id = $1", thread), "the log keeps all")
	})

	t.Run("KeepsWhatIsYoungOrImportant", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread := b.thread(t)
		b.happens(t, thread, 3, 0.49, -61*time.Minute)
		b.happens(t, thread, 2, 0.5, -61*time.Minute)
		b.happens(t, thread, 1, 0.1, -59*time.Minute)
		require.Equal(t, []int64{4, 5, 6}, window(t, b, thread, false))
		b.policy(t, `{"window_events": 2, "keep_importance": 0.6}`)
		require.Equal(t, []int64{6}, window(t, b, thread, false))
		b.policy(t, `{"window_seconds": 7200}`)
		require.Equal(t, []int64{5, 6}, window(t, b, thread, false))
	})

	t.Run("LeavesOutWhatIsConsolidated", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread, other := b.thread(t), b.thread(t)
		b.happens(t, thread, 5, 0.5, 0)
		b.happens(t, other, 1, 0.5, -time.Minute)
		b.exec(t, "UPDATE hippocampus.threads SET replayed_seq = 3, reflected_seq = 4 WHERE id = $1", thread)
		require.Equal(t, []int64{4, 5}, window(t, b, thread, true))
		require.Equal(t, []int64{1, 4, 5}, window(t, b, nil, true))
		require.Len(t, window(t, b, thread, false), 5)
	})

	t.Run("WhatIsConsolidatedIsThePolicysToSay", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread := b.thread(t)
		b.happens(t, thread, 5, 0.5, 0)
		b.exec(t, "UPDATE hippocampus.threads SET replayed_seq = 4, reflected_seq = 1 WHERE id = $1", thread)
		for jobType, want := range map[string][]int64{"fast_replay": {5}, "deep_reflection": {2, 3, 4, 5}, "full_consolidation": {2, 3, 4, 5}} {
			b.policy(t, `{"job_type": "`+jobType+`"}`)
			require.Equal(t, want, window(t, b, thread, true), jobType)
			require.Equal(t, want, window(t, b, nil, true), jobType)
			require.Equal(t, 5-len(want), get[int](t, b, "SELECT events_consolidated FROM hippocampus.memory_stats($1, $2)", b.UserID, b.AppName), jobType)
		}
	})

	t.Run("ReadsOneRangeOfAnIndex", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread := b.thread(t)
		b.happens(t, thread, 3000, 0.4, -2*time.Hour)
		b.exec(t, "ANALYZE hippocampus.events")
		before := get[int64](t, b, `SELECT pg_stat_get_xact_tuples_fetched('hippocampus.events'::regclass)`)
		require.Empty(t, window(t, b, thread, false))
		after := get[int64](t, b, `SELECT pg_stat_get_xact_tuples_fetched('hippocampus.events'::regclass)`)
		require.LessOrEqual(t, after-before, int64(100))
	})

	t.Run("RefusesWhatCannotBe", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.refuses(t, "HC001", "p_user_id is empty", "SELECT hippocampus.short_term_memory('', 'a')")
		b.refuses(t, "HC002", "is unknown", "SELECT hippocampus.short_term_memory('u', 'a', $1)", uuid.New())
	})
}

func TestConsolidationPolicy(t *testing.T) {
	t.Parallel()

	t.Run("AnAppStartsFromTheDeployments", func(t *testing.T) {
		t.Parallel()
		b := setupAlone(t)
		b.exec(t, `SELECT hippocampus.put_consolidation_policy('*', '{"window_events": 30}')`)
		b.policy(t, `{"enabled": true, "target_rate": 0.3}`)
		b.exec(t, `SELECT hippocampus.put_consolidation_policy('*', '{"window_events": 40}')`)
		require.Equal(t, "30 t 0.3", get[string](t, b, `SELECT concat_ws(' ', p.window_events, p.enabled, p.target_rate)
			FROM hippocampus._consolidation_policy($1) p`, b.AppName))
		b.policy(t, `{"target_rate": null}`)
		require.Equal(t, "40 f", get[string](t, b, `SELECT concat_ws(' ', p.window_events, p.enabled) FROM hippocampus._consolidation_policy('none') p`))
	})

	t.Run("RefusesWhatCannotBe", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		const put = "SELECT hippocampus.put_consolidation_policy($1, $2)"
		for fields, message := range map[string]string{
			`{"window": 3}`:               "no field 'window'",
			`{"app_name": "x"}`:           "no field 'app_name'",
			`{"enabled": 1}`:              "the field enabled of the policy is 1",
			`{"window_events": 1.5}`:      "the field window_events of the policy is 1.5",
			`{"window_events": 0}`:        "the field window_events of the policy is 0",
			`{"fill_ratio": null}`:        "the field fill_ratio of the policy is null",
			`{"target_rate": 1.1}`:        "the field target_rate of the policy is 1.1",
			`{"min_importance": 0.3}`:     "are not in order",
			`{"urgent_importance": 0.65}`: "are not in order",
		} {
			b.refuses(t, "HC009", message, put, b.AppName, fields)
		}
		b.refuses(t, "HC003", "the field job_type of the policy is 'sleep'", put, b.AppName, `{"job_type": "sleep"}`)
		b.refuses(t, "HC001", "p_app_name is empty", put, "", `{}`)
		b.refuses(t, "HC009", "the consolidation policy of * cannot go", "DELETE FROM hippocampus.consolidation_policies")
	})
}

func TestConsolidateByPolicy(t *testing.T) {
	t.Parallel()
	jobs := func(t *testing.T, b *testBundle, thread uuid.UUID) int64 {
		t.Helper()
		return get[int64](t, b, `SELECT count(*) FROM hippocampus.consolidation_jobs j JOIN hippocampus.river_job r ON r.id = j.river_job_id
			WHERE j.thread_id = $1`, thread)
	}
	setup := func(t *testing.T) *testBundle { // what happens there happens now, by the clock of the database
		t.Helper()
		b := setup(t)
		b.now = get[time.Time](t, b, "SELECT now()")
		return b
	}
	due := func(t *testing.T, b *testBundle, after time.Duration) int {
		t.Helper()
		return get[int](t, b, "SELECT hippocampus.enqueue_due_consolidations(p_now => now() + $1::interval)", after)
	}

	t.Run("IsOffByDefault", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread := b.thread(t)
		b.happens(t, thread, 200, 1, 0)
		require.Zero(t, jobs(t, b, thread))
		require.Zero(t, due(t, b, 24*time.Hour))
		b.policy(t, `{"enabled": true}`) // finds what waits already
		require.Equal(t, 1, due(t, b, 0))
		require.Equal(t, int64(1), jobs(t, b, thread))
	})

	t.Run("WhenFull", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.policy(t, `{"enabled": true}`)
		thread := b.thread(t)
		b.happens(t, thread, 80, 0.4, 0)
		require.Zero(t, jobs(t, b, thread))
		b.happens(t, thread, 1, 0.4, 0)
		require.Equal(t, int64(1), jobs(t, b, thread))
	})

	t.Run("WhenUrgentOnceForABurst", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.policy(t, `{"enabled": true}`)
		thread := b.thread(t)
		b.happens(t, thread, 1, 0.69, 0)
		require.Zero(t, jobs(t, b, thread))
		for range 5 {
			b.happens(t, thread, 1, 0.7, 0)
		}
		require.Equal(t, int64(1), jobs(t, b, thread))
		require.Equal(t, "full_consolidation", get[string](t, b, "SELECT job_type FROM hippocampus.consolidation_jobs WHERE thread_id = $1", thread))
		// As if it had ended without them: the next look finds what came meanwhile, not before the interval is over.
		b.exec(t, "UPDATE hippocampus.river_job r SET state = 'completed', finalized_at = now() WHERE r.kind = 'consolidate'")
		require.Zero(t, due(t, b, 59*time.Second))
		require.Equal(t, 1, due(t, b, 61*time.Second))
		require.Equal(t, int64(2), jobs(t, b, thread))
		require.Zero(t, due(t, b, time.Hour), "it waits already")
	})

	t.Run("WhenIdle", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.policy(t, `{"enabled": true, "job_type": "fast_replay"}`)
		thread := b.thread(t)
		b.happens(t, thread, 1, 0.1, 0)
		require.Zero(t, due(t, b, 4*time.Minute))
		require.Equal(t, 1, due(t, b, 6*time.Minute))
		require.Equal(t, "fast_replay", get[string](t, b, "SELECT job_type FROM hippocampus.consolidation_jobs WHERE thread_id = $1", thread))
		b.exec(t, "UPDATE hippocampus.river_job r SET state = 'completed', finalized_at = now() WHERE r.kind = 'consolidate'")
		b.exec(t, "UPDATE hippocampus.threads SET replayed_seq = 1 WHERE id = $1", thread)
		require.Zero(t, due(t, b, time.Hour), "what an app that only replays has replayed is done")
	})

	t.Run("BusyAllTheTime", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.policy(t, `{"enabled": true}`)
		thread := b.thread(t)
		b.happens(t, thread, 2, 0.1, -59*time.Minute)
		b.exec(t, "UPDATE hippocampus.threads SET updated_at = now() + interval '10 minutes' WHERE id = $1", thread)
		require.Zero(t, due(t, b, 30*time.Second))
		require.Equal(t, 1, due(t, b, 2*time.Minute), "the first that waits has waited for an hour")
		// it is done, more came, and at no look was nothing left
		b.exec(t, "UPDATE hippocampus.river_job r SET state = 'completed', finalized_at = now() WHERE r.kind = 'consolidate'")
		b.exec(t, "UPDATE hippocampus.threads SET replayed_seq = 2, reflected_seq = 2 WHERE id = $1", thread)
		b.happens(t, thread, 2, 0.1, 0)
		b.exec(t, "UPDATE hippocampus.threads SET updated_at = now() + interval '3 hours' WHERE id = $1", thread)
		b.exec(t, "UPDATE hippocampus.unconsolidated_threads SET created_at = now() - interval '1 day' WHERE thread_id = $1", thread)
		require.Zero(t, due(t, b, 5*time.Minute), "what is new waits for its hour, however long the thread has been busy")
		require.Equal(t, 1, due(t, b, 61*time.Minute))
	})

	t.Run("AFailedOneRests", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.policy(t, `{"enabled": true}`)
		thread := b.thread(t)
		b.happens(t, thread, 1, 0.9, 0)
		b.exec(t, "UPDATE hippocampus.river_job r SET state = 'discarded', finalized_at = now() WHERE r.kind = 'consolidate'")
		require.Zero(t, due(t, b, 59*time.Minute))
		require.Equal(t, 1, due(t, b, 61*time.Minute))
	})

	t.Run("TenThousandEventsInOneStatement", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.policy(t, `{"enabled": true}`)
		thread := b.thread(t)
		b.happens(t, thread, 10000, 0.9, 0)
		require.Equal(t, int64(1), jobs(t, b, thread))
	})

	t.Run("ForgetsWhatIsSettled", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.policy(t, `{"enabled": true}`)
		thread := b.thread(t)
		b.happens(t, thread, 1, 0.1, 0)
		const noted = "SELECT count(*) FROM hippocampus.unconsolidated_threads"
		require.Equal(t, int64(1), get[int64](t, b, noted))
		b.exec(t, "UPDATE hippocampus.threads SET replayed_seq = 1, reflected_seq = 1 WHERE id = $1", thread)
		require.Zero(t, due(t, b, time.Hour))
		require.Zero(t, get[int64](t, b, noted))
		b.happens(t, thread, 1, 0.1, 0)
		require.Equal(t, int64(1), get[int64](t, b, noted))
		b.policy(t, `{"enabled": false}`)
		require.Zero(t, due(t, b, time.Hour))
		require.Zero(t, get[int64](t, b, noted))
	})
}

func TestAdaptConsolidation(t *testing.T) { //nolint:tparallel // its subtests share a transaction
	t.Parallel()
	b := setup(t)
	b.policy(t, `{"enabled": true, "target_rate": 0.5}`)
	thread := b.thread(t)
	run := func(t *testing.T, events, kept int, at time.Duration) int {
		t.Helper()
		b.exec(t, `INSERT INTO hippocampus.consolidation_jobs (created_at, completed_at, thread_id, user_id, app_name, status, job_type, result)
			VALUES ($1, $1, $2, $3, $4, 'completed', 'full_consolidation', jsonb_build_object('events', $5::int, 'kept', $6::int))`,
			b.now.Add(at), thread, b.UserID, b.AppName, events, kept)
		return get[int](t, b, "SELECT hippocampus.adapt_consolidation(p_now => $1)", b.now.Add(at))
	}
	threshold := func() float64 {
		return get[float64](t, b, "SELECT round(min_importance::numeric, 3)::float8 FROM hippocampus.consolidation_policies WHERE app_name = $1", b.AppName)
	}

	t.Run("WaitsForEnoughEvents", func(t *testing.T) {
		require.Zero(t, run(t, 199, 199, 0))
		require.InDelta(t, 0.6, threshold(), 1e-6)
	})

	t.Run("MovesWithinBoundsAndRecordsIt", func(t *testing.T) {
		for i := range 4 {
			run(t, 200, 200, time.Duration(i+1)*time.Hour)
		}
		require.InDelta(t, 0.7, threshold(), 1e-6, "never above what always becomes a memory")
		for i := range 10 {
			run(t, 200, 10, time.Duration(i+10)*time.Hour)
		}
		require.InDelta(t, 0.4, threshold(), 1e-6)
		require.Equal(t, []string{"0.6 0.65 399 1.0", "0.65 0.7 200 1.0", "0.7 0.65 1000 0.4"}, list[string](t, b, `
			SELECT concat_ws(' ', from_importance, to_importance, events, round(rate::numeric, 1)) FROM hippocampus.consolidation_moves
			WHERE app_name = $1 ORDER BY moved_at LIMIT 3`, b.AppName))
	})
}

// The deployment's policy moves by the apps that have none of their own.
func TestAdaptTheDeploymentsPolicy(t *testing.T) {
	t.Parallel()
	b := setupAlone(t)
	b.exec(t, `SELECT hippocampus.put_consolidation_policy('*', '{"enabled": true, "target_rate": 0.5}')`)
	b.exec(t, `SELECT hippocampus.put_consolidation_policy($1, '{"target_rate": null}')`, b.AppName+" own")
	consolidated := func(app string, events, kept int, at time.Duration) {
		t.Helper()
		b.exec(t, `WITH t AS (SELECT hippocampus.create_thread($3, $4) AS id)
			INSERT INTO hippocampus.consolidation_jobs (created_at, completed_at, thread_id, user_id, app_name, status, job_type, result)
			SELECT $1, $1, t.id, $3, $4, 'completed', 'full_consolidation', jsonb_build_object('events', $5::int, 'kept', $2::int) FROM t`,
			b.now.Add(at), kept, b.UserID, app, events)
	}
	const adapt = "SELECT hippocampus.adapt_consolidation(p_now => $1)"
	consolidated(b.AppName+" own", 500, 500, 0)
	consolidated(b.AppName+" one", 150, 150, 0)
	require.Zero(t, get[int](t, b, adapt, b.now), "an app of its own does not count")
	consolidated(b.AppName+" two", 150, 100, 0)
	require.Equal(t, 1, get[int](t, b, adapt, b.now))
	require.Zero(t, get[int](t, b, adapt, b.now.Add(time.Hour)), "the same events move it once")
	require.Equal(t, []string{"* 300 0.6 0.65 0.83 0.5"}, list[string](t, b, `SELECT concat_ws(' ', app_name, events, from_importance, to_importance,
		round(rate::numeric, 2), target_rate) FROM hippocampus.consolidation_moves`))
	require.InDelta(t, 0.65, get[float64](t, b, "SELECT min_importance::numeric::float8 FROM hippocampus._consolidation_policy($1)", b.AppName+" one"), 1e-6)
	require.InDelta(t, 0.6, get[float64](t, b, "SELECT min_importance::numeric::float8 FROM hippocampus._consolidation_policy($1)", b.AppName+" own"), 1e-6)
}
