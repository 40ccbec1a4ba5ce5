package worker_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/riverqueue/river"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/model"
	"github.com/hippocampus-memory/hippocampus/worker"
)

// remember stores memories without vectors.
func (b *bundle) remember(t *testing.T, contents ...string) {
	t.Helper()
	for _, content := range contents {
		_, err := b.pool.Exec(t.Context(), `SELECT hippocampus.remember($1, $2, $3)`, b.scope.UserID, b.scope.AppName, content)
		require.NoError(t, err)
	}
}

func (b *bundle) embeddings(t *testing.T) int {
	t.Helper()
	return b.count(t, `SELECT count(*) FROM hippocampus.embeddings`)
}

func TestEmbed(t *testing.T) {
	t.Parallel()

	t.Run("AfterAConsolidationWithout", func(t *testing.T) {
		t.Parallel()
		// A consolidation does not fail for its embedder, and the vectors come later.
		var calls atomic.Int64
		b := setup(t, &script{embed: func(_ context.Context, texts []string) ([][]float32, error) {
			if calls.Add(1) == 1 {
				return nil, &model.Error{Err: errors.New("a bad day"), Kind: model.KindInvalidReply}
			}
			return vectors(texts), nil
		}}, nil)
		thread := b.thread(t, "color=red")
		id := b.enqueue(t, b.pool, thread, worker.FullConsolidation)
		b.start(t)
		require.Equal(t, 4, result(t, b.wait(t, id, "completed")).WithoutEmbedding)
		b.hasAll(t, thread, 1)
		_, err := b.pool.Exec(t.Context(), `SELECT FROM hippocampus.search_memory('ada', 'app', 'color')`)
		require.NoError(t, err)
		b.eventually(t, "the vectors", func() bool { return b.embeddings(t) == 4 })
		b.drain(t)
	})

	t.Run("Batches", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &script{}, func(c *worker.Config) { c.EmbedBatch, c.MaxEmbedTokens = 10, 50 })
		for i := range 25 {
			b.remember(t, fmt.Sprintf("memory %d", i))
		}
		b.remember(t, strings.Repeat("word ", 1000), " \n ")
		_, err := b.pool.Exec(t.Context(), `SELECT hippocampus.upsert_fact('ada', 'app', 'preference', 'favourite_color', '"red"')`)
		require.NoError(t, err)
		b.start(t)
		b.drain(t)
		require.Equal(t, 27, b.embeddings(t)) // and none for the memory without words
		require.Zero(t, b.count(t, `SELECT count(*) FROM hippocampus.embedding_queue`))
		all := ""
		for _, texts := range b.script.embedded {
			require.LessOrEqual(t, len(texts), 10)
			for _, text := range texts {
				require.LessOrEqual(t, len(strings.Fields(text)), 50)
			}
			all += strings.Join(texts, "\n") + "\n"
		}
		require.Contains(t, all, "favourite color: red\n")
		require.Equal(t, 27, b.count(t, `SELECT count(*) FROM hippocampus.embeddings WHERE generation = 1`))
		require.Equal(t, 1, b.count(t, `SELECT count(*) FROM hippocampus.embedding_models WHERE model = 'script/v1'`))
	})

	t.Run("ForgottenMeanwhile", func(t *testing.T) {
		t.Parallel()
		started, goOn, wait := asked()
		b := setup(t, &script{embed: func(ctx context.Context, texts []string) ([][]float32, error) {
			return vectors(texts), wait(ctx)
		}}, nil)
		b.remember(t, "one", "two")
		b.start(t)
		receive(t, "the embedder", started)
		_, err := b.pool.Exec(t.Context(), `SELECT hippocampus.forget('ada', 'app', ARRAY(SELECT id FROM hippocampus.memories WHERE content = 'one'))`)
		require.NoError(t, err)
		close(goOn)
		b.drain(t)
		require.Equal(t, 1, b.embeddings(t))
		require.Equal(t, 1, b.count(t, `SELECT count(*) FROM hippocampus.embeddings e JOIN hippocampus.memories m ON m.id = e.row_id`))
	})

	t.Run("OpenTransactionOfAnother", func(t *testing.T) {
		t.Parallel()
		// Who writes first holds the triggers' lock until the commit; others are not kept waiting for it.
		b := setup(t, &script{}, nil)
		b.start(t)
		tx, err := b.pool.Begin(t.Context())
		require.NoError(t, err)
		_, err = tx.Exec(t.Context(), `SELECT hippocampus.remember('bob', 'app', 'not yet')`)
		require.NoError(t, err)
		b.remember(t, "one")
		b.eventually(t, "the vector", func() bool { return b.embeddings(t) == 1 })
		require.NoError(t, tx.Commit(t.Context()))
		b.drain(t)
		require.Equal(t, 2, b.embeddings(t))
	})

	t.Run("PollOnly", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &script{}, func(c *worker.Config) { c.PollOnly = true })
		b.start(t)
		b.remember(t, "one")
		id := b.enqueue(t, b.pool, b.thread(t, "two"), worker.FastReplay)
		b.wait(t, id, "completed")
		b.drain(t)
		require.Zero(t, b.count(t, `SELECT count(*) FROM hippocampus.river_job WHERE kind = 'index_vectors'`))
	})

	t.Run("Poison", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &script{embed: func(_ context.Context, texts []string) ([][]float32, error) {
			for _, text := range texts {
				if strings.HasPrefix(text, "poison") {
					return nil, &model.Error{Err: errors.New("no such text"), Kind: model.KindRejected, Status: 400}
				}
			}
			return vectors(texts), nil
		}}, nil)
		for i := range 20 {
			b.remember(t, fmt.Sprintf("memory %d", i))
		}
		b.remember(t, "poison 1")
		b.start(t)
		b.drain(t)
		require.Equal(t, 20, b.embeddings(t))
		require.Equal(t, 1, b.count(t, `SELECT count(*) FROM hippocampus.embedding_queue
			WHERE error LIKE '%no such text%' AND run_after > now() + interval '10 seconds' AND attempts = 1`))
		// and it does not keep later ones from theirs
		b.remember(t, "memory 21")
		b.drain(t)
		require.Equal(t, 21, b.embeddings(t))
	})

	t.Run("RateLimited", func(t *testing.T) {
		t.Parallel()
		var calls atomic.Int64
		b := setup(t, &script{embed: func(context.Context, []string) ([][]float32, error) {
			calls.Add(1)
			return nil, &model.Error{Kind: model.KindRateLimited, RetryAfter: time.Hour}
		}}, nil)
		b.remember(t, "one", "two", "three")
		b.start(t)
		b.eventually(t, "the pause", func() bool {
			return b.count(t, `SELECT count(*) FROM hippocampus.embedding_queue
				WHERE error LIKE '%rate limited%' AND run_after > now() + interval '50 minutes'`) == 3
		})
		// Nobody is asked again for rows that come now.
		b.remember(t, "four")
		b.eventually(t, "the snooze", func() bool {
			return b.count(t, `SELECT count(*) FROM hippocampus.river_job WHERE kind = 'embed' AND state = 'scheduled'
				AND scheduled_at > now() + interval '50 minutes'`) > 0 &&
				b.count(t, `SELECT count(*) FROM hippocampus.river_job WHERE kind = 'embed' AND state IN ('available', 'running')`) == 0
		})
		require.EqualValues(t, 1, calls.Load())
		// A consolidation meanwhile asks nobody either, and is stored.
		thread := b.thread(t, "five")
		b.wait(t, b.enqueue(t, b.pool, thread, worker.FastReplay), "completed")
		require.EqualValues(t, 1, calls.Load())
	})

	// What the rate does not let a job embed in its time is given back, and no failure.
	t.Run("SlowerThanAJob", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &script{}, func(c *worker.Config) { c.EmbedTimeout, c.MaxEmbedRate = 1200*time.Millisecond, 0.8 })
		b.remember(t, "one", "two", "three")
		failures := b.events(t, river.EventKindJobFailed)
		b.start(t)
		b.eventually(t, "a row that is given back", func() bool {
			return b.count(t, `SELECT count(*) FROM hippocampus.embedding_queue WHERE attempts = 0 AND run_after > now() AND error IS NULL`) > 0
		})
		b.eventually(t, "the vectors", func() bool { return b.embeddings(t) == 3 })
		require.Empty(t, failures)
	})

	t.Run("Rejected", func(t *testing.T) {
		t.Parallel()
		// A key that is not right is no row's fault: one call, not one a row.
		var calls atomic.Int64
		b := setup(t, &script{embed: func(context.Context, []string) ([][]float32, error) {
			calls.Add(1)
			return nil, &model.Error{Kind: model.KindRejected, Status: 401}
		}}, nil)
		embedsNone(t, b, "rejected (HTTP 401)")
		require.EqualValues(t, 1, calls.Load())
	})

	t.Run("RefusedToTheEnd", func(t *testing.T) {
		t.Parallel()
		// A drain does all that needs no vector, and does not wait for a key.
		b := setup(t, &script{embed: func(context.Context, []string) ([][]float32, error) {
			return nil, &model.Error{Kind: model.KindRejected, Operation: "embed", Provider: "script", Status: 401}
		}}, nil)
		id := b.enqueue(t, b.pool, b.thread(t, "one"), worker.FastReplay)
		b.start(t)
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		require.EqualError(t, b.Drain(ctx), "rows are left without a vector: script embed: rejected (HTTP 401)")
		b.wait(t, id, "completed")
	})

	t.Run("WrongDimension", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &script{embed: func(_ context.Context, texts []string) ([][]float32, error) {
			return make([][]float32, len(texts)), nil
		}}, nil)
		embedsNone(t, b, "a vector of 0 dimensions instead of 64")
		require.Zero(t, b.embeddings(t))
	})

	t.Run("AnotherDimension", func(t *testing.T) {
		t.Parallel()
		// The model's, and no row's fault: one call, not one a row.
		var calls atomic.Int64
		b := setup(t, &script{embed: func(_ context.Context, texts []string) ([][]float32, error) {
			calls.Add(1)
			return slices.Repeat([][]float32{{0, 0, 1}}, len(texts)), nil
		}}, nil)
		embedsNone(t, b, "a vector of 3 dimensions instead of 64")
		require.EqualValues(t, 1, calls.Load())
	})
}

