package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/pgvector/pgvector-go"
	"golang.org/x/sync/errgroup"
)

const (
	loadBatch   = 2000
	loadClients = 2
)

// LoadedCorpus is how a corpus came into the database.
type LoadedCorpus struct {
	Reused  bool    `json:"reused"`
	Seconds float64 `json:"seconds"`
	// RowsPerSecond counts memories, with their words indexed and their vectors.
	RowsPerSecond float64 `json:"rows_per_second"`
}

// load fills the database, if the corpus isn't there.
func (s *scale) load(ctx context.Context) (*LoadedCorpus, error) {
	var there int
	err := s.Pool.QueryRow(ctx, "SELECT count(*) FROM hippocampus.memories m WHERE m.app_name = $1", s.results.App).Scan(&there)
	if err != nil {
		return nil, fmt.Errorf("count the corpus: %w", err)
	}
	if there == s.opts.Rows && !s.opts.Fresh {
		return &LoadedCorpus{Reused: true}, nil
	}
	if there > 0 {
		if err := s.clear(ctx); err != nil {
			return nil, err
		}
	}
	bar := s.Progress(s.opts.Rows, "loading")
	start := time.Now()
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(loadClients)
	for i, t := range s.tenants {
		group.Go(func() error {
			if err := s.fill(groupCtx, t, s.space.source(uint64(i)), bar); err != nil {
				return fmt.Errorf("load %s: %w", t.user, err)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	bar.Finish()
	seconds := time.Since(start).Seconds()
	// as autovacuum leaves it, if not at once
	_, err = s.Pool.Exec(ctx, `VACUUM ANALYZE hippocampus.threads, hippocampus.memories, hippocampus.embeddings,
		hippocampus.row_terms, hippocampus.postings, hippocampus.posting_totals`)
	if err != nil {
		return nil, fmt.Errorf("vacuum: %w", err)
	}
	return &LoadedCorpus{RowsPerSecond: float64(s.opts.Rows) / seconds, Seconds: seconds}, nil
}

// clear deletes what there is of the corpus.
func (s *scale) clear(ctx context.Context) error {
	bar := s.Progress(len(s.tenants), "deleting")
	for _, t := range s.tenants {
		for _, table := range []string{"memories", "embeddings", "threads"} {
			_, err := s.Pool.Exec(ctx, fmt.Sprintf("DELETE FROM hippocampus.%s r WHERE r.user_id = $1 AND r.app_name = $2", table),
				t.user, s.results.App)
			if err != nil {
				return fmt.Errorf("delete the %s of %s: %w", table, t.user, err)
			}
		}
		bar.Add(1)
	}
	bar.Finish()
	return nil
}

// fill gives a tenant its memories: sessions of as many turns, of which each is an episode.
func (s *scale) fill(ctx context.Context, t tenantSize, source *source, bar Bar) error {
	for from := 0; from < t.rows; from += loadBatch {
		n := min(loadBatch, t.rows-from)
		if err := pgx.BeginFunc(ctx, s.Pool, func(tx pgx.Tx) error { return s.fillBatch(ctx, tx, t, source, from, n) }); err != nil {
			return err
		}
		bar.Add(n)
	}
	return nil
}

func (s *scale) fillBatch(ctx context.Context, tx pgx.Tx, t tenantSize, source *source, from, n int) error {
	ids, texts, vectors := make([]uuid.UUID, n), make([]string, n), make([][]float32, n)
	threads, sequences, times := make([]uuid.UUID, n), make([]int64, n), make([]time.Time, n)
	var newThreads []uuid.UUID
	for i := range n {
		session, turn := (from+i)/turnsPerSession, (from+i)%turnsPerSession
		if i == 0 || turn == 0 {
			newThreads = append(newThreads, source.id())
		}
		ids[i], texts[i], vectors[i] = source.id(), source.text(), source.vector()
		threads[i], sequences[i] = newThreads[len(newThreads)-1], int64(turn+1)
		times[i] = corpusEnd.Add(time.Duration(turn)*turnInterval - time.Duration(session)*sessionInterval)
	}
	// The vectors first, so that the memories are not queued for one; without a generation, a worker makes them.
	var err error
	if s.generation > 0 {
		err = s.copyVectors(ctx, tx, t, ids, vectors)
	}
	if err != nil {
		return fmt.Errorf("copy vectors: %w", err)
	}
	_, err = tx.Exec(ctx, `INSERT INTO hippocampus.threads (id, user_id, app_name, session_id, next_seq, replayed_seq, reflected_seq)
		SELECT r.id, $1, $2, r.id::text, $4 + 1, $4, $4 FROM unnest($3::uuid[]) AS r (id)`,
		t.user, s.results.App, newThreads, int64(turnsPerSession))
	if err != nil {
		return fmt.Errorf("insert threads: %w", err)
	}
	_, err = tx.Exec(ctx, `
		INSERT INTO hippocampus.memories (id, user_id, app_name, memory_type, category, author, content, content_hash, token_count,
		    token_count_exact, thread_id, from_seq, to_seq, created_at, last_accessed_at, occurred_from, occurred_until)
		SELECT r.id, $1, $2, 'episodic', 'chat', CASE r.seq % 2 WHEN 1 THEN 'user' ELSE 'agent' END, r.content,
		    hippocampus._content_hash(r.content), hippocampus.estimate_tokens(r.content), true, r.thread_id, r.seq, r.seq,
		    r.at, r.at, r.at, r.at
		FROM unnest($3::uuid[], $4::text[], $5::uuid[], $6::bigint[], $7::timestamptz[]) AS r (id, content, thread_id, seq, at)`,
		t.user, s.results.App, ids, texts, threads, sequences, times)
	if err != nil {
		return fmt.Errorf("insert memories: %w", err)
	}
	return nil
}

func (s *scale) copyVectors(ctx context.Context, tx pgx.Tx, t tenantSize, ids []uuid.UUID, vectors [][]float32) error {
	_, err := tx.CopyFrom(ctx, pgx.Identifier{"hippocampus", "embeddings"},
		[]string{"generation", "dimension", "row_id", "user_id", "app_name", "source", "embedding"},
		pgx.CopyFromSlice(len(ids), func(i int) ([]any, error) {
			return []any{s.generation, s.space.dimension, ids[i], t.user, s.results.App, "memory", pgvector.NewHalfVector(vectors[i])}, nil
		}))
	return err
}
