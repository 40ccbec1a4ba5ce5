package bench_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/assembler"
	"github.com/hippocampus-memory/hippocampus/bench"
	"github.com/hippocampus-memory/hippocampus/bench/dataset"
	"github.com/hippocampus-memory/hippocampus/bench/report"
	"github.com/hippocampus-memory/hippocampus/model/offline"
	"github.com/hippocampus-memory/hippocampus/service"
	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
	"github.com/hippocampus-memory/hippocampus/worker"
)

// talk is a conversation of two sessions, in LoCoMo's format.
const talk = `[{"sample_id":"conv-1","conversation":{
	"session_1_date_time":"1:00 pm on 1 March, 2024",
	"session_1":[
		{"speaker":"Ida","dia_id":"D1:1","text":"I keep bees behind the mill, and have done so since I was nine."},
		{"speaker":"Otto","dia_id":"D1:2","text":"My sister repairs violins in Cremona."},
		{"speaker":"Ida","dia_id":"D1:3","text":"The kettle in the kitchen leaks again."}],
	"session_2_date_time":"2:00 pm on 2 March, 2024",
	"session_2":[
		{"speaker":"Ida","dia_id":"D2:1","text":"Yesterday I bought a red canoe at the harbour market."},
		{"speaker":"Otto","dia_id":"D2:2","text":"I would rather have a bicycle with seven gears."}]},
	"qa":[
	{"question":"Where does Ida keep bees?","evidence":["D1:1"],"category":4},
	{"question":"Who repairs violins in Cremona?","evidence":["D1:2"],"category":4},
	{"question":"Which canoe was bought at the harbour market?","evidence":["D2:1"],"category":1}]}]`

type noBar struct{}

func (noBar) Add(int) {}
func (noBar) Finish() {}

// setup gives an engine on a database of the test's own, and the dataset of talk.
func setup(t *testing.T) (*bench.Engine, *dataset.Dataset) {
	t.Helper()
	pool := dbtest.DB(t, dbtest.MaxConns(16))
	path := filepath.Join(t.TempDir(), "talk.json")
	require.NoError(t, os.WriteFile(path, []byte(talk), 0o600))
	d, err := dataset.Read([]string{path}, nil)
	require.NoError(t, err)
	return newEngine(t, pool), d
}

func newEngine(t *testing.T, pool *pgxpool.Pool) *bench.Engine {
	t.Helper()
	models, err := offline.Open(t.Context(), &offline.Config{Dimension: dbtest.DefaultDimension})
	require.NoError(t, err)
	counter, err := assembler.NewCounter("")
	require.NoError(t, err)
	return &bench.Engine{
		Embedder: models.Embedder,
		NewService: func(config *service.Config) (*service.OpenMemoryService, error) {
			config.Counter = counter
			return service.New(pool, config)
		},
		Pool:     pool,
		Progress: func(int, string) bench.Bar { return noBar{} },
		WithWorker: func(ctx context.Context, fn func(*worker.Worker) error) error {
			w, err := worker.New(pool, &worker.Config{Counter: counter, Models: models})
			if err != nil {
				return err
			}
			if err := w.Start(ctx); err != nil {
				return err
			}
			err = fn(w)
			require.NoError(t, w.Stop(context.WithoutCancel(ctx)))
			return err
		},
	}
}

func TestBudget(t *testing.T) {
	t.Parallel()
	e, d := setup(t)
	done, err := bench.Ingest(t.Context(), e, d, &bench.IngestOptions{App: "bench-test", Consolidation: service.ConsolidationFast})
	require.NoError(t, err)
	results, err := bench.Budget(t.Context(), e, d, nil, &bench.BudgetOptions{App: "bench-test", Budgets: []int{0, 2000}, Clients: 2})
	require.NoError(t, err)
	require.Len(t, results, 4)
	for i, want := range []float64{0, 1, 0, 1} {
		require.InDelta(t, want, results[i].Rows[len(results[i].Rows)-1].Scores["recall"], 1e-12, results[i].Shares)
		require.Zero(t, results[i].Over)
	}
	r := &report.Report{}
	bench.ReportBudget(r, d, done, results)
	require.Len(t, r.Tables[0].Rows, 4)
	require.Len(t, r.Plots[0].Series, 2)
}

