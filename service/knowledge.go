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

// SaveOptions are the options of [OpenMemoryService.SaveMemory].
type SaveOptions struct {
	// Metadata is a JSON object. Of it, domain (which becomes a tag), source, confidence (0 to 1) and
	// tags are read; whatever else it says is kept.
	//
	// Defaults to {}.
	Metadata json.RawMessage
	// Trust is who says it: operator, user, agent or tool. What Metadata claims does not raise it.
	//
	// Defaults to user.
	Trust string
}

// SaveMemory stores something that was learned and returns the memory's id.
//
// Errors: [db.ErrInvalidScope]; [db.ErrInvalidArgument], [db.ErrInvalidText], [db.ErrTooLarge].
func (s *OpenMemoryService) SaveMemory(ctx context.Context, scope Scope, content string, opts *SaveOptions) (uuid.UUID, error) {
	return s.saveMemory(ctx, s.bound(scope), scope, content, opts)
}

// SaveMemoryTx stores what was learned as [OpenMemoryService.SaveMemory] does.
//
// This variant joins the caller's transaction. See the package's section on transactions.
func (s *OpenMemoryService) SaveMemoryTx(
	ctx context.Context, tx pgx.Tx, scope Scope, content string, opts *SaveOptions,
) (id uuid.UUID, err error) {
	err = joinScope(ctx, tx, scope, func() error {
		id, err = s.saveMemory(ctx, tx, scope, content, opts)
		return err
	})
	return id, err
}

func (s *OpenMemoryService) saveMemory(
	ctx context.Context, conn db.DBTX, scope Scope, content string, opts *SaveOptions,
) (uuid.UUID, error) {
	if opts == nil {
		opts = &SaveOptions{}
	}
	if err := errors.Join(checkScope(scope), checkName("content", content, maxText), checkText("Trust", opts.Trust, maxID),
		checkObject("Metadata", opts.Metadata)); err != nil {
		return uuid.Nil, err
	}
	id, err := s.queries.SaveMemory(ctx, conn, &db.SaveMemoryParams{
		AppName: scope.AppName, Content: content, Metadata: orEmptyObject(opts.Metadata), Now: s.now(),
		TokenCount: s.count(content), Trust: or(opts.Trust, TrustUser), UserID: scope.UserID,
	})
	if err != nil {
		return uuid.Nil, fmt.Errorf("save a memory: %w", db.WrapGo(err))
	}
	return id, nil
}

// UpdateKnowledgeBase writes a note of a category under a title, in place of the one that stands
// there, and returns the memory's id. trust is who says it; "" is agent.
//
// Errors: [db.ErrInvalidScope]; [db.ErrInvalidArgument], [db.ErrInvalidText], [db.ErrTooLarge].
func (s *OpenMemoryService) UpdateKnowledgeBase(
	ctx context.Context, scope Scope, category, title, content, trust string,
) (uuid.UUID, error) {
	return s.updateKnowledgeBase(ctx, s.bound(scope), scope, category, title, content, trust)
}

// UpdateKnowledgeBaseTx writes a note as [OpenMemoryService.UpdateKnowledgeBase] does.
//
// This variant joins the caller's transaction. See the package's section on transactions.
func (s *OpenMemoryService) UpdateKnowledgeBaseTx(
	ctx context.Context, tx pgx.Tx, scope Scope, category, title, content, trust string,
) (id uuid.UUID, err error) {
	err = joinScope(ctx, tx, scope, func() error {
		id, err = s.updateKnowledgeBase(ctx, tx, scope, category, title, content, trust)
		return err
	})
	return id, err
}

func (s *OpenMemoryService) updateKnowledgeBase(
	ctx context.Context, conn db.DBTX, scope Scope, category, title, content, trust string,
) (uuid.UUID, error) {
	if err := errors.Join(checkScope(scope), checkName("category", category, maxID), checkName("title", title, maxID),
		checkName("content", content, maxText), checkText("trust", trust, maxID)); err != nil {
		return uuid.Nil, err
	}
	id, err := s.queries.KnowledgeUpdate(ctx, conn, &db.KnowledgeUpdateParams{
		AppName: scope.AppName, Category: category, Content: content, Now: s.now(), Title: title, Trust: or(trust, TrustAgent),
		UserID: scope.UserID,
	})
	if err != nil {
		return uuid.Nil, fmt.Errorf("update the knowledge base: %w", db.WrapGo(err))
	}
	return id, nil
}

// LearningStats are counts of what was learned.
type LearningStats struct {
	Experiences            int64 `json:"experiences"`
	RetryRecovery          int64 `json:"retry_recovery"`
	ComplexExecution       int64 `json:"complex_execution"`
	Promoted               int64 `json:"promoted"`
	SkippedNoLearningValue int64 `json:"skipped_no_learning_value"`
	SkippedPartial         int64 `json:"skipped_partial"`
	SkippedFailure         int64 `json:"skipped_failure"`
	Lessons                int64 `json:"lessons"`
	Skills                 int64 `json:"skills"`
	Notes                  int64 `json:"notes"`
	// HarvestsDue are conversations that wait to be read for lessons.
	HarvestsDue int64 `json:"harvests_due"`
}

