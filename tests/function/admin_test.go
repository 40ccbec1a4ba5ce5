package function_test

import (
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func TestDoctor(t *testing.T) {
	t.Parallel()
	type finding struct{ Name, Status, Detail, Hint string }
	findings := func(t *testing.T, b *testBundle) map[string]finding {
		t.Helper()
		all := map[string]finding{}
		for _, f := range rowsOf[finding](t, b, "SELECT * FROM hippocampus.doctor($1)", b.now) {
			require.NotEmpty(t, f.Detail, f.Name)
			require.Contains(t, []string{"ok", "warning", "error"}, f.Status)
			if f.Status != "ok" {
				require.NotEmpty(t, f.Hint, f.Name)
			}
			all[f.Name] = f
		}
		return all
	}

	t.Run("FindsWorkThatStandsStill", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread := b.thread(t)
		id := get[uuid.UUID](t, b, "SELECT hippocampus.enqueue_consolidation($1)", thread)
		b.exec(t, "UPDATE hippocampus.consolidation_jobs SET created_at = $2 WHERE id = $1", id, b.now.Add(-2*day))
		b.remember(t, "tea")
		b.exec(t, "UPDATE hippocampus.embedding_queue SET queued_at = $2 WHERE user_id = $1", b.UserID, b.now.Add(-day))
		got := findings(t, b)
		require.Equal(t, "warning", got["consolidation"].Status)
		require.Equal(t, "warning", got["embedding_queue"].Status)
		b.exec(t, "UPDATE hippocampus.consolidation_jobs SET status = 'failed', completed_at = $2 WHERE id = $1", id, b.now.Add(-day))
		require.Equal(t, "error", findings(t, b)["consolidation"].Status)
	})

	t.Run("FindsWallsThatDoNotHold", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		got := findings(t, b)
		require.Equal(t, "warning", got["row_level_security"].Status) // the test's login is the superuser
		require.Contains(t, got["row_level_security"].Detail, "superuser")
		require.Equal(t, "ok", got["forced_policies"].Status)
		require.Equal(t, "ok", got["postgres"].Status)
		for _, role := range []string{"hippocampus_tenant", "hippocampus_reader"} {
			b.exec(t, "SET LOCAL ROLE "+role)
			got = findings(t, b)
			require.Equal(t, "warning", got["row_level_security"].Status) // a role that a superuser took on can be put off
			require.Contains(t, got["row_level_security"].Detail, "can put the role off")
			require.NotContains(t, got, "discarded_jobs") // no tenant reads River's tables
		}
	})

	t.Run("FindsStringsThatAreNotPlain", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		require.Equal(t, "ok", findings(t, b)["string_literals"].Status)
		b.exec(t, "SET LOCAL standard_conforming_strings = off")
		require.Equal(t, "error", findings(t, b)["string_literals"].Status)
	})

	t.Run("FindsJobsGivenUp", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		require.Equal(t, "ok", findings(t, b)["discarded_jobs"].Status)
		for attempt := range 2 { // River's scheduler, also after a failure or a worker's end: its double waits already
			b.exec(t, `INSERT INTO hippocampus.river_job (attempt, kind, args, max_attempts, queue, state, finalized_at, metadata)
				VALUES ($2, 'embed', '{}', 25, 'sweep', 'discarded', $1, '{"unique_key_conflict": "scheduler_discarded"}')`, b.now.Add(-day), attempt)
		}
		require.Equal(t, "ok", findings(t, b)["discarded_jobs"].Status)
		b.exec(t, `INSERT INTO hippocampus.river_job (attempt, kind, args, max_attempts, queue, state, finalized_at)
			VALUES (1, 'embed', '{}', 1, 'sweep', 'discarded', $1)`, b.now.Add(-day))
		require.Equal(t, "error", findings(t, b)["discarded_jobs"].Status)
		b.now = b.now.Add(8 * day)
		require.Equal(t, "ok", findings(t, b)["discarded_jobs"].Status)
	})

	t.Run("FindsTablesThatDoNotForcePolicies", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.exec(t, "ALTER TABLE hippocampus.app_state NO FORCE ROW LEVEL SECURITY")
		got := findings(t, b)["forced_policies"]
		require.Equal(t, "error", got.Status)
		require.Contains(t, got.Hint, "FORCE ROW LEVEL SECURITY")
	})
}

