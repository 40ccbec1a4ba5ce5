package bench

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/pgvector/pgvector-go"
	"golang.org/x/sync/errgroup"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/service"
)

const (
	streamProbes = 500_000 // stream of the queries, beyond those of the rows
	vectorTop    = 10
	vectorPool   = 50 // what a search for ten asks the vector arm for
	recallProbes = 100

	wayIndex = "HNSW" // the way of a tenant that has an index
)

// TenantResult is what was measured of a tenant.
type TenantResult struct {
	User string `json:"user"`
	Rows int    `json:"rows"`
	// Way is how its vectors are searched: HNSW by an index of its own, by their signs, or exact.
	Way string `json:"way"`
	// Search is SearchMemory by words and vector, for ten; Words without a vector, Vector without words. One client.
	Search Latency `json:"search"`
	Words  Latency `json:"words"`
	Vector Latency `json:"vector"`
	// Many is Search by all clients at once, and ManyRate how many a second.
	Many     Latency `json:"many"`
	ManyRate float64 `json:"many_per_second"`
	// Bare is the vector query alone, for ten, in bare SQL, under the same role and policies.
	Bare Latency `json:"bare"`
	// VectorRecall is recall@10 of the vector arm against an exact search, in %.
	VectorRecall float64 `json:"vector_recall"`
}

// probe is a search that is measured.
type probe struct {
	text   string
	vector []float32
}

func (s *scale) measure(ctx context.Context, t tenantSize, stream uint64) (*TenantResult, error) {
	r := &TenantResult{Rows: t.rows, User: t.user}
	source := s.space.source(streamProbes + stream)
	probes := make([]probe, s.opts.Queries)
	for i := range probes {
		probes[i] = probe{text: source.query(), vector: source.vector()}
	}
	err := s.Pool.QueryRow(ctx, `SELECT CASE WHEN EXISTS (SELECT FROM hippocampus.vector_indexes i WHERE i.user_id = $1 AND i.app_name = $2
			AND i.source = 'memory' AND i.generation = g.generation AND i.status = 'ready') THEN $5
		WHEN g.signs_recall >= 0.99 AND $4 > 100 THEN 'signs' ELSE 'exact' END
		FROM hippocampus.embedding_models g WHERE g.generation = $3`,
		t.user, s.results.App, s.generation, t.rows, wayIndex).Scan(&r.Way)
	if err != nil {
		return nil, fmt.Errorf("look for its index: %w", err)
	}
	svc, err := s.NewService(&service.Config{Now: func() time.Time { return corpusEnd.Add(sessionInterval) }})
	if err != nil {
		return nil, err
	}
	m := &tenantMeter{probes: probes, result: r, scale: s, service: svc, tenant: t}
	for _, step := range []func(context.Context) error{m.alone, m.together, m.recall} {
		if err := step(ctx); err != nil {
			return r, err
		}
	}
	return r, nil
}

type tenantMeter struct {
	*scale
	probes  []probe
	result  *TenantResult
	service *service.OpenMemoryService
	tenant  tenantSize
}

// alone measures one client.
func (m *tenantMeter) alone(ctx context.Context) error {
	bar := m.Progress(len(m.probes), m.tenant.user)
	var bare, search, words, vector []time.Duration
	err := inTurns(len(m.probes), warmUp, nil, bar,
		way{times: &bare, run: func(i int) error { return m.bare(ctx, m.probes[i]) }},
		way{times: &search, run: func(i int) error { return m.search(ctx, m.probes[i].text, m.probes[i].vector) }},
		way{times: &words, run: func(i int) error { return m.search(ctx, m.probes[i].text, nil) }},
		way{times: &vector, run: func(i int) error { return m.search(ctx, "", m.probes[i].vector) }})
	if err != nil {
		return err
	}
	m.result.Bare, m.result.Search, m.result.Words, m.result.Vector = latency(bare), latency(search), latency(words), latency(vector)
	bar.Finish()
	return nil
}

