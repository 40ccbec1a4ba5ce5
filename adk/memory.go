package adk

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"strings"

	"github.com/jackc/pgx/v5"
	"google.golang.org/adk/v2/memory"
	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"

	"github.com/hippocampus-memory/hippocampus/service"
)

// MemoryConfig is the configuration of [NewMemoryService].
type MemoryConfig struct {
	// FailOpen makes a search that fails find nothing, so that an agent answers without its memory
	// rather than not at all. The log says why. A context that has ended is an error all the same.
	//
	// Defaults to false.
	FailOpen bool

	// Limit is the greatest number of memories that a search gives, 1 to 10,000.
	//
	// Defaults to the service's MaxSearchResults.
	Limit int

	// Logger is told of searches that failed open.
	//
	// Defaults to no log.
	Logger *slog.Logger

	// MinRelevance is the least relevance of a memory, 0 to 1. With an embedder a search finds the
	// nearest memories, however far they are.
	//
	// Defaults to 0.
	MinRelevance float64
}

type memoryService struct {
	config MemoryConfig
	svc    *service.OpenMemoryService
}

// NewMemoryService gives ADK's memory service over the engine. A nil config holds the defaults.
//
// A session that is added is found at once, event by event, and a worker consolidates it: summaries
// and insights become memories beside its events, facts become the user's. It may be added again as
// it grows; what was added stays and is not added twice. The sessions may be of any session service;
// with [NewSessionService] on the same database they need not be stored twice.
func NewMemoryService(svc *service.OpenMemoryService, config *MemoryConfig) memory.Service {
	if config == nil {
		config = &MemoryConfig{}
	}
	s := &memoryService{config: *config, svc: svc}
	if s.config.Logger == nil {
		s.config.Logger = slog.New(slog.DiscardHandler)
	}
	return s
}

// AddSessionToMemory remembers a session's events, and asks for their consolidation, in one
// transaction.
func (s *memoryService) AddSessionToMemory(ctx context.Context, added session.Session) error {
	scope, err := scopeOf(added.AppName(), added.UserID())
	if err != nil {
		return err
	}
	var events []*service.EventParams
	if _, ours := added.(*storedSession); !ours {
		if events, err = foreignEvents(added); err != nil {
			return fmt.Errorf("adk: add session %q to memory: %w", added.ID(), err)
		}
	}
	err = pgx.BeginFunc(ctx, s.svc, func(tx pgx.Tx) error {
		opts := &service.CreateThreadOptions{IfNotExists: true, SessionID: added.ID()}
		thread, err := s.svc.CreateThreadTx(ctx, tx, scope, opts)
		if err != nil {
			return err
		}
		if len(events) > 0 {
			if _, err := s.svc.AppendEventsTx(ctx, tx, scope, thread, events, nil); err != nil {
				return err
			}
		}
		if _, err := s.svc.RememberEventsTx(ctx, tx, scope, thread, "adk"); err != nil {
			return err
		}
		_, err = s.svc.AddSessionToMemoryTx(ctx, tx, scope, added.ID(), "")
		return err
	})
	if err != nil {
		return fmt.Errorf("adk: add session %q to memory: %w", added.ID(), err)
	}
	return nil
}

// foreignEvents are the events of a session that another service keeps. One without an ID is known by
// what it says, who said it and when, and which one it is of those that are the same in all.
func foreignEvents(added session.Session) ([]*service.EventParams, error) {
	var events []*service.EventParams
	seen := map[[sha256.Size]byte]int{}
	for event := range added.Events().All() {
		if event == nil || event.Partial {
			continue
		}
		params, err := newEventParams(withoutTemp(event))
		if err != nil {
			return nil, err
		}
		if params.EventID == "" {
			sum := sha256.Sum256(params.Content)
			params.EventID = fmt.Sprintf("adk:%s:%d", hex.EncodeToString(sum[:]), seen[sum])
			seen[sum]++
		}
		events = append(events, params)
	}
	return events, nil
}

// SearchMemory finds a user's memories, best first. What was an event is given as the event was; what
// the engine drew from events as its text. The author of what a tool gave says so: "agent (tool)". A query
// without a word finds nothing.
func (s *memoryService) SearchMemory(ctx context.Context, req *memory.SearchRequest) (*memory.SearchResponse, error) {
	response, err := s.search(ctx, req)
	switch {
	case err == nil:
		return response, nil
	case s.config.FailOpen && ctx.Err() == nil:
		s.config.Logger.WarnContext(ctx, "adk: a search of memory failed, and found nothing", slog.Any("error", err))
		return &memory.SearchResponse{}, nil
	}
	return nil, fmt.Errorf("adk: search memory: %w", err)
}

func (s *memoryService) search(ctx context.Context, req *memory.SearchRequest) (*memory.SearchResponse, error) {
	scope, err := scopeOf(req.AppName, req.UserID)
	if err != nil {
		return nil, err
	}
	query := clean(req.Query)
	response := &memory.SearchResponse{}
	if strings.TrimSpace(query) == "" {
		return response, nil
	}
	found, err := s.svc.SearchMemory(ctx, scope, query, &service.SearchOptions{
		Limit: s.config.Limit, MinRelevance: s.config.MinRelevance,
	})
	if err != nil {
		return nil, err
	}
	var places []service.Place
	for _, hit := range found.Memories {
		if place, ok := placeOf(hit); ok {
			places = append(places, place)
		}
	}
	events, err := s.svc.EventsAt(ctx, scope, places...)
	if err != nil {
		return nil, err
	}
	for _, hit := range found.Memories {
		entry, err := entryOf(hit)
		if err != nil {
			return nil, err
		}
		if place, ok := placeOf(hit); ok && events[place] != nil {
			event, err := newEvent(events[place])
			if err != nil {
				return nil, err
			}
			entry.Author, entry.Content, entry.CustomMetadata, entry.Timestamp = event.Author, event.Content, event.CustomMetadata, event.Timestamp
			if event.ID != "" {
				entry.ID = event.ID
			}
		}
		entry.Author = speaker(entry.Author, hit.Trust)
		response.Memories = append(response.Memories, entry)
	}
	return response, nil
}

// speaker is an author as a model reads it beside a memory: what a tool gave says so, whoever passed it on, and what
// has no author says whose words it holds.
func speaker(author, trust string) string {
	switch {
	case author == "":
		return trust
	case trust == service.TrustTool && author != service.TrustTool:
		return author + " (" + trust + ")"
	}
	return author
}

// placeOf is where the one event stands that a memory tells, if it tells one.
func placeOf(hit *service.MemoryHit) (service.Place, bool) {
	if hit.MemoryType != "episodic" || hit.ThreadID == nil || hit.FromSeq == nil || hit.ToSeq == nil || *hit.FromSeq != *hit.ToSeq {
		return service.Place{}, false
	}
	return service.Place{SequenceNum: *hit.FromSeq, ThreadID: *hit.ThreadID}, true
}

func entryOf(hit *service.MemoryHit) (memory.Entry, error) {
	entry := memory.Entry{
		Author: hit.Author, Content: genai.NewContentFromText(hit.Content, roleOf(hit.Author)), ID: hit.MemoryID.String(),
		Timestamp: hit.OccurredFrom,
	}
	if err := readObject(hit.Metadata, &entry.CustomMetadata); err != nil {
		return memory.Entry{}, fmt.Errorf("read the metadata of memory %s: %w", hit.MemoryID, err)
	}
	if len(entry.CustomMetadata) == 0 {
		entry.CustomMetadata = nil
	}
	return entry, nil
}