func TestMemoryStats(t *testing.T) {
	t.Parallel()
	type stats struct {
		Threads, Events, EventsConsolidated, Memories, Episodic, Semantic, Summaries, FactsCurrent, FactsHistory, Blocks,
		Embeddings, EmbeddingsQueued, JobsPending, JobsRunning, JobsFailed, Tokens int64
	}
	b := setup(t)
	all := func() stats {
		return rowOf[stats](t, b, "SELECT * FROM hippocampus.memory_stats($1, $2)", b.UserID, b.AppName)
	}
	require.Equal(t, stats{}, all())
	thread := b.thread(t)
	b.exec(t, "SELECT hippocampus.append_events($1, $2)", thread, toJSON(t, said(5)))
	b.exec(t, "UPDATE hippocampus.threads SET replayed_seq = 4, reflected_seq = 3 WHERE id = $1", thread)
	b.rememberWith(t, "a", "p_embedding => $5, p_token_count => 10", vector(1))
	b.rememberWith(t, "b", "p_memory_type => 'episodic', p_token_count => 20")
	b.rememberWith(t, "c", "p_memory_type => 'summary', p_token_count => 30")
	b.state(t, "Berlin", "")
	b.state(t, "Paris", "")
	b.write(t, "block_set", "'x'")
	b.exec(t, "SELECT hippocampus.enqueue_consolidation($1)", thread)
	require.Equal(t, stats{
		Threads: 1, Events: 5, EventsConsolidated: 3, Memories: 3, Episodic: 1, Semantic: 1, Summaries: 1, FactsCurrent: 1, FactsHistory: 1,
		Blocks: 1, Embeddings: 1, EmbeddingsQueued: 4, JobsPending: 1, Tokens: 60,
	}, all())
	require.Equal(t, stats{}, rowOf[stats](t, b, "SELECT * FROM hippocampus.memory_stats($1, $2)", b.UserID, b.AppName+"x"))
	whole := rowOf[stats](t, b, "SELECT * FROM hippocampus.memory_stats(p_app_name => $1)", b.AppName)
	require.Equal(t, all(), whole)
}

func TestEnqueueConsolidation(t *testing.T) {
	t.Parallel()
	enqueue := func(t *testing.T, b *testBundle, thread uuid.UUID, kind string) uuid.UUID {
		t.Helper()
		return get[uuid.UUID](t, b, "SELECT hippocampus.enqueue_consolidation($1, $2)", thread, kind)
	}

	t.Run("GivesARiverJob", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread := b.thread(t)
		id := get[uuid.UUID](t, b, "SELECT hippocampus.enqueue_consolidation($1)", thread)
		got := rowOf[struct {
			JobType, Status, Kind, Queue, State string
			Thread                              uuid.UUID
		}](t, b, `SELECT j.job_type, j.status, r.kind, r.queue, r.state::text, (r.args ->> 'thread_id')::uuid AS thread
			FROM hippocampus.consolidation_jobs j JOIN hippocampus.river_job r ON r.id = j.river_job_id WHERE j.id = $1`, id)
		require.Equal(t, "full_consolidation", got.JobType)
		require.Equal(t, "pending", got.Status)
		require.Equal(t, []string{"consolidate", "consolidation", "available"}, []string{got.Kind, got.Queue, got.State})
		require.Equal(t, thread, got.Thread)
	})

	t.Run("OneThatWaitsIsEnough", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread := b.thread(t)
		id := enqueue(t, b, thread, "fast_replay")
		require.Equal(t, id, enqueue(t, b, thread, "fast_replay"))
		require.NotEqual(t, id, enqueue(t, b, thread, "deep_reflection"))
		require.NotEqual(t, id, enqueue(t, b, b.thread(t), "fast_replay"))
		require.Equal(t, 3, get[int](t, b, "SELECT count(*) FROM hippocampus.consolidation_jobs WHERE user_id = $1", b.UserID))
		// One that runs may have read the log already.
		b.exec(t, `UPDATE hippocampus.river_job r SET state = 'running' FROM hippocampus.consolidation_jobs j WHERE j.river_job_id = r.id AND j.id = $1`, id)
		require.Equal(t, "running", get[string](t, b, "SELECT status FROM hippocampus.consolidation_jobs WHERE id = $1", id))
		require.NotEqual(t, id, enqueue(t, b, thread, "fast_replay"))
	})

	t.Run("RefusesWhatCannotBe", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread := b.thread(t)
		before := b.counts(t)
		b.refuses(t, "HC002", "thread null is unknown", "SELECT hippocampus.enqueue_consolidation(NULL)")
		b.refuses(t, "HC002", "is unknown", "SELECT hippocampus.enqueue_consolidation(gen_random_uuid())")
		b.refuses(t, "HC003", "p_job_type is 'dream'", "SELECT hippocampus.enqueue_consolidation($1, 'dream')", thread)
		b.refuses(t, "HC003", "p_job_type is null", "SELECT hippocampus.enqueue_consolidation($1, NULL)", thread)
		require.Equal(t, before, b.counts(t))
	})
}

func TestIndexProgress(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := get[int64](t, b, "SELECT hippocampus.index_memory()")
	require.JSONEq(t, `{"state": "available", "error": null}`, get[string](t, b, "SELECT hippocampus.index_progress($1)::text", id))
	b.exec(t, `UPDATE hippocampus.river_job SET state = 'completed', finalized_at = now(), metadata = '{"progress": {"done": 2, "total": 2}}' WHERE id = $1`, id)
	require.JSONEq(t, `{"state": "completed", "error": null, "done": 2, "total": 2}`,
		get[string](t, b, "SELECT hippocampus.index_progress($1)::text", id))
	b.exec(t, "SELECT hippocampus.enqueue_consolidation($1)", b.thread(t))
	other := get[int64](t, b, "SELECT max(id) FROM hippocampus.river_job WHERE kind = 'consolidate'")
	for _, never := range []any{0, -1, id + 1_000_000, other, nil} {
		said := "null"
		if never != nil {
			said = fmt.Sprint(never)
		}
		hint := b.refuses(t, "HC011", "there is no reindex "+said, "SELECT hippocampus.index_progress($1)", never)
		require.Contains(t, hint, "index_memory")
	}
}
