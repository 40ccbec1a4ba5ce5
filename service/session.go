package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/hippocampus-memory/hippocampus/db"
)

// Begin begins a transaction for the Tx variants of the verbs, on the service's pool. It is what
// [pgx.BeginFunc] wants.
func (s *OpenMemoryService) Begin(ctx context.Context) (pgx.Tx, error) {
	tx, err := s.pool.Begin(ctx)
	if err != nil {
		return nil, fmt.Errorf("begin a transaction: %w", db.WrapGo(err))
	}
	return tx, nil
}

// ThreadsOptions are the options of the verbs that list threads.
type ThreadsOptions struct {
	// Limit is the greatest number of threads, 1 to 10,000.
	//
	// Defaults to 100.
	Limit int

	// Offset is how many of the first threads are left out.
	Offset int
}

// Threads lists a user's conversations, those first that changed last.
//
// Errors: [db.ErrInvalidScope]; [db.ErrInvalidArgument].
func (s *OpenMemoryService) Threads(ctx context.Context, scope Scope, opts *ThreadsOptions) ([]*Thread, error) {
	return s.threads(ctx, s.bound(scope), scope, opts)
}

// ThreadsTx lists a user's conversations as [OpenMemoryService.Threads] does.
//
// This variant joins the caller's transaction: in one of REPEATABLE READ, the pages of a long list are of one moment.
// See the package's section on transactions.
func (s *OpenMemoryService) ThreadsTx(ctx context.Context, tx pgx.Tx, scope Scope, opts *ThreadsOptions) (threads []*Thread, err error) {
	err = joinScope(ctx, tx, scope, func() error {
		threads, err = s.threads(ctx, tx, scope, opts)
		return err
	})
	return threads, err
}

func (s *OpenMemoryService) threads(ctx context.Context, conn db.DBTX, scope Scope, opts *ThreadsOptions) ([]*Thread, error) {
	if err := checkScope(scope); err != nil {
		return nil, err
	}
	limit, offset, err := opts.page()
	if err != nil {
		return nil, err
	}
	rows, err := s.queries.ThreadList(ctx, conn, &db.ThreadListParams{
		AppName: scope.AppName, MaxRows: limit, SkipRows: offset, UserID: scope.UserID,
	})
	if err != nil {
		return nil, fmt.Errorf("list threads: %w", db.WrapGo(err))
	}
	threads := make([]*Thread, len(rows))
	for i, row := range rows {
		threads[i] = newThread(&row.Thread, row.ConsolidatedSeq)
	}
	return threads, nil
}

// UserThread is a conversation and the user who has it.
type UserThread struct {
	Thread
	UserID string `json:"user_id"`
	// UserState is the state that all threads of the user share.
	UserState json.RawMessage `json:"user_state"`
}

// AppThreads lists the conversations of all users of an app, those first that changed last. It runs
// as the pool's login, which must be a member of hippocampus_service, and reads all threads.
//
// Errors: [db.ErrInvalidArgument]; [db.ErrInvalidText].
func (s *OpenMemoryService) AppThreads(ctx context.Context, appName string, opts *ThreadsOptions) ([]*UserThread, error) {
	return s.appThreads(ctx, s.pool, appName, opts)
}

// AppThreadsTx lists an app's conversations as [OpenMemoryService.AppThreads] does.
//
// This variant joins the caller's transaction: in one of REPEATABLE READ, the pages of a long list are of one moment.
// See the package's section on transactions.
func (s *OpenMemoryService) AppThreadsTx(ctx context.Context, tx pgx.Tx, appName string, opts *ThreadsOptions) ([]*UserThread, error) {
	return s.appThreads(ctx, tx, appName, opts)
}

func (s *OpenMemoryService) appThreads(ctx context.Context, conn db.DBTX, appName string, opts *ThreadsOptions) ([]*UserThread, error) {
	if err := checkName("appName", appName, maxID); err != nil {
		return nil, err
	}
	limit, offset, err := opts.page()
	if err != nil {
		return nil, err
	}
	rows, err := s.queries.ThreadListOfApp(ctx, conn, &db.ThreadListOfAppParams{AppName: appName, MaxRows: limit, SkipRows: offset})
	if err != nil {
		return nil, fmt.Errorf("list an app's threads: %w", db.WrapGo(err))
	}
	threads := make([]*UserThread, len(rows))
	for i, row := range rows {
		threads[i] = &UserThread{
			UserID: row.Thread.UserID, UserState: row.UserState, Thread: *newThread(&row.Thread, row.ConsolidatedSeq),
		}
	}
	return threads, nil
}

func (o *ThreadsOptions) page() (limit, offset int32, err error) {
	if o == nil {
		o = &ThreadsOptions{}
	}
	if limit, err = checkLimit(o.Limit, 100); err != nil {
		return 0, 0, err
	}
	if o.Offset < 0 || o.Offset > maxOffset {
		return 0, 0, fmt.Errorf("%w: Offset is %d, but must be 0 to %d", db.ErrInvalidArgument, o.Offset, maxOffset)
	}
	return limit, int32(o.Offset), nil
}

// ThreadEventsOptions are the options of [OpenMemoryService.ThreadEvents].
type ThreadEventsOptions struct {
	// Limit gives the newest events only, so many of them.
	//
	// Defaults to all.
	Limit int

	// Since leaves out what happened before it.
	Since time.Time
}

