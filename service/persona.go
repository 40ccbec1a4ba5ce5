package service

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/hippocampus-memory/hippocampus/db"
)

// Persona is an agent with a memory of its own: a user of an app, and one conversation with its
// whole life. What it experiences is in its short-term memory at once, and becomes long-term memory
// as the app's policy says. It is safe for concurrent use, and holds nothing: all is in the
// database, so that it outlives the process and every client sees it.
type Persona struct {
	scope    Scope
	service  *OpenMemoryService
	threadID uuid.UUID
}

// personaSession names the conversation that a persona writes where none was named.
const personaSession = "persona"

// Persona gives the persona of a scope. The session is the conversation that it writes, "" for the
// one that is the persona's own; it recalls from all of them.
//
// Errors: [db.ErrInvalidScope]; [db.ErrInvalidText] and [db.ErrTooLarge] for the session.
func (s *OpenMemoryService) Persona(ctx context.Context, scope Scope, session string) (*Persona, error) {
	id, err := s.CreateThread(ctx, scope, &CreateThreadOptions{IfNotExists: true, SessionID: or(session, personaSession)})
	if err != nil {
		return nil, fmt.Errorf("wake a persona: %w", err)
	}
	return &Persona{scope: scope, service: s, threadID: id}, nil
}

// ThreadID is the conversation that the persona writes.
func (p *Persona) ThreadID() uuid.UUID { return p.threadID }

// Experience is what happens to a persona. Content is required.
type Experience struct {
	// Author is who said or did it.
	//
	// Defaults to agent.
	Author string

	// Content is what happened, in words.
	Content string

	// Context is what it belongs to: a room, a sender, a task. RecallRelated finds it by its short
	// fields. mentionedMe, userDirectMessage, actionTaken and errorRecovered make it more important
	// where they are true.
	Context map[string]any

	// ID is the client's own id of it: the same one again is stored once.
	//
	// Defaults to none.
	ID string

	// Importance is how much it matters, 0 to 1.
	//
	// Defaults to a score by Type and Context.
	Importance *float64

	// Source is the kind of event that it came from, at most 64 bytes: chat/send, ai/generate.
	//
	// Defaults to message.
	Source string

	// Tags are at most 64.
	Tags []string

	// Timestamp is when it happened.
	//
	// Defaults to now.
	Timestamp time.Time

	// Type is chat, observation, task, decision, tool-use, error, insight or other.
	//
	// Defaults to chat.
	Type string
}

// Enqueue stores experiences, all or none, in their order. They are in short-term memory when it
// returns, and are consolidated later: where the app's policy is enabled, without anybody asking.
// It returns those that were stored, without any whose ID was there already.
//
// Errors: as those of [OpenMemoryService.AppendEvents].
func (p *Persona) Enqueue(ctx context.Context, experiences ...*Experience) ([]*Event, error) {
	events := make([]*EventParams, len(experiences))
	for i, e := range experiences {
		if e == nil {
			return nil, fmt.Errorf("%w: experience %d is nil", db.ErrInvalidArgument, i)
		}
		if e.Content == "" {
			return nil, fmt.Errorf("%w: Content of experience %d is empty", db.ErrInvalidArgument, i)
		}
		events[i] = &EventParams{
			Author: or(e.Author, "agent"), Category: e.Type, CreatedAt: e.Timestamp, EventID: e.ID, EventType: e.Source,
			Importance: e.Importance, Tags: e.Tags, Text: e.Content,
		}
		if len(e.Context) == 0 {
			continue
		}
		metadata, err := json.Marshal(e.Context)
		if err != nil {
			return nil, fmt.Errorf("%w: Context of experience %d can't be written: %w", db.ErrInvalidArgument, i, err)
		}
		events[i].Metadata = metadata
		for _, signal := range signals {
			if e.Context[signal] == true {
				events[i].Signals = append(events[i].Signals, signal)
			}
		}
	}
	return p.service.AppendEvents(ctx, p.scope, p.threadID, events, nil)
}

