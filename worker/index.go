package worker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"github.com/hippocampus-memory/hippocampus/db"
)

// indexPrefix begins the name of every tenant's vector index.
const indexPrefix = "embeddings_hnsw_"

// IndexArgs asks for vector indexes of tenants that became large, and an end to those of tenants that
// are no longer. The clock enqueues it, by [Config].IndexInterval, and so does SQL where a generation of
// embeddings is to serve.
type IndexArgs struct {
	// Reindex asks for those that there are anew, too.
	Reindex bool `json:"reindex,omitempty"`

	// Wait makes a job that finds another one at work come again: the other may have looked before there
	// was what this one is for.
	Wait bool `json:"wait,omitempty"`
}

// Kind is the name of the kind.
func (IndexArgs) Kind() string { return "index_vectors" }

// InsertOpts are those of the clock's jobs. A job that finds another one at work ends at once, or comes again; see [IndexArgs].
func (IndexArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{MaxAttempts: 3, Queue: queueMaintenance}
}

type indexWorker struct {
	river.WorkerDefaults[IndexArgs]
	*Worker
}

// Timeout is the time limit of a job.
func (w *indexWorker) Timeout(*river.Job[IndexArgs]) time.Duration { return w.config.IndexTimeout }

// Work builds and drops indexes online, one after the other: searches and writes go on, and a search
// is exact until the index of its tenant is ready. A worker that is killed leaves an entry that says
// 'building', and the next one an index that is not valid to drop; its job is taken up again as soon as
// its session is gone.
func (w *indexWorker) Work(ctx context.Context, job *river.Job[IndexArgs]) error {
	if job.JobRow != nil && isTold(job.Metadata) {
		return nil // another attempt, which was given up for dead while it lived, has done it
	}
	b := &indexBuilder{indexWorker: w, reindex: job.Args.Reindex}
	defer b.close(ctx)
	if err := b.open(ctx); err != nil || b.conn == nil {
		if err == nil && job.Args.Wait {
			return river.JobSnooze(minSnooze)
		}
		return err
	}
	if job.JobRow != nil { // which nobody else can have: there is one builder at a time
		if _, err := showLife(ctx, b.conn, job.Kind, job.ID); err != nil {
			return err
		}
	}
	rows, err := w.queries.VectorIndexList(ctx, w.pool) // which counts the vectors of large tenants
	if err != nil {
		return fmt.Errorf("look for large tenants: %w", db.Wrap(err))
	}
	if err := b.dropStrays(ctx, rows); err != nil {
		return err
	}
	var failed []error
	if err := w.measureSigns(ctx); err != nil { // before the builds, which may take hours
		failed = append(failed, err)
	}
	for i, r := range rows {
		if b.reindex {
			if err := b.tell(ctx, job.ID, i, len(rows)); err != nil {
				return err
			}
		}
		// One that can't be built does not keep the others from it.
		if err := b.settle(ctx, r); err != nil {
			failed = append(failed, fmt.Errorf("index %s: %w", indexName(r), db.Wrap(err)))
		}
		if ctx.Err() != nil {
			break
		}
	}
	if b.reindex && len(failed) == 0 {
		if err := b.tell(ctx, job.ID, len(rows), len(rows)); err != nil {
			return err
		}
	}
	return errors.Join(failed...)
}

// measureSigns finds out whether tenants without an index can be searched by the signs of their vectors.
func (w *indexWorker) measureSigns(ctx context.Context) error {
	measured, err := w.queries.VectorSignsMeasure(ctx, w.pool)
	if err != nil {
		return fmt.Errorf("measure the signs of vectors: %w", db.Wrap(err))
	}
	for _, m := range measured {
		if m.SignsRecall != nil { // enough vectors to tell
			w.logger.InfoContext(ctx, "the signs of vectors were measured", "generation", m.Generation, "recall", *m.SignsRecall)
		}
	}
	return nil
}

// tell writes down how far the job came, for whoever waits for it.
func (b *indexBuilder) tell(ctx context.Context, jobID int64, done, total int) error {
	_, err := b.pool.Exec(ctx, `UPDATE hippocampus.river_job r SET metadata = r.metadata || jsonb_build_object('progress',
		jsonb_build_object('done', $2::integer, 'total', $3::integer)) WHERE r.id = $1`, jobID, done, total)
	if err != nil {
		return fmt.Errorf("write how far the job came: %w", db.Wrap(err))
	}
	return nil
}