// LearningStats counts what a user's memory has learned, and what was skipped.
//
// Errors: [db.ErrInvalidScope].
func (s *OpenMemoryService) LearningStats(ctx context.Context, scope Scope) (*LearningStats, error) {
	if err := checkScope(scope); err != nil {
		return nil, err
	}
	row, err := s.queries.LearningStats(ctx, s.bound(scope), &db.LearningStatsParams{AppName: scope.AppName, UserID: scope.UserID})
	if err != nil {
		return nil, fmt.Errorf("count what was learned: %w", db.WrapGo(err))
	}
	return new(LearningStats(*row)), nil
}

// Instruction is a version of an app's instruction.
type Instruction struct {
	AppName string `json:"app_name"`
	Key     string `json:"key"`
	Version int    `json:"version"`
	Content string `json:"content"`
	// Restores is the version that a rollback brought back, 0 where it withdrew the instruction; nil
	// for a version that was written.
	Restores *int `json:"restores,omitempty"`
}

// PromoteExperience makes an experience the next version of an instruction, which all users of the
// app see in their windows: its task and insight, or, where content is not empty, a person's words.
// key "" is one made of the task. It runs as the pool's login, as [OpenMemoryService.PutInstruction].
//
// Errors: [db.ErrInvalidScope]; [db.ErrPermission]; [db.ErrNotFound]; [db.ErrInvalidArgument] for the
// words of a tool, an experience without an insight, or one that is an instruction already.
func (s *OpenMemoryService) PromoteExperience(
	ctx context.Context, scope Scope, memoryID uuid.UUID, key, content string,
) (*Instruction, error) {
	return s.promoteExperience(ctx, s.pool, scope, memoryID, key, content)
}

// PromoteExperienceTx promotes an experience as [OpenMemoryService.PromoteExperience] does.
//
// This variant joins the caller's transaction, with the rights that it has. Other writers of the
// instruction wait until it ends.
func (s *OpenMemoryService) PromoteExperienceTx(
	ctx context.Context, tx pgx.Tx, scope Scope, memoryID uuid.UUID, key, content string,
) (*Instruction, error) {
	return s.promoteExperience(ctx, tx, scope, memoryID, key, content)
}

func (s *OpenMemoryService) promoteExperience(
	ctx context.Context, conn db.DBTX, scope Scope, memoryID uuid.UUID, key, content string,
) (*Instruction, error) {
	if err := errors.Join(checkScope(scope), checkText("key", key, maxID), checkText("content", content, maxText)); err != nil {
		return nil, err
	}
	row, err := s.queries.ExperiencePromote(ctx, conn, &db.ExperiencePromoteParams{
		AppName: scope.AppName, Content: nonEmpty(content), InstructionKey: nonEmpty(key), MemoryID: memoryID, UserID: scope.UserID,
	})
	if err != nil {
		return nil, fmt.Errorf("promote an experience: %w", db.WrapGo(err))
	}
	return newInstruction(row), nil
}

// RollbackInstruction brings back a version of an instruction as a new version with its words; nil
// is the one before, 0 none: the instruction is withdrawn. Every version stays. It runs as the pool's
// login, as [OpenMemoryService.PutInstruction].
//
// Errors: [db.ErrInvalidScope] for the app's name; [db.ErrPermission]; [db.ErrNotFound] for a version
// that is not there; [db.ErrInvalidArgument].
func (s *OpenMemoryService) RollbackInstruction(ctx context.Context, appName, key string, version *int) (*Instruction, error) {
	return s.rollbackInstruction(ctx, s.pool, appName, key, version)
}

// RollbackInstructionTx brings back a version as [OpenMemoryService.RollbackInstruction] does.
//
// This variant joins the caller's transaction, with the rights that it has. Other writers of the
// instruction wait until it ends.
func (s *OpenMemoryService) RollbackInstructionTx(
	ctx context.Context, tx pgx.Tx, appName, key string, version *int,
) (*Instruction, error) {
	return s.rollbackInstruction(ctx, tx, appName, key, version)
}

func (s *OpenMemoryService) rollbackInstruction(
	ctx context.Context, conn db.DBTX, appName, key string, version *int,
) (*Instruction, error) {
	if err := errors.Join(checkScope(Scope{AppName: appName}), checkName("key", key, maxID)); err != nil {
		return nil, err
	}
	params := &db.InstructionRollbackParams{AppName: appName, InstructionKey: key}
	if version != nil {
		narrow, err := checkInt("version", *version)
		if err != nil {
			return nil, err
		}
		params.Version = &narrow
	}
	row, err := s.queries.InstructionRollback(ctx, conn, params)
	if err != nil {
		return nil, fmt.Errorf("roll back an instruction: %w", db.WrapGo(err))
	}
	return newInstruction(row), nil
}

func newInstruction(row *db.Instruction) *Instruction {
	i := &Instruction{AppName: row.AppName, Content: row.Content, Key: row.InstructionKey, Version: int(row.Version)}
	if row.Restores != nil {
		i.Restores = new(int(*row.Restores))
	}
	return i
}
