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

// alike is an embedder to which all talk of the same.
func alike(_ context.Context, texts []string) ([][]float32, error) {
	all := make([][]float32, len(texts))
	for i := range texts {
		all[i] = vectors([]string{"the same"})[0]
	}
	return all, nil
}

// episodes makes runs of four, two hours apart, all of them over, with their vectors.
func (b *bundle) episodes(t *testing.T, runs int) {
	t.Helper()
	_, err := b.pool.Exec(t.Context(), `SELECT hippocampus.remember('ada', 'app', 'run ' || r || ' part ' || i, 'episodic',
			p_occurred_from => now() - make_interval(hours => 2 * r) + make_interval(mins => i), p_embedding => $2, p_embedding_model => 'script/v1')
		FROM generate_series(1, $1::int) r, generate_series(1, 4) i`, runs, pgvector.NewVector(vectors([]string{"the same"})[0]))
	require.NoError(t, err)
}

func TestSleep(t *testing.T) {
	t.Parallel()
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
		b.episodes(t, 4)
		b.start(t)
		require.Equal(t, "3 2 5 5", report(t, b, asleep(t, b), "completed"))
		require.Equal(t, 12, b.count(t, "SELECT count(*) FROM hippocampus.memory_cluster_members"))
		require.Equal(t, 8, b.count(t, "SELECT count(*) FROM hippocampus.memory_links WHERE link_type = 'derived_from'"))
		require.Equal(t, 1, b.count(t, `SELECT count(*) FROM hippocampus.search_memory('ada', 'app', 'Summary of run 4 part 1', p_memory_types => '{summary}')
			WHERE content LIKE 'Summary of run 4%'`), "a cluster is searched")
		// The next one does what is left, and nothing twice; insights that differ in their numbers are not merged.
		embedded(t, b)
		require.Equal(t, "1 1 2 2", report(t, b, asleep(t, b), "completed"))
		embedded(t, b)
		require.Equal(t, "0 0 0 0", report(t, b, asleep(t, b), "completed"))
		require.Equal(t, 16, b.count(t, "SELECT count(DISTINCT memory_id) FROM hippocampus.memory_cluster_members"))
	})

	// swept runs retention as of so many days from now, with some episodes used the day before.
	swept := func(t *testing.T, b *bundle, days int, used string) int {
		t.Helper()
		_, err := b.pool.Exec(t.Context(), `UPDATE hippocampus.memories SET access_count = 500, last_accessed_at = now() + make_interval(days => $1 - 1)
			WHERE memory_type = 'episodic' AND content ~ $2`, days, used)
		require.NoError(t, err)
		return b.count(t, "SELECT hippocampus.cleanup_low_value_memories(NULL, NULL, p_now => now() + make_interval(days => $1))", days)
	}

	t.Run("PaysOnce", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &script{embed: alike}, nil)
		b.episodes(t, 1)
		b.start(t)
		require.Equal(t, "1 1 2 2", report(t, b, asleep(t, b), "completed"))
		embedded(t, b)
		require.Equal(t, 1, swept(t, b, 8, "part [234]"), "an episode fades alone")
		require.Equal(t, 5, b.count(t, "SELECT count(*) FROM hippocampus.memories"))
		require.Equal(t, "0 0 0 0", report(t, b, asleep(t, b), "completed"), "the others are in their cluster")
		require.Equal(t, 2, swept(t, b, 40, "part [234]"), "a cluster and its insight fade in their turn")
		require.Equal(t, "0 0 0 0", report(t, b, asleep(t, b), "completed"), "episodes that outlive their cluster")
		_, summaries := b.script.calls()
		require.Equal(t, 1, summaries)
	})

	t.Run("ClustersMayHaveOneName", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &script{embed: alike, summarize: func(context.Context, *model.Conversation) (*model.Summary, error) {
			return &model.Summary{Content: "The stand-up", Model: "script/chat"}, nil
		}}, nil)
		_, err := b.pool.Exec(t.Context(), "SELECT hippocampus.remember('ada', 'app', 'The stand-up', 'summary')")
		require.NoError(t, err)
		b.episodes(t, 3)
		b.start(t)
		require.Equal(t, "3 3 6 6", report(t, b, asleep(t, b), "completed"))
		require.Equal(t, 3, b.count(t, "SELECT count(*) FROM hippocampus.list_clusters('ada', 'app') WHERE name = 'The stand-up' AND members = 4"))
		require.Equal(t, 3, b.count(t, "SELECT count(DISTINCT started_at) FROM hippocampus.memory_clusters"))
		_, err = b.pool.Exec(t.Context(), "SELECT hippocampus.forget('ada', 'app', ARRAY(SELECT id FROM hippocampus.memories WHERE content = 'run 2 part 3'))")
		require.NoError(t, err)
		require.Equal(t, 2, b.count(t, "SELECT count(*) FROM hippocampus.memory_clusters"), "the others are of other memories")
		require.Equal(t, 1, b.count(t, "SELECT count(*) FROM hippocampus.memories WHERE content = 'The stand-up' AND source = 'client'"), "the user's own stays")
	})

	t.Run("LeavesWhatIsThereToWhoseItIs", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &script{embed: alike, reflect: func(context.Context, *model.Conversation) (*model.Reflection, error) {
			return &model.Reflection{Model: "script/chat", Insights: []model.Insight{
				{Content: "I am allergic to nuts", Importance: model.ImportanceHigh},
				{Content: "They like runs", Importance: model.ImportanceLow},
				{Content: "they like  runs"},
				{Content: " "},
			}}, nil
		}}, nil)
		thread := b.thread(t, "I am allergic to nuts")
		_, err := b.pool.Exec(t.Context(), "SELECT hippocampus.remember('ada', 'app', 'I am allergic to nuts', p_thread_id => $1)", thread)
		require.NoError(t, err)
		b.episodes(t, 2)
		b.start(t)
		require.Equal(t, "2 1 4 3", report(t, b, asleep(t, b), "completed"), "an insight in words that are there is not stored again")
		require.Equal(t, 4, b.count(t, "SELECT count(*) FROM hippocampus.memory_links WHERE link_type = 'derived_from'"))
		require.Equal(t, 1, b.count(t, `SELECT count(*) FROM hippocampus.memories WHERE content = 'I am allergic to nuts' AND encounter_count = 1
			AND trust = 'user' AND thread_id = $1`, thread))
		_, err = b.pool.Exec(t.Context(), "SELECT hippocampus.forget('ada', 'app', ARRAY(SELECT id FROM hippocampus.memories WHERE memory_type = 'episodic'))")
		require.NoError(t, err)
		require.Equal(t, 1, b.count(t, "SELECT count(*) FROM hippocampus.memories WHERE content = 'I am allergic to nuts'"))
		require.Equal(t, 1, b.count(t, "SELECT count(*) FROM hippocampus.memories"), "what was made of them went")
	})

	t.Run("IsTrustedAsTheLeastThatItRead", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &script{embed: alike}, nil)
		b.episodes(t, 2)
		_, err := b.pool.Exec(t.Context(), "UPDATE hippocampus.memories SET trust = 'tool' WHERE content = 'run 1 part 2'")
		require.NoError(t, err)
		b.start(t)
		require.Equal(t, "2 2 4 4", report(t, b, asleep(t, b), "completed"))
		for words, trust := range map[string]string{"run 1 part 1": "tool", "run 2 part 1": "agent"} {
			require.Equal(t, 2, b.count(t, "SELECT count(*) FROM hippocampus.memories WHERE source = 'sleep' AND trust = $1 AND strpos(content, $2) > 0", trust, words))
			require.Equal(t, 2, b.count(t, `SELECT count(*) FROM hippocampus.get_context_window('ada', 'app', $2, NULL) w
				WHERE w.content ~ ('^- \[[-0-9]+, ' || $1 || '\] (Summary of|Insight on) ' || $2)`, trust, words), "a window says so")
		}
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
		b.episodes(t, 1)
		id := asleep(t, b)
		require.Equal(t, id, asleep(t, b), "one waits at a time")
		_, err := b.pool.Exec(t.Context(), "UPDATE hippocampus.river_job SET max_attempts = 1 WHERE kind = 'sleep'")
		require.NoError(t, err)
		b.start(t)
		require.Equal(t, "0 0 1 0", report(t, b, id, "failed"))
		require.Equal(t, 1, b.count(t, "SELECT count(*) FROM hippocampus.sleep_reports WHERE error LIKE '%the model is away%'"))
	})
}
