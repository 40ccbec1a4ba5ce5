package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/hippocampus-memory/hippocampus/bench/dataset"
	"github.com/hippocampus-memory/hippocampus/internal/conversation"
	"github.com/hippocampus-memory/hippocampus/service"
	"github.com/hippocampus-memory/hippocampus/worker"
)

// forgetClients is how many threads are forgotten at once.
const forgetClients = 4

// IngestOptions are the options of [Ingest].
type IngestOptions struct {
	// App is the app whose memory it is.
	App string
	// Consolidation is what the worker does with each session.
	Consolidation service.ConsolidationType
	// Fresh forgets what the app's users have of these conversations first.
	Fresh bool
}

// Ingested is what [Ingest] did.
type Ingested struct {
	Conversations int     `json:"conversations"`
	Sessions      int     `json:"sessions"`
	Events        int     `json:"events"`
	Reused        int     `json:"conversations_reused"`
	Seconds       float64 `json:"seconds"`
}

// Ingest logs the conversations of a dataset, each as a user of the app, and has a worker consolidate
// them. A conversation that is there whole, and consolidated, is left as it is.
func Ingest(ctx context.Context, e *Engine, d *dataset.Dataset, opts *IngestOptions) (*Ingested, error) {
	start := time.Now()
	svc, err := e.NewService(&service.Config{})
	if err != nil {
		return nil, err
	}
	i := &ingest{Engine: e, opts: opts, service: svc}
	done := &Ingested{Conversations: len(d.Conversations)}
	if opts.Fresh {
		if err := i.forget(ctx, d); err != nil {
			return nil, err
		}
	}
	there, err := i.stored(ctx)
	if err != nil {
		return nil, err
	}
	var missing []*conversation.Conversation
	events := 0
	for _, c := range d.Conversations {
		done.Sessions += len(c.Sessions)
		done.Events += c.Events()
		if have := there[c.ID]; have.sessions == len(c.Sessions) && have.events == c.Events() && have.consolidated {
			done.Reused++
			continue
		}
		missing = append(missing, c)
		events += c.Events()
	}
	if len(missing) == 0 {
		return done, nil
	}
	err = e.WithWorker(ctx, func(*worker.Worker) error { return i.run(ctx, missing, events) })
	done.Seconds = time.Since(start).Seconds()
	return done, err
}

type ingest struct {
	*Engine
	opts    *IngestOptions
	service *service.OpenMemoryService
}

type storedConversation struct {
	sessions, events int
	consolidated     bool
}

// stored asks what the app has of each user.
func (i *ingest) stored(ctx context.Context) (map[string]storedConversation, error) {
	rows, err := i.Pool.Query(ctx, `
		SELECT t.user_id, count(*)::integer, sum(t.next_seq - 1)::integer,
		    bool_and(t.replayed_seq = t.next_seq - 1 AND ($2 OR t.reflected_seq = t.next_seq - 1))
		FROM hippocampus.threads t WHERE t.app_name = $1 GROUP BY t.user_id`,
		i.opts.App, i.opts.Consolidation == service.ConsolidationFast)
	if err != nil {
		return nil, fmt.Errorf("read what is there: %w", err)
	}
	defer rows.Close()
	all := map[string]storedConversation{}
	for rows.Next() {
		var (
			user string
			c    storedConversation
		)
		if err := rows.Scan(&user, &c.sessions, &c.events, &c.consolidated); err != nil {
			return nil, fmt.Errorf("read what is there: %w", err)
		}
		all[user] = c
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read what is there: %w", err)
	}
	return all, nil
}

// run logs conversations, several at once, and waits until all is consolidated.
func (i *ingest) run(ctx context.Context, conversations []*conversation.Conversation, events int) error {
	bar := i.Progress(events, "logging")
	scope := func(c *conversation.Conversation) service.Scope {
		return service.Scope{AppName: i.opts.App, UserID: c.ID}
	}
	logged, err := conversation.Log(ctx, i.service, conversations, scope, i.opts.Consolidation, bar.Add)
	if err != nil {
		return err
	}
	bar.Finish()
	sessions := 0
	for _, done := range logged {
		sessions += len(done.Jobs)
	}
	bar = i.Progress(sessions, "consolidating")
	for n, done := range logged {
		for _, id := range done.Jobs {
			job, err := i.service.WaitJob(ctx, scope(conversations[n]), id)
			if err != nil {
				return err
			}
			if job.Status != service.JobCompleted {
				return fmt.Errorf("consolidation %s of %s is %s: %s", job.ID, conversations[n].ID, job.Status, job.Error)
			}
			bar.Add(1)
		}
	}
	bar.Finish()
	if err := i.waitVectors(ctx); err != nil {
		return err
	}
	// as autovacuum does within minutes; until then Postgres knows nothing of what was logged at once
	if _, err := i.Pool.Exec(ctx, "ANALYZE hippocampus.threads, hippocampus.memories, hippocampus.embeddings, hippocampus.row_terms, hippocampus.postings"); err != nil {
		return fmt.Errorf("analyze: %w", err)
	}
	return nil
}

// waitVectors waits for vectors that a consolidation had to leave to an embedding job.
func (i *ingest) waitVectors(ctx context.Context) error {
	for {
		var queued int
		err := i.Pool.QueryRow(ctx, "SELECT count(*) FROM hippocampus.embedding_queue WHERE app_name = $1", i.opts.App).Scan(&queued)
		if err != nil {
			return fmt.Errorf("read the embedding queue: %w", err)
		}
		if queued == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %d vectors: %w", queued, ctx.Err())
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// forget forgets the threads that the app's users of these names have.
func (i *ingest) forget(ctx context.Context, d *dataset.Dataset) error {
	users := make([]string, len(d.Conversations))
	for n, c := range d.Conversations {
		users[n] = c.ID
	}
	rows, err := i.Pool.Query(ctx, "SELECT t.user_id, t.id FROM hippocampus.threads t WHERE t.app_name = $1 AND t.user_id = ANY ($2)",
		i.opts.App, users)
	if err != nil {
		return fmt.Errorf("read what is to be forgotten: %w", err)
	}
	defer rows.Close()
	type thread struct {
		id    uuid.UUID
		scope service.Scope
	}
	var threads []thread
	for rows.Next() {
		t := thread{scope: service.Scope{AppName: i.opts.App}}
		if err := rows.Scan(&t.scope.UserID, &t.id); err != nil {
			return fmt.Errorf("read what is to be forgotten: %w", err)
		}
		threads = append(threads, t)
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read what is to be forgotten: %w", err)
	}
	bar := i.Progress(len(threads), "forgetting")
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(forgetClients)
	for _, t := range threads {
		group.Go(func() error {
			_, err := i.service.ForgetThread(ctx, t.scope, t.id)
			bar.Add(1)
			return err
		})
	}
	err = group.Wait()
	bar.Finish()
	return err
}
