package worker_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/pgvector/pgvector-go"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/model"
	"github.com/hippocampus-memory/hippocampus/service"
	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
	"github.com/hippocampus-memory/hippocampus/worker"
)

// shorter is a second model, whose vectors are half as long as the first one's.
func shorter() *script {
	return &script{name: "script/v2", dimension: dbtest.DefaultDimension / 2, embed: func(_ context.Context, texts []string) ([][]float32, error) {
		all := vectors(texts)
		for i, v := range all {
			all[i] = v[:dbtest.DefaultDimension/2]
			all[i][0] += 0.001 // so that none is without direction
		}
		return all, nil
	}}
}

// vector is that of a text, as the model makes it.
func (s *script) vector(text string) []float32 {
	embed := s.embed
	if embed == nil {
		embed = func(_ context.Context, texts []string) ([][]float32, error) { return vectors(texts), nil }
	}
	all, _ := embed(context.Background(), []string{text}) // which does not fail
	return all[0]
}

// often is how the tests' workers look for generations.
func often(c *worker.Config) {
	c.EmbedBatch, c.SweepInterval = 7, 20*time.Millisecond
}

// embedding is a configuration of a worker that fills a generation beside those that serve.
func embedding(c *worker.Config) {
	often(c)
	c.EmbedOnly = true
}

