package adk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/jackc/pgx/v5"
	"google.golang.org/adk/v2/platform"
	"google.golang.org/adk/v2/session"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/service"
)

// listPage is how many sessions a List reads at a time.
const listPage = 1000

// ErrStaleSession is of an event for a session that somebody else has written since it was read:
// see [SessionConfig].
var ErrStaleSession = errors.New("adk: the session was written since it was read")

// SessionConfig is the configuration of [NewSessionService].
type SessionConfig struct {
	// RefuseStale refuses an event for a session that somebody else has written since its holder read
	// it: AppendEvent returns [ErrStaleSession], and the holder reads the session again.
	//
	// Defaults to false: the events of all writers are appended in the order in which they come, and
	// their state is merged by key, so nothing is lost.
	RefuseStale bool
}

type sessionService struct {
	svc    *service.OpenMemoryService
	config SessionConfig
}

// NewSessionService gives ADK's session service over the engine. The service's pool needs a login
// that is a member of hippocampus_service: an app's state, and the sessions of all its users, are no
// single user's. A nil config holds the defaults.
func NewSessionService(svc *service.OpenMemoryService, config *SessionConfig) session.Service {
	if config == nil {
		config = &SessionConfig{}
	}
	return &sessionService{config: *config, svc: svc}
}

// Create begins a session. A session ID that is taken is a [db.ErrConflict].
func (s *sessionService) Create(ctx context.Context, req *session.CreateRequest) (*session.CreateResponse, error) {
	scope, err := scopeOf(req.AppName, req.UserID)
	if err != nil {
		return nil, err
	}
	created := &storedSession{scope: scope, sessionID: req.SessionID}
	if created.sessionID == "" {
		created.sessionID = platform.NewUUID(ctx)
	}
	delta := split(req.State)
	maps.DeleteFunc(delta.session, func(_ string, value any) bool { return value == nil })
	state, err := toJSON(delta.session)
	if err != nil {
		return nil, err
	}
	err = pgx.BeginFunc(ctx, s.svc, func(tx pgx.Tx) error {
		opts := &service.CreateThreadOptions{SessionID: created.sessionID, State: state}
		if created.threadID, err = s.svc.CreateThreadTx(ctx, tx, scope, opts); err != nil {
			return err
		}
		if err := s.merge(ctx, tx, scope, delta); err != nil {
			return err
		}
		return s.load(ctx, tx, created)
	})
	if err != nil {
		return nil, fmt.Errorf("adk: create session %q: %w", created.sessionID, err)
	}
	return &session.CreateResponse{Session: created}, nil
}

// Get reads a session, its state and its events as they are at one moment. One that is not there is a
// [db.ErrThreadNotFound].
func (s *sessionService) Get(ctx context.Context, req *session.GetRequest) (*session.GetResponse, error) {
	scope, err := scopeOf(req.AppName, req.UserID)
	if err != nil {
		return nil, err
	}
	if req.SessionID == "" {
		return nil, fmt.Errorf("%w: the session ID is empty", db.ErrInvalidArgument)
	}
	found := &storedSession{scope: scope, sessionID: req.SessionID}
	err = pgx.BeginFunc(ctx, s.svc, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"); err != nil {
			return err
		}
		if err := s.load(ctx, tx, found); err != nil {
			return err
		}
		logged, err := s.svc.ThreadEventsTx(ctx, tx, scope, found.threadID, &service.ThreadEventsOptions{
			Limit: max(0, req.NumRecentEvents), Since: req.After,
		})
		if err != nil {
			return err
		}
		found.events = make([]*session.Event, len(logged))
		for i, event := range logged {
			if found.events[i], err = newEvent(event); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("adk: get session %q: %w", req.SessionID, err)
	}
	return &session.GetResponse{Session: found}, nil
}

