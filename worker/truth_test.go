package worker_test

import (
	"context"
	"encoding/json"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/model"
	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
	"github.com/hippocampus-memory/hippocampus/worker"
)

// judge is a classifier that says what it was told of a new fact, and remembers what it was asked.
type judge struct {
	relations map[string]model.Relation

	mu    sync.Mutex
	asked []model.ClassifyInput
}

func (j *judge) Classify(_ context.Context, in *model.ClassifyInput) (*model.Classification, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.asked = append(j.asked, *in)
	return &model.Classification{Model: "judge", Reason: "it says so", Relation: j.relations[in.New]}, nil
}

// A conversation, a worker, a model that draws facts with their intensity, vectors that put facts about Redux
// 0.85 apart, and a classifier for the band between: the whole way of a fact.
func TestFactsThroughThePipeline(t *testing.T) {
	t.Parallel()
	const said = "I NEVER want to use Redux again, it was a nightmare. Oh and I tried that new café on Sukhumvit."
	drawn := func(key, value string, intensity float64) model.Fact {
		raw, err := json.Marshal(value)
		require.NoError(t, err)
		return model.Fact{Confidence: 0.9, Intensity: intensity, Key: key, Type: model.FactPreference, Value: raw}
	}
	s := &script{
		reflect: func(_ context.Context, c *model.Conversation) (*model.Reflection, error) {
			facts := map[string][]model.Fact{
				said:                         {drawn("about_redux", "strongly dislikes Redux", 0.85), drawn("cafe", "tried a café on Sukhumvit", 0.15)},
				"Redux? No.":                 {drawn("redux", "avoids Redux", 0.81)},
				"We use Redux at work.":      {drawn("redux_at_work", "uses Redux at work", 0.3)},
				"Redux Toolkit won me over.": {drawn("redux_now", "likes Redux", 0.7)},
			}
			return &model.Reflection{Facts: facts[c.Turns[len(c.Turns)-1].Text], Model: "script"}, nil
		},
		embed: func(_ context.Context, texts []string) ([][]float32, error) {
			vectors := make([][]float32, len(texts))
			for i, text := range texts {
				vectors[i] = make([]float32, dbtest.DefaultDimension)
				switch {
				case !strings.Contains(text, "Redux"):
					vectors[i][2] = 1
				case strings.Contains(text, "strongly"):
					vectors[i][0] = 1
				default: // each in a direction of its own: 0.72 from one to the other
					place := map[bool]int{strings.Contains(text, "work"): 3, strings.Contains(text, "likes"): 4}[true]
					vectors[i][0], vectors[i][max(1, place)] = 0.85, float32(math.Sqrt(1-0.85*0.85))
				}
			}
			return vectors, nil
		},
	}
	j := &judge{relations: map[string]model.Relation{
		"redux: avoids Redux": model.RelationDuplicate, "redux at work: uses Redux at work": model.RelationDistinct,
		"redux now: likes Redux": model.RelationSupersedes,
	}}
	b := setup(t, s, func(c *worker.Config) { c.Models.Classifier = j })
	b.start(t)
	thread := b.thread(t)
	tell := func(text string) {
		b.append(t, b.pool, thread, text)
		b.wait(t, b.enqueue(t, b.pool, thread, worker.DeepReflection), "completed")
	}
	texts := func(where string) (all []string) {
		rows, err := b.pool.Query(t.Context(), `SELECT f.value #>> '{}' || ' ' || round(f.running_intensity::numeric, 2) || ' ' || f.encounter_count
			FROM hippocampus.facts f WHERE `+where+` ORDER BY 1`)
		require.NoError(t, err)
		for rows.Next() {
			var text string
			require.NoError(t, rows.Scan(&text))
			all = append(all, text)
		}
		require.NoError(t, rows.Err())
		return all
	}

	tell(said)
	require.Empty(t, j.asked) // nothing was near: no second call
	require.Equal(t, []string{"strongly dislikes Redux 0.85 1", "tried a café on Sukhumvit 0.15 1"}, texts("f.valid_until IS NULL"))

	tell("Redux? No.")
	require.Equal(t, []model.ClassifyInput{{New: "redux: avoids Redux", Old: "about redux: strongly dislikes Redux"}}, j.asked)
	require.Equal(t, []string{"strongly dislikes Redux 0.83 2", "tried a café on Sukhumvit 0.15 1"}, texts("f.valid_until IS NULL"))

	tell("We use Redux at work.")
	require.Equal(t, []string{"strongly dislikes Redux 0.83 2", "tried a café on Sukhumvit 0.15 1", "uses Redux at work 0.30 1"}, texts("f.valid_until IS NULL"))

	j.relations["redux now: likes Redux"] = model.RelationSupersedes
	tell("Redux Toolkit won me over.")
	require.Contains(t, texts("f.valid_until IS NULL"), "likes Redux 0.70 1")
	require.Contains(t, texts("f.valid_until IS NOT NULL AND f.closed_by = 'judge' AND f.closed_reason = 'it says so' AND f.superseded_by IS NOT NULL"),
		"strongly dislikes Redux 0.83 2")
	require.Contains(t, texts("f.valid_until IS NULL"), "tried a café on Sukhumvit 0.15 1")
	// Each knows which events told it.
	require.Zero(t, b.count(t, `SELECT count(*) FROM hippocampus.facts f WHERE NOT EXISTS (
		SELECT FROM hippocampus.memory_sources s WHERE s.fact_id = f.id AND s.thread_id = $1)`, thread))
}

