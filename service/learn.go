package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

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
	if err := errors.Join(checkScope(scope), checkName("Task", e.Task, maxText), checkTags("Tags", e.Tags),
		checkTexts(maxText, "Insight", e.Insight, "Outcome", e.Outcome, "Trust", e.Trust), checkObject("Metadata", e.Metadata)); err != nil {
		return nil, err
	}
	params := &db.ExperienceRecordParams{
		AppName: scope.AppName, FromSeq: e.FromSeq, Insight: nonEmpty(e.Insight), Metadata: orEmptyObject(e.Metadata),
		Now: s.now(), Outcome: or(e.Outcome, OutcomeSuccess), Retries: int32(e.Retries), Source: "experience",
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
		params.Steps = new(int32(*e.Steps))
	}
	row, err := s.queries.ExperienceRecord(ctx, s.bound(scope), params)
	if err != nil {
		return nil, fmt.Errorf("record an experience: %w", db.WrapGo(err))
	}
	return new(ExperienceDecision(*row)), nil
}

// Lesson is a rule that was learned.
type Lesson struct {
	ID             uuid.UUID `json:"id"`
	Rule           string    `json:"rule"`
	Domain         string    `json:"domain"`
	Confidence     float64   `json:"confidence"`
	Source         string    `json:"source"`
	Key            string    `json:"key"`
	EncounterCount int       `json:"encounter_count"`
	ValidFrom      time.Time `json:"valid_from"`
	RecordedAt     time.Time `json:"recorded_at"`
}

// LessonOptions are the options of [OpenMemoryService.RecordLesson].
type LessonOptions struct {
	// Confidence is how sure it is, 0 to 1.
	//
	// Defaults to 0.8.
	Confidence *float64
	// Domain is what field it is of.
	//
	// Defaults to general.
	Domain string
	// Key names what it is about: another rule of the same key contradicts it.
	//
	// Defaults to one of its own.
	Key string
	// Source is where it came from.
	//
	// Defaults to user_correction.
	Source string
}

// RecordLesson states a rule that was learned and returns its fact. The same rule again confirms it;
// another rule of the same key contradicts it, and takes its place unless it is much less sure.
//
// Errors: [db.ErrInvalidScope]; [db.ErrInvalidArgument], [db.ErrInvalidText], [db.ErrTooLarge].
func (s *OpenMemoryService) RecordLesson(ctx context.Context, scope Scope, rule string, opts *LessonOptions) (uuid.UUID, error) {
	if opts == nil {
		opts = &LessonOptions{}
	}
	if err := errors.Join(checkScope(scope), checkName("rule", rule, maxText), checkShare("Confidence", opts.Confidence),
		checkTexts(maxID, "Domain", opts.Domain, "Key", opts.Key, "Source", opts.Source)); err != nil {
		return uuid.Nil, err
	}
	id, err := s.queries.LessonRecord(ctx, s.bound(scope), &db.LessonRecordParams{
		AppName: scope.AppName, Confidence: orValue(opts.Confidence, 0.8), Domain: or(opts.Domain, "general"),
		Key: nonEmpty(opts.Key), Now: s.now(), Rule: rule, Source: or(opts.Source, "user_correction"), UserID: scope.UserID,
	})
	if err != nil {
		return uuid.Nil, fmt.Errorf("record a lesson: %w", db.WrapGo(err))
	}
	return id, nil
}

// WeighLesson confirms or contradicts a lesson, with a weight of 0 to 1, and returns its confidence.
// One that has lost too much no longer holds.
//
// Errors: [db.ErrInvalidScope]; [db.ErrNotFound]; [db.ErrInvalidArgument].
func (s *OpenMemoryService) WeighLesson(ctx context.Context, scope Scope, id uuid.UUID, confirmed bool, weight float64) (float64, error) {
	if err := errors.Join(checkScope(scope), checkShare("weight", &weight)); err != nil {
		return 0, err
	}
	confidence, err := s.queries.LessonWeigh(ctx, s.bound(scope), &db.LessonWeighParams{
		AppName: scope.AppName, Confirmed: confirmed, LessonID: id, Now: s.now(), UserID: scope.UserID, Weight: weight,
	})
	if err != nil {
		return 0, fmt.Errorf("weigh a lesson: %w", db.WrapGo(err))
	}
	return confidence, nil
}

// Lessons lists the lessons that hold, the surest first; of one domain, or of all for "".
//
// Errors: [db.ErrInvalidScope]; [db.ErrInvalidText].
func (s *OpenMemoryService) Lessons(ctx context.Context, scope Scope, domain string) ([]*Lesson, error) {
	if err := errors.Join(checkScope(scope), checkText("domain", domain, maxID)); err != nil {
		return nil, err
	}
	rows, err := s.queries.LessonList(ctx, s.bound(scope), &db.LessonListParams{
		AppName: scope.AppName, Domain: nonEmpty(domain), MaxRows: maxLimit, UserID: scope.UserID,
	})
	if err != nil {
		return nil, fmt.Errorf("list lessons: %w", db.WrapGo(err))
	}
	lessons := make([]*Lesson, len(rows))
	for i, r := range rows {
		lessons[i] = &Lesson{
			Confidence: r.Confidence, Domain: r.Domain, EncounterCount: int(r.EncounterCount), ID: r.ID, Key: r.Key,
			RecordedAt: r.RecordedAt, Rule: r.Rule, Source: r.Source, ValidFrom: r.ValidFrom,
		}
	}
	return lessons, nil
}