func TestLoad(t *testing.T) {
	t.Parallel()
	e, _ := setup(t)
	results, err := bench.Load(t.Context(), e, &bench.LoadOptions{
		Batch: 3, Duration: time.Second, JobEvery: 2, Rate: 50, Readers: 1, Texts: []string{"Rhubarb, in a plain crust.", "A tuna melt."}, Workers: 2, Writers: 2,
	})
	require.NoError(t, err)
	require.Positive(t, results.Events)
	require.Zero(t, results.Events%3)
	require.Positive(t, results.Searches)
	require.Equal(t, results.Jobs, results.Done.N)
	var events, texts int
	require.NoError(t, e.Pool.QueryRow(t.Context(), `SELECT count(*), count(DISTINCT text) FROM hippocampus.events WHERE app_name = 'bench-load'`).Scan(&events, &texts))
	require.GreaterOrEqual(t, events, results.Events) // what the end cut off may be committed
	require.Zero(t, events%3)
	require.Equal(t, 2, texts)
	r := &report.Report{}
	bench.ReportLoad(r, results)
	require.Equal(t, "append 3 at once", r.Tables[0].Rows[0][0])
}

func TestRecall(t *testing.T) {
	t.Parallel()

	type testBundle struct {
		dataset *dataset.Dataset
		engine  *bench.Engine
		ingest  *bench.IngestOptions
		opts    *bench.RecallOptions
		vectors bench.Vectors
	}
	setup := func(t *testing.T) *testBundle {
		t.Helper()
		b := &testBundle{
			ingest: &bench.IngestOptions{App: "bench-test", Consolidation: service.ConsolidationFast},
			opts:   &bench.RecallOptions{App: "bench-test", Clients: 2, Depth: 20},
		}
		b.engine, b.dataset = setup(t)
		done, err := bench.Ingest(t.Context(), b.engine, b.dataset, b.ingest)
		require.NoError(t, err)
		require.Equal(t, 5, done.Events)
		require.Zero(t, done.Reused)
		b.vectors, err = bench.EmbedQuestions(t.Context(), b.engine, b.dataset)
		require.NoError(t, err)
		require.Len(t, b.vectors, 3)
		return b
	}

	t.Run("AblatesAndRestores", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		base, err := bench.Recall(t.Context(), b.engine, b.dataset, b.vectors, b.opts)
		require.NoError(t, err)
		variants, err := bench.ReadVariants([]string{`nothing={"text":0,"vector":0,"strength":0,"recency":1}`, "mechanisms"})
		require.NoError(t, err)
		results, err := bench.Ablate(t.Context(), b.engine, b.dataset, b.vectors, b.opts, base, variants)
		require.NoError(t, err)
		require.Len(t, results, 12)
		// Ranked by recency alone, the newest comes first, whatever was asked.
		require.Less(t, results[0].Tables[0].Row("categories 1-4").Scores["mrr"], 1.0)
		var left int
		require.NoError(t, b.engine.Pool.QueryRow(t.Context(), "SELECT count(*) FROM hippocampus.settings WHERE app_name = 'bench-test'").Scan(&left))
		require.Zero(t, left)
		r := &report.Report{}
		bench.ReportRecall(r, b.dataset, &bench.Ingested{}, base, results)
		require.Len(t, r.Tables, 5)
		require.Equal(t, "nothing", r.Tables[4].Rows[1][0])
	})

	t.Run("FindsTheEvidence", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		result, err := bench.Recall(t.Context(), b.engine, b.dataset, b.vectors, b.opts)
		require.NoError(t, err)
		for _, table := range bench.Score(b.dataset, result.Answers) {
			require.InDelta(t, 1, table.Row("categories 1-4").Scores["recall@3"], 1e-12, table.Level)
		}
		require.Equal(t, 3, result.Search.N)
		var out strings.Builder
		require.NoError(t, bench.WriteRun(&out, b.dataset, result.Answers))
		require.Contains(t, out.String(), `{"qid":"conv-1#0","level":"turn","ranking":["D1:1"`)
	})

	t.Run("IngestsOnce", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		done, err := bench.Ingest(t.Context(), b.engine, b.dataset, b.ingest)
		require.NoError(t, err)
		require.Equal(t, 1, done.Reused)
		b.ingest.Fresh = true
		done, err = bench.Ingest(t.Context(), b.engine, b.dataset, b.ingest)
		require.NoError(t, err)
		require.Zero(t, done.Reused)
		var events int
		require.NoError(t, b.engine.Pool.QueryRow(t.Context(), "SELECT count(*) FROM hippocampus.events").Scan(&events))
		require.Equal(t, 5, events)
	})

	t.Run("StopsWithWhatThereIs", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		ctx, cancel := context.WithCancel(t.Context())
		b.opts.Clients = 1
		b.engine.Progress = func(int, string) bench.Bar { return stopAfterOne{cancel} }
		result, err := bench.Recall(ctx, b.engine, b.dataset, b.vectors, b.opts)
		require.ErrorIs(t, err, context.Canceled)
		require.NotNil(t, result.Answers[0])
		require.Nil(t, result.Answers[2])
		require.Equal(t, 1, bench.Score(b.dataset, result.Answers)[0].Row("categories 1-4").N)
	})
}