// What is forgotten while the model thinks about it does not come back when the job ends.
func TestForgottenWhileTheModelThinks(t *testing.T) {
	t.Parallel()
	thinking := func(t *testing.T) (b *bundle, entered, leave chan struct{}) {
		t.Helper()
		entered, leave = make(chan struct{}, 10), make(chan struct{})
		b = setup(t, &script{reflect: func(ctx context.Context, c *model.Conversation) (*model.Reflection, error) {
			entered <- struct{}{}
			select {
			case <-leave:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			return reflection(c), nil
		}}, nil)
		b.start(t)
		return b, entered, leave
	}

	t.Run("SomeOfIt", func(t *testing.T) {
		t.Parallel()
		b, entered, leave := thinking(t)
		thread := b.thread(t, "color=red", "city=Paris")
		id := b.enqueue(t, b.pool, thread, worker.FullConsolidation)
		<-entered
		_, err := b.pool.Exec(t.Context(), `SELECT hippocampus.forget('ada', 'app', ARRAY(SELECT e.id FROM hippocampus.events e WHERE e.text = 'color=red'))`)
		require.NoError(t, err)
		close(leave)
		b.wait(t, id, "completed")
		require.Equal(t, 1, b.count(t, `SELECT count(*) FROM hippocampus.facts WHERE key = 'city'`))
		require.Zero(t, b.count(t, `SELECT count(*) FROM hippocampus.facts WHERE key = 'color'`))
		require.Zero(t, b.count(t, `SELECT count(*) FROM hippocampus.memories WHERE content LIKE '%red%'`))
		require.Zero(t, b.count(t, `SELECT count(*) FROM hippocampus.row_terms WHERE 'red' = ANY (terms)`))
	})

	t.Run("TheUser", func(t *testing.T) {
		t.Parallel()
		b, entered, leave := thinking(t)
		thread := b.thread(t, "color=red")
		b.enqueue(t, b.pool, thread, worker.FullConsolidation)
		<-entered
		_, err := b.pool.Exec(t.Context(), `SELECT hippocampus.forget_user('ada', 'app')`)
		require.NoError(t, err)
		close(leave)
		b.eventually(t, "the job's end", func() bool {
			return b.count(t, `SELECT count(*) FROM hippocampus.river_job WHERE kind = 'consolidate' AND state IN ('available', 'running', 'retryable', 'pending', 'scheduled')`) == 0
		})
		for _, table := range []string{"threads", "events", "memories", "facts", "row_terms", "postings", "embeddings", "embedding_queue", "memory_sources", "consolidation_jobs"} {
			require.Zero(t, b.count(t, "SELECT count(*) FROM hippocampus."+table+" WHERE user_id = 'ada'"), table)
		}
	})
}
