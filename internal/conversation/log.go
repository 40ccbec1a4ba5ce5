package conversation

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/hippocampus-memory/hippocampus/service"
)

const (
	// appendBatch is how many events go into one append.
	appendBatch = 500
	// logClients is how many conversations are logged at once.
	logClients = 4
)

// Logged is what [Log] did.
type Logged struct {
	Sessions int `json:"sessions"`
	Events   int `json:"events"`
	// Known are events that the log had already.
	Known int `json:"events_known"`
	// Jobs are the consolidations that were asked for, one a session.
	Jobs []uuid.UUID `json:"jobs"`
}

// Log logs conversations, several at once and each session by session, and asks for the consolidation
// of each session. Sessions and events that are there already, by their ids, are not logged again.
// What it did is in the order of the conversations; progress may be told by several at once.
func Log(
	ctx context.Context, svc *service.OpenMemoryService, conversations []*Conversation, scope func(*Conversation) service.Scope,
	consolidation service.ConsolidationType, progress func(events int),
) ([]*Logged, error) {
	all := make([]*Logged, len(conversations))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(logClients)
	for n, c := range conversations {
		all[n] = &Logged{Jobs: []uuid.UUID{}}
		group.Go(func() error {
			for i := range c.Sessions {
				if err := all[n].log(ctx, svc, scope(c), &c.Sessions[i], consolidation, progress); err != nil {
					return fmt.Errorf("conversation %s: session %s: %w", c.ID, c.Sessions[i].ID, err)
				}
			}
			return nil
		})
	}
	return all, group.Wait()
}

func (l *Logged) log(
	ctx context.Context, svc *service.OpenMemoryService, scope service.Scope, s *Session,
	consolidation service.ConsolidationType, progress func(events int),
) error {
	thread, err := svc.CreateThread(ctx, scope, &service.CreateThreadOptions{IfNotExists: true, SessionID: s.ID})
	if err != nil {
		return err
	}
	l.Sessions++
	for start := 0; start < len(s.Events); start += appendBatch {
		batch := s.Events[start:min(start+appendBatch, len(s.Events))]
		params := make([]*service.EventParams, len(batch))
		for i := range batch {
			params[i] = batch[i].Params()
		}
		stored, err := svc.AppendEvents(ctx, scope, thread, params, nil)
		if err != nil {
			return err
		}
		l.Events += len(stored)
		l.Known += len(batch) - len(stored)
		progress(len(batch))
	}
	job, err := svc.AddSessionToMemory(ctx, scope, thread.String(), consolidation)
	if err != nil {
		return err
	}
	l.Jobs = append(l.Jobs, job)
	return nil
}