// holding makes a model tell of each call that arrives, and answer none before it is let go.
func (s *script) holding() (arrived <-chan struct{}, letGo func()) {
	embed, arriving, held := s.embed, make(chan struct{}, 100), make(chan struct{})
	s.embed = func(ctx context.Context, texts []string) ([][]float32, error) {
		arriving <- struct{}{}
		select {
		case <-held:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		return embed(ctx, texts)
	}
	return arriving, func() { close(held) }
}

// dropGeneration drops a generation, all of it.
func dropGeneration(t *testing.T, pool *pgxpool.Pool, generation int32) {
	t.Helper()
	for looked := int32(1); looked > 0; {
		var err error
		looked, err = db.New().EmbeddingGenerationDrop(t.Context(), pool, generation)
		require.NoError(t, err)
	}
}

// A row that was being written while a generation was dropped is queued for it all the same.
func TestDroppedWhileARowIsWritten(t *testing.T) {
	t.Parallel()
	b := setup(t, &script{}, often)
	b.start(t)
	generation := begin(t, b.pool, shorter())
	tx, err := b.pool.Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
	_, err = tx.Exec(t.Context(), `SELECT hippocampus.remember('ada', 'notes', 'Ada lives in Porto')`)
	require.NoError(t, err)
	dropGeneration(t, b.pool, generation)
	require.NoError(t, tx.Commit(t.Context()))
	b.eventually(t, "the queue to be empty", func() bool {
		return b.count(t, `SELECT count(*) FROM hippocampus.embedding_queue`) == 0
	})
	require.Equal(t, 1, b.count(t, `SELECT count(*) FROM hippocampus.embeddings`))
}

func begin(t *testing.T, pool *pgxpool.Pool, s *script) int32 {
	t.Helper()
	g, err := db.New().EmbeddingGenerationStart(t.Context(), pool, &db.EmbeddingGenerationStartParams{
		Dimension: int32(s.Dimension()), Model: s.Name(),
	})
	require.NoError(t, err)
	return g.Generation
}

// whole waits until a generation has a vector for each row.
func (b *bundle) whole(t *testing.T, generation int32) {
	t.Helper()
	b.eventually(t, "all vectors of the generation", func() bool {
		return b.count(t, `SELECT count(*) FROM hippocampus.list_embedding_generations() g
			WHERE g.generation = $1 AND g.queued_at IS NOT NULL AND g.waiting = 0 AND g.vectors = g.total`, generation) == 1
	})
}

// queueAll queues what is left to be queued for a generation that no worker takes part in.
func (b *bundle) queueAll(t *testing.T, generation int32) {
	t.Helper()
	b.eventually(t, "every row of before to be queued", func() bool {
		b.count(t, `SELECT hippocampus.queue_reembedding($1)`, generation)
		return b.count(t, `SELECT count(*) FROM hippocampus.embedding_models WHERE generation = $1 AND queued_at IS NOT NULL`, generation) == 1
	})
}

// switches tries to let a generation serve, some time from now, and takes it back.
func (b *bundle) switches(t *testing.T, generation int32, later time.Duration) error {
	t.Helper()
	tx, err := b.pool.Begin(t.Context())
	require.NoError(t, err)
	defer tx.Rollback(t.Context())
	_, err = tx.Exec(t.Context(), `SELECT hippocampus.switch_embedding_generation($1, p_now => now() + make_interval(secs => $2))`,
		generation, later.Seconds())
	return db.Wrap(err)
}

func switchTo(t *testing.T, pool *pgxpool.Pool, generation int32) {
	t.Helper()
	_, err := db.New().EmbeddingGenerationSwitch(t.Context(), pool, &db.EmbeddingGenerationSwitchParams{Generation: generation})
	require.NoError(t, err)
}

func TestReembed(t *testing.T) {
	t.Parallel()

	t.Run("EqualResultsWithTheSameModel", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &script{}, often)
		for i := range 50 {
			b.remember(t, fmt.Sprintf("memory %d of colour %d", i, i%7))
		}
		b.start(t)
		b.drain(t)
		s, err := service.New(b.pool, &service.Config{Embedder: b.script})
		require.NoError(t, err)
		look := func() (found []string) {
			for i := range 7 {
				response, err := s.SearchMemory(t.Context(), b.scope, fmt.Sprintf("colour %d", i), &service.SearchOptions{SkipAccess: true})
				require.NoError(t, err)
				for _, m := range response.Memories {
					found = append(found, fmt.Sprintf("%s %.6f", m.MemoryID, m.VectorScore))
				}
			}
			return found
		}
		before := look()
		require.Len(t, before, 70)
		next := begin(t, b.pool, b.script) // the worker that runs joins in
		b.whole(t, next)
		require.Equal(t, before, look())
		switchTo(t, b.pool, next)
		require.Equal(t, before, look())
		_, err = db.New().EmbeddingGenerationDrop(t.Context(), b.pool, 1)
		require.NoError(t, err)
		require.Equal(t, before, look())
	})

	t.Run("KilledHalfWay", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &script{}, often)
		for i := range 60 {
			b.remember(t, fmt.Sprintf("memory %d", i))
		}
		b.start(t)
		b.drain(t)
		var batches atomic.Int64
		dying := shorter()
		embed := dying.embed
		dying.embed = func(ctx context.Context, texts []string) ([][]float32, error) {
			if batches.Add(1) > 3 { // holds its rows, and never comes back
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return embed(ctx, texts)
		}
		next := begin(t, b.pool, dying)
		first := setupOn(t, b.pool, dying, func(c *worker.Config) {
			often(c)
			c.EmbedOnly, c.StopTimeout = true, time.Millisecond
		})
		first.start(t)
		b.eventually(t, "the fourth batch", func() bool { return batches.Load() > 3 })
		require.NoError(t, first.Stop(t.Context()))
		require.Zero(t, b.count(t, `SELECT count(*) FROM hippocampus.embedding_queue WHERE error IS NOT NULL OR run_after > now()`)) // given back
		err := b.switches(t, next, 0)
		require.ErrorIs(t, err, db.ErrInvalidArgument)
		require.ErrorContains(t, err, "its rows are still being queued")
		done := b.count(t, `SELECT count(*) FROM hippocampus.embeddings WHERE generation = $1`, next)
		require.Less(t, done, 60)
		b.queueAll(t, next)
		err = b.switches(t, next, 0)
		require.ErrorIs(t, err, db.ErrInvalidArgument)
		require.ErrorContains(t, err, fmt.Sprintf("%d rows have no vector of generation 2", 60-done))

		second := shorter()
		require.Equal(t, next, begin(t, b.pool, second)) // the same one, which goes on
		other := setupOn(t, b.pool, second, embedding)
		other.start(t)
		b.whole(t, next)
		switchTo(t, b.pool, next)
		embedded := 0
		for _, texts := range second.embedded {
			embedded += len(texts)
		}
		require.Equal(t, 60-done, embedded) // and none again
	})

	// That all rows were queued says nothing of their vectors.
	t.Run("RefusesWhatLacksVectors", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &script{}, often)
		b.remember(t, "one", "two", "three")
		b.start(t)
		b.drain(t)
		require.NoError(t, b.Stop(t.Context()))
		next := shorter()
		generation := begin(t, b.pool, next)
		b.queueAll(t, generation)
		require.ErrorContains(t, b.switches(t, generation, 0), "3 rows have no vector of generation 2")
		_, err := service.New(b.pool, &service.Config{Embedder: next})
		require.ErrorContains(t, err, "still being made")
		other := setupOn(t, b.pool, next, embedding)
		other.start(t)
		b.whole(t, generation)
		require.NoError(t, other.Stop(t.Context()))
		require.NoError(t, b.switches(t, generation, 0))
		fresh, err := service.New(b.pool, &service.Config{Embedder: next})
		require.NoError(t, err)

		// What was written since does not keep it from serving, but for what waits long, or is found by its vector now.
		b.remember(t, "four")
		require.NoError(t, b.switches(t, generation, 30*time.Second))
		require.ErrorContains(t, b.switches(t, generation, 2*time.Minute), "1 rows have no vector of generation 2")
		_, err = b.pool.Exec(t.Context(), `SELECT hippocampus.remember('ada', 'app', 'five', p_embedding => $1, p_embedding_model => 'script/v1')`,
			pgvector.NewVector(b.script.vector("five")))
		require.NoError(t, err)
		require.NoError(t, b.switches(t, generation, 5*time.Second))
		require.ErrorContains(t, b.switches(t, generation, 30*time.Second), "1 rows have no vector of generation 2")
		found, err := fresh.SearchMemory(t.Context(), b.scope, "", &service.SearchOptions{QueryEmbedding: next.vector("two"), Limit: 1})
		require.NoError(t, err)
		require.Equal(t, "two", found.Memories[0].Content)
	})

	t.Run("ReadsAndWritesMeanwhile", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &script{}, often)
		for i := range 30 {
			b.remember(t, fmt.Sprintf("old memory %d", i))
		}
		b.start(t)
		b.drain(t)
		next := shorter()
		old, err := service.New(b.pool, &service.Config{Embedder: b.script, RequireEmbedding: true})
		require.NoError(t, err)
		_, err = service.New(b.pool, &service.Config{Embedder: next})
		require.ErrorIs(t, err, db.ErrDimension)

		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		var (
			clients  sync.WaitGroup
			searches atomic.Int64
			failures = make(chan error, 100)
		)
		read := func(s *service.OpenMemoryService, e *script) {
			for ctx.Err() == nil {
				// by meaning alone: words would find it in a generation without vectors
				text := fmt.Sprintf("old memory %d", searches.Load()%30)
				found, err := s.SearchMemory(ctx, b.scope, "", &service.SearchOptions{QueryEmbedding: e.vector(text), Limit: 5, SkipAccess: true})
				if ctx.Err() != nil {
					return
				}
				if err == nil && (len(found.Memories) != 5 || found.Memories[0].Content != text || found.Memories[0].VectorScore < 0.99) {
					err = fmt.Errorf("asked for %q, found %v", text, found.Memories)
				}
				if err != nil {
					failures <- err
					return
				}
				searches.Add(1)
			}
		}
		clients.Go(func() { read(old, b.script) })
		clients.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				_, err := old.Remember(ctx, b.scope, fmt.Sprintf("new memory %d", i), nil)
				if err != nil && ctx.Err() == nil {
					failures <- err
					return
				}
				time.Sleep(5 * time.Millisecond)
			}
		})
		generation := begin(t, b.pool, next)
		other := setupOn(t, b.pool, next, embedding)
		other.start(t)
		moves := func(generation int32) { // and a while of reads and writes
			b.eventually(t, "a switch that is not refused", func() bool { // though there is always a row that was just written
				_, err := db.New().EmbeddingGenerationSwitch(t.Context(), b.pool, &db.EmbeddingGenerationSwitchParams{Generation: generation})
				require.True(t, err == nil || errors.Is(db.Wrap(err), db.ErrInvalidArgument), err)
				return err == nil
			})
			require.Equal(t, 30, b.count(t, `SELECT count(*) FROM hippocampus.embeddings e JOIN hippocampus.memories m ON m.id = e.row_id
				WHERE e.generation = $1 AND m.content LIKE 'old %'`, generation))
			seen := searches.Load()
			b.eventually(t, "more searches", func() bool { return searches.Load() > seen+10 || len(failures) > 0 })
		}
		moves(generation)
		fresh, err := service.New(b.pool, &service.Config{Embedder: next, RequireEmbedding: true})
		require.NoError(t, err)
		clients.Go(func() { read(fresh, next) })
		moves(1) // back
		moves(generation)
		stop()
		clients.Wait()
		close(failures)
		require.NoError(t, errors.Join(collect(failures)...))
		b.whole(t, generation)
		b.whole(t, 1) // what was written meanwhile has both

		dropGeneration(t, b.pool, 1)
		require.Zero(t, b.count(t, `SELECT count(*) FROM hippocampus.embeddings WHERE generation = 1`))
		_, err = old.SearchMemory(t.Context(), b.scope, "old memory", nil)
		require.ErrorIs(t, err, db.ErrEmbeddingModel) // it wants vectors, and of its own there are none
		lenient, err := service.New(b.pool, &service.Config{Embedder: next})
		require.NoError(t, err)
		found, err := lenient.SearchMemory(t.Context(), b.scope, "old memory", nil)
		require.NoError(t, err)
		require.False(t, found.Degraded)
	})

	// Facts are compared with vectors of the model that made theirs, whichever serves.
	t.Run("FactsOfTheModelThatServedBefore", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &script{}, func(c *worker.Config) {
			often(c)
			c.Models.Classifier = classifier(func(*model.ClassifyInput) model.Relation { return model.RelationDistinct })
		})
		b.start(t)
		b.wait(t, b.enqueue(t, b.pool, b.thread(t, "color=red"), worker.FullConsolidation), "completed")
		next := shorter()
		generation := begin(t, b.pool, next)
		second := setupOn(t, b.pool, next, embedding)
		second.start(t)
		b.whole(t, generation)
		switchTo(t, b.pool, generation)
		b.wait(t, b.enqueue(t, b.pool, b.thread(t, "shape=round"), worker.FullConsolidation), "completed")
		s, err := service.New(b.pool, &service.Config{Embedder: b.script, Reflector: b.script})
		require.NoError(t, err)
		learned, err := s.RememberFacts(t.Context(), b.scope, "size=small", nil)
		require.NoError(t, err)
		require.Equal(t, "new", learned.Facts[0].Action)
		_, err = s.RecordLesson(t.Context(), b.scope, "Use small shapes.", nil)
		require.NoError(t, err)
		require.Equal(t, 4, b.count(t, "SELECT count(*) FROM hippocampus.facts"))
	})

	t.Run("WaitsForTransactionsThatWereOpen", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &script{}, often)
		b.remember(t, "before")
		b.start(t)
		b.drain(t)
		tx, err := b.pool.Begin(t.Context())
		require.NoError(t, err)
		var late uuid.UUID
		require.NoError(t, tx.QueryRow(t.Context(), `SELECT hippocampus.remember('ada', 'app', 'late')`).Scan(&late))
		next := begin(t, b.pool, b.script)
		require.Zero(t, b.count(t, `SELECT hippocampus.queue_reembedding($1)`, next))
		require.NoError(t, tx.Commit(t.Context()))
		b.whole(t, next)
		require.Equal(t, 2, b.count(t, `SELECT count(*) FROM hippocampus.embeddings WHERE row_id = $1`, late))
	})

	t.Run("FailuresStandInTheWay", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &script{}, often)
		b.remember(t, "one", "two", "poison")
		b.start(t)
		b.drain(t)
		poisoned := shorter()
		embed := poisoned.embed
		poisoned.embed = func(ctx context.Context, texts []string) ([][]float32, error) {
			for _, text := range texts {
				if text == "poison" {
					return nil, &model.Error{Err: errors.New("no such text"), Kind: model.KindRejected, Status: 400}
				}
			}
			return embed(ctx, texts)
		}
		next := begin(t, b.pool, poisoned)
		other := setupOn(t, b.pool, poisoned, embedding)
		other.start(t)
		b.eventually(t, "the row that fails alone to be left", func() bool {
			return b.count(t, `SELECT count(*) FROM hippocampus.list_embedding_generations() g
				WHERE g.generation = $1 AND g.queued_at IS NOT NULL AND g.waiting = 1 AND g.failed = 1`, next) == 1
		})
		_, err := db.New().EmbeddingGenerationSwitch(t.Context(), b.pool, &db.EmbeddingGenerationSwitchParams{Generation: next})
		require.ErrorContains(t, err, "1 rows have no vector of generation 2")
		_, err = db.New().EmbeddingGenerationSwitch(t.Context(), b.pool, &db.EmbeddingGenerationSwitchParams{Generation: next, MaxMissing: 1})
		require.NoError(t, err)
	})
}

func collect(errs <-chan error) (all []error) {
	for err := range errs {
		all = append(all, err)
	}
	return all
}