// isTold is whether a job's metadata, as tell writes them, say that all was done.
func isTold(metadata []byte) bool {
	var m struct {
		Progress *struct {
			Done  int `json:"done"`
			Total int `json:"total"`
		} `json:"progress"`
	}
	return json.Unmarshal(metadata, &m) == nil && m.Progress != nil && m.Progress.Done == m.Progress.Total
}

type indexRow = db.VectorIndexListRow

// indexBuilder is a connection of its own, which acts as the owner: neither a role nor a lock may stay
// behind in the pool.
type indexBuilder struct {
	*indexWorker
	conn    *pgx.Conn
	reindex bool
	schema  string // pgvector's
}

// open connects, and takes the lock that lets one builder work at a time. Where another one has it,
// b.conn stays nil. A worker that was killed holds it for as long as Postgres goes on with its build.
func (b *indexBuilder) open(ctx context.Context) error {
	conn, err := pgx.ConnectConfig(ctx, b.pool.Config().ConnConfig.Copy())
	if err != nil {
		return fmt.Errorf("connect to build indexes: %w", err)
	}
	var (
		locked  bool
		version string
	)
	err = conn.QueryRow(ctx, `SELECT pg_try_advisory_lock(hashtextextended('hippocampus.index_vectors', 0)), e.extversion,
			n.nspname::text FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace
		WHERE e.extname = 'vector'`).Scan(&locked, &version, &b.schema)
	if err == nil && locked {
		b.conn = conn
		return b.configure(ctx, version)
	}
	_ = conn.Close(context.WithoutCancel(ctx))
	if err != nil {
		return fmt.Errorf("connect to build indexes: %w", db.Wrap(err))
	}
	b.logger.DebugContext(ctx, "another worker builds vector indexes")
	return nil
}

func (b *indexBuilder) configure(ctx context.Context, version string) error {
	statements := []string{
		"SET statement_timeout = 0",
		"SET maintenance_work_mem = " + quoteLiteral(b.config.IndexMemory),
		// An old transaction makes a build wait, and a build that waits keeps vacuum from the table.
		"SET lock_timeout = '10min'",
		"SET ROLE hippocampus_owner",
	}
	if db.VersionLess(version, "0.8.2") { // a parallel build can overflow there
		statements = append(statements, "SET max_parallel_maintenance_workers = 0")
	}
	for _, s := range statements {
		if _, err := b.conn.Exec(ctx, s); err != nil {
			return fmt.Errorf("prepare to build indexes: %w", db.Wrap(err))
		}
	}
	return nil
}

func (b *indexBuilder) close(ctx context.Context) {
	if b.conn != nil {
		_ = b.conn.Close(context.WithoutCancel(ctx)) // the lock goes with it
	}
}

// settle builds, keeps or drops the index of a tenant.
func (b *indexBuilder) settle(ctx context.Context, r *indexRow) error {
	wanted := r.Rows > r.Most
	if r.Status != "" {
		wanted = r.Rows > 0 && r.Rows >= r.Most/2 // so that one at the edge is not built again and again
	}
	if !wanted && r.Status == "" {
		return nil
	}
	key := indexName(r)
	if r.IndexName != "" {
		key = r.IndexName
	}
	exists, valid, err := b.state(ctx, key)
	if err != nil {
		return err
	}
	if !wanted {
		// The entry goes first: a search must not count on an index that is being dropped.
		err := b.queries.VectorIndexDelete(ctx, b.pool, &db.VectorIndexDeleteParams{
			AppName: r.AppName, Generation: r.Generation, Source: r.Source, UserID: r.UserID,
		})
		if err != nil {
			return err
		}
		b.logger.InfoContext(ctx, "a vector index is no longer needed", "index", key, "rows", r.Rows)
		return b.drop(ctx, key)
	}
	if r.Status == "ready" && valid {
		if !b.reindex {
			return nil
		}
		_, err := b.conn.Exec(ctx, "REINDEX INDEX CONCURRENTLY hippocampus."+pgx.Identifier{key}.Sanitize())
		return err
	}
	if err := b.mark(ctx, r, key); err != nil {
		return err
	}
	if !valid {
		if exists {
			if err := b.drop(ctx, key); err != nil {
				return err
			}
		}
		if err := b.build(ctx, r, key); err != nil {
			return err
		}
	}
	return b.setStatus(ctx, r, "ready")
}

