package worker_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/pgvector/pgvector-go"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/worker"
)

func TestRebuildAnchorsJob(t *testing.T) {
	t.Parallel()
	b := setup(t, &script{}, nil)
	for _, user := range []string{"ada", "bob"} {
		_, err := b.pool.Exec(t.Context(), `SELECT hippocampus.put_document($1, 'app', 'probes.md',
			'[{"content": "restarts a container", "start_line": 1, "heading": "Liveness probe"}]')`, user)
		require.NoError(t, err)
	}
	b.start(t)
	b.drain(t)
	rebuild := func() {
		inserted, err := b.Client().Insert(t.Context(), worker.AnchorArgs{}, nil)
		require.NoError(t, err)
		b.eventually(t, "the rebuild", func() bool {
			return b.count(t, `SELECT count(*) FROM hippocampus.river_job WHERE id = $1 AND state = 'completed'`, inserted.Job.ID) == 1
		})
	}
	rebuild()
	require.Equal(t, 2, b.count(t, `SELECT count(*) FROM hippocampus.anchor_indexes WHERE serving = 1 AND building IS NULL`))
	require.Equal(t, 2, b.count(t, `SELECT count(*) FROM hippocampus.anchors a JOIN hippocampus.embeddings e
		ON e.row_id = a.id AND e.source = 'anchor' WHERE a.term = 'Liveness probe' AND a.since = 1 AND a.until = 1`))

	_, err := b.pool.Exec(t.Context(), `SELECT hippocampus.delete_document('bob', 'app', 'probes.md')`)
	require.NoError(t, err)
	rebuild()
	require.Equal(t, 1, b.count(t, `SELECT count(*) FROM hippocampus.anchors WHERE until = 2 AND user_id = 'ada'`))
	require.Zero(t, b.count(t, `SELECT count(*) FROM hippocampus.anchors WHERE user_id = 'bob'`))
}

// Many anchors have a vector index of their own, built after the rebuild that made them many.
func TestRebuildAnchorsIndexesMany(t *testing.T) {
	t.Parallel()
	b := setup(t, &script{}, nil)
	for _, query := range []string{
		`SELECT hippocampus.put_setting('*', 'exact_search_rows', '8')`, `SELECT hippocampus.put_setting('*', 'anchors/script/v1', '{"theta": 0}')`,
		`SELECT hippocampus.put_document('ada', 'app', n || '.md', jsonb_build_array(jsonb_build_object('content', 'restarts it', 'start_line', 1,
			'heading', 'Probe of ' || chr(64 + n) || chr(64 + n)))) FROM generate_series(1, 5) n`,
	} {
		_, err := b.pool.Exec(t.Context(), query)
		require.NoError(t, err, query)
	}
	b.start(t)
	b.drain(t)
	_, err := b.Client().Insert(t.Context(), worker.AnchorArgs{}, nil)
	require.NoError(t, err)
	b.eventually(t, "the index", func() bool {
		return b.count(t, `SELECT count(*) FROM hippocampus.vector_indexes WHERE source = 'anchor' AND status = 'ready'`) == 1
	})
	anchors := b.count(t, `SELECT count(*) FROM hippocampus.anchors`)
	require.Positive(t, anchors)
	require.Equal(t, anchors, b.count(t, `SELECT count(*) FROM hippocampus.anchors a, hippocampus._vector_hits('ada', 'app', 'anchor',
		$1, 100) h WHERE h.row_id = a.id`, pgvector.NewVector(vectors([]string{"Probe of AA"})[0])))
	require.Equal(t, 5, b.count(t, `SELECT count(*) FROM hippocampus.lookup_anchors('ada', 'app', 'how about it', $1, p_semantic_theta => 0)`,
		pgvector.NewVector(vectors([]string{"Probe of AA"})[0])))

	// What is stored from now on is listed by way of the index.
	_, err = b.pool.Exec(t.Context(), `SELECT hippocampus.put_document('ada', 'app', 'new.md', '[{"content": "a new one", "start_line": 1}]')`)
	require.NoError(t, err)
	b.drain(t)
	require.Positive(t, b.count(t, `SELECT count(*) FROM hippocampus.anchor_chunks WHERE tier = 'episodic'`))
}

