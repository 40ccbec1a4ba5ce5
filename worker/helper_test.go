package worker_test

import (
	"context"
	"encoding/json"
	"hash/fnv"
	"log/slog"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/model"
	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
	"github.com/hippocampus-memory/hippocampus/worker"
)

// patience bounds every wait; no test waits for it to pass.
const patience = 2 * time.Minute

// words counts words.
type words struct{}

func (words) Count(text string) int { return len(strings.Fields(text)) }

// script is a set of models that answer as told. What is nil gets a plain answer.
type script struct {
	embed     func(ctx context.Context, texts []string) ([][]float32, error)
	reflect   func(ctx context.Context, c *model.Conversation) (*model.Reflection, error)
	summarize func(ctx context.Context, c *model.Conversation) (*model.Summary, error)
	name      string
	dimension int

	mu         sync.Mutex
	embedded   [][]string
	reflected  []*model.Conversation
	summarized []*model.Conversation
}

func (s *script) models() *model.Models {
	return &model.Models{Embedder: s, Reflector: s, Summarizer: s}
}

func (s *script) Dimension() int {
	if s.dimension != 0 {
		return s.dimension
	}
	return dbtest.DefaultDimension
}

func (s *script) Name() string {
	if s.name != "" {
		return s.name
	}
	return "script/v1"
}

func (s *script) Embed(ctx context.Context, texts []string, _ model.Task) ([][]float32, error) {
	s.mu.Lock()
	s.embedded = append(s.embedded, texts)
	s.mu.Unlock()
	if s.embed != nil {
		return s.embed(ctx, texts)
	}
	return vectors(texts), nil
}

func (s *script) Reflect(ctx context.Context, c *model.Conversation) (*model.Reflection, error) {
	s.mu.Lock()
	s.reflected = append(s.reflected, c)
	s.mu.Unlock()
	if s.reflect != nil {
		return s.reflect(ctx, c)
	}
	return reflection(c), nil
}

func (s *script) Summarize(ctx context.Context, c *model.Conversation) (*model.Summary, error) {
	s.mu.Lock()
	s.summarized = append(s.summarized, c)
	s.mu.Unlock()
	if s.summarize != nil {
		return s.summarize(ctx, c)
	}
	return summary(c), nil
}

// calls is how often a language model was asked.
func (s *script) calls() (reflections, summaries int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.reflected), len(s.summarized)
}

func summary(c *model.Conversation) *model.Summary {
	return &model.Summary{
		Content: "Summary of " + c.Turns[0].Text + " to " + c.Turns[len(c.Turns)-1].Text, Model: "script/chat",
		Usage: model.Usage{InputTokens: 10, OutputTokens: 2},
	}
}

// reflection has a fact for each turn that says "key=value", and one insight.
func reflection(c *model.Conversation) *model.Reflection {
	r := &model.Reflection{Model: "script/chat", Usage: model.Usage{InputTokens: 20, OutputTokens: 3}}
	for _, turn := range c.Turns {
		if key, value, ok := strings.Cut(turn.Text, "="); ok {
			text, _ := json.Marshal(value)
			r.Facts = append(r.Facts, model.Fact{
				Confidence: 0.9, Intensity: 0.5, Key: key, Sequences: []int64{turn.Sequence}, Type: model.FactPreference, Value: text,
			})
		}
	}
	r.Insights = []model.Insight{{
		Content: "Insight on " + c.Turns[0].Text, Importance: model.ImportanceHigh, Sequences: []int64{c.Turns[0].Sequence},
	}}
	return r
}

// vectors are of unit length, the same for the same text.
func vectors(texts []string) [][]float32 {
	all := make([][]float32, len(texts))
	for i, text := range texts {
		h := fnv.New64a()
		_, _ = h.Write([]byte(text))
		x := h.Sum64()
		v := make([]float32, dbtest.DefaultDimension)
		norm := 0.0
		for j := range v {
			x = x*6364136223846793005 + 1442695040888963407
			f := float64(int32(x>>32)) / math.MaxInt32
			v[j] = float32(f)
			norm += f * f
		}
		for j := range v {
			v[j] /= float32(math.Sqrt(norm))
		}
		all[i] = v
	}
	return all
}

// bundle is a database, and a worker on it that is not started.
type bundle struct {
	*worker.Worker
	pool   *pgxpool.Pool // a superuser's
	script *script
	scope  db.Scope
}

// setup makes a worker, whose login has the worker's role only, on a database of the test's own.
func setup(t *testing.T, s *script, configure func(*worker.Config)) *bundle {
	t.Helper()
	return setupOn(t, dbtest.DB(t), s, configure)
}

func setupOn(t *testing.T, pool *pgxpool.Pool, s *script, configure func(*worker.Config)) *bundle {
	t.Helper()
	config := &worker.Config{
		Counter: words{}, Logger: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug})),
		Models: s.models(), StopTimeout: 5 * time.Second, SweepInterval: 50 * time.Millisecond,
	}
	if configure != nil {
		configure(config)
	}
	w, err := worker.New(dbtest.As(t, pool, "hippocampus_worker", nil), config)
	require.NoError(t, err)
	return &bundle{Worker: w, pool: pool, scope: db.Scope{AppName: "app", UserID: "ada"}, script: s}
}

