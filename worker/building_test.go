package worker_test

import (
	"context"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/model"
	"github.com/hippocampus-memory/hippocampus/service"
	"github.com/hippocampus-memory/hippocampus/worker"
)

// reading is a configuration with a classifier, so that facts are compared.
func reading(c *worker.Config) {
	often(c)
	c.Models.Classifier = classifier(func(*model.ClassifyInput) model.Relation { return model.RelationDistinct })
}

// A worker of a model whose vectors are still being made embeds, and leaves what compares them to others until it has
// them all.
func TestWorkerOfABuildingModel(t *testing.T) {
	t.Parallel()
	b := setup(t, &script{}, often)
	b.remember(t, "one", "two", "three")
	b.start(t)
	b.drain(t)
	require.NoError(t, b.Stop(t.Context()))
	next := shorter()
	arrived, letGo := next.holding()
	generation := begin(t, b.pool, next)
	id := b.enqueue(t, b.pool, b.thread(t, "color=red"), worker.FullConsolidation)
	other := setupOn(t, b.pool, next, reading)
	other.start(t)
	receive(t, "the embedder", arrived)
	_, err := other.RebuildAnchors(t.Context(), b.scope)
	require.ErrorIs(t, err, db.ErrEmbeddingModel)
	require.ErrorContains(t, err, "the vectors of script/v2 are still being made")
	letGo()
	b.whole(t, generation)
	job := b.wait(t, id, "completed")
	require.EqualValues(t, 1, job.Attempts)
	require.Equal(t, 1, result(t, job).Facts)
	reflections, summaries := next.calls()
	require.Equal(t, []int{1, 1}, []int{reflections, summaries})
	_, err = other.RebuildAnchors(t.Context(), b.scope)
	require.NoError(t, err)
}

// A worker that only embeds takes no other job.
func TestEmbedOnly(t *testing.T) {
	t.Parallel()
	b := setup(t, &script{}, func(c *worker.Config) { c.EmbedOnly = true })
	_, err := b.Client().Insert(t.Context(), worker.RetentionArgs{}, nil)
	require.NoError(t, err)
	b.enqueue(t, b.pool, b.thread(t, "one"), worker.FastReplay)
	_, err = b.pool.Exec(t.Context(), `SELECT hippocampus.enqueue_sleep('ada', 'app')`)
	require.NoError(t, err)
	b.remember(t, "one")
	b.start(t)
	b.eventually(t, "the vector", func() bool { return b.embeddings(t) == 1 })
	b.drain(t)
	require.Zero(t, b.count(t, `SELECT count(*) FROM hippocampus.river_job WHERE kind <> 'embed' AND attempt > 0`))
	require.Equal(t, 3, b.count(t, `SELECT count(*) FROM hippocampus.river_job WHERE kind IN ('retention', 'consolidate', 'sleep') AND state = 'available'`))
}

// Services and workers whose model's vectors were dropped go on without: whatever they do, it is stored, and embedded by
// a worker of the model that serves.
func TestOutlivedModel(t *testing.T) {
	t.Parallel()
	b := setup(t, &script{}, reading)
	b.start(t)
	b.wait(t, b.enqueue(t, b.pool, b.thread(t, "color=red"), worker.FullConsolidation), "completed")
	config := &service.Config{
		Classifier: classifier(func(*model.ClassifyInput) model.Relation { return model.RelationDistinct }), Embedder: b.script, Reflector: b.script,
	}
	old, err := service.New(b.pool, config)
	require.NoError(t, err)
	next := shorter()
	generation := begin(t, b.pool, next)
	second := setupOn(t, b.pool, next, embedding)
	second.start(t)
	b.whole(t, generation)
	switchTo(t, b.pool, generation)
	drawn, err := old.ExtractFacts(t.Context(), b.scope, "taste=sweet", nil) // with vectors, which are dropped before it is stored
	require.NoError(t, err)
	dropGeneration(t, b.pool, 1)
	job := b.wait(t, b.enqueue(t, b.pool, b.thread(t, "shape=round"), worker.FullConsolidation), "completed")
	require.EqualValues(t, 1, job.Attempts)
	require.Equal(t, 4, result(t, job).WithoutEmbedding)
	learned, err := old.RememberFacts(t.Context(), b.scope, "size=small", nil)
	require.NoError(t, err)
	require.Equal(t, "new", learned.Facts[0].Action)
	lesson, err := old.RecordLesson(t.Context(), b.scope, "Use small shapes.", nil)
	require.NoError(t, err)
	require.Equal(t, "new", lesson.Action)
	err = pgx.BeginFunc(t.Context(), b.pool, func(tx pgx.Tx) error {
		learned, err = old.RememberFactsTx(t.Context(), tx, b.scope, drawn, nil)
		return err
	})
	require.NoError(t, err)
	require.Equal(t, "new", learned.Facts[0].Action)
	require.Equal(t, 5, b.count(t, "SELECT count(*) FROM hippocampus.facts WHERE valid_until IS NULL"))
	b.whole(t, generation)
	config.RequireEmbedding = true
	old, err = service.New(b.pool, config)
	require.ErrorIs(t, err, db.ErrDimension)
	require.Nil(t, old)
}

