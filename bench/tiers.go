package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hippocampus-memory/hippocampus/service"
	"github.com/hippocampus-memory/hippocampus/worker"
)

// TiersOptions are the options of [Tiers].
type TiersOptions struct {
	// Batch is how many events a consolidation has to write, Batches how many are measured.
	Batch, Batches int
	// Events is how many events are appended, and windows read.
	Events int
	// Queries is how many recalls are measured, each way.
	Queries int
	// Scale is the corpus of long-term memories; its Rows, Tenants, Sizes, Seed and Fresh count.
	Scale ScaleOptions
}

// TiersResults are the numbers of a run.
type TiersResults struct {
	Options *TiersOptions `json:"options"`
	App     string        `json:"app"`
	// Append is one event a transaction, in one connection; with Policy, an urgent one where the app's
	// policy is enabled.
	Append Latency `json:"append"`
	Policy Latency `json:"append_with_policy"`
	// AppendCPU and PolicyCPU are the server's mean time of the processor for the same, in
	// milliseconds; 0 where the login may not read it.
	AppendCPU float64 `json:"append_cpu_ms"`
	PolicyCPU float64 `json:"append_with_policy_cpu_ms"`
	// Window is short-term memory, read in one connection.
	Window Latency `json:"window"`
	// Personas are those that recall was measured on, Sized the one of them nearest to 10,000 memories.
	Personas []*PersonaSize `json:"personas"`
	Sized    *PersonaSize   `json:"sized"`
	// Recall is the newest 50, Filtered those of a type and importance, Similar a search for ten by words and vector.
	Recall   Latency `json:"recall"`
	Filtered Latency `json:"recall_filtered"`
	Similar  Latency `json:"recall_similar"`
	// OfSized are the same three of the Sized persona alone.
	OfSized [3]Latency `json:"of_sized"`
	// Store is the transaction that writes what a consolidation made of a batch.
	Store Latency `json:"consolidation_store"`
	// Parts are what 10,000 memories take on disk, by table, in bytes.
	Parts []*TierPart `json:"parts"`
}

// PersonaSize is a persona of the corpus.
type PersonaSize struct {
	User     string `json:"user"`
	Memories int    `json:"memories"`
}

// TierPart is what a table takes for 10,000 memories, with its indexes; those for vectors apart, as
// only personas with many have one.
type TierPart struct {
	Table       string  `json:"table"`
	Bytes       float64 `json:"bytes"`
	VectorIndex float64 `json:"vector_index_bytes"`
}

// The apps under which a run writes; what it wrote is forgotten when it ends.
const (
	tiersApp       = "bench-tiers"
	tiersPolicyApp = "bench-tiers-policy"
	tiersUser      = "persona"
	tiersPersonas  = 20     // that recall is measured on
	tiersMemories  = 10_000 // of the seeded size
)

// Tiers measures the two tiers of a persona's memory on a corpus, which it loads if it isn't there:
// short-term memory, recall, the writing of a consolidation, and what memories take on disk. If the
// context ends, what was measured is returned with the error.
func Tiers(ctx context.Context, e *Engine, opts *TiersOptions) (*TiersResults, error) {
	s := &scale{Engine: e, opts: &opts.Scale, results: &ScaleResults{Rows: opts.Scale.Rows, Seed: opts.Scale.Seed}}
	t := &tiers{scale: s, opts: opts, results: &TiersResults{Options: opts}}
	err := t.run(ctx)
	clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), restoreTimeout)
	defer cancel()
	return t.results, errors.Join(err, t.clear(clean))
}

type tiers struct {
	*scale
	opts    *TiersOptions
	results *TiersResults
}