// List gives the sessions of a user, or of all users of an app, those first that changed last. They
// have their state and no events.
func (s *sessionService) List(ctx context.Context, req *session.ListRequest) (*session.ListResponse, error) {
	if req.AppName == "" {
		return nil, fmt.Errorf("%w: the app name is empty", db.ErrInvalidScope)
	}
	scope := service.Scope{AppName: req.AppName, UserID: req.UserID}
	read := s.listUser
	if req.UserID == "" {
		read = s.listApp
	}
	response := &session.ListResponse{Sessions: []session.Session{}}
	err := pgx.BeginFunc(ctx, s.svc, func(tx pgx.Tx) error {
		// Pages of one moment: a session that changes meanwhile would come twice, or take another's place.
		if _, err := tx.Exec(ctx, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"); err != nil {
			return err
		}
		app, err := s.svc.AppStateTx(ctx, tx, service.Scope{AppName: req.AppName, UserID: anyUser(req.UserID)})
		if err != nil {
			return err
		}
		for {
			threads, err := read(ctx, tx, scope, &service.ThreadsOptions{Limit: listPage, Offset: len(response.Sessions)})
			if err != nil {
				return err
			}
			for _, thread := range threads {
				listed := &storedSession{scope: service.Scope{AppName: req.AppName, UserID: thread.UserID}}
				if err := listed.fill(&thread.Thread, app.Values, thread.UserState); err != nil {
					return err
				}
				response.Sessions = append(response.Sessions, listed)
			}
			if len(threads) < listPage {
				return nil
			}
		}
	})
	if err != nil {
		return nil, fmt.Errorf("adk: list sessions: %w", err)
	}
	return response, nil
}

// anyUser stands for a user where an app's state is read, which is every user's.
func anyUser(userID string) string {
	if userID == "" {
		return "*"
	}
	return userID
}

func (s *sessionService) listApp(ctx context.Context, tx pgx.Tx, scope service.Scope, opts *service.ThreadsOptions) ([]*service.UserThread, error) {
	return s.svc.AppThreadsTx(ctx, tx, scope.AppName, opts)
}

func (s *sessionService) listUser(ctx context.Context, tx pgx.Tx, scope service.Scope, opts *service.ThreadsOptions) ([]*service.UserThread, error) {
	user, err := s.svc.UserStateTx(ctx, tx, scope)
	if err != nil {
		return nil, err
	}
	threads, err := s.svc.ThreadsTx(ctx, tx, scope, opts)
	if err != nil {
		return nil, err
	}
	listed := make([]*service.UserThread, len(threads))
	for i, thread := range threads {
		listed[i] = &service.UserThread{Thread: *thread, UserID: scope.UserID, UserState: user.Values}
	}
	return listed, nil
}

// Delete deletes a session with its events and with what was remembered of it alone. One that is not
// there is deleted already.
func (s *sessionService) Delete(ctx context.Context, req *session.DeleteRequest) error {
	scope, err := scopeOf(req.AppName, req.UserID)
	if err != nil {
		return err
	}
	if req.SessionID == "" {
		return fmt.Errorf("%w: the session ID is empty", db.ErrInvalidArgument)
	}
	err = pgx.BeginFunc(ctx, s.svc, func(tx pgx.Tx) error {
		thread, err := s.svc.ThreadTx(ctx, tx, scope, req.SessionID)
		if err != nil {
			return err
		}
		_, err = s.svc.ForgetThreadTx(ctx, tx, scope, thread.ID)
		return err
	})
	if err != nil && !errors.Is(err, db.ErrThreadNotFound) {
		return fmt.Errorf("adk: delete session %q: %w", req.SessionID, err)
	}
	return nil
}