// A worker whose model's vectors were dropped leaves the anchors to one of the model that serves, with every attempt.
func TestOutlivedModelLeavesAnchors(t *testing.T) {
	t.Parallel()
	b := setup(t, &script{}, often)
	_, err := b.pool.Exec(t.Context(), `SELECT hippocampus.put_document('ada', 'app', 'probes.md',
		'[{"content": "restarts a container", "start_line": 1, "heading": "Liveness probe"}]')`)
	require.NoError(t, err)
	b.start(t)
	b.drain(t)
	next := shorter()
	generation := begin(t, b.pool, next)
	filling := setupOn(t, b.pool, next, embedding)
	filling.start(t)
	b.whole(t, generation)
	switchTo(t, b.pool, generation)
	dropGeneration(t, b.pool, 1)
	inserted, err := b.Client().Insert(t.Context(), worker.AnchorArgs{}, nil)
	require.NoError(t, err)
	b.eventually(t, "the job to be left", func() bool {
		return b.count(t, `SELECT count(*) FROM hippocampus.river_job WHERE id = $1 AND state = 'scheduled' AND attempt = 0 AND errors IS NULL`, inserted.Job.ID) == 1
	})
	require.NoError(t, b.Stop(t.Context()))
	serving := setupOn(t, b.pool, next, often)
	serving.start(t)
	_, err = b.pool.Exec(t.Context(), `UPDATE hippocampus.river_job SET scheduled_at = now() WHERE id = $1`, inserted.Job.ID)
	require.NoError(t, err)
	b.eventually(t, "the rebuild", func() bool {
		return b.count(t, `SELECT count(*) FROM hippocampus.river_job WHERE id = $1 AND state = 'completed'`, inserted.Job.ID) == 1
	})
	require.Positive(t, b.count(t, `SELECT count(*) FROM hippocampus.anchors`))
}

// A store and the drop of its vectors at the same time: what was learned is stored without them.
func TestOutlivedBetweenThinkingAndStoring(t *testing.T) {
	t.Parallel()
	var drop sync.Once
	s := &script{}
	b := setup(t, s, reading)
	next := shorter()
	s.embed = func(_ context.Context, texts []string) ([][]float32, error) {
		if texts[0] == "user: color=red" { // a consolidation's
			drop.Do(func() {
				_, err := b.pool.Exec(context.WithoutCancel(t.Context()), `UPDATE hippocampus.embedding_models SET status = CASE generation WHEN 1 THEN 'retired' ELSE 'serving' END`)
				if err != nil {
					t.Errorf("drop the generation: %s", err)
				}
			})
		}
		return vectors(texts), nil
	}
	b.start(t)
	generation := begin(t, b.pool, next)
	second := setupOn(t, b.pool, next, embedding)
	second.start(t)
	b.whole(t, generation)
	job := b.wait(t, b.enqueue(t, b.pool, b.thread(t, "color=red"), worker.FullConsolidation), "completed")
	require.EqualValues(t, 1, job.Attempts)
	require.Equal(t, 4, result(t, job).WithoutEmbedding)
	reflections, _ := s.calls()
	require.Equal(t, 1, reflections)
}
