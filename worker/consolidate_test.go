package worker_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/model"
	"github.com/hippocampus-memory/hippocampus/worker"
)

func TestConsolidate(t *testing.T) {
	t.Parallel()

	t.Run("DeepReflection", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &script{}, nil)
		thread := b.thread(t, "color=red")
		id := b.enqueue(t, b.pool, thread, worker.DeepReflection)
		b.start(t)
		r := result(t, b.wait(t, id, "completed"))
		require.Equal(t, 1, r.Facts)
		require.Equal(t, 1, r.Insights)
		require.Zero(t, r.Episodes+r.Summaries)
		reflections, summaries := b.script.calls()
		require.Equal(t, 1, reflections)
		require.Zero(t, summaries)
		require.Zero(t, b.count(t, `SELECT replayed_seq FROM hippocampus.threads WHERE id = $1`, thread))
		require.Equal(t, 1, b.count(t, `SELECT reflected_seq FROM hippocampus.threads WHERE id = $1`, thread))
		// The rest of a full consolidation is the other half.
		id = b.enqueue(t, b.pool, thread, worker.FullConsolidation)
		r = result(t, b.wait(t, id, "completed"))
		require.Equal(t, 1, r.Episodes)
		require.Zero(t, r.Facts)
		b.hasAll(t, thread, 1)
	})

	t.Run("EpisodesOfSeveralTurns", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &script{}, nil)
		_, err := b.pool.Exec(t.Context(), `INSERT INTO hippocampus.settings (app_name, key, value) VALUES ('app', 'episodic_turns', '2')`)
		require.NoError(t, err)
		thread := b.thread(t)
		_, err = b.pool.Exec(t.Context(), `SELECT hippocampus.append_events($1, '[
			{"author": "user", "content": {"text": "one"}, "importance": 0.3, "tags": ["a"], "created_at": "2026-01-01T00:00:00Z"},
			{"author": "agent", "content": {"text": "two"}, "importance": 0.9, "tags": ["b", "a"], "category": "decision", "created_at": "2026-01-02T00:00:00Z"},
			{"author": "tool", "content": {"text": "  "}},
			{"author": "user", "content": {"text": "three"}, "importance": 0.4, "created_at": "2026-01-03T00:00:00Z"}]')`, thread)
		require.NoError(t, err)
		id := b.enqueue(t, b.pool, thread, worker.FastReplay)
		b.start(t)
		require.Equal(t, 2, result(t, b.wait(t, id, "completed")).Episodes)
		memories, err := db.New().MemoryList(t.Context(), b.pool, &db.MemoryListParams{
			AppName: "app", MaxRows: 10, MemoryType: ptr("episodic"), UserID: "ada",
		})
		require.NoError(t, err)
		require.Len(t, memories, 2)
		if *memories[0].FromSeq != 1 {
			memories[0], memories[1] = memories[1], memories[0]
		}
		m := memories[0]
		require.Equal(t, "user: one\nagent: two", m.Content)
		require.Nil(t, m.Author)
		require.InDelta(t, 0.9, m.Importance, 1e-6)
		require.Equal(t, "decision", m.Category)
		require.ElementsMatch(t, []string{"a", "b"}, m.Tags)
		require.EqualValues(t, 2, *m.ToSeq)
		require.True(t, m.OccurredFrom.Equal(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)))
		require.True(t, m.OccurredUntil.Equal(time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)))
		require.EqualValues(t, 4, m.TokenCount)
		require.True(t, m.TokenCountExact)
		require.Equal(t, "user: three", memories[1].Content)
		require.Equal(t, "user", *memories[1].Author)
	})

	t.Run("FactsFollowTheConversation", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &script{}, nil)
		thread := b.thread(t)
		_, err := b.pool.Exec(t.Context(), `SELECT hippocampus.append_events($1, '[
			{"author": "user", "content": {"text": "color=red"}, "created_at": "2026-01-01T00:00:00Z"},
			{"author": "user", "content": {"text": "color=blue"}, "created_at": "2026-01-05T00:00:00Z"}]')`, thread)
		require.NoError(t, err)
		id := b.enqueue(t, b.pool, thread, worker.DeepReflection)
		b.start(t)
		b.wait(t, id, "completed")
		for at, want := range map[string]string{"2026-01-03": `"red"`, "2026-01-06": `"blue"`} {
			when, err := time.Parse(time.DateOnly, at)
			require.NoError(t, err)
			facts, err := db.New().FactListAsOf(t.Context(), b.pool, &db.FactListAsOfParams{AppName: "app", At: &when, UserID: "ada"})
			require.NoError(t, err)
			require.Len(t, facts, 1)
			require.JSONEq(t, want, string(facts[0].Value))
		}
		// The same again from another thread strengthens it, and has a source of its own.
		other := b.thread(t, "color=blue")
		b.wait(t, b.enqueue(t, b.pool, other, worker.DeepReflection), "completed")
		require.Equal(t, 2, b.count(t, `SELECT encounter_count FROM hippocampus.facts WHERE valid_until IS NULL`))
		require.Equal(t, 2, b.count(t, `SELECT count(*) FROM hippocampus.memory_sources s
			JOIN hippocampus.facts f ON f.id = s.fact_id WHERE f.valid_until IS NULL`))
	})

	t.Run("FactSinceLongAgoHoldsNow", func(t *testing.T) {
		t.Parallel()
		since := time.Date(2019, 1, 1, 0, 0, 0, 0, time.UTC)
		s := &script{reflect: func(_ context.Context, c *model.Conversation) (*model.Reflection, error) {
			r := reflection(c)
			if c.Turns[0].Text == "city=Paris" {
				r.Facts[0].ValidFrom = &since
			}
			return r, nil
		}}
		b := setup(t, s, nil)
		b.start(t)
		thread := b.thread(t, "city=Berlin")
		b.wait(t, b.enqueue(t, b.pool, thread, worker.DeepReflection), "completed")
		b.append(t, b.pool, thread, "city=Paris")
		b.wait(t, b.enqueue(t, b.pool, thread, worker.DeepReflection), "completed")
		require.Equal(t, 1, b.count(t, `SELECT count(*) FROM hippocampus.facts WHERE valid_until IS NULL AND value = '"Paris"'`))
	})

	t.Run("Full", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &script{}, nil)
		thread := b.thread(t, "Hello there", "color=red", "", "color=blue", "food=sushi")
		version := b.count(t, `SELECT version FROM hippocampus.threads WHERE id = $1`, thread)
		id := b.enqueue(t, b.pool, thread, worker.FullConsolidation)
		b.start(t)
		job := b.wait(t, id, "completed")
		r := result(t, job)
		require.Equal(t, 5, r.Events)
		require.Equal(t, 4, r.Episodes)
		require.Equal(t, 3, r.Facts)
		require.Equal(t, 1, r.Insights)
		require.Equal(t, 1, r.Summaries)
		require.Len(t, r.FactIDs, 3)
		require.Equal(t, worker.Usage{InputTokens: 30, OutputTokens: 5}, r.Usage)
		require.Equal(t, map[string]string{"embedder": "script/v1", "reflector": "script/chat", "summarizer": "script/chat"}, r.Models)
		require.EqualValues(t, 1, *job.FromSeq)
		require.EqualValues(t, 5, *job.ToSeq)
		require.EqualValues(t, 1, job.Attempts)
		require.Nil(t, job.Error)
		require.NotContains(t, string(job.Result), "sushi")
		b.drain(t)
		require.Equal(t, 9, b.count(t, `SELECT count(*) FROM hippocampus.embeddings`))
		require.Zero(t, b.count(t, `SELECT count(*) FROM hippocampus.embedding_queue`))
		require.Equal(t, 9, b.count(t, `SELECT count(*) FROM hippocampus.memory_sources WHERE job_id = $1`, id))
		require.Equal(t, 1, b.count(t, `SELECT count(*) FROM hippocampus.memories
			WHERE memory_type = 'semantic' AND category = 'insight' AND source = 'deep_reflection' AND initial_score = 1`))
		// A background job must not make an optimistic writer fail.
		require.Equal(t, version, b.count(t, `SELECT version FROM hippocampus.threads WHERE id = $1`, thread))
	})

	t.Run("LongConversationInPieces", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &script{}, func(c *worker.Config) { c.MaxConversationTokens = 40 })
		texts := make([]string, 30)
		for i := range texts {
			texts[i] = strings.Repeat("word ", i%7+1) + "end"
		}
		texts[12] = strings.Repeat("very long ", 60) // longer than a model may read
		thread := b.thread(t, texts...)
		id := b.enqueue(t, b.pool, thread, worker.FullConsolidation)
		b.start(t)
		r := result(t, b.wait(t, id, "completed"))
		require.Equal(t, 30, r.Events)
		require.Greater(t, r.Pieces, 3)
		require.Equal(t, r.Pieces, r.Summaries)
		b.hasAll(t, thread, 30)
		for _, c := range append(b.script.summarized, b.script.reflected...) {
			count := 0
			for _, turn := range c.Turns {
				count += len(strings.Fields(turn.Text))
			}
			require.LessOrEqual(t, count, 40)
		}
		require.NotEmpty(t, b.script.summarized[1].PriorSummary)
	})

	t.Run("ForgottenBetweenPieces", func(t *testing.T) {
		t.Parallel()
		s := &script{}
		b := setup(t, s, func(c *worker.Config) { c.MaxConversationTokens = 4 })
		s.reflect = func(ctx context.Context, c *model.Conversation) (*model.Reflection, error) {
			if strings.HasPrefix(c.Turns[0].Text, "city") {
				_, err := b.pool.Exec(ctx, `SELECT hippocampus.forget(user_id, app_name, array_agg(id)) FROM hippocampus.facts
					WHERE key = 'drink' GROUP BY user_id, app_name`)
				if err != nil {
					return nil, err
				}
			}
			return reflection(c), nil
		}
		thread := b.thread(t, "drink=some very green tea", "city=a small old town")
		id := b.enqueue(t, b.pool, thread, worker.DeepReflection)
		b.start(t)
		r := result(t, b.wait(t, id, "completed"))
		require.Equal(t, 2, r.Pieces)
		require.Equal(t, 2, r.Facts)
		require.Len(t, r.FactIDs, 1)
		require.Equal(t, 1, b.count(t, `SELECT count(*) FROM hippocampus.facts WHERE id = $1 AND key = 'city'`, r.FactIDs[0]))
		require.Len(t, r.InsightIDs, 1)
	})

	t.Run("NoEvents", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &script{}, nil)
		thread := b.thread(t)
		id := b.enqueue(t, b.pool, thread, worker.FullConsolidation)
		b.start(t)
		job := b.wait(t, id, "completed")
		require.JSONEq(t, `{"message": "No events to consolidate"}`, string(job.Result))
		// Events without words are done without a model.
		b.append(t, b.pool, thread, "", " ")
		b.wait(t, b.enqueue(t, b.pool, thread, worker.FullConsolidation), "completed")
		require.Equal(t, 2, b.count(t, `SELECT least(replayed_seq, reflected_seq) FROM hippocampus.threads`))
		reflections, summaries := b.script.calls()
		require.Zero(t, reflections+summaries)
	})

	t.Run("PriorSummary", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &script{}, nil)
		b.start(t)
		thread := b.thread(t, "one")
		b.wait(t, b.enqueue(t, b.pool, thread, worker.FullConsolidation), "completed")
		b.append(t, b.pool, thread, "two")
		b.wait(t, b.enqueue(t, b.pool, thread, worker.FullConsolidation), "completed")
		require.Empty(t, b.script.summarized[0].PriorSummary)
		require.Equal(t, "Summary of one to one", b.script.summarized[1].PriorSummary)
		require.Equal(t, "Summary of one to one", b.script.reflected[1].PriorSummary)
		b.hasAll(t, thread, 2)
	})
}

