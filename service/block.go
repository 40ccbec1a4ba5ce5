package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hippocampus-memory/hippocampus/db"
)

// Block is a named text that an agent edits itself and always sees: it stands in every context
// window.
type Block struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	// Version grows with every write; what an optimistic writer compares.
	Version int64 `json:"version"`
	// TokenLimit is the most that Value may have.
	TokenLimit int       `json:"token_limit"`
	TokenCount int       `json:"token_count"`
	CreatedAt  time.Time `json:"created_at"`
	UpdatedAt  time.Time `json:"updated_at"`
}

// BlockOptions are the options of the writers of blocks.
type BlockOptions struct {
	// ExpectedVersion is the version that the caller has read, 0 for a block that must not be
	// there yet: if somebody else has written it since, it is a [db.ErrVersionConflict].
	//
	// Defaults to any.
	ExpectedVersion *int64

	// TokenLimit is the most tokens that the block may have from now on, 1 to 200,000. Only
	// [OpenMemoryService.SetBlock] changes it.
	//
	// Defaults to the block's own, and a new block's is 2000.
	TokenLimit *int
}

// Block reads a block. It is nil where there is none.
//
// Errors: [db.ErrInvalidScope]; [db.ErrInvalidArgument]; [db.ErrInvalidText].
func (s *OpenMemoryService) Block(ctx context.Context, scope Scope, key string) (*Block, error) {
	return s.block(ctx, s.bound(scope), scope, key)
}

// BlockTx reads a block as [OpenMemoryService.Block] does.
//
// This variant joins the caller's transaction, so it shows what the transaction has written and
// not committed. See the package's section on transactions.
func (s *OpenMemoryService) BlockTx(ctx context.Context, tx pgx.Tx, scope Scope, key string) (block *Block, err error) {
	err = joinScope(ctx, tx, scope, func() error {
		block, err = s.block(ctx, tx, scope, key)
		return err
	})
	return block, err
}

func (s *OpenMemoryService) block(ctx context.Context, conn db.DBTX, scope Scope, key string) (*Block, error) {
	if err := errors.Join(checkScope(scope), checkName("key", key, maxID)); err != nil {
		return nil, err
	}
	params := &db.BlockGetParams{AppName: scope.AppName, Key: key, UserID: scope.UserID}
	row, err := s.queries.BlockGet(ctx, conn, params)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil //nolint:nilnil // as the doc says
	}
	if err != nil {
		return nil, fmt.Errorf("read a block: %w", db.WrapGo(err))
	}
	return newBlock(row), nil
}

// Blocks lists a user's blocks by key.
//
// Errors: [db.ErrInvalidScope].
func (s *OpenMemoryService) Blocks(ctx context.Context, scope Scope) ([]*Block, error) {
	if err := checkScope(scope); err != nil {
		return nil, err
	}
	rows, err := s.queries.BlockList(ctx, s.bound(scope), &db.BlockListParams{AppName: scope.AppName, UserID: scope.UserID})
	if err != nil {
		return nil, fmt.Errorf("list blocks: %w", db.WrapGo(err))
	}
	blocks := make([]*Block, len(rows))
	for i, row := range rows {
		blocks[i] = newBlock(row)
	}
	return blocks, nil
}

// SetBlock writes a block's whole value, and makes the block where there is none.
//
// Errors: [db.ErrInvalidScope]; [db.ErrVersionConflict]; [db.ErrTooLarge] for a value over the
// block's limit; [db.ErrInvalidArgument]; [db.ErrInvalidText].
func (s *OpenMemoryService) SetBlock(
	ctx context.Context, scope Scope, key, value string, opts *BlockOptions,
) (*Block, error) {
	return s.setBlock(ctx, s.bound(scope), scope, key, value, opts)
}

// SetBlockTx writes a block as [OpenMemoryService.SetBlock] does.
//
// This variant joins the caller's transaction: the block says so if, and only if, it is so. Other
// writers of the block wait until the transaction ends. See the package's section on transactions.
func (s *OpenMemoryService) SetBlockTx(
	ctx context.Context, tx pgx.Tx, scope Scope, key, value string, opts *BlockOptions,
) (block *Block, err error) {
	err = joinScope(ctx, tx, scope, func() error {
		block, err = s.setBlock(ctx, tx, scope, key, value, opts)
		return err
	})
	return block, err
}

func (s *OpenMemoryService) setBlock(
	ctx context.Context, conn db.DBTX, scope Scope, key, value string, opts *BlockOptions,
) (*Block, error) {
	if err := errors.Join(checkScope(scope), checkName("key", key, maxID), checkText("value", value, maxText)); err != nil {
		return nil, err
	}
	params := &db.BlockSetParams{
		AppName: scope.AppName, ExpectedVersion: opts.expected(), Key: key, TokenCount: s.count(value),
		UserID: scope.UserID, Value: value,
	}
	if opts != nil && opts.TokenLimit != nil {
		if *opts.TokenLimit < 1 || *opts.TokenLimit > maxBlockTokens {
			return nil, fmt.Errorf("%w: TokenLimit is %d, but must be 1 to %d", db.ErrInvalidArgument, *opts.TokenLimit, maxBlockTokens)
		}
		params.TokenLimit = new(int32(*opts.TokenLimit))
	}
	row, err := s.queries.BlockSet(ctx, conn, params)
	if err != nil {
		return nil, fmt.Errorf("set a block: %w", db.WrapGo(err))
	}
	return newBlock(row), nil
}