// stopAfterOne ends a run after its first question.
type stopAfterOne struct{ cancel func() }

func (b stopAfterOne) Add(int) { b.cancel() }
func (stopAfterOne) Finish()   {}

func TestScale(t *testing.T) {
	t.Parallel()
	e, _ := setup(t)
	_, err := e.Pool.Exec(t.Context(), "SELECT hippocampus.put_setting('*', 'exact_search_rows', '150')")
	require.NoError(t, err)
	opts := &bench.ScaleOptions{Clients: 2, Queries: 5, Rows: 300, Seed: 1, Sizes: []int{20, 200}, Tenants: 5}
	results, err := bench.Scale(t.Context(), e, opts)
	require.NoError(t, err)
	require.Len(t, results.Measured, 2)
	for _, m := range results.Measured {
		require.Equal(t, 5, m.Search.N)
		require.Equal(t, 5, m.Many.N)
	}
	require.Equal(t, []string{"exact", "HNSW"}, []string{results.Measured[0].Way, results.Measured[1].Way})
	require.InDelta(t, 100, results.Measured[0].VectorRecall, 1e-9)
	require.Greater(t, results.Measured[1].VectorRecall, 90.0)
	require.Contains(t, []string{"embeddings", "postings", "row_terms"}, results.Sizes[0].Table)
	r := &report.Report{}
	bench.ReportScale(r, results, opts.Clients)
	require.Len(t, r.Tables[0].Rows, 2)

	results, err = bench.Scale(t.Context(), e, opts)
	require.NoError(t, err)
	require.True(t, results.Load.Reused)
	opts.Dimension = 7
	_, err = bench.Scale(t.Context(), e, opts)
	require.ErrorContains(t, err, "the database has 64 dimensions, not 7")
}

// byOthers is a filler that leaves the work to the worker that runs, and waits for it.
type byOthers struct {
	ctx  context.Context //nolint:containedctx // of the test
	pool *pgxpool.Pool
}

func (byOthers) Kill() error { return errors.New("it is not killed") }

func (f byOthers) Wait() error {
	for {
		var whole bool
		err := f.pool.QueryRow(f.ctx, `SELECT bool_and(g.queued_at IS NOT NULL AND g.waiting = 0)
			FROM hippocampus.list_embedding_generations() g WHERE g.status = 'building'`).Scan(&whole)
		if err != nil || whole {
			return err
		}
	}
}

func TestReembed(t *testing.T) {
	t.Parallel()
	e, _ := setup(t)
	results, err := bench.Reembed(t.Context(), e, &bench.ReembedOptions{
		Fill: func(ctx context.Context) (bench.Filler, error) { return byOthers{ctx, e.Pool}, nil },
		Next: e.Embedder, Queries: 10, Readers: 1, Rows: 60, Seed: 1, Tenants: 2, Watch: 100 * time.Millisecond, Writers: 1,
	})
	require.NoError(t, err)
	require.Equal(t, 10, results.Same)
	require.InDelta(t, 1, results.Shared, 1e-9)
	require.Positive(t, results.During.N)
	require.Positive(t, results.Written)
	require.Zero(t, results.Failed+results.Empty+results.Lacking)
	var left int
	err = e.Pool.QueryRow(t.Context(), `SELECT count(*) FROM hippocampus.embeddings e
		JOIN hippocampus.embedding_models g ON g.generation = e.generation WHERE g.status = 'retired'`).Scan(&left)
	require.NoError(t, err)
	require.LessOrEqual(t, left, 1) // the old one's are dropped, but for the one that the writer was storing just then
	r := &report.Report{}
	bench.ReportReembed(r, results)
	require.Len(t, r.Tables[0].Rows, 3)
}
