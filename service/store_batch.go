package service

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/pgvector/pgvector-go"

	"github.com/hippocampus-memory/hippocampus/db"
)

// maxStoreOps bounds a batch.
const maxStoreOps = 1000

// StoreOp is one operation of [OpenMemoryService.StoreBatch]. One of its fields is set.
type StoreOp struct {
	Delete *StoreKey
	Get    *StoreKey
	List   *StoreNamespacesOptions
	Put    *StorePutOp
	Search *StoreSearchOp
}

// StoreKey names an item.
type StoreKey struct {
	Namespace []string
	Key       string
	// RefreshTTL lets an item that is read live its TTL again from now on.
	RefreshTTL bool
}

// StorePutOp is a put: see [OpenMemoryService.StorePut].
type StorePutOp struct {
	StorePutOptions
	Namespace []string
	Key       string
	Value     json.RawMessage
}

// StoreSearchOp is a search: see [OpenMemoryService.StoreSearch].
type StoreSearchOp struct {
	StoreSearchOptions
	NamespacePrefix []string
}

// StoreResult is what came of a [StoreOp]: of the field that was set there, the one of the same
// purpose here.
type StoreResult struct {
	// Deleted is whether a delete found an item.
	Deleted bool
	// Item is what was put or got; nil where a get found none.
	Item *StoreItem
	// Namespaces are those that were listed.
	Namespaces [][]string
	// Found is what a search found.
	Found *StoreSearchResponse
}

// StoreBatch does up to 1,000 operations in one transaction: all of them, or none where one fails,
// which the error names. They are done in their order, so that a get sees what a put before it
// wrote, and of two puts of a key the last one holds; the results are in the same order. What
// searches ask for is embedded before a connection is taken.
//
// Errors: those of the operations; [db.ErrInvalidArgument] for an operation with none of its fields
// set, or several, and for too many.
func (s *OpenMemoryService) StoreBatch(ctx context.Context, scope Scope, ops []*StoreOp) ([]*StoreResult, error) {
	searches, err := s.checkStoreOps(scope, ops)
	if err != nil {
		return nil, err
	}
	embedded, err := s.embedSearches(ctx, ops, searches)
	if err != nil {
		return nil, err
	}
	var results []*StoreResult
	run := func() error {
		return db.WithScope(ctx, s.pool, scope, func(tx pgx.Tx) error {
			return s.asModel(ctx, tx, func() (err error) {
				results, err = s.storeBatch(ctx, tx, scope, ops, searches)
				return err
			})
		})
	}
	if err = run(); len(embedded) > 0 && s.outlived(ctx, err) { // the whole of it again: what was done is rolled back
		for _, search := range embedded {
			search.params.QueryEmbedding, search.degraded = nil, true
		}
		err = run()
	}
	return results, err
}

// embedSearches gives each search its vector, the caller's or the embedder's, and tells which are the embedder's. The
// embedder is asked once for all of them.
func (s *OpenMemoryService) embedSearches(
	ctx context.Context, ops []*StoreOp, searches map[int]*storeSearch,
) (embedded []*storeSearch, err error) {
	var (
		asked   []*storeSearch
		queries []string
	)
	for i, op := range ops {
		switch search := searches[i]; {
		case search == nil:
		case op.Search.QueryEmbedding != nil:
			search.params.QueryEmbedding = new(pgvector.NewVector(op.Search.QueryEmbedding))
		case strings.TrimSpace(op.Search.Query) != "":
			asked, queries = append(asked, search), append(queries, op.Search.Query)
		}
	}
	vectors, degraded, err := s.embedQueries(ctx, queries)
	if err != nil {
		return nil, err
	}
	for i, search := range asked {
		if search.degraded = degraded; degraded || vectors[i] == nil {
			continue
		}
		search.params.QueryEmbedding = vectors[i]
		embedded = append(embedded, search)
	}
	return embedded, nil
}

// StoreBatchTx does operations as [OpenMemoryService.StoreBatch] does.
//
// This variant joins the caller's transaction. It calls no embedder: a search without a
// QueryEmbedding is made by words. See the package's section on transactions.
func (s *OpenMemoryService) StoreBatchTx(
	ctx context.Context, tx pgx.Tx, scope Scope, ops []*StoreOp,
) (results []*StoreResult, err error) {
	searches, err := s.checkStoreOps(scope, ops)
	if err != nil {
		return nil, err
	}
	for i, search := range searches {
		if given := ops[i].Search.QueryEmbedding; given != nil {
			search.params.QueryEmbedding = new(pgvector.NewVector(given))
		}
	}
	err = s.joinAsModel(ctx, tx, scope, func() error {
		results, err = s.storeBatch(ctx, tx, scope, ops, searches)
		return err
	})
	return results, err
}

type storeSearch struct {
	params   *db.StoreSearchParams
	degraded bool
}