// embedsNone starts the worker on 20 memories, of which the embedder gives none a vector, and waits until each is told why.
func embedsNone(t *testing.T, b *bundle, why string) {
	t.Helper()
	for i := range 20 {
		b.remember(t, fmt.Sprint("memory ", i))
	}
	b.start(t)
	b.eventually(t, "the error", func() bool {
		return b.count(t, `SELECT count(*) FROM hippocampus.embedding_queue WHERE error LIKE '%' || $1 || '%'`, why) == 20
	})
}

func TestCountTokens(t *testing.T) {
	t.Parallel()
	b := setup(t, &script{}, nil)
	b.thread(t, "one two three")
	b.remember(t, "four five")
	for _, query := range []string{
		`SELECT hippocampus.upsert_fact('ada', 'app', 'preference', 'favourite_color', '{"a": 1}')`,
		`SELECT hippocampus.block_set('ada', 'app', 'persona', 'six seven')`,
		`SELECT hippocampus.put_instruction('app', 'tone', 'be kind to them')`,
	} {
		_, err := b.pool.Exec(t.Context(), query)
		require.NoError(t, err)
	}
	// A row that somebody holds is not waited for, and the next sweep has it.
	tx, err := b.pool.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `SELECT FROM hippocampus.events FOR UPDATE`)
	require.NoError(t, err)
	b.start(t)
	b.eventually(t, "the others to be counted", func() bool {
		return b.count(t, `SELECT (SELECT count(*) FROM hippocampus.facts WHERE NOT token_count_exact)
			+ (SELECT count(*) FROM hippocampus.memories WHERE NOT token_count_exact)
			+ (SELECT count(*) FROM hippocampus.memory_blocks WHERE NOT token_count_exact)
			+ (SELECT count(*) FROM hippocampus.instructions WHERE NOT token_count_exact)`) == 0
	})
	require.Equal(t, 1, b.count(t, `SELECT count(*) FROM hippocampus.events WHERE NOT token_count_exact`))
	require.NoError(t, tx.Rollback(t.Context()))
	b.drain(t)
	for query, want := range map[string]int{
		`SELECT token_count FROM hippocampus.events WHERE token_count_exact`:        4, // user: one two three
		`SELECT token_count FROM hippocampus.facts WHERE token_count_exact`:         4, // favourite color: {"a": 1}
		`SELECT token_count FROM hippocampus.instructions WHERE token_count_exact`:  4,
		`SELECT token_count FROM hippocampus.memories WHERE token_count_exact`:      2,
		`SELECT token_count FROM hippocampus.memory_blocks WHERE token_count_exact`: 2,
	} {
		require.Equal(t, want, b.count(t, query), query)
	}
}

