package service_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/service"
)

func TestStore(t *testing.T) {
	t.Parallel()
	notes := []string{"notes", "travel"}

	t.Run("FindsByVector", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &service.Config{Embedder: newEmbedder(t)})
		_, err := b.svc.StorePut(t.Context(), ada, notes, "tea", json.RawMessage(`{"text": "green tea"}`), nil)
		require.NoError(t, err)
		found, err := b.svc.StoreSearch(t.Context(), ada, nil, &service.StoreSearchOptions{Query: "tea"})
		require.NoError(t, err)
		require.False(t, found.Degraded)
		require.Len(t, found.Items, 1)
		require.Positive(t, *found.Items[0].Score)
	})

	t.Run("KeepsUsersApart", func(t *testing.T) {
		t.Parallel()
		b := setup(t, nil)
		_, err := b.svc.StorePut(t.Context(), ada, notes, "tea", json.RawMessage(`{"text": "green tea"}`), nil)
		require.NoError(t, err)
		other := service.Scope{UserID: "not ada", AppName: ada.AppName}
		item, err := b.svc.StoreGet(t.Context(), other, notes, "tea", nil)
		require.NoError(t, err)
		require.Nil(t, item)
		found, err := b.svc.StoreSearch(t.Context(), other, nil, &service.StoreSearchOptions{Query: "tea"})
		require.NoError(t, err)
		require.Empty(t, found.Items)
		deleted, err := b.svc.StoreDelete(t.Context(), other, notes, "tea")
		require.NoError(t, err)
		require.False(t, deleted)
		namespaces, err := b.svc.StoreListNamespaces(t.Context(), other, nil)
		require.NoError(t, err)
		require.Empty(t, namespaces)
	})

	t.Run("LivesItsTime", func(t *testing.T) {
		t.Parallel()
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		b := setup(t, &service.Config{Now: func() time.Time { return now }})
		item, err := b.svc.StorePut(t.Context(), ada, notes, "tea", json.RawMessage(`{"n": 1}`), &service.StorePutOptions{TTL: 90 * time.Second})
		require.NoError(t, err)
		require.True(t, item.ExpiresAt.Equal(now.Add(90*time.Second)))
		now = now.Add(time.Minute)
		item, err = b.svc.StoreGet(t.Context(), ada, notes, "tea", &service.StoreGetOptions{RefreshTTL: true})
		require.NoError(t, err)
		require.True(t, item.ExpiresAt.Equal(now.Add(90*time.Second)))
		now = now.Add(90 * time.Second)
		item, err = b.svc.StoreGet(t.Context(), ada, notes, "tea", nil)
		require.NoError(t, err)
		require.Nil(t, item)
	})

	t.Run("RefusesWhatCannotBe", func(t *testing.T) {
		t.Parallel()
		b := setup(t, nil)
		empty := json.RawMessage(`{}`)
		put := func(namespace []string, key string, value json.RawMessage, opts *service.StorePutOptions) error {
			_, err := b.svc.StorePut(t.Context(), ada, namespace, key, value, opts)
			return err
		}
		require.ErrorIs(t, put(nil, "k", empty, nil), db.ErrInvalidArgument)
		require.ErrorIs(t, put(notes, "", empty, nil), db.ErrInvalidArgument)
		require.ErrorIs(t, put(notes, "k\x00", empty, nil), db.ErrInvalidText)
		require.ErrorIs(t, put([]string{"\xff"}, "k", empty, nil), db.ErrInvalidText)
		require.ErrorIs(t, put(notes, "k", json.RawMessage(`[]`), nil), db.ErrInvalidArgument)
		require.ErrorIs(t, put(notes, "k", json.RawMessage(`{"t": "\u0000"}`), nil), db.ErrInvalidText)
		require.ErrorIs(t, put(notes, "k", empty, &service.StorePutOptions{TTL: -1}), db.ErrInvalidArgument)
		require.ErrorIs(t, put(notes, "k", empty, &service.StorePutOptions{Index: []string{"a..b"}}), db.ErrInvalidArgument)
		_, err := b.svc.StoreSearch(t.Context(), ada, nil, &service.StoreSearchOptions{Filter: json.RawMessage(`{"a": {"$in": [1]}}`)})
		require.ErrorIs(t, err, db.ErrInvalidArgument)
		_, err = b.svc.StoreSearch(t.Context(), ada, nil, &service.StoreSearchOptions{Offset: -1})
		require.ErrorIs(t, err, db.ErrInvalidArgument)
		_, err = b.svc.StoreListNamespaces(t.Context(), ada, &service.StoreNamespacesOptions{MaxDepth: -1})
		require.ErrorIs(t, err, db.ErrInvalidArgument)
	})

	t.Run("TxJoinsTheCallers", func(t *testing.T) {
		t.Parallel()
		b := setup(t, nil)
		undone := errors.New("undone")
		err := pgx.BeginFunc(t.Context(), b.pool, func(tx pgx.Tx) error {
			_, err := b.svc.StorePutTx(t.Context(), tx, ada, notes, "tea", json.RawMessage(`{"text": "green tea", "cups": 10}`), nil)
			require.NoError(t, err)
			item, err := b.svc.StoreGetTx(t.Context(), tx, ada, notes, "tea", nil)
			require.NoError(t, err)
			require.JSONEq(t, `{"text": "green tea", "cups": 10}`, string(item.Value))
			found, err := b.svc.StoreSearchTx(t.Context(), tx, ada, []string{"notes"}, &service.StoreSearchOptions{
				Query: "tea", Filter: json.RawMessage(`{"cups": {"$gt": 9}}`),
			})
			require.NoError(t, err)
			require.Len(t, found.Items, 1)
			namespaces, err := b.svc.StoreListNamespacesTx(t.Context(), tx, ada, &service.StoreNamespacesOptions{MaxDepth: 1})
			require.NoError(t, err)
			require.Equal(t, [][]string{{"notes"}}, namespaces)
			deleted, err := b.svc.StoreDeleteTx(t.Context(), tx, ada, notes, "tea")
			require.NoError(t, err)
			require.True(t, deleted)
			_, err = b.svc.StorePutTx(t.Context(), tx, ada, notes, "tea", json.RawMessage(`{}`), nil)
			require.NoError(t, err)
			return undone
		})
		require.ErrorIs(t, err, undone)
		item, err := b.svc.StoreGet(t.Context(), ada, notes, "tea", nil)
		require.NoError(t, err)
		require.Nil(t, item)
	})
}
