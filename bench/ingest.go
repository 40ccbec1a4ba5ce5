package bench

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/hippocampus-memory/hippocampus/bench/dataset"
	"github.com/hippocampus-memory/hippocampus/cmd/hippo/conversation"
	"github.com/hippocampus-memory/hippocampus/service"
	"github.com/hippocampus-memory/hippocampus/worker"
)

// appendBatch is how many events go into one append.
const appendBatch = 500

// ingestClients is how many conversations are logged at once.
const ingestClients = 4

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

type waiting struct {
	scope service.Scope
	job   uuid.UUID
}

// run logs conversations, several at once, and waits until all is consolidated.
func (i *ingest) run(ctx context.Context, conversations []*conversation.Conversation, events int) error {
	bar := i.Progress(events, "logging")
	jobs := make([][]waiting, len(conversations))
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(ingestClients)
	var sessions atomic.Int64
	for n, c := range conversations {
		group.Go(func() error {
			var err error
			if jobs[n], err = i.log(groupCtx, c, bar); err != nil {
				return fmt.Errorf("conversation %s: %w", c.ID, err)
			}
			sessions.Add(int64(len(c.Sessions)))
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	bar.Finish()
	bar = i.Progress(int(sessions.Load()), "consolidating")
	for _, ofOne := range jobs {
		for _, w := range ofOne {
			job, err := i.service.WaitJob(ctx, w.scope, w.job)
			if err != nil {
				return err
			}
			if job.Status != service.JobCompleted {
				return fmt.Errorf("consolidation %s of %s is %s: %s", job.ID, w.scope.UserID, job.Status, job.Error)
			}
			bar.Add(1)
		}
	}
	bar.Finish()
	if err := i.waitVectors(ctx); err != nil {
		return err
	}
	// as autovacuum does within minutes; until then Postgres knows nothing of what was logged at once
	if _, err := i.Pool.Exec(ctx, "ANALYZE hippocampus.threads, hippocampus.memories, hippocampus.embeddings, hippocampus.postings"); err != nil {
		return fmt.Errorf("analyze: %w", err)
	}
	return nil
}

// log logs a conversation and asks for the consolidation of each session.
func (i *ingest) log(ctx context.Context, c *conversation.Conversation, bar Bar) ([]waiting, error) {
	scope := service.Scope{AppName: i.opts.App, UserID: c.ID}
	jobs := make([]waiting, 0, len(c.Sessions))
	for _, s := range c.Sessions {
		thread, err := i.service.CreateThread(ctx, scope, &service.CreateThreadOptions{IfNotExists: true, SessionID: s.ID})
		if err != nil {
			return nil, fmt.Errorf("session %s: %w", s.ID, err)
		}
		for from := 0; from < len(s.Events); from += appendBatch {
			batch := s.Events[from:min(from+appendBatch, len(s.Events))]
			params := make([]*service.EventParams, len(batch))
			for n := range batch {
				params[n] = batch[n].Params()
			}
			if _, err := i.service.AppendEvents(ctx, scope, thread, params, nil); err != nil {
				return nil, fmt.Errorf("session %s: %w", s.ID, err)
			}
			bar.Add(len(batch))
		}
		job, err := i.service.AddSessionToMemory(ctx, scope, thread.String(), i.opts.Consolidation)
		if err != nil {
			return nil, fmt.Errorf("session %s: %w", s.ID, err)
		}
		jobs = append(jobs, waiting{job: job, scope: scope})
	}
	return jobs, nil
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
	var threads []waiting
	for rows.Next() {
		w := waiting{scope: service.Scope{AppName: i.opts.App}}
		if err := rows.Scan(&w.scope.UserID, &w.job); err != nil {
			return fmt.Errorf("read what is to be forgotten: %w", err)
		}
		threads = append(threads, w)
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read what is to be forgotten: %w", err)
	}
	bar := i.Progress(len(threads), "forgetting")
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(ingestClients)
	for _, t := range threads {
		group.Go(func() error {
			_, err := i.service.ForgetThread(ctx, t.scope, t.job)
			bar.Add(1)
			return err
		})
	}
	err = group.Wait()
	bar.Finish()
	return err
}