// AppendBlock adds a line to a block, and makes the block where there is none. Two that append at
// once both have their line in it.
//
// Errors: as those of [OpenMemoryService.SetBlock].
func (s *OpenMemoryService) AppendBlock(
	ctx context.Context, scope Scope, key, text string, opts *BlockOptions,
) (*Block, error) {
	return s.editBlock(ctx, s.pool, scope, s.appendBlock(scope, key, text, opts))
}

// AppendBlockTx adds a line as [OpenMemoryService.AppendBlock] does.
//
// This variant joins the caller's transaction: the line stands if, and only if, what it tells is
// done. Other writers of the block wait until the transaction ends. See the package's section on
// transactions.
func (s *OpenMemoryService) AppendBlockTx(
	ctx context.Context, tx pgx.Tx, scope Scope, key, text string, opts *BlockOptions,
) (block *Block, err error) {
	err = joinScope(ctx, tx, scope, func() error {
		block, err = s.editBlock(ctx, tx, scope, s.appendBlock(scope, key, text, opts))
		return err
	})
	return block, err
}

// ReplaceInBlock replaces every match of a text in a block. The old text must match to the letter or, where it does not,
// as a window shows the block ([OpenMemoryService.Fence]).
//
// Errors: [db.ErrNotFound] where there is no such block; [db.ErrTextNotFound] where the old text
// does not stand in it; as those of [OpenMemoryService.SetBlock].
func (s *OpenMemoryService) ReplaceInBlock(
	ctx context.Context, scope Scope, key, oldText, newText string, opts *BlockOptions,
) (*Block, error) {
	return s.editBlock(ctx, s.pool, scope, s.replaceInBlock(scope, key, oldText, newText, opts))
}

// ReplaceInBlockTx replaces text as [OpenMemoryService.ReplaceInBlock] does.
//
// This variant joins the caller's transaction: the new text stands if, and only if, what it tells
// is done. Other writers of the block wait until the transaction ends. See the package's section
// on transactions.
func (s *OpenMemoryService) ReplaceInBlockTx(
	ctx context.Context, tx pgx.Tx, scope Scope, key, oldText, newText string, opts *BlockOptions,
) (block *Block, err error) {
	err = joinScope(ctx, tx, scope, func() error {
		block, err = s.editBlock(ctx, tx, scope, s.replaceInBlock(scope, key, oldText, newText, opts))
		return err
	})
	return block, err
}

// edit is a write whose outcome only the database knows.
type edit func(ctx context.Context, tx pgx.Tx) (*db.MemoryBlock, error)

func (s *OpenMemoryService) appendBlock(scope Scope, key, text string, opts *BlockOptions) edit {
	return func(ctx context.Context, tx pgx.Tx) (*db.MemoryBlock, error) {
		if err := errors.Join(checkName("key", key, maxID), checkText("text", text, maxText)); err != nil {
			return nil, err
		}
		row, err := s.queries.BlockAppend(ctx, tx, &db.BlockAppendParams{
			AppName: scope.AppName, ExpectedVersion: opts.expected(), Key: key, Text: text, UserID: scope.UserID,
		})
		if err != nil {
			return nil, fmt.Errorf("append to a block: %w", db.WrapGo(err))
		}
		return row, nil
	}
}

func (s *OpenMemoryService) replaceInBlock(scope Scope, key, oldText, newText string, opts *BlockOptions) edit {
	return func(ctx context.Context, tx pgx.Tx) (*db.MemoryBlock, error) {
		if err := errors.Join(checkName("key", key, maxID), checkText("oldText", oldText, maxText),
			checkText("newText", newText, maxText)); err != nil {
			return nil, err
		}
		row, err := s.queries.BlockReplace(ctx, tx, &db.BlockReplaceParams{
			AppName: scope.AppName, ExpectedVersion: opts.expected(), Key: key, NewText: newText, OldText: oldText,
			UserID: scope.UserID,
		})
		if err != nil {
			return nil, fmt.Errorf("replace in a block: %w", db.WrapGo(err))
		}
		return row, nil
	}
}

// editBlock makes an edit, counts what came of it, and takes it back if that is over the limit.
func (s *OpenMemoryService) editBlock(ctx context.Context, beginner db.Beginner, scope Scope, write edit) (*Block, error) {
	if err := checkScope(scope); err != nil {
		return nil, err
	}
	var block *Block
	err := db.WithScope(ctx, beginner, scope, func(tx pgx.Tx) error {
		row, err := write(ctx, tx)
		if err != nil {
			return err
		}
		row.TokenCount = int32(s.counter.Count(row.Value))
		if row.TokenCount > row.TokenLimit {
			return fmt.Errorf("%w: block %q would hold %d tokens, its limit is %d",
				db.ErrTooLarge, row.Key, row.TokenCount, row.TokenLimit)
		}
		block = newBlock(row)
		_, err = s.queries.TokenSetBlock(ctx, tx, &db.TokenSetBlockParams{
			AppName: row.AppName, Key: row.Key, TokenCount: row.TokenCount, UserID: row.UserID, Version: row.Version,
		})
		if err != nil {
			return fmt.Errorf("count a block's tokens: %w", db.WrapGo(err))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return block, nil
}

func (o *BlockOptions) expected() *int64 {
	if o == nil {
		return nil
	}
	return o.ExpectedVersion
}

func newBlock(row *db.MemoryBlock) *Block {
	return &Block{
		CreatedAt: row.CreatedAt, Key: row.Key, TokenCount: int(row.TokenCount), TokenLimit: int(row.TokenLimit),
		UpdatedAt: row.UpdatedAt, Value: row.Value, Version: row.Version,
	}
}