// Rows that somebody holds are passed over, however many, and those behind them are counted.
func TestCountTokensPassesOverWhatIsHeld(t *testing.T) {
	t.Parallel()
	b := setup(t, &script{}, nil)
	said := make([]string, 150)
	for i := range said {
		said[i] = fmt.Sprintf("number %d", i)
	}
	b.thread(t, said...)
	_, err := b.pool.Exec(t.Context(), "DELETE FROM hippocampus.river_job") // what held triggers would start
	require.NoError(t, err)
	tx, err := b.pool.Begin(t.Context())
	require.NoError(t, err)
	// More than a batch, and those that a scan finds first.
	_, err = tx.Exec(t.Context(), "SELECT FROM hippocampus.events e WHERE e.sequence_num <= 120 FOR UPDATE")
	require.NoError(t, err)
	b.start(t)
	b.eventually(t, "the others to be counted", func() bool {
		return b.count(t, "SELECT count(*) FROM hippocampus.events WHERE token_count_exact") == 30
	})
	require.NoError(t, tx.Rollback(t.Context()))
	b.drain(t)
	require.Zero(t, b.count(t, "SELECT count(*) FROM hippocampus.events WHERE NOT token_count_exact"))
}

func TestStart(t *testing.T) {
	t.Parallel()

	t.Run("Dimension", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &script{dimension: 3}, nil)
		err := b.Start(t.Context())
		require.ErrorIs(t, err, db.ErrDimension)
		require.ErrorContains(t, err, "the database has vectors of 64 dimensions, script/v1 makes 3")
		require.Error(t, b.Ready(t.Context()))
	})

	t.Run("Model", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &script{}, nil)
		b.start(t)
		require.NoError(t, b.Ready(t.Context()))
		other := setupOn(t, b.pool, &script{name: "other/v1"}, nil)
		err := other.Start(t.Context())
		require.ErrorIs(t, err, db.ErrEmbeddingModel)
		require.ErrorContains(t, err, "the database has vectors of script/v1, not of other/v1")
	})

	t.Run("Configuration", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &script{}, nil)
		for want, configure := range map[string]func(*worker.Config){
			"field Counter is required":                    func(c *worker.Config) { c.Counter = nil },
			"EmbedBatch must not be negative":              func(c *worker.Config) { c.EmbedBatch = -1 },
			"FetchCooldown 1s must not exceed":             func(c *worker.Config) { c.FetchCooldown = time.Second },
			"field Models is required":                     func(c *worker.Config) { c.Models = &model.Models{} },
			"RescueAfter 1s must exceed the longest time ": func(c *worker.Config) { c.RescueAfter = time.Second },
		} {
			config := &worker.Config{Counter: words{}, Models: b.script.models()}
			configure(config)
			_, err := worker.New(b.pool, config)
			require.ErrorContains(t, err, want)
		}
	})
}

func TestCron(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	s, err := worker.Cron("30 2 * * *", berlin)
	require.NoError(t, err)
	summer := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	require.True(t, s.Next(summer).Equal(time.Date(2026, 7, 2, 0, 30, 0, 0, time.UTC)))
	// The hour that the clocks skip: the next time there is one.
	spring := time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)
	require.True(t, s.Next(spring).Before(spring.Add(72*time.Hour)))
	never, err := worker.Cron("never", nil)
	require.NoError(t, err)
	require.True(t, never.Next(summer).After(summer.AddDate(1000, 0, 0)))
	_, err = worker.Cron("every day", nil)
	require.ErrorContains(t, err, `read the schedule "every day"`)
}
