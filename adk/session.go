package adk

import (
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"google.golang.org/adk/v2/session"

	"github.com/hippocampus-memory/hippocampus/service"
)

// storedSession is a session as it was read, and as its holder appended to it since.
type storedSession struct {
	scope     service.Scope
	sessionID string
	threadID  uuid.UUID

	// mu guards what follows.
	mu        sync.RWMutex
	events    []*session.Event
	state     map[string]any
	updatedAt time.Time
	version   int64
}

var _ session.Session = (*storedSession)(nil)

func (s *storedSession) ID() string      { return s.sessionID }
func (s *storedSession) AppName() string { return s.scope.AppName }
func (s *storedSession) UserID() string  { return s.scope.UserID }

// State is a view of the session's state: a Set is seen by all who hold the session, and is not
// stored. What shall be stored is an event's StateDelta.
func (s *storedSession) State() session.State { return sessionState{s} }

// Events are those that the session has now.
func (s *storedSession) Events() session.Events {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return sessionEvents(slices.Clip(s.events))
}

// LastUpdateTime is when the session was last written, by the database's clock.
func (s *storedSession) LastUpdateTime() time.Time {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.updatedAt
}

// appended takes note of an event that was stored. Its temp: keys are the session's until it's read
// again.
func (s *storedSession) appended(stored *session.Event, delta map[string]any, thread *service.Thread) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, stored)
	for key, value := range delta {
		if value == nil {
			delete(s.state, key)
		} else {
			s.state[key] = value
		}
	}
	s.updatedAt, s.version = thread.UpdatedAt, thread.Version
}

type sessionEvents []*session.Event

func (e sessionEvents) All() iter.Seq[*session.Event] { return slices.Values(e) }
func (e sessionEvents) Len() int                      { return len(e) }

func (e sessionEvents) At(i int) *session.Event {
	if i < 0 || i >= len(e) {
		return nil
	}
	return e[i]
}

type sessionState struct{ *storedSession }

func (s sessionState) Get(key string) (any, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	value, ok := s.state[key]
	if !ok {
		return nil, session.ErrStateKeyNotExist
	}
	return value, nil
}

func (s sessionState) Set(key string, value any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state[key] = value
	return nil
}

// All yields a copy, so that what is done meanwhile may change the state.
func (s sessionState) All() iter.Seq2[string, any] {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return maps.All(maps.Clone(s.state))
}

// states is a state by who shares it, without the prefixes that tell.
type states struct {
	app, user, session map[string]any
}

// split leaves out the keys that end with the invocation.
func split(delta map[string]any) states {
	s := states{app: map[string]any{}, user: map[string]any{}, session: map[string]any{}}
	for key, value := range delta {
		if name, ok := strings.CutPrefix(key, session.KeyPrefixApp); ok {
			s.app[name] = value
		} else if name, ok := strings.CutPrefix(key, session.KeyPrefixUser); ok {
			s.user[name] = value
		} else if !strings.HasPrefix(key, session.KeyPrefixTemp) {
			s.session[key] = value
		}
	}
	return s
}

func (s states) merged() map[string]any {
	all := map[string]any{}
	maps.Copy(all, s.session)
	for key, value := range s.app {
		all[session.KeyPrefixApp+key] = value
	}
	for key, value := range s.user {
		all[session.KeyPrefixUser+key] = value
	}
	return all
}
