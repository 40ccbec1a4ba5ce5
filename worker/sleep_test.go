package worker_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/pgvector/pgvector-go"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/model"
	"github.com/hippocampus-memory/hippocampus/worker"
)

func TestSleep(t *testing.T) {
	t.Parallel()
	// What all talk of the same has one vector.
	alike := func(_ context.Context, texts []string) ([][]float32, error) {
		all := make([][]float32, len(texts))
		for i := range texts {
			all[i] = vectors([]string{"the same"})[0]
		}
		return all, nil
	}
	// episodes makes runs of four, two hours apart, all of them over, with their vectors.
	episodes := func(t *testing.T, b *bundle, runs int) {
		t.Helper()
		_, err := b.pool.Exec(t.Context(), `SELECT hippocampus.remember('ada', 'app', 'run ' || r || ' part ' || i, 'episodic',
				p_occurred_from => now() - make_interval(hours => 2 * r) + make_interval(mins => i), p_embedding => $2, p_embedding_model => 'script/v1')
			FROM generate_series(1, $1::int) r, generate_series(1, 4) i`, runs, pgvector.NewVector(vectors([]string{"the same"})[0]))
		require.NoError(t, err)
	}
	asleep := func(t *testing.T, b *bundle) uuid.UUID {
		t.Helper()
		var id uuid.UUID
		require.NoError(t, b.pool.QueryRow(t.Context(), "SELECT hippocampus.enqueue_sleep('ada', 'app')").Scan(&id))
		return id
	}
	report := func(t *testing.T, b *bundle, id uuid.UUID, status string) (told string) {
		t.Helper()
		b.eventually(t, "the sleep to be "+status, func() bool {
			var is string
			err := b.pool.QueryRow(t.Context(), `SELECT status, concat_ws(' ', clusters, insights, model_calls, cardinality(changed_ids))
				FROM hippocampus.sleep_reports WHERE id = $1`, id).Scan(&is, &told)
			require.NoError(t, err)
			return is == status
		})
		return told
	}

	// embedded waits for the vectors of the sleep before: the next one sees by them what is near.
	embedded := func(t *testing.T, b *bundle) {
		t.Helper()
		b.eventually(t, "all to be embedded", func() bool {
			return b.count(t, "SELECT count(*) FROM hippocampus.embedding_queue") == 0
		})
	}

	t.Run("ClustersWithinItsBudget", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &script{embed: alike}, nil)
		_, err := b.pool.Exec(t.Context(), `SELECT hippocampus.put_consolidation_policy('app', '{"sleep_model_calls": 5}')`)
		require.NoError(t, err)
		episodes(t, b, 4)
		b.start(t)
		require.Equal(t, "3 2 5 5", report(t, b, asleep(t, b), "completed"))
		require.Equal(t, 12, b.count(t, "SELECT count(*) FROM hippocampus.memory_cluster_members"))
		require.Equal(t, 8, b.count(t, "SELECT count(*) FROM hippocampus.memory_links WHERE link_type = 'derived_from'"))
		require.Equal(t, 1, b.count(t, `SELECT count(*) FROM hippocampus.search_memory('ada', 'app', 'Summary of run 4 part 1', p_memory_types => '{summary}')
			WHERE content LIKE 'Summary of run 4%'`), "a cluster is searched")
		// The next one does what is left, and nothing twice; insights that say the same are merged.
		embedded(t, b)
		require.Equal(t, "1 1 2 3", report(t, b, asleep(t, b), "completed"))
		embedded(t, b)
		require.Equal(t, "0 0 0 1", report(t, b, asleep(t, b), "completed"))
		require.Equal(t, 16, b.count(t, "SELECT count(DISTINCT memory_id) FROM hippocampus.memory_cluster_members"))
	})

	t.Run("TidiesWhatGetsItsVectorLater", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &script{}, nil)
		_, err := b.pool.Exec(t.Context(), `SELECT hippocampus.put_consolidation_policy('app', '{"sleep_model_calls": 0, "sharing": true}')`)
		require.NoError(t, err)
		near := vectors([]string{"the same"})[0]
		remember := func(text string, with any) (id uuid.UUID) {
			err := b.pool.QueryRow(t.Context(), `SELECT hippocampus.remember('ada', 'app', $1, 'episodic', p_tags => '{tea}', p_embedding => $2,
				p_embedding_model => 'script/v1')`, text, with).Scan(&id)
			require.NoError(t, err)
			return id
		}
		early, late := remember("early", pgvector.NewVector(near)), remember("late", nil)
		shown := remember("shown", pgvector.NewVector(near))
		_, err = b.pool.Exec(t.Context(), "UPDATE hippocampus.memories SET tags = '{}' WHERE id = $1", shown)
		require.NoError(t, err)
		_, err = b.pool.Exec(t.Context(), "SELECT hippocampus.share_memory('ada', 'app', $1)", shown)
		require.NoError(t, err)
		// Its worker has no hand in this: what it would embed is held back until it has slept.
		_, err = b.pool.Exec(t.Context(), "UPDATE hippocampus.embedding_queue SET run_after = now() + interval '1 day'")
		require.NoError(t, err)
		b.start(t)
		report(t, b, asleep(t, b), "completed")
		links := "SELECT count(*) FROM hippocampus.memory_links WHERE $1::uuid IN (from_id, to_id) AND source = 'sleep'"
		require.Equal(t, 1, b.count(t, links, early))
		require.Zero(t, b.count(t, links, late))
		require.Equal(t, 1, b.count(t, "SELECT count(*) FROM hippocampus.untidied_memories"))
		_, err = b.pool.Exec(t.Context(), "UPDATE hippocampus.sleep_reports SET started_at = now() + interval '1 hour'") // as if it were long ago
		require.NoError(t, err)
		_, err = b.pool.Exec(t.Context(), "SELECT hippocampus.put_embedding('ada', 'app', 'memory', $1, $2, 'script/v1')", late, pgvector.NewVector(near))
		require.NoError(t, err)
		report(t, b, asleep(t, b), "completed")
		require.Equal(t, 2, b.count(t, links, late))
		require.Zero(t, b.count(t, "SELECT count(*) FROM hippocampus.untidied_memories"))
		require.Zero(t, b.count(t, "SELECT cardinality(tags) FROM hippocampus.memories WHERE id = $1", shown), "private tags don't go to what is shared")
	})

	t.Run("IsDueWhereThePolicySaysSo", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &script{}, func(c *worker.Config) { c.PolicyInterval = 50 * time.Millisecond })
		b.start(t)
		thread := b.thread(t, "one", "two")
		b.wait(t, b.enqueue(t, b.pool, thread, worker.FastReplay), "completed")
		require.Zero(t, b.count(t, "SELECT count(*) FROM hippocampus.sleep_reports"), "off by default")
		_, err := b.pool.Exec(t.Context(), `SELECT hippocampus.put_consolidation_policy('app', '{"sleep_enabled": true, "sleep_model_calls": 0}')`)
		require.NoError(t, err)
		b.eventually(t, "a sleep without a model", func() bool {
			return b.count(t, "SELECT count(*) FROM hippocampus.sleep_reports WHERE status = 'completed' AND model_calls = 0") == 1
		})
	})

	t.Run("TellsWhyItFailed", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &script{embed: alike, summarize: func(context.Context, *model.Conversation) (*model.Summary, error) {
			return nil, fmt.Errorf("the model is away")
		}}, nil)
		episodes(t, b, 1)
		id := asleep(t, b)
		require.Equal(t, id, asleep(t, b), "one waits at a time")
		_, err := b.pool.Exec(t.Context(), "UPDATE hippocampus.river_job SET max_attempts = 1 WHERE kind = 'sleep'")
		require.NoError(t, err)
		b.start(t)
		require.Equal(t, "0 0 1 0", report(t, b, id, "failed"))
		require.Equal(t, 1, b.count(t, "SELECT count(*) FROM hippocampus.sleep_reports WHERE error LIKE '%the model is away%'"))
	})
}