func TestRebuildAnchors(t *testing.T) {
	t.Parallel()
	const store = `SELECT hippocampus.put_document('ada', 'app', 'probes.md',
		'[{"content": "restarts a container", "start_line": 1, "heading": "Liveness probe"}]')`

	t.Run("OneWorksAndOneLeaves", func(t *testing.T) {
		t.Parallel()
		arrived, held := make(chan struct{}), make(chan struct{})
		b := setup(t, &script{embed: func(_ context.Context, texts []string) ([][]float32, error) {
			if slices.Contains(texts, "Liveness probe") {
				arrived <- struct{}{}
				<-held
			}
			return vectors(texts), nil
		}}, nil)
		_, err := b.pool.Exec(t.Context(), store)
		require.NoError(t, err)
		first := make(chan error)
		go func() {
			_, err := b.RebuildAnchors(t.Context(), b.scope)
			first <- err
		}()
		<-arrived
		_, err = b.RebuildAnchors(t.Context(), b.scope)
		require.ErrorIs(t, err, worker.ErrAnchorsBusy)
		close(held)
		require.NoError(t, <-first)
		require.Equal(t, 1, b.count(t, `SELECT serving FROM hippocampus.anchor_indexes`))
		again, err := b.RebuildAnchors(t.Context(), b.scope)
		require.NoError(t, err)
		require.Zero(t, again.Embedded)
	})

	// An embedder that does not manage as many in the time of a call is given fewer, as by an embedding job.
	t.Run("SlowEmbedder", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &script{embed: func(ctx context.Context, texts []string) ([][]float32, error) {
			if len(texts) > 3 {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return vectors(texts), nil
		}}, func(c *worker.Config) { c.EmbedTimeout = time.Second })
		_, err := b.pool.Exec(t.Context(), `SELECT hippocampus.put_document('ada', 'app', n || '.md', jsonb_build_array(jsonb_build_object('content', 'restarts it',
			'start_line', 1, 'heading', 'Probe of ' || chr(64 + n) || chr(64 + n)))) FROM generate_series(1, 10) n`)
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		made, err := b.RebuildAnchors(ctx, b.scope)
		require.NoError(t, err)
		require.GreaterOrEqual(t, made.Embedded, 10)
		require.Equal(t, made.Embedded, b.count(t, `SELECT count(*) FROM hippocampus.embeddings WHERE source = 'anchor'`))
	})

	// While an embedder is waited for, nobody takes the rebuild for dead; and one that was taken for dead waits no longer.
	t.Run("IsHeldWhileItWaits", func(t *testing.T) {
		t.Parallel()
		arrived := make(chan struct{}, 1)
		b := setup(t, &script{embed: func(ctx context.Context, _ []string) ([][]float32, error) {
			arrived <- struct{}{}
			<-ctx.Done()
			return nil, ctx.Err()
		}}, func(c *worker.Config) { c.EmbedTimeout = time.Hour })
		_, err := b.pool.Exec(t.Context(), store)
		require.NoError(t, err)
		rebuilt := make(chan error)
		go func() {
			_, err := b.RebuildAnchors(t.Context(), b.scope)
			rebuilt <- err
		}()
		receive(t, "the embedder", arrived)
		var until time.Time
		require.NoError(t, b.pool.QueryRow(t.Context(), `SELECT lease_until FROM hippocampus.anchor_indexes`).Scan(&until))
		b.eventually(t, "the lease to be renewed", func() bool {
			return b.count(t, `SELECT count(*) FROM hippocampus.anchor_indexes WHERE lease_until > $1`, until) == 1
		})
		_, err = b.pool.Exec(t.Context(), `UPDATE hippocampus.anchor_indexes SET lease_token = gen_random_uuid()`)
		require.NoError(t, err)
		require.ErrorIs(t, receive(t, "the end of the rebuild", rebuilt), db.ErrVersionConflict)
	})

	t.Run("ListsByItsOwnModel", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &script{name: "script/next"}, nil)
		for _, query := range []string{
			`UPDATE hippocampus.embedding_models SET model = 'script/v1' WHERE status = 'serving'`, `SELECT hippocampus.start_reembedding('script/next', 64)`,
			`UPDATE hippocampus.embedding_models SET queued_at = now() WHERE model = 'script/next'`, store,
		} {
			_, err := b.pool.Exec(t.Context(), query)
			require.NoError(t, err, query)
		}
		var chunk uuid.UUID
		require.NoError(t, b.pool.QueryRow(t.Context(), `SELECT id FROM hippocampus.chunks`).Scan(&chunk))
		_, err := b.pool.Exec(t.Context(), `SELECT hippocampus.put_embedding('ada', 'app', 'chunk', $1, $2, 'script/next')`,
			chunk, pgvector.NewVector(vectors([]string{"Liveness probe"})[0]))
		require.NoError(t, err)
		made, err := b.RebuildAnchors(t.Context(), b.scope)
		require.NoError(t, err)
		require.Positive(t, made.Embedded)
		require.Equal(t, 1, b.count(t, `SELECT count(*) FROM hippocampus.anchor_chunks WHERE chunk_id = $1`, chunk))
		again, err := b.RebuildAnchors(t.Context(), b.scope)
		require.NoError(t, err)
		require.Zero(t, again.Embedded)
	})

	// An anchor that a rebuild by the model that serves makes while another generation is being filled gets both vectors,
	// and is waited for, as a memory is.
	t.Run("MeanwhileAnotherGenerationIsFilled", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &script{}, often)
		b.remember(t, "one")
		b.start(t)
		b.drain(t)
		next := shorter()
		generation := begin(t, b.pool, next)
		b.queueAll(t, generation)
		_, err := b.pool.Exec(t.Context(), store)
		require.NoError(t, err)
		made, err := b.RebuildAnchors(t.Context(), b.scope)
		require.NoError(t, err)
		require.Positive(t, made.Embedded)
		const waiting = `SELECT count(*) FROM hippocampus.embedding_queue WHERE source = 'anchor' AND generation = $1`
		require.Equal(t, made.Embedded, b.count(t, waiting, generation))
		require.Zero(t, b.count(t, waiting, 1), "the rebuild itself has embedded them")
		_, err = b.pool.Exec(t.Context(), `DELETE FROM hippocampus.embedding_queue WHERE source <> 'anchor'`)
		require.NoError(t, err)
		require.ErrorContains(t, b.switches(t, generation, time.Hour), fmt.Sprintf("%d rows have no vector of generation %d", made.Embedded, generation))
		other := setupOn(t, b.pool, next, embedding)
		other.start(t)
		b.eventually(t, "the vectors of the anchors", func() bool {
			return b.count(t, `SELECT count(*) FROM hippocampus.embeddings WHERE source = 'anchor' AND generation = $1`, generation) == made.Embedded
		})
	})
}
