package service

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/hippocampus-memory/hippocampus/db"
)

// How a memory is linked with another.
const (
	LinkRelatedTo   = "related_to"
	LinkCausedBy    = "caused_by"
	LinkFollows     = "follows"
	LinkSupports    = "supports"
	LinkContradicts = "contradicts"
	LinkPartOf      = "part_of"
	LinkDerivedFrom = "derived_from" // forgotten with what it is derived from
)

// LinkOptions are the options of [OpenMemoryService.LinkMemories].
type LinkOptions struct {
	// Type is how the one is linked with the other.
	//
	// Defaults to related_to.
	Type string

	// Weight is how close they are, 0 to 1.
	//
	// Defaults to 1.
	Weight *float64
}

// LinkedOptions are the options of [OpenMemoryService.LinkedMemories].
type LinkedOptions struct {
	// Depth is how many links away a memory may be, 1 to 5.
	//
	// Defaults to 1.
	Depth int

	// Limit is the greatest number, 1 to 10,000.
	//
	// Defaults to 50.
	Limit int

	// Types are those of the links that are followed.
	//
	// Defaults to all.
	Types []string
}

// LinkMemories links a memory with another; again, it sets the weight of the link. Memories may be
// linked in circles.
//
// Errors: [db.ErrInvalidScope]; [db.ErrNotFound] where one is unknown; [db.ErrInvalidArgument].
func (s *OpenMemoryService) LinkMemories(ctx context.Context, scope Scope, from, to uuid.UUID, opts *LinkOptions) error {
	return s.linkMemories(ctx, s.bound(scope), scope, from, to, opts)
}

// LinkMemoriesTx links as [OpenMemoryService.LinkMemories] does.
//
// This variant joins the caller's transaction: both memories and their link are stored together.
// See the package's section on transactions.
func (s *OpenMemoryService) LinkMemoriesTx(
	ctx context.Context, tx pgx.Tx, scope Scope, from, to uuid.UUID, opts *LinkOptions,
) error {
	return joinScope(ctx, tx, scope, func() error { return s.linkMemories(ctx, tx, scope, from, to, opts) })
}

func (s *OpenMemoryService) linkMemories(
	ctx context.Context, conn db.DBTX, scope Scope, from, to uuid.UUID, opts *LinkOptions,
) error {
	o := orValue(opts, LinkOptions{})
	if err := checkScope(scope); err != nil {
		return err
	}
	if err := checkShare("Weight", o.Weight); err != nil {
		return err
	}
	if err := checkText("Type", o.Type, maxID); err != nil {
		return err
	}
	params := &db.LinkCreateParams{
		AppName: scope.AppName, FromID: from, LinkType: or(o.Type, LinkRelatedTo), ToID: to, UserID: scope.UserID, Weight: 1,
	}
	if o.Weight != nil {
		params.Weight = *o.Weight
	}
	if err := s.queries.LinkCreate(ctx, conn, params); err != nil {
		return fmt.Errorf("link memories: %w", db.WrapGo(err))
	}
	return nil
}

// UnlinkMemories takes links from one memory to another away, of a type, or all for "". It returns
// how many there were. What was derived from the other stays.
//
// Errors: [db.ErrInvalidScope].
func (s *OpenMemoryService) UnlinkMemories(ctx context.Context, scope Scope, from, to uuid.UUID, linkType string) (int, error) {
	return s.unlinkMemories(ctx, s.bound(scope), scope, from, to, linkType)
}

// UnlinkMemoriesTx takes links away as [OpenMemoryService.UnlinkMemories] does.
//
// This variant joins the caller's transaction. See the package's section on transactions.
func (s *OpenMemoryService) UnlinkMemoriesTx(
	ctx context.Context, tx pgx.Tx, scope Scope, from, to uuid.UUID, linkType string,
) (n int, err error) {
	err = joinScope(ctx, tx, scope, func() error {
		n, err = s.unlinkMemories(ctx, tx, scope, from, to, linkType)
		return err
	})
	return n, err
}

func (s *OpenMemoryService) unlinkMemories(
	ctx context.Context, conn db.DBTX, scope Scope, from, to uuid.UUID, linkType string,
) (int, error) {
	if err := checkScope(scope); err != nil {
		return 0, err
	}
	if err := checkText("linkType", linkType, maxID); err != nil {
		return 0, err
	}
	n, err := s.queries.LinkDelete(ctx, conn, &db.LinkDeleteParams{
		AppName: scope.AppName, FromID: from, LinkType: nonEmpty(linkType), ToID: to, UserID: scope.UserID,
	})
	if err != nil {
		return 0, fmt.Errorf("unlink memories: %w", db.WrapGo(err))
	}
	return int(n), nil
}

// LinkedMemories gives the memories that are linked with one, in either direction, nearest first.
// Their Score is the product of the weights on the way.
//
// Errors: [db.ErrInvalidScope]; [db.ErrInvalidArgument].
func (s *OpenMemoryService) LinkedMemories(
	ctx context.Context, scope Scope, id uuid.UUID, opts *LinkedOptions,
) ([]*Recollection, error) {
	return s.linkedMemories(ctx, s.bound(scope), scope, id, opts)
}

// LinkedMemoriesTx follows links as [OpenMemoryService.LinkedMemories] does.
//
// This variant joins the caller's transaction. See the package's section on transactions.
func (s *OpenMemoryService) LinkedMemoriesTx(
	ctx context.Context, tx pgx.Tx, scope Scope, id uuid.UUID, opts *LinkedOptions,
) (found []*Recollection, err error) {
	err = joinScope(ctx, tx, scope, func() error {
		found, err = s.linkedMemories(ctx, tx, scope, id, opts)
		return err
	})
	return found, err
}

func (s *OpenMemoryService) linkedMemories(
	ctx context.Context, conn db.DBTX, scope Scope, id uuid.UUID, opts *LinkedOptions,
) ([]*Recollection, error) {
	o := orValue(opts, LinkedOptions{})
	if err := checkScope(scope); err != nil {
		return nil, err
	}
	if err := checkTags("Types", o.Types); err != nil {
		return nil, err
	}
	limit, err := checkLimit(o.Limit, 50)
	if err != nil {
		return nil, err
	}
	if o.Depth < 0 || o.Depth > 5 {
		return nil, fmt.Errorf("%w: Depth is %d, not 1 to 5", db.ErrInvalidArgument, o.Depth)
	}
	rows, err := s.queries.LinkListLinked(ctx, conn, &db.LinkListLinkedParams{
		AppName: scope.AppName, Depth: int32(max(1, o.Depth)), LinkTypes: o.Types, MaxRows: limit, MemoryID: id, UserID: scope.UserID,
	})
	if err != nil {
		return nil, fmt.Errorf("follow links: %w", db.WrapGo(err))
	}
	return recollections(rows), nil
}