// AppendEvent appends an event, and merges its state, in one transaction; the session that its holder
// has follows once that is committed. A partial event is passed over. The session may be another
// service's: the one of its app, user and ID is written.
func (s *sessionService) AppendEvent(ctx context.Context, current session.Session, event *session.Event) error {
	switch {
	case current == nil:
		return fmt.Errorf("%w: the session is nil", db.ErrInvalidArgument)
	case event == nil:
		return fmt.Errorf("%w: the event is nil", db.ErrInvalidArgument)
	case event.Partial:
		return nil
	}
	scope, err := scopeOf(current.AppName(), current.UserID())
	if err != nil {
		return err
	}
	named(ctx, event)
	stored := withoutTemp(event)
	params, err := newEventParams(stored)
	if err != nil {
		return fmt.Errorf("adk: append to session %q: %w", current.ID(), err)
	}
	held, _ := current.(*storedSession)
	var (
		thread *service.Thread
		known  bool
	)
	err = pgx.BeginFunc(ctx, s.svc, func(tx pgx.Tx) error {
		if thread, err = s.svc.ThreadTx(ctx, tx, scope, current.ID()); err != nil {
			return err
		}
		appended, err := s.svc.AppendEventsTx(ctx, tx, scope, thread.ID, []*service.EventParams{params}, s.expected(held))
		if err != nil {
			return err
		}
		if known = len(appended) == 0; known {
			return nil
		}
		delta := split(stored.Actions.StateDelta)
		if raw, err := toJSON(delta.session); err != nil {
			return err
		} else if len(delta.session) > 0 {
			if _, err := s.svc.MergeThreadStateTx(ctx, tx, scope, thread.ID, raw, nil); err != nil {
				return err
			}
		}
		if err := s.merge(ctx, tx, scope, delta); err != nil {
			return err
		}
		thread, err = s.svc.ThreadTx(ctx, tx, scope, current.ID())
		return err
	})
	if errors.Is(err, db.ErrVersionConflict) {
		err = fmt.Errorf("%w: %w", ErrStaleSession, err)
	}
	if err != nil {
		return fmt.Errorf("adk: append to session %q: %w", current.ID(), err)
	}
	if held != nil && !known {
		held.appended(stored, event.Actions.StateDelta, thread)
	}
	return nil
}

func (s *sessionService) expected(held *storedSession) *service.AppendOptions {
	if held == nil || !s.config.RefuseStale {
		return nil
	}
	held.mu.RLock()
	defer held.mu.RUnlock()
	version := held.version
	return &service.AppendOptions{ExpectedVersion: &version}
}

// merge merges what a user's and an app's sessions share. The app's comes last: its other writers
// wait until the transaction ends.
func (s *sessionService) merge(ctx context.Context, tx pgx.Tx, scope service.Scope, delta states) error {
	if len(delta.user) > 0 {
		raw, err := toJSON(delta.user)
		if err != nil {
			return err
		}
		if _, err := s.svc.MergeUserStateTx(ctx, tx, scope, raw, nil); err != nil {
			return err
		}
	}
	if len(delta.app) > 0 {
		raw, err := toJSON(delta.app)
		if err != nil {
			return err
		}
		if _, err := s.svc.MergeAppStateTx(ctx, tx, scope.AppName, raw, nil); err != nil {
			return err
		}
	}
	return nil
}

// load reads what a session has but for its events.
func (s *sessionService) load(ctx context.Context, tx pgx.Tx, into *storedSession) error {
	thread, err := s.svc.ThreadTx(ctx, tx, into.scope, into.sessionID)
	if err != nil {
		return err
	}
	user, err := s.svc.UserStateTx(ctx, tx, into.scope)
	if err != nil {
		return err
	}
	app, err := s.svc.AppStateTx(ctx, tx, into.scope)
	if err != nil {
		return err
	}
	return into.fill(thread, app.Values, user.Values)
}

func (s *storedSession) fill(thread *service.Thread, app, user json.RawMessage) error {
	var all states
	for raw, into := range map[*json.RawMessage]*map[string]any{&app: &all.app, &user: &all.user, &thread.State: &all.session} {
		if err := readObject(*raw, into); err != nil {
			return fmt.Errorf("read the state of session %q: %w", thread.SessionID, err)
		}
	}
	s.sessionID, s.threadID, s.version, s.updatedAt, s.state = thread.SessionID, thread.ID, thread.Version, thread.UpdatedAt, all.merged()
	return nil
}

func scopeOf(appName, userID string) (service.Scope, error) {
	if appName == "" || userID == "" {
		return service.Scope{}, fmt.Errorf("%w: the app is %q and the user %q, but both are needed", db.ErrInvalidScope, appName, userID)
	}
	return service.Scope{AppName: appName, UserID: userID}, nil
}

func toJSON(values map[string]any) (json.RawMessage, error) {
	raw, err := json.Marshal(values)
	if err != nil {
		return nil, fmt.Errorf("write state as JSON: %w", err)
	}
	return raw, nil
}