func (t *tiers) run(ctx context.Context) error {
	if err := t.prepare(ctx); err != nil {
		return err
	}
	t.results.App = t.scale.results.App
	if err := t.clear(ctx); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{t.shortTerm, t.longTerm, t.consolidate, t.sizes} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// clear forgets what runs have written.
func (t *tiers) clear(ctx context.Context) error {
	for _, app := range []string{tiersApp, tiersPolicyApp} {
		if _, err := t.Pool.Exec(ctx, "SELECT hippocampus.forget_user($1, $2)", tiersUser, app); err != nil {
			return fmt.Errorf("forget what was written: %w", err)
		}
	}
	_, err := t.Pool.Exec(ctx, "DELETE FROM hippocampus.consolidation_policies p WHERE p.app_name = $1", tiersPolicyApp)
	if err != nil {
		return fmt.Errorf("delete the policy: %w", err)
	}
	return nil
}

// shortTerm appends and reads in one connection, with and without a policy.
func (t *tiers) shortTerm(ctx context.Context) error {
	conn, err := t.Pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("get a connection: %w", err)
	}
	defer conn.Release()
	if _, err := conn.Exec(ctx, `SELECT hippocampus.put_consolidation_policy($1, '{"enabled": true}')`, tiersPolicyApp); err != nil {
		return fmt.Errorf("enable the policy: %w", err)
	}
	threads := map[string]uuid.UUID{}
	for _, app := range []string{tiersApp, tiersPolicyApp} {
		var id uuid.UUID
		if err := conn.QueryRow(ctx, "SELECT hippocampus.create_thread($1, $2)", tiersUser, app).Scan(&id); err != nil {
			return fmt.Errorf("create a thread: %w", err)
		}
		threads[app] = id
	}
	source := t.space.source(streamProbes)
	texts := make([]string, t.opts.Events)
	for i := range texts {
		texts[i] = source.text()
	}
	r, n := t.results, float64(max(1, t.opts.Events))
	appending := func(app string) func(int) error {
		return func(i int) error {
			_, err := conn.Exec(ctx, `SELECT hippocampus.append_event($1, 'agent', 'message', to_jsonb($2::text), p_importance => 0.9,
				p_token_count => 40)`, threads[app], texts[i])
			if err != nil {
				return fmt.Errorf("append: %w", err)
			}
			return nil
		}
	}
	reading := func(int) error {
		rows, err := conn.Query(ctx, "SELECT * FROM hippocampus.short_term_memory($1, $2)", tiersUser, tiersApp)
		if err != nil {
			return fmt.Errorf("read short-term memory: %w", err)
		}
		for rows.Next() {
		}
		if err := rows.Err(); err != nil {
			return fmt.Errorf("read short-term memory: %w", err)
		}
		return nil
	}
	var free, governed, window []time.Duration
	bar := t.Progress(t.opts.Events, "short-term memory")
	err = inTurns(t.opts.Events, warmUp, func() float64 { return t.cpu(ctx, conn) }, bar,
		way{run: appending(tiersApp), times: &free, cpu: &r.AppendCPU},
		way{run: appending(tiersPolicyApp), times: &governed, cpu: &r.PolicyCPU},
		way{run: reading, times: &window})
	if err != nil {
		return err
	}
	bar.Finish()
	r.Append, r.Policy, r.Window = latency(free), latency(governed), latency(window)
	r.AppendCPU, r.PolicyCPU = r.AppendCPU/n, r.PolicyCPU/n
	return nil
}

// cpu is the time of the processor that a connection's server process has had, in milliseconds; 0
// where that can't be read.
func (t *tiers) cpu(ctx context.Context, conn *pgxpool.Conn) (ms float64) {
	err := conn.QueryRow(ctx, `SELECT CASE WHEN has_function_privilege('pg_read_file(text)', 'EXECUTE')
		THEN split_part(pg_read_file('/proc/self/schedstat'), ' ', 1)::float8 / 1e6 ELSE 0 END`).Scan(&ms)
	if err != nil {
		return 0
	}
	return ms
}

// longTerm measures recall of personas of all sizes, in turns, and of one of 10,000 memories.
func (t *tiers) longTerm(ctx context.Context) error {
	rows, err := t.Pool.Query(ctx, `WITH sizes AS (
			SELECT m.user_id, count(*) AS memories FROM hippocampus.memories m WHERE m.app_name = $1 GROUP BY m.user_id
		), placed AS (
			SELECT s.*, row_number() OVER (ORDER BY s.memories DESC, s.user_id) - 1 AS place, count(*) OVER () AS personas,
				row_number() OVER (ORDER BY abs(s.memories - $3), s.user_id) AS near FROM sizes s)
		SELECT p.user_id, p.memories FROM placed p
		WHERE p.near = 1 OR p.place % greatest(1, p.personas / $2) = 0 ORDER BY p.near`, t.results.App, tiersPersonas-1, tiersMemories)
	if err != nil {
		return fmt.Errorf("choose personas: %w", err)
	}
	r := t.results
	if r.Personas, err = pgx.CollectRows(rows, pgx.RowToAddrOfStructByPos[PersonaSize]); err != nil {
		return fmt.Errorf("choose personas: %w", err)
	}
	r.Sized = r.Personas[0]
	svc, err := t.NewService(&service.Config{Now: func() time.Time { return corpusEnd.Add(sessionInterval) }})
	if err != nil {
		return err
	}
	all, err := t.recalls(ctx, svc, r.Personas)
	if err != nil {
		return err
	}
	r.Recall, r.Filtered, r.Similar = all[0], all[1], all[2]
	r.OfSized, err = t.recalls(ctx, svc, r.Personas[:1])
	return err
}