// checkStoreOps refuses a batch that can't be, and gives the parameters of its searches by their places.
func (s *OpenMemoryService) checkStoreOps(scope Scope, ops []*StoreOp) (map[int]*storeSearch, error) {
	if err := checkScope(scope); err != nil {
		return nil, err
	}
	if len(ops) > maxStoreOps {
		return nil, fmt.Errorf("%w: ops has %d operations, but may have %d", db.ErrInvalidArgument, len(ops), maxStoreOps)
	}
	searches := map[int]*storeSearch{}
	for i, op := range ops {
		set := 0
		if op != nil {
			for _, is := range []bool{op.Delete != nil, op.Get != nil, op.List != nil, op.Put != nil, op.Search != nil} {
				if is {
					set++
				}
			}
		}
		if set != 1 {
			return nil, fmt.Errorf("%w: ops[%d] has %d of Delete, Get, List, Put and Search set, but needs one", db.ErrInvalidArgument, i, set)
		}
		if err := op.checkKey(scope); err != nil { // before all keys are locked, or nobody could tell whose it is
			return nil, fmt.Errorf("ops[%d]: %w", i, err)
		}
		if op.Search == nil {
			continue
		}
		params, err := s.storeSearchParams(scope, op.Search.NamespacePrefix, &op.Search.StoreSearchOptions)
		if err != nil {
			return nil, fmt.Errorf("ops[%d]: %w", i, err)
		}
		searches[i] = &storeSearch{params: params}
	}
	return searches, nil
}

// checkKey refuses an item's name that can't be text.
func (op *StoreOp) checkKey(scope Scope) error {
	switch {
	case op.Delete != nil:
		return checkStoreKey(scope, op.Delete.Namespace, op.Delete.Key)
	case op.Get != nil:
		return checkStoreKey(scope, op.Get.Namespace, op.Get.Key)
	case op.Put != nil:
		return checkStoreKey(scope, op.Put.Namespace, op.Put.Key)
	}
	return nil
}

func (s *OpenMemoryService) storeBatch(
	ctx context.Context, tx pgx.Tx, scope Scope, ops []*StoreOp, searches map[int]*storeSearch,
) ([]*StoreResult, error) {
	if err := s.lockStoreKeys(ctx, tx, scope, ops); err != nil {
		return nil, err
	}
	results := make([]*StoreResult, len(ops))
	for i, op := range ops {
		r := &StoreResult{}
		var err error
		switch {
		case op.Delete != nil:
			r.Deleted, err = s.storeDelete(ctx, tx, scope, op.Delete.Namespace, op.Delete.Key)
		case op.Get != nil:
			r.Item, err = s.storeGet(ctx, tx, scope, op.Get.Namespace, op.Get.Key, &StoreGetOptions{RefreshTTL: op.Get.RefreshTTL})
		case op.List != nil:
			r.Namespaces, err = s.storeListNamespaces(ctx, tx, scope, op.List)
		case op.Put != nil:
			r.Item, err = s.storePut(ctx, tx, scope, op.Put.Namespace, op.Put.Key, op.Put.Value, &op.Put.StorePutOptions)
		default:
			if r.Found, err = s.storeSearch(ctx, tx, searches[i].params, op.Search.RefreshTTL); err == nil {
				r.Found.Degraded = searches[i].degraded
			}
		}
		if err != nil {
			return nil, fmt.Errorf("ops[%d]: %w", i, err)
		}
		results[i] = r
	}
	return results, nil
}

// lockStoreKeys holds the items that several operations write, so that two batches with the same items in another order
// follow each other.
func (s *OpenMemoryService) lockStoreKeys(ctx context.Context, tx pgx.Tx, scope Scope, ops []*StoreOp) error {
	type item struct {
		Key       string   `json:"key"`
		Namespace []string `json:"namespace"`
	}
	var items []item
	write := func(key string, namespace []string) {
		items = append(items, item{key, append([]string{}, namespace...)}) // no null: what cannot be is its operation's to refuse
	}
	for _, op := range ops {
		switch {
		case op.Delete != nil:
			write(op.Delete.Key, op.Delete.Namespace)
		case op.Put != nil:
			write(op.Put.Key, op.Put.Namespace)
		case op.Get != nil && op.Get.RefreshTTL:
			write(op.Get.Key, op.Get.Namespace)
		}
	}
	if len(items) < 2 {
		return nil
	}
	locked, err := json.Marshal(items)
	if err != nil {
		return fmt.Errorf("name the items of the batch: %w", err)
	}
	err = s.queries.StoreLockKeys(ctx, tx, &db.StoreLockKeysParams{AppName: scope.AppName, Items: locked, UserID: scope.UserID})
	if err != nil {
		return fmt.Errorf("lock the items of the batch: %w", db.WrapGo(err))
	}
	return nil
}
