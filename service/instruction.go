package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/hippocampus-memory/hippocampus/db"
)

// InstructionOptions are the options of [OpenMemoryService.PutInstruction].
type InstructionOptions struct {
	// Metadata is a JSON object of the client's own, at most 256 KiB.
	//
	// Defaults to {}.
	Metadata json.RawMessage
}

// PutInstruction writes a new version of an app's instruction, which stands in the context windows
// of all of its users, and returns the version's number. Older versions stay.
//
// It runs as the pool's login, which must be a member of hippocampus_service: a tenant may not
// instruct the app's other users.
//
// Errors: [db.ErrInvalidScope] for the app's name; [db.ErrPermission]; [db.ErrInvalidArgument],
// [db.ErrInvalidText] and [db.ErrTooLarge] for a value that can't be stored, which the error names.
func (s *OpenMemoryService) PutInstruction(
	ctx context.Context, appName, key, content string, opts *InstructionOptions,
) (int, error) {
	return s.putInstruction(ctx, s.pool, appName, key, content, opts)
}

// PutInstructionTx writes an instruction as [OpenMemoryService.PutInstruction] does.
//
// This variant joins the caller's transaction, with the rights that it has. Other writers of the
// instruction wait until it ends.
func (s *OpenMemoryService) PutInstructionTx(
	ctx context.Context, tx pgx.Tx, appName, key, content string, opts *InstructionOptions,
) (int, error) {
	return s.putInstruction(ctx, tx, appName, key, content, opts)
}

func (s *OpenMemoryService) putInstruction(
	ctx context.Context, conn db.DBTX, appName, key, content string, opts *InstructionOptions,
) (int, error) {
	if opts == nil {
		opts = &InstructionOptions{}
	}
	if err := checkScope(Scope{AppName: appName}); err != nil {
		return 0, err
	}
	if err := errors.Join(checkName("key", key, maxID), checkName("content", content, maxText),
		checkObject("Metadata", opts.Metadata)); err != nil {
		return 0, err
	}
	version, err := s.queries.InstructionPut(ctx, conn, &db.InstructionPutParams{
		AppName: appName, Content: content, InstructionKey: key, Metadata: orEmptyObject(opts.Metadata),
		TokenCount: s.count(content),
	})
	if err != nil {
		return 0, fmt.Errorf("put an instruction: %w", db.WrapGo(err))
	}
	return int(version), nil
}
