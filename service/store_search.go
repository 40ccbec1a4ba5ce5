package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/pgvector/pgvector-go"

	"github.com/hippocampus-memory/hippocampus/db"
)

// StoreSearchOptions are the options of [OpenMemoryService.StoreSearch].
type StoreSearchOptions struct {
	// Filter is a JSON object of what an item's fields must be: {"colour": "red"}, or
	// {"price": {"$gte": 10, "$lt": 20}} with $eq, $ne, $gt, $gte, $lt, $lte. Numbers compare as
	// numbers. A field that is not there passes no test.
	//
	// Defaults to {}.
	Filter json.RawMessage

	// Limit is the greatest number of items, 1 to 10,000.
	//
	// Defaults to the config's MaxSearchResults.
	Limit int

	// Offset is how many of the first items are left out.
	Offset int

	// Query is what is asked for, in words. Items that answer come best first, with a score.
	//
	// Defaults to nothing: all items, newest first.
	Query string

	// QueryEmbedding is the query's vector, from the deployment's embedding model.
	//
	// Defaults to what the config's Embedder makes of the query.
	QueryEmbedding []float32

	// RefreshTTL lets the items that are returned live their TTL again from now on.
	RefreshTTL bool
}

// StoreSearchResponse is what [OpenMemoryService.StoreSearch] found.
type StoreSearchResponse struct {
	Items []*StoreItem `json:"items"`
	// Degraded says that the embedder failed, or its vectors were dropped, and the search was made by words alone.
	Degraded bool `json:"degraded"`
}

// StoreSearch finds items whose namespace begins with segments, of which * stands for any one; none
// are all namespaces. The query is embedded before a connection is taken, as
// [OpenMemoryService.SearchMemory] does.
//
// Errors: as those of SearchMemory; [db.ErrInvalidArgument] for a filter that can't be.
func (s *OpenMemoryService) StoreSearch(
	ctx context.Context, scope Scope, namespacePrefix []string, opts *StoreSearchOptions,
) (*StoreSearchResponse, error) {
	params, err := s.storeSearchParams(scope, namespacePrefix, opts)
	if err != nil {
		return nil, err
	}
	if opts == nil {
		opts = &StoreSearchOptions{}
	}
	var response *StoreSearchResponse
	degraded, err := s.byMeaning(ctx, opts.Query, opts.QueryEmbedding, func(vector *pgvector.Vector) (err error) {
		params.QueryEmbedding = vector
		response, err = s.storeSearch(ctx, s.bound(scope), params, opts.RefreshTTL)
		return err
	})
	if err != nil {
		return nil, err
	}
	response.Degraded = degraded
	return response, nil
}

// StoreSearchTx finds items as [OpenMemoryService.StoreSearch] does.
//
// This variant joins the caller's transaction, so it finds what the transaction has written and not
// committed. It calls no embedder: without a QueryEmbedding it searches by words. See the package's
// section on transactions.
func (s *OpenMemoryService) StoreSearchTx(
	ctx context.Context, tx pgx.Tx, scope Scope, namespacePrefix []string, opts *StoreSearchOptions,
) (response *StoreSearchResponse, err error) {
	params, err := s.storeSearchParams(scope, namespacePrefix, opts)
	if err != nil {
		return nil, err
	}
	if opts != nil && opts.QueryEmbedding != nil {
		params.QueryEmbedding = new(pgvector.NewVector(opts.QueryEmbedding))
	}
	err = s.joinAsModel(ctx, tx, scope, func() error {
		response, err = s.storeSearch(ctx, tx, params, opts.refreshes())
		return err
	})
	return response, err
}

func (s *OpenMemoryService) storeSearch(
	ctx context.Context, conn db.DBTX, params *db.StoreSearchParams, refresh bool,
) (*StoreSearchResponse, error) {
	read := s.queries.StoreSearch
	if refresh {
		read = s.storeSearchRefreshed
	}
	rows, err := read(ctx, conn, params)
	if err != nil {
		return nil, fmt.Errorf("search the store: %w", db.WrapGo(err))
	}
	response := &StoreSearchResponse{Items: make([]*StoreItem, len(rows))}
	for i, row := range rows {
		response.Items[i] = newStoreItem(row)
	}
	return response, nil
}

func (s *OpenMemoryService) storeSearchRefreshed(
	ctx context.Context, conn db.DBTX, p *db.StoreSearchParams,
) ([]*db.StoreEntry, error) {
	return s.queries.StoreSearchRefreshed(ctx, conn, &db.StoreSearchRefreshedParams{
		AppName: p.AppName, Filter: p.Filter, MaxRows: p.MaxRows, NamespacePrefix: p.NamespacePrefix, Now: p.Now, Query: p.Query,
		QueryEmbedding: p.QueryEmbedding, SkipRows: p.SkipRows, UserID: p.UserID,
	})
}

