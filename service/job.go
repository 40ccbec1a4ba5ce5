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

// ConsolidationType is how a conversation becomes memory.
type ConsolidationType string

// The consolidation types.
const (
	// ConsolidationFast makes a summary and episodes.
	ConsolidationFast ConsolidationType = "fast"
	// ConsolidationDeep finds facts and insights.
	ConsolidationDeep ConsolidationType = "deep"
	// ConsolidationFull does both.
	ConsolidationFull ConsolidationType = "full"
)

func (c ConsolidationType) jobType() (string, error) {
	switch c {
	case ConsolidationFast:
		return db.JobFastReplay, nil
	case ConsolidationDeep:
		return db.JobDeepReflection, nil
	case ConsolidationFull, "":
		return db.JobFullConsolidation, nil
	}
	return "", fmt.Errorf("%w: consolidation type %q is not fast, deep or full", db.ErrInvalidJobType, string(c))
}

// JobStatus is where a consolidation stands.
type JobStatus string

// The job statuses.
const (
	JobPending   JobStatus = "pending"
	JobRunning   JobStatus = "running"
	JobCompleted JobStatus = "completed"
	JobFailed    JobStatus = "failed"
	JobCancelled JobStatus = "cancelled"
)

// Job is the lasting record of a consolidation.
type Job struct {
	ID       uuid.UUID `json:"id"`
	ThreadID uuid.UUID `json:"thread_id"`
	// JobType is fast_replay, deep_reflection or full_consolidation.
	JobType string    `json:"job_type"`
	Status  JobStatus `json:"status"`
	// Attempts is how often it was begun; a passing failure is tried again.
	Attempts int `json:"attempts"`
	// Result is what it made, once it is completed.
	Result json.RawMessage `json:"result"`
	// Error is why it failed, or why it waits to be tried again.
	Error       string     `json:"error,omitempty"`
	FromSeq     *int64     `json:"from_seq,omitempty"`
	ToSeq       *int64     `json:"to_seq,omitempty"`
	CreatedAt   time.Time  `json:"created_at"`
	StartedAt   *time.Time `json:"started_at,omitempty"`
	CompletedAt *time.Time `json:"completed_at,omitempty"`
}

// Done tells whether the job has ended, well or not.
func (j *Job) Done() bool {
	return j.Status == JobCompleted || j.Status == JobFailed || j.Status == JobCancelled
}

// AddSessionToMemory asks for a conversation to be turned into memory, and returns the id of the
// job, which a worker does in the background: see [OpenMemoryService.WaitJob]. The session is the
// client's own session id, or the thread's id as text. Only what was appended since the last
// consolidation is new work, and a job that waits already is returned again, since it will see
// what was appended meanwhile. An empty consolidation type is full.
//
// Errors: [db.ErrInvalidScope]; [db.ErrInvalidJobType]; [db.ErrThreadNotFound];
// [db.ErrInvalidText].
func (s *OpenMemoryService) AddSessionToMemory(
	ctx context.Context, scope Scope, session string, consolidation ConsolidationType,
) (uuid.UUID, error) {
	return s.addSessionToMemory(ctx, s.bound(scope), scope, session, consolidation)
}

// AddSessionToMemoryTx asks for a consolidation as [OpenMemoryService.AddSessionToMemory] does.
//
// This variant joins the caller's transaction: append the events and ask for their consolidation
// in one, and the job exists if, and only if, they do; it begins at the commit. See the package's
// section on transactions.
func (s *OpenMemoryService) AddSessionToMemoryTx(
	ctx context.Context, tx pgx.Tx, scope Scope, session string, consolidation ConsolidationType,
) (id uuid.UUID, err error) {
	err = joinScope(ctx, tx, scope, func() error {
		id, err = s.addSessionToMemory(ctx, tx, scope, session, consolidation)
		return err
	})
	return id, err
}

func (s *OpenMemoryService) addSessionToMemory(
	ctx context.Context, conn db.DBTX, scope Scope, session string, consolidation ConsolidationType,
) (uuid.UUID, error) {
	if err := checkScope(scope); err != nil {
		return uuid.Nil, err
	}
	if err := checkText("session", session, maxText); err != nil {
		return uuid.Nil, err
	}
	jobType, err := consolidation.jobType()
	if err != nil {
		return uuid.Nil, err
	}
	params := &db.JobEnqueueForSessionParams{
		AppName: scope.AppName, JobType: jobType, SessionID: session, UserID: scope.UserID,
	}
	if threadID, err := uuid.Parse(session); err == nil {
		params.ThreadID = &threadID
	}
	id, err := s.queries.JobEnqueueForSession(ctx, conn, params)
	if errors.Is(err, pgx.ErrNoRows) {
		return uuid.Nil, fmt.Errorf("%w: session %q", db.ErrThreadNotFound, session)
	}
	if err != nil {
		return uuid.Nil, fmt.Errorf("enqueue a consolidation: %w", db.WrapGo(err))
	}
	return id, nil
}

// Job reads the record of a consolidation.
//
// Errors: [db.ErrInvalidScope]; [db.ErrNotFound].
func (s *OpenMemoryService) Job(ctx context.Context, scope Scope, id uuid.UUID) (*Job, error) {
	if err := checkScope(scope); err != nil {
		return nil, err
	}
	row, err := s.queries.JobGet(ctx, s.bound(scope), id)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, fmt.Errorf("%w: job %s", db.ErrNotFound, id)
	}
	if err != nil {
		return nil, fmt.Errorf("read a job: %w", db.WrapGo(err))
	}
	return &Job{
		Attempts: int(row.Attempts), CompletedAt: row.CompletedAt, CreatedAt: row.CreatedAt, Error: deref(row.Error),
		FromSeq: row.FromSeq, ID: row.ID, JobType: row.JobType, Result: row.Result, StartedAt: row.StartedAt,
		Status: JobStatus(row.Status), ThreadID: row.ThreadID, ToSeq: row.ToSeq,
	}, nil
}

// How long WaitJob waits between two looks, first and at most.
const (
	firstPoll = 10 * time.Millisecond
	lastPoll  = time.Second
)

// WaitJob waits until a job has ended, and returns it: look at its Status, since a job that failed
// is no error of waiting for it. It looks often at first, then every second, and holds no
// connection meanwhile. It waits until the context ends, so give it a deadline: without a worker
// it would wait for ever.
//
// Errors: as those of [OpenMemoryService.Job]; the context's, and with it the job as it was last
// seen.
func (s *OpenMemoryService) WaitJob(ctx context.Context, scope Scope, id uuid.UUID) (*Job, error) {
	var last *Job
	for wait := firstPoll; ; wait = min(lastPoll, wait*3/2) {
		job, err := s.Job(ctx, scope, id)
		switch {
		case err != nil && ctx.Err() != nil:
			return last, fmt.Errorf("wait for job %s: %w", id, ctx.Err())
		case err != nil:
			return nil, err
		case job.Done():
			return job, nil
		}
		last = job
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return last, fmt.Errorf("wait for job %s, which is %s: %w", id, last.Status, ctx.Err())
		case <-timer.C:
		}
	}
}
