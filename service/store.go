package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hippocampus-memory/hippocampus/db"
)

// StoreItem is a value that was kept by namespace and key.
type StoreItem struct {
	// Namespace is 1 to 32 segments, such as "notes", "travel".
	Namespace []string `json:"namespace"`
	Key       string   `json:"key"`
	// Value is a JSON object.
	Value     json.RawMessage `json:"value"`
	CreatedAt time.Time       `json:"created_at"`
	UpdatedAt time.Time       `json:"updated_at"`
	// ExpiresAt is when its time is over; nil for never.
	ExpiresAt *time.Time `json:"expires_at,omitempty"`
	// Score is how well it answers a search; nil where nothing was asked for.
	Score *float64 `json:"score,omitempty"`
}

// StorePutOptions are the options of [OpenMemoryService.StorePut].
type StorePutOptions struct {
	// Index names the paths of the value that a search looks at: title, author.name, notes[*].text,
	// tags[-1]. An empty list, not nil, keeps the item out of searches with a question.
	//
	// Defaults to the whole value.
	Index []string

	// TTL is how long the item lives, at most 100 years. It is rounded to microseconds.
	//
	// Defaults to for ever.
	TTL time.Duration
}

// StorePut stores a JSON object under a namespace and a key, in place of one that is there. It is
// found by its words at once, and by its meaning when a worker has embedded it.
//
// Errors: [db.ErrInvalidScope]; [db.ErrInvalidArgument] and [db.ErrInvalidText] for a namespace,
// key, value, path or TTL that can't be; [db.ErrTooLarge] for a value beyond 1 MiB.
func (s *OpenMemoryService) StorePut(
	ctx context.Context, scope Scope, namespace []string, key string, value json.RawMessage, opts *StorePutOptions,
) (*StoreItem, error) {
	return s.storePut(ctx, s.bound(scope), scope, namespace, key, value, opts)
}

// StorePutTx stores an item as [OpenMemoryService.StorePut] does.
//
// This variant joins the caller's transaction: the item is there if, and only if, what it tells is
// done. Other writers of the item wait until the transaction ends. See the package's section on
// transactions.
func (s *OpenMemoryService) StorePutTx(
	ctx context.Context, tx pgx.Tx, scope Scope, namespace []string, key string, value json.RawMessage, opts *StorePutOptions,
) (item *StoreItem, err error) {
	err = joinScope(ctx, tx, scope, func() error {
		item, err = s.storePut(ctx, tx, scope, namespace, key, value, opts)
		return err
	})
	return item, err
}

func (s *OpenMemoryService) storePut(
	ctx context.Context, conn db.DBTX, scope Scope, namespace []string, key string, value json.RawMessage, opts *StorePutOptions,
) (*StoreItem, error) {
	if opts == nil {
		opts = &StorePutOptions{}
	}
	if err := errors.Join(checkStoreKey(scope, namespace, key), checkJSON("value", value), checkSegments("Index", opts.Index)); err != nil {
		return nil, err
	}
	params := &db.StorePutParams{
		AppName: scope.AppName, Index: opts.Index, Key: key, Namespace: orEmpty(namespace), Now: s.now(), UserID: scope.UserID, Value: value,
	}
	if opts.TTL != 0 {
		params.TTLSeconds = new(opts.TTL.Seconds())
	}
	row, err := s.queries.StorePut(ctx, conn, params)
	if err != nil {
		return nil, fmt.Errorf("put into the store: %w", db.WrapGo(err))
	}
	return newStoreItem(row), nil
}

// StoreGetOptions are the options of [OpenMemoryService.StoreGet].
type StoreGetOptions struct {
	// RefreshTTL lets the item live its TTL again from now on.
	RefreshTTL bool
}

// StoreGet reads an item. It is nil where there is none, or its time is over.
//
// Errors: [db.ErrInvalidScope]; [db.ErrInvalidArgument]; [db.ErrInvalidText].
func (s *OpenMemoryService) StoreGet(
	ctx context.Context, scope Scope, namespace []string, key string, opts *StoreGetOptions,
) (*StoreItem, error) {
	return s.storeGet(ctx, s.bound(scope), scope, namespace, key, opts)
}