func (o *StoreSearchOptions) refreshes() bool { return o != nil && o.RefreshTTL }

func (s *OpenMemoryService) storeSearchParams(
	scope Scope, prefix []string, opts *StoreSearchOptions,
) (*db.StoreSearchParams, error) {
	if opts == nil {
		opts = &StoreSearchOptions{}
	}
	err := errors.Join(checkScope(scope), checkSegments("namespacePrefix", prefix), checkText("Query", opts.Query, maxText),
		checkObject("Filter", opts.Filter), checkVector("QueryEmbedding", opts.QueryEmbedding))
	if err != nil {
		return nil, err
	}
	limit, err := checkLimit(opts.Limit, s.config.MaxSearchResults)
	if err != nil {
		return nil, err
	}
	if opts.Offset < 0 || opts.Offset > maxOffset {
		return nil, fmt.Errorf("%w: Offset is %d, but must be 0 to %d", db.ErrInvalidArgument, opts.Offset, maxOffset)
	}
	return &db.StoreSearchParams{
		AppName: scope.AppName, Filter: orEmptyObject(opts.Filter), MaxRows: limit, NamespacePrefix: orEmpty(prefix),
		Now: s.now(), Query: opts.Query, SkipRows: int32(opts.Offset), UserID: scope.UserID,
	}, nil
}

// StoreNamespacesOptions are the options of [OpenMemoryService.StoreListNamespaces].
type StoreNamespacesOptions struct {
	// Limit is the greatest number of namespaces, 1 to 10,000.
	//
	// Defaults to 100.
	Limit int

	// MaxDepth cuts namespaces to their first segments; what is the same then is listed once.
	//
	// Defaults to all segments.
	MaxDepth int

	// Offset is how many of the first namespaces are left out.
	Offset int

	// Prefix is what a namespace must begin with; * stands for any one segment.
	Prefix []string

	// Suffix is what a namespace must end with; * stands for any one segment.
	Suffix []string
}

// StoreListNamespaces lists the namespaces that have an item, in order.
//
// Errors: [db.ErrInvalidScope]; [db.ErrInvalidArgument]; [db.ErrInvalidText].
func (s *OpenMemoryService) StoreListNamespaces(
	ctx context.Context, scope Scope, opts *StoreNamespacesOptions,
) ([][]string, error) {
	return s.storeListNamespaces(ctx, s.bound(scope), scope, opts)
}

// StoreListNamespacesTx lists namespaces as [OpenMemoryService.StoreListNamespaces] does.
//
// This variant joins the caller's transaction. See the package's section on transactions.
func (s *OpenMemoryService) StoreListNamespacesTx(
	ctx context.Context, tx pgx.Tx, scope Scope, opts *StoreNamespacesOptions,
) (namespaces [][]string, err error) {
	err = joinScope(ctx, tx, scope, func() error {
		namespaces, err = s.storeListNamespaces(ctx, tx, scope, opts)
		return err
	})
	return namespaces, err
}

func (s *OpenMemoryService) storeListNamespaces(
	ctx context.Context, conn db.DBTX, scope Scope, opts *StoreNamespacesOptions,
) ([][]string, error) {
	if opts == nil {
		opts = &StoreNamespacesOptions{}
	}
	if err := errors.Join(checkScope(scope), checkSegments("Prefix", opts.Prefix), checkSegments("Suffix", opts.Suffix)); err != nil {
		return nil, err
	}
	limit, err := checkLimit(opts.Limit, 100)
	if err != nil {
		return nil, err
	}
	if opts.Offset < 0 || opts.Offset > maxOffset {
		return nil, fmt.Errorf("%w: Offset is %d, but must be 0 to %d", db.ErrInvalidArgument, opts.Offset, maxOffset)
	}
	if opts.MaxDepth < 0 || opts.MaxDepth > maxTags {
		return nil, fmt.Errorf("%w: MaxDepth is %d, but must be 1 to %d", db.ErrInvalidArgument, opts.MaxDepth, maxTags)
	}
	params := &db.StoreListNamespacesParams{
		AppName: scope.AppName, MaxRows: limit, Now: s.now(), Prefix: orEmpty(opts.Prefix), SkipRows: int32(opts.Offset),
		Suffix: orEmpty(opts.Suffix), UserID: scope.UserID,
	}
	if opts.MaxDepth > 0 {
		params.MaxDepth = new(int32(opts.MaxDepth))
	}
	rows, err := s.queries.StoreListNamespaces(ctx, conn, params)
	if err != nil {
		return nil, fmt.Errorf("list the store's namespaces: %w", db.WrapGo(err))
	}
	return rows, nil
}