// mark writes down that an index is being built, before it is.
func (b *indexBuilder) mark(ctx context.Context, r *indexRow, name string) error {
	if r.Status != "" {
		return b.setStatus(ctx, r, "building")
	}
	return b.queries.VectorIndexCreate(ctx, b.pool, &db.VectorIndexCreateParams{
		AppName: r.AppName, Generation: r.Generation, IndexName: name, Source: r.Source, UserID: r.UserID,
	})
}

func (b *indexBuilder) setStatus(ctx context.Context, r *indexRow, status string) error {
	return b.queries.VectorIndexSetStatus(ctx, b.pool, &db.VectorIndexSetStatusParams{
		AppName: r.AppName, Generation: r.Generation, Source: r.Source, Status: status, UserID: r.UserID,
	})
}

// build builds an index. Its expression and predicate are those of the query in _vector_hits.
func (b *indexBuilder) build(ctx context.Context, r *indexRow, name string) error {
	started := time.Now()
	b.logger.InfoContext(ctx, "a vector index is being built", "index", name, "rows", r.Rows)
	var statement string
	err := b.conn.QueryRow(ctx, `SELECT format('CREATE INDEX CONCURRENTLY %1$I ON hippocampus.embeddings
			USING hnsw ((embedding::%2$I.halfvec(%3$s)) %2$I.halfvec_ip_ops)
			WHERE user_id = %4$L AND app_name = %5$L AND source = %6$L AND generation = %7$s',
			$1::text, $2::text, m.dimension, $3::text, $4::text, $5::text, m.generation)
		FROM hippocampus.embedding_models m WHERE m.generation = $6`,
		name, b.schema, r.UserID, r.AppName, r.Source, r.Generation).Scan(&statement)
	if err != nil {
		return err
	}
	if _, err := b.conn.Exec(ctx, statement); err != nil {
		return err
	}
	b.logger.InfoContext(ctx, "a vector index is ready", "index", name, "rows", r.Rows, "took", time.Since(started).Round(time.Millisecond).String())
	return nil
}

func (b *indexBuilder) drop(ctx context.Context, name string) error {
	_, err := b.conn.Exec(ctx, "DROP INDEX CONCURRENTLY IF EXISTS hippocampus."+pgx.Identifier{name}.Sanitize())
	return err
}

func (b *indexBuilder) state(ctx context.Context, name string) (exists, valid bool, err error) {
	err = b.conn.QueryRow(ctx, `SELECT i.indisvalid FROM pg_catalog.pg_index i
		JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
		JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
		WHERE n.nspname = 'hippocampus' AND c.relname = $1`, name).Scan(&valid)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, false, nil
	}
	return err == nil, valid, err
}

// dropStrays drops indexes that no entry names: of a worker that was killed when it had deleted the
// entry.
func (b *indexBuilder) dropStrays(ctx context.Context, rows []*indexRow) error {
	known := map[string]bool{}
	for _, r := range rows {
		known[r.IndexName] = true
	}
	found, err := b.conn.Query(ctx, `SELECT c.relname::text FROM pg_catalog.pg_index i
		JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
		WHERE i.indrelid = 'hippocampus.embeddings'::regclass AND starts_with(c.relname, $1)`, indexPrefix)
	if err != nil {
		return fmt.Errorf("list vector indexes: %w", err)
	}
	names, err := pgx.CollectRows(found, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("list vector indexes: %w", err)
	}
	for _, name := range names {
		if known[name] {
			continue
		}
		b.logger.InfoContext(ctx, "a vector index that nobody needs is dropped", "index", name)
		if err := b.drop(ctx, name); err != nil {
			return fmt.Errorf("drop index %s: %w", name, db.Wrap(err))
		}
	}
	return nil
}

// indexName is the name that a tenant's index gets. It is no secret who has one, but a name is too
// short for a tenant's.
func indexName(r *indexRow) string {
	key := fmt.Sprintf("%d %q %q %q", r.Generation, r.UserID, r.AppName, r.Source)
	sum := sha256.Sum256([]byte(key))
	return indexPrefix + hex.EncodeToString(sum[:12])
}

func quoteLiteral(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