// StoreGetTx reads an item as [OpenMemoryService.StoreGet] does.
//
// This variant joins the caller's transaction, so it shows what the transaction has written and
// not committed. See the package's section on transactions.
func (s *OpenMemoryService) StoreGetTx(
	ctx context.Context, tx pgx.Tx, scope Scope, namespace []string, key string, opts *StoreGetOptions,
) (item *StoreItem, err error) {
	err = joinScope(ctx, tx, scope, func() error {
		item, err = s.storeGet(ctx, tx, scope, namespace, key, opts)
		return err
	})
	return item, err
}

func (s *OpenMemoryService) storeGet(
	ctx context.Context, conn db.DBTX, scope Scope, namespace []string, key string, opts *StoreGetOptions,
) (*StoreItem, error) {
	if err := checkStoreKey(scope, namespace, key); err != nil {
		return nil, err
	}
	params := &db.StoreGetParams{
		AppName: scope.AppName, Key: key, Namespace: orEmpty(namespace), Now: s.now(), UserID: scope.UserID,
	}
	read := s.queries.StoreGet
	if opts != nil && opts.RefreshTTL {
		read = s.storeGetRefreshed
	}
	row, err := read(ctx, conn, params)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil //nolint:nilnil // as the doc says
	}
	if err != nil {
		return nil, fmt.Errorf("get from the store: %w", db.WrapGo(err))
	}
	return newStoreItem(row), nil
}

func (s *OpenMemoryService) storeGetRefreshed(ctx context.Context, conn db.DBTX, p *db.StoreGetParams) (*db.StoreEntry, error) {
	return s.queries.StoreGetRefreshed(ctx, conn, &db.StoreGetRefreshedParams{
		AppName: p.AppName, Key: p.Key, Namespace: p.Namespace, Now: p.Now, UserID: p.UserID,
	})
}

// StoreDelete deletes an item with its words and its vector, and tells whether there was one.
//
// Errors: [db.ErrInvalidScope]; [db.ErrInvalidArgument]; [db.ErrInvalidText].
func (s *OpenMemoryService) StoreDelete(ctx context.Context, scope Scope, namespace []string, key string) (bool, error) {
	return s.storeDelete(ctx, s.bound(scope), scope, namespace, key)
}

// StoreDeleteTx deletes an item as [OpenMemoryService.StoreDelete] does.
//
// This variant joins the caller's transaction. See the package's section on transactions.
func (s *OpenMemoryService) StoreDeleteTx(
	ctx context.Context, tx pgx.Tx, scope Scope, namespace []string, key string,
) (deleted bool, err error) {
	err = joinScope(ctx, tx, scope, func() error {
		deleted, err = s.storeDelete(ctx, tx, scope, namespace, key)
		return err
	})
	return deleted, err
}

func (s *OpenMemoryService) storeDelete(
	ctx context.Context, conn db.DBTX, scope Scope, namespace []string, key string,
) (bool, error) {
	if err := checkStoreKey(scope, namespace, key); err != nil {
		return false, err
	}
	deleted, err := s.queries.StoreDelete(ctx, conn, &db.StoreDeleteParams{
		AppName: scope.AppName, Key: key, Namespace: orEmpty(namespace), Now: s.now(), UserID: scope.UserID,
	})
	if err != nil {
		return false, fmt.Errorf("delete from the store: %w", db.WrapGo(err))
	}
	return deleted, nil
}

func checkStoreKey(scope Scope, namespace []string, key string) error {
	return errors.Join(checkScope(scope), checkText("key", key, maxText), checkSegments("namespace", namespace))
}

// checkSegments refuses segments that can't be text; what a namespace may be is the database's to say.
func checkSegments(name string, segments []string) error {
	for i, segment := range segments {
		if err := checkText(fmt.Sprintf("%s[%d]", name, i), segment, maxText); err != nil {
			return err
		}
	}
	return nil
}

func newStoreItem(row *db.StoreEntry) *StoreItem {
	return &StoreItem{
		CreatedAt: row.CreatedAt, ExpiresAt: row.ExpiresAt, Key: row.Key, Namespace: row.Namespace, Score: row.Score,
		UpdatedAt: row.UpdatedAt, Value: row.Value,
	}
}