// recalls measures the three ways of recall on personas in turns.
func (t *tiers) recalls(ctx context.Context, svc *service.OpenMemoryService, personas []*PersonaSize) (all [3]Latency, err error) {
	source := t.space.source(streamProbes + 1)
	probes := make([]probe, t.opts.Queries)
	for i := range probes {
		probes[i] = probe{text: source.query(), vector: source.vector()}
	}
	scope := func(i int) service.Scope {
		return service.Scope{AppName: t.results.App, UserID: personas[i%len(personas)].User}
	}
	var times [3][]time.Duration
	bar := t.Progress(t.opts.Queries, "recall")
	err = inTurns(t.opts.Queries, max(warmUp, len(personas)), nil, bar,
		way{times: &times[0], run: func(i int) error {
			_, err := svc.Recall(ctx, scope(i), nil)
			return err
		}},
		way{times: &times[1], run: func(i int) error {
			_, err := svc.Recall(ctx, scope(i), &service.RecollectOptions{MinImportance: 0.5, Types: []string{"chat", "decision"}})
			return err
		}},
		way{times: &times[2], run: func(i int) error {
			_, err := svc.RecallSimilar(ctx, scope(i), probes[i].text, &service.RecollectOptions{Limit: vectorTop, QueryEmbedding: probes[i].vector})
			return err
		}})
	if err != nil {
		return all, err
	}
	bar.Finish()
	for way := range times {
		all[way] = latency(times[way])
	}
	return all, nil
}

// consolidate has a worker consolidate batches, one after the other.
func (t *tiers) consolidate(ctx context.Context) error {
	source := t.space.source(streamProbes + 2)
	var times []time.Duration
	bar := t.Progress(t.opts.Batches, "consolidation")
	err := t.WithWorker(ctx, func(w *worker.Worker) error {
		svc, err := t.NewService(&service.Config{})
		if err != nil {
			return err
		}
		scope := service.Scope{AppName: tiersApp, UserID: tiersUser}
		for i := range 1 + t.opts.Batches {
			id, err := svc.CreateThread(ctx, scope, nil)
			if err != nil {
				return err
			}
			events := make([]*service.EventParams, t.opts.Batch)
			for j := range events {
				events[j] = &service.EventParams{Author: []string{"user", "agent"}[j%2], Text: source.text()}
			}
			if _, err := svc.AppendEvents(ctx, scope, id, events, nil); err != nil {
				return err
			}
			var job uuid.UUID
			if err := t.Pool.QueryRow(ctx, "SELECT hippocampus.enqueue_consolidation($1, 'fast_replay')", id).Scan(&job); err != nil {
				return fmt.Errorf("enqueue a consolidation: %w", err)
			}
			before := w.Done().Storing
			ended, err := svc.WaitJob(ctx, scope, job)
			if err != nil {
				return err
			}
			if ended.Status != "completed" {
				return fmt.Errorf("a consolidation is %s", ended.Status)
			}
			for w.Done().Storing == before { // counted a moment after the commit that we saw
				select {
				case <-ctx.Done():
					return ctx.Err()
				case <-time.After(time.Millisecond):
				}
			}
			if i > 0 { // the first is a warm-up
				times = append(times, w.Done().Storing-before)
			}
			bar.Add(1)
		}
		return nil
	})
	bar.Finish()
	t.results.Store = latency(times)
	return err
}

// sizes measures what all that belongs to memories takes, as a share of 10,000 memories.
func (t *tiers) sizes(ctx context.Context) error {
	rows, err := t.Pool.Query(ctx, `
		SELECT c.relname::text, (pg_total_relation_size(c.oid) - v.bytes) * n.share, v.bytes * n.share
		FROM pg_class c
		CROSS JOIN (SELECT $1::double precision / greatest(1, count(*)) AS share FROM hippocampus.memories) n
		CROSS JOIN LATERAL (
			SELECT coalesce(sum(pg_relation_size(i.indexrelid)), 0)::double precision AS bytes FROM pg_index i
			JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_am a ON a.oid = x.relam AND a.amname = 'hnsw' WHERE i.indrelid = c.oid) v
		WHERE c.relnamespace = 'hippocampus'::regnamespace AND c.relname IN ('memories', 'embeddings', 'row_terms', 'postings',
			'posting_totals', 'memory_labels', 'memory_sources')
		ORDER BY 2 DESC`, tiersMemories)
	if err != nil {
		return fmt.Errorf("measure tables: %w", err)
	}
	if t.results.Parts, err = pgx.CollectRows(rows, pgx.RowToAddrOfStructByPos[TierPart]); err != nil {
		return fmt.Errorf("measure tables: %w", err)
	}
	return nil
}