// together measures all clients at once.
func (m *tenantMeter) together(ctx context.Context) error {
	clients := max(1, m.opts.Clients)
	times := make([][]time.Duration, clients)
	var next atomic.Int64
	start := time.Now()
	group, ctx := errgroup.WithContext(ctx)
	for c := range clients {
		group.Go(func() error {
			for i := int(next.Add(1) - 1); i < len(m.probes); i = int(next.Add(1) - 1) {
				begun := time.Now()
				if err := m.search(ctx, m.probes[i].text, m.probes[i].vector); err != nil {
					return err
				}
				times[c] = append(times[c], time.Since(begun))
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	m.result.ManyRate = float64(len(m.probes)) / time.Since(start).Seconds()
	var all []time.Duration
	for _, ofOne := range times {
		all = append(all, ofOne...)
	}
	m.result.Many = latency(all)
	return nil
}

// recall compares the vector arm with an exact search.
func (m *tenantMeter) recall(ctx context.Context) error {
	found, wanted := 0, 0
	for _, p := range m.probes[:min(len(m.probes), recallProbes)] {
		var exact, near []uuid.UUID
		err := db.WithScope(ctx, m.Pool, m.scope(m.tenant), func(tx pgx.Tx) error {
			var err error
			if exact, err = m.nearest(ctx, tx, p, true); err != nil {
				return err
			}
			near, err = m.nearest(ctx, tx, p, false)
			return err
		})
		if err != nil {
			return err
		}
		isExact := map[uuid.UUID]bool{}
		for _, id := range exact {
			isExact[id] = true
		}
		for _, id := range near {
			if isExact[id] {
				found++
			}
		}
		wanted += len(exact)
	}
	m.result.VectorRecall = 100 * float64(found) / float64(max(1, wanted))
	return nil
}

func (m *tenantMeter) nearest(ctx context.Context, tx pgx.Tx, p probe, exact bool) ([]uuid.UUID, error) {
	rows, err := tx.Query(ctx, `SELECT v.row_id FROM hippocampus._vector_hits($1, $2, 'memory', $3, $4, $5) v
		ORDER BY v.similarity DESC, v.row_id LIMIT $6`,
		m.tenant.user, m.results.App, pgvector.NewVector(p.vector), vectorPool, exact, vectorTop)
	if err != nil {
		return nil, fmt.Errorf("search vectors: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
}

func (m *tenantMeter) search(ctx context.Context, text string, vector []float32) error {
	_, err := m.service.SearchMemory(ctx, m.scope(m.tenant), text, &service.SearchOptions{
		Limit: vectorTop, QueryEmbedding: vector, SkipAccess: true,
	})
	return err
}

// bare is the vector query that a client would write: bound to the tenant, in one round trip, as the
// service is. A partial index is only used where the query has its predicate as literals.
func (m *tenantMeter) bare(ctx context.Context, p probe) error {
	const bind = `SELECT set_config('role', 'hippocampus_tenant', true), set_config('hippocampus.user_id', $1, true),
		set_config('hippocampus.app_name', $2, true), set_config('hnsw.iterative_scan', 'relaxed_order', true),
		set_config('hnsw.ef_search', '100', true)`
	column := "e.embedding"
	if m.result.Way == wayIndex {
		column = fmt.Sprintf("e.embedding::public.halfvec(%d)", m.results.Dimension)
	}
	batch := &pgx.Batch{}
	batch.Queue(bind, m.tenant.user, m.results.App)
	batch.Queue(fmt.Sprintf(`SELECT e.row_id, -(%[1]s OPERATOR(public.<#>) $1) FROM hippocampus.embeddings e
		WHERE e.user_id = '%[2]s' AND e.app_name = '%[3]s' AND e.source = 'memory' AND e.generation = %[4]d
		ORDER BY %[1]s OPERATOR(public.<#>) $1 LIMIT %[5]d`,
		column, m.tenant.user, m.results.App, m.generation, vectorTop), pgvector.NewHalfVector(p.vector))
	results := m.Pool.SendBatch(ctx, batch)
	_, err := results.Exec()
	if err == nil {
		var rows pgx.Rows
		if rows, err = results.Query(); err == nil {
			for rows.Next() {
			}
			err = rows.Err()
		}
	}
	if closeErr := results.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return fmt.Errorf("the bare vector query: %w", err)
	}
	return nil
}

// RelationSize is what a table takes on disk, with what belongs to it.
type RelationSize struct {
	Table      string `json:"table"`
	Rows       int64  `json:"rows"` // as last counted by vacuum or analyze
	TableBytes int64  `json:"table_bytes"`
	IndexBytes int64  `json:"index_bytes"`
}

// relationSizes are the sizes of the ten largest tables, of all that the database holds.
func relationSizes(ctx context.Context, pool *pgxpool.Pool) ([]*RelationSize, error) {
	rows, err := pool.Query(ctx, `
		SELECT c.relname::text, greatest(0, c.reltuples)::bigint, pg_table_size(c.oid), pg_indexes_size(c.oid)
		FROM pg_class c WHERE c.relnamespace = 'hippocampus'::regnamespace AND c.relkind = 'r'
		ORDER BY pg_total_relation_size(c.oid) DESC LIMIT 10`)
	if err != nil {
		return nil, fmt.Errorf("measure tables: %w", err)
	}
	sizes, err := pgx.CollectRows(rows, pgx.RowToAddrOfStructByPos[RelationSize])
	if err != nil {
		return nil, fmt.Errorf("measure tables: %w", err)
	}
	return sizes, nil
}