// completedOf counts the jobs of a thread, if all of them are completed.
const completedOf = `SELECT count(*) * bool_and(j.status = 'completed')::integer FROM hippocampus.consolidation_jobs j WHERE j.thread_id = $1`

func TestEnqueue(t *testing.T) {
	t.Parallel()

	t.Run("AppendedInAnOpenTransaction", func(t *testing.T) {
		t.Parallel()
		// The job waits already when a second transaction counts on it, and then the worker comes.
		b := setup(t, &script{}, nil)
		thread := b.thread(t, "one")
		first := b.enqueue(t, b.pool, thread, worker.FullConsolidation)
		tx, err := b.pool.Begin(t.Context())
		require.NoError(t, err)
		b.append(t, tx, thread, "two")
		require.Equal(t, first, b.enqueue(t, tx, thread, worker.FullConsolidation))
		b.start(t)
		// It works, but passes over the job that is held.
		other := b.thread(t, "other")
		b.wait(t, b.enqueue(t, b.pool, other, worker.FullConsolidation), "completed")
		require.Equal(t, "pending", b.wait(t, first, "pending").Status)
		require.NoError(t, tx.Commit(t.Context()))
		b.wait(t, first, "completed")
		b.hasAll(t, thread, 2)
	})

	t.Run("AppendedWhileItWaitsForAnotherTry", func(t *testing.T) {
		t.Parallel()
		// A job in back-off is not held, or River's scheduler would wait for the client's transaction.
		first := true
		s := &script{summarize: func(_ context.Context, c *model.Conversation) (*model.Summary, error) {
			if first {
				first = false
				return nil, &model.Error{Kind: model.KindRateLimited, RetryAfter: time.Hour}
			}
			return summary(c), nil
		}}
		b := setup(t, s, nil)
		b.start(t)
		thread := b.thread(t, "one")
		id := b.enqueue(t, b.pool, thread, worker.FastReplay)
		b.eventually(t, "the snooze", func() bool {
			return b.count(t, `SELECT count(*) FROM hippocampus.river_job WHERE kind = 'consolidate' AND state = 'scheduled'`) == 1
		})
		tx, err := b.pool.Begin(t.Context())
		require.NoError(t, err)
		defer tx.Rollback(context.WithoutCancel(t.Context()))
		require.Equal(t, id, b.enqueue(t, tx, thread, worker.FastReplay))
		_, err = b.Client().JobRetry(t.Context(), b.job(t, id)) // as the scheduler would in an hour
		require.NoError(t, err)
		b.eventually(t, "the job to wait for the client's transaction", func() bool {
			return b.count(t, `SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`) == 1
		})
		b.append(t, tx, thread, "two")
		require.NoError(t, tx.Commit(t.Context()))
		b.wait(t, id, "completed")
		b.drain(t)
		require.Equal(t, 2, b.count(t, `SELECT replayed_seq FROM hippocampus.threads`))
	})

	t.Run("InsertTx", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &script{}, nil)
		b.start(t)
		thread := b.thread(t, "one")
		err := pgx.BeginFunc(t.Context(), b.pool, func(tx pgx.Tx) error {
			b.append(t, tx, thread, "two")
			_, err := b.Client().InsertTx(t.Context(), tx, worker.ConsolidateArgs{JobType: worker.FullConsolidation, ThreadID: thread}, nil)
			return err
		})
		require.NoError(t, err)
		b.drain(t)
		b.hasAll(t, thread, 2)
		require.Equal(t, 1, b.count(t, completedOf, thread))
	})

	t.Run("InsertTxBesideOneThatWaits", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &script{}, nil)
		thread := b.thread(t, "one")
		b.enqueue(t, b.pool, thread, worker.FullConsolidation)
		err := pgx.BeginFunc(t.Context(), b.pool, func(tx pgx.Tx) error {
			b.append(t, tx, thread, "two")
			_, err := b.Client().InsertTx(t.Context(), tx, worker.ConsolidateArgs{JobType: worker.FullConsolidation, ThreadID: thread}, nil)
			return err
		})
		require.NoError(t, err)
		b.start(t)
		b.drain(t)
		b.hasAll(t, thread, 2)
		require.Equal(t, 2, b.count(t, completedOf, thread))
	})

	t.Run("Rollback", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &script{}, nil)
		tx, err := b.pool.Begin(t.Context())
		require.NoError(t, err)
		var thread string
		require.NoError(t, tx.QueryRow(t.Context(), `SELECT hippocampus.create_thread('ada', 'app')`).Scan(&thread))
		_, err = tx.Exec(t.Context(), `SELECT hippocampus.append_event($1, 'user', 'message', '{"text": "hello"}')`, thread)
		require.NoError(t, err)
		_, err = tx.Exec(t.Context(), `SELECT hippocampus.enqueue_consolidation($1)`, thread)
		require.NoError(t, err)
		require.NoError(t, tx.Rollback(t.Context()))
		b.start(t)
		b.drain(t)
		require.Zero(t, b.count(t, `SELECT (SELECT count(*) FROM hippocampus.threads) + (SELECT count(*) FROM hippocampus.events)
			+ (SELECT count(*) FROM hippocampus.consolidation_jobs)
			+ (SELECT count(*) FROM hippocampus.river_job WHERE kind IN ('consolidate', 'embed', 'count_tokens'))`))
	})

	t.Run("Tx", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &script{}, nil)
		thread := b.thread(t, "one")
		err := pgx.BeginFunc(t.Context(), b.pool, func(tx pgx.Tx) error {
			_, err := worker.EnqueueConsolidationTx(t.Context(), tx, thread, "dream")
			require.ErrorIs(t, err, db.ErrInvalidJobType)
			return nil
		})
		require.Error(t, err) // the transaction is aborted
		err = pgx.BeginFunc(t.Context(), b.pool, func(tx pgx.Tx) error {
			_, err := worker.EnqueueConsolidationTx(t.Context(), tx, thread, worker.FastReplay)
			return err
		})
		require.NoError(t, err)
		b.start(t)
		b.drain(t)
		require.Equal(t, 1, b.count(t, `SELECT replayed_seq FROM hippocampus.threads`))
	})
}

func ptr[T any](v T) *T { return &v }