// Consolidate asks for the consolidation of what is new, whatever the policy says. A worker does it
// soon; see [OpenMemoryService.WaitJob].
func (p *Persona) Consolidate(ctx context.Context) (jobID uuid.UUID, err error) {
	id, err := p.service.queries.JobEnqueueConsolidation(ctx, p.service.bound(p.scope), &db.JobEnqueueConsolidationParams{
		JobType: db.JobFullConsolidation, ThreadID: p.threadID,
	})
	if err != nil {
		return uuid.Nil, fmt.Errorf("consolidate: %w", db.WrapGo(err))
	}
	return id, nil
}

// ShortTerm is [OpenMemoryService.ShortTermMemory] of all conversations.
func (p *Persona) ShortTerm(ctx context.Context) ([]*Event, error) {
	return p.service.ShortTermMemory(ctx, p.scope, nil, false)
}

// Recall is [OpenMemoryService.Recall], with the use of what it finds counted.
func (p *Persona) Recall(ctx context.Context, opts *RecollectOptions) ([]*Recollection, error) {
	return p.service.Recall(ctx, p.scope, opts.recording())
}

// RecallSimilar is [OpenMemoryService.RecallSimilar], with the use of what it finds counted.
func (p *Persona) RecallSimilar(ctx context.Context, query string, limit int) ([]*Recollection, error) {
	return p.service.RecallSimilar(ctx, p.scope, query, &RecollectOptions{Limit: limit, Record: true})
}

// RecallRelated is [OpenMemoryService.RecallRelated], with the use of what it finds counted.
func (p *Persona) RecallRelated(ctx context.Context, related map[string]any) ([]*Recollection, error) {
	return p.service.RecallRelated(ctx, p.scope, related, &RecollectOptions{Record: true})
}

// Forget is [OpenMemoryService.Forget]. Use it sparingly: what does not matter fades by itself.
func (p *Persona) Forget(ctx context.Context, ids ...uuid.UUID) (int, error) {
	return p.service.Forget(ctx, p.scope, ids...)
}

// Share is [OpenMemoryService.ShareMemory], as the persona's user id.
func (p *Persona) Share(ctx context.Context, id uuid.UUID) error {
	return p.service.ShareMemory(ctx, p.scope, id, "")
}

// Unshare is [OpenMemoryService.UnshareMemory].
func (p *Persona) Unshare(ctx context.Context, id uuid.UUID) (bool, error) {
	return p.service.UnshareMemory(ctx, p.scope, id)
}

// Link is [OpenMemoryService.LinkMemories].
func (p *Persona) Link(ctx context.Context, from, to uuid.UUID, opts *LinkOptions) error {
	return p.service.LinkMemories(ctx, p.scope, from, to, opts)
}

// Unlink is [OpenMemoryService.UnlinkMemories].
func (p *Persona) Unlink(ctx context.Context, from, to uuid.UUID, linkType string) (int, error) {
	return p.service.UnlinkMemories(ctx, p.scope, from, to, linkType)
}

// Linked is [OpenMemoryService.LinkedMemories].
func (p *Persona) Linked(ctx context.Context, id uuid.UUID, opts *LinkedOptions) ([]*Recollection, error) {
	return p.service.LinkedMemories(ctx, p.scope, id, opts)
}

// Clusters is [OpenMemoryService.Clusters].
func (p *Persona) Clusters(ctx context.Context, opts *ClustersOptions) ([]*Cluster, error) {
	return p.service.Clusters(ctx, p.scope, opts)
}

// ClusterMemories is [OpenMemoryService.ClusterMemories].
func (p *Persona) ClusterMemories(ctx context.Context, id uuid.UUID, limit int) ([]*Recollection, error) {
	return p.service.ClusterMemories(ctx, p.scope, id, limit)
}

// Sleep is [OpenMemoryService.EnqueueSleep].
func (p *Persona) Sleep(ctx context.Context) (reportID uuid.UUID, err error) {
	return p.service.EnqueueSleep(ctx, p.scope)
}

// Stats is [OpenMemoryService.Stats].
func (p *Persona) Stats(ctx context.Context) (*Stats, error) { return p.service.Stats(ctx, p.scope) }

func (o *RecollectOptions) recording() *RecollectOptions {
	recording := orValue(o, RecollectOptions{})
	recording.Record = true
	return &recording
}
