package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/hippocampus-memory/hippocampus/db"
)

// Whose words a memory holds, from the most trusted to the least. What was drawn from several has
// the least of theirs. A tool's never become an instruction.
const (
	TrustOperator = "operator"
	TrustUser     = "user"
	TrustAgent    = "agent"
	TrustTool     = "tool"
)

// The outcomes of a task.
const (
	OutcomeSuccess = "success"
	OutcomePartial = "partial"
	OutcomeFailure = "failure"
)

// TaskExperience is a task that was done, for [OpenMemoryService.RecordExperience].
type TaskExperience struct {
	// Task is what was to be done, 1 to 65,536 bytes. Required.
	Task string
	// Steps is how many it took.
	//
	// Defaults to the length of Trajectory.
	Steps *int
	// Retries is how often something had to be tried again.
	Retries int
	// Outcome is success, partial or failure.
	//
	// Defaults to success.
	Outcome string
	// Insight is what it taught, in a sentence.
	Insight string
	// Trajectory are the steps, a JSON array of strings or objects, at most 256 KiB.
	Trajectory json.RawMessage
	// Metadata is a JSON object of the client's own.
	Metadata json.RawMessage
	// Tags are kept beside those of the policy.
	Tags []string
	// Trust is whose words it holds.
	//
	// Defaults to agent.
	Trust string
	// ThreadID, FromSeq and ToSeq are the events that it was drawn from.
	ThreadID       *uuid.UUID
	FromSeq, ToSeq *int64
}

// ExperienceDecision is what became of an experience.
type ExperienceDecision struct {
	// Stored is whether the policy kept it.
	Stored bool `json:"stored"`
	// MemoryID is the memory that it is; nil where it was not kept.
	MemoryID *uuid.UUID `json:"memory_id,omitempty"`
	// Reason is why: retry_recovery or complex_execution; no_learning_value, partial or failure.
	Reason string `json:"reason"`
	// Tags are the policy's.
	Tags []string `json:"tags"`
}

// RecordExperience keeps an experience if the app's learning policy finds that it teaches something:
// by default a task that succeeded and was retried, or took more than one step. What it does not
// keep it counts. What was kept is found by [OpenMemoryService.SearchMemory].
//
// Errors: [db.ErrInvalidScope]; [db.ErrThreadNotFound]; [db.ErrInvalidArgument], [db.ErrInvalidText]
// or [db.ErrTooLarge] for a value that can't be stored, which the error names.
func (s *OpenMemoryService) RecordExperience(ctx context.Context, scope Scope, e *TaskExperience) (*ExperienceDecision, error) {
	return s.recordExperience(ctx, s.bound(scope), scope, e)
}

// RecordExperienceTx keeps an experience as [OpenMemoryService.RecordExperience] does.
//
// This variant joins the caller's transaction: the experience is kept if, and only if, what was done
// is. See the package's section on transactions.
func (s *OpenMemoryService) RecordExperienceTx(
	ctx context.Context, tx pgx.Tx, scope Scope, e *TaskExperience,
) (decision *ExperienceDecision, err error) {
	err = joinScope(ctx, tx, scope, func() error {
		decision, err = s.recordExperience(ctx, tx, scope, e)
		return err
	})
	return decision, err
}

func (s *OpenMemoryService) recordExperience(
	ctx context.Context, conn db.DBTX, scope Scope, e *TaskExperience,
) (*ExperienceDecision, error) {
	if e == nil {
		return nil, fmt.Errorf("%w: the experience is nil", db.ErrInvalidArgument)
	}
	if err := errors.Join(checkScope(scope), checkName("Task", e.Task, maxText), checkTags("Tags", e.Tags),
		checkTexts(maxText, "Insight", e.Insight, "Outcome", e.Outcome, "Trust", e.Trust), checkObject("Metadata", e.Metadata)); err != nil {
		return nil, err
	}
	retries, err := checkInt("Retries", e.Retries)
	if err != nil {
		return nil, err
	}
	params := &db.ExperienceRecordParams{
		AppName: scope.AppName, FromSeq: e.FromSeq, Insight: nonEmpty(e.Insight), Metadata: orEmptyObject(e.Metadata),
		Now: s.now(), Outcome: or(e.Outcome, OutcomeSuccess), Retries: retries, Source: "experience",
		Tags: orEmpty(e.Tags), Task: e.Task, ThreadID: e.ThreadID, ToSeq: e.ToSeq, Trajectory: e.Trajectory,
		Trust: or(e.Trust, TrustAgent), UserID: scope.UserID,
	}
	if params.Trajectory == nil {
		params.Trajectory = json.RawMessage(`[]`)
	}
	if !json.Valid(params.Trajectory) {
		return nil, fmt.Errorf("%w: Trajectory is no JSON", db.ErrInvalidArgument)
	}
	if e.Steps != nil {
		steps, err := checkInt("Steps", *e.Steps)
		if err != nil {
			return nil, err
		}
		params.Steps = &steps
	}
	row, err := s.queries.ExperienceRecord(ctx, conn, params)
	if err != nil {
		return nil, fmt.Errorf("record an experience: %w", db.WrapGo(err))
	}
	return new(ExperienceDecision(*row)), nil
}