// ThreadEvents lists a conversation's events as they were appended. A thread that is not there has
// none.
//
// Errors: [db.ErrInvalidScope]; [db.ErrInvalidArgument].
func (s *OpenMemoryService) ThreadEvents(
	ctx context.Context, scope Scope, threadID uuid.UUID, opts *ThreadEventsOptions,
) ([]*Event, error) {
	return s.threadEvents(ctx, s.bound(scope), scope, threadID, opts)
}

// ThreadEventsTx lists events as [OpenMemoryService.ThreadEvents] does.
//
// This variant joins the caller's transaction, so it shows what the transaction has appended and
// not committed. See the package's section on transactions.
func (s *OpenMemoryService) ThreadEventsTx(
	ctx context.Context, tx pgx.Tx, scope Scope, threadID uuid.UUID, opts *ThreadEventsOptions,
) (events []*Event, err error) {
	err = joinScope(ctx, tx, scope, func() error {
		events, err = s.threadEvents(ctx, tx, scope, threadID, opts)
		return err
	})
	return events, err
}

func (s *OpenMemoryService) threadEvents(
	ctx context.Context, conn db.DBTX, scope Scope, threadID uuid.UUID, opts *ThreadEventsOptions,
) ([]*Event, error) {
	if err := checkScope(scope); err != nil {
		return nil, err
	}
	params := &db.EventListOfThreadParams{AppName: scope.AppName, ThreadID: threadID, UserID: scope.UserID}
	if opts != nil {
		if opts.Limit < 0 || opts.Limit > maxOffset {
			return nil, fmt.Errorf("%w: Limit is %d, but must be 0 to %d", db.ErrInvalidArgument, opts.Limit, maxOffset)
		}
		if opts.Limit > 0 {
			params.MaxRows = new(int32(opts.Limit))
		}
		params.Since = opts.Since
	}
	rows, err := s.queries.EventListOfThread(ctx, conn, params)
	if err != nil {
		return nil, fmt.Errorf("list a thread's events: %w", db.WrapGo(err))
	}
	events := make([]*Event, len(rows))
	for i, row := range rows {
		events[i] = newEvent(row)
	}
	return events, nil
}

// Place is where an event stands in the log.
type Place struct {
	ThreadID    uuid.UUID
	SequenceNum int64
}

// EventsAt reads the events at places of the log, such as those that a memory came from. Where there
// is none, or it was forgotten, there is no entry.
//
// Errors: [db.ErrInvalidScope].
func (s *OpenMemoryService) EventsAt(ctx context.Context, scope Scope, places ...Place) (map[Place]*Event, error) {
	if err := checkScope(scope); err != nil {
		return nil, err
	}
	params := &db.EventListAtParams{
		AppName: scope.AppName, SequenceNums: make([]int64, len(places)), ThreadIds: make([]uuid.UUID, len(places)), UserID: scope.UserID,
	}
	for i, place := range places {
		params.ThreadIds[i], params.SequenceNums[i] = place.ThreadID, place.SequenceNum
	}
	rows, err := s.queries.EventListAt(ctx, s.bound(scope), params)
	if err != nil {
		return nil, fmt.Errorf("read events: %w", db.WrapGo(err))
	}
	events := make(map[Place]*Event, len(rows))
	for _, row := range rows {
		events[Place{ThreadID: row.ThreadID, SequenceNum: row.SequenceNum}] = newEvent(row)
	}
	return events, nil
}

// RememberEvents makes an episode of each event of a thread that has a text and no episode of its
// own yet, and returns how many: they are found at once, without a worker. Consolidation adds what
// it draws from them. source says where they came from; empty is "client".
//
// Errors: [db.ErrInvalidScope]; [db.ErrThreadNotFound]; [db.ErrInvalidText].
func (s *OpenMemoryService) RememberEvents(ctx context.Context, scope Scope, threadID uuid.UUID, source string) (int, error) {
	return s.rememberEvents(ctx, s.bound(scope), scope, threadID, source)
}

// RememberEventsTx makes episodes as [OpenMemoryService.RememberEvents] does.
//
// This variant joins the caller's transaction. Other writers of the thread wait until it ends. See
// the package's section on transactions.
func (s *OpenMemoryService) RememberEventsTx(
	ctx context.Context, tx pgx.Tx, scope Scope, threadID uuid.UUID, source string,
) (remembered int, err error) {
	err = joinScope(ctx, tx, scope, func() error {
		remembered, err = s.rememberEvents(ctx, tx, scope, threadID, source)
		return err
	})
	return remembered, err
}

func (s *OpenMemoryService) rememberEvents(
	ctx context.Context, conn db.DBTX, scope Scope, threadID uuid.UUID, source string,
) (int, error) {
	if err := errors.Join(checkScope(scope), checkText("source", source, maxID)); err != nil {
		return 0, err
	}
	remembered, err := s.queries.MemoryRememberEvents(ctx, conn, &db.MemoryRememberEventsParams{
		AppName: scope.AppName, Source: or(source, "client"), ThreadID: threadID, UserID: scope.UserID,
	})
	if err != nil {
		return 0, fmt.Errorf("remember a thread's events: %w", db.WrapGo(err))
	}
	return int(remembered), nil
}