// start starts the worker and stops it when the test ends.
func (b *bundle) start(t *testing.T) {
	t.Helper()
	require.NoError(t, b.Start(t.Context()))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
		defer cancel()
		require.NoError(t, b.Stop(ctx))
	})
}

// thread makes a thread with events, each said by user and agent in turn.
func (b *bundle) thread(t *testing.T, texts ...string) uuid.UUID {
	t.Helper()
	id, err := db.New().ThreadCreate(t.Context(), b.pool, &db.ThreadCreateParams{
		AppName: b.scope.AppName, State: json.RawMessage(`{}`), UserID: b.scope.UserID,
	})
	require.NoError(t, err)
	b.append(t, b.pool, id, texts...)
	return id
}

func (b *bundle) append(t *testing.T, on db.DBTX, thread uuid.UUID, texts ...string) {
	t.Helper()
	for i, text := range texts {
		_, err := on.Exec(t.Context(), `SELECT hippocampus.append_event($1, $2, 'message', jsonb_build_object('text', $3::text))`,
			thread, []string{"user", "agent"}[i%2], text)
		require.NoError(t, err)
	}
}

func (b *bundle) enqueue(t *testing.T, on db.DBTX, thread uuid.UUID, jobType string) uuid.UUID {
	t.Helper()
	id, err := db.New().JobEnqueueConsolidation(t.Context(), on, &db.JobEnqueueConsolidationParams{JobType: jobType, ThreadID: thread})
	require.NoError(t, err)
	return id
}

// wait waits until a job has a status, and gives its record.
func (b *bundle) wait(t *testing.T, id uuid.UUID, status string) *db.ConsolidationJob {
	t.Helper()
	var job *db.ConsolidationJob
	b.eventually(t, "job "+id.String()+" to be "+status, func() bool {
		var err error
		job, err = db.New().JobGet(t.Context(), b.pool, id)
		require.NoError(t, err)
		return job.Status == status
	})
	return job
}

// eventually waits until something holds.
func (b *bundle) eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; {
		if holds() {
			return
		}
		if time.Now().After(deadline) {
			require.FailNow(t, "waited in vain for "+what)
		}
		select {
		case <-t.Context().Done():
			require.FailNow(t, "the test ended while it waited for "+what)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// drain waits until nothing is left to do.
func (b *bundle) drain(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	require.NoError(t, b.Drain(ctx))
}

// count counts what a query gives.
func (b *bundle) count(t *testing.T, query string, args ...any) int {
	t.Helper()
	var n int
	require.NoError(t, b.pool.QueryRow(t.Context(), query, args...).Scan(&n))
	return n
}

// hasAll makes sure that a thread whose events were all consolidated, each once, is in memory so.
func (b *bundle) hasAll(t *testing.T, thread uuid.UUID, events int) {
	t.Helper()
	require.Equal(t, events, b.count(t, `SELECT least(replayed_seq, reflected_seq) FROM hippocampus.threads WHERE id = $1`, thread), "watermark")
	require.Equal(t, events, b.count(t, `SELECT count(*) FROM hippocampus.memories
		WHERE thread_id = $1 AND memory_type = 'episodic'`, thread), "episodes")
	// every event is told by one summary
	require.Equal(t, events, b.count(t, `SELECT coalesce(sum(to_seq - from_seq + 1), 0) FROM hippocampus.memories
		WHERE thread_id = $1 AND memory_type = 'summary'`, thread), "events in summaries")
	require.Zero(t, b.count(t, `SELECT count(*) FROM hippocampus.memories WHERE encounter_count > 1 AND memory_type <> 'semantic'`), "doubled memories")
	require.Zero(t, b.count(t, `SELECT count(*) FROM (SELECT FROM hippocampus.memory_sources WHERE thread_id = $1
		GROUP BY memory_id, fact_id, from_seq, to_seq HAVING count(*) > 1) d`, thread), "doubled sources")
}

// job is River's job of a record.
func (b *bundle) job(t *testing.T, id uuid.UUID) int64 {
	t.Helper()
	record, err := db.New().JobGet(t.Context(), b.pool, id)
	require.NoError(t, err)
	require.NotNil(t, record.RiverJobID)
	return *record.RiverJobID
}

// events subscribes to what River reports of jobs.
func (b *bundle) events(t *testing.T, kinds ...river.EventKind) <-chan *river.Event {
	t.Helper()
	ch, cancel := b.Client().Subscribe(kinds...)
	t.Cleanup(cancel)
	return ch
}

func result(t *testing.T, job *db.ConsolidationJob) *worker.Result {
	t.Helper()
	r := &worker.Result{}
	require.NoError(t, json.Unmarshal(job.Result, r))
	return r
}
