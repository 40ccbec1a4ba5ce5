package service_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/service"
)

func TestStoreBatch(t *testing.T) {
	t.Parallel()
	place := []string{"notes", "travel"}
	put := func(key, value string, opts service.StorePutOptions) *service.StoreOp {
		return &service.StoreOp{Put: &service.StorePutOp{Key: key, Namespace: place, StorePutOptions: opts, Value: json.RawMessage(value)}}
	}
	at := func(key string) *service.StoreOp {
		return &service.StoreOp{Get: &service.StoreKey{Key: key, Namespace: place}}
	}

	// Results stand in the order of the operations, each of which sees what those before it did.
	t.Run("InOrder", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &service.Config{Embedder: newEmbedder(t)})
		results, err := b.svc.StoreBatch(t.Context(), ada, []*service.StoreOp{
			at("tea"),
			put("tea", `{"text": "green tea", "n": 1}`, service.StorePutOptions{}),
			put("coffee", `{"text": "black coffee", "n": 10}`, service.StorePutOptions{Index: []string{}}),
			at("tea"),
			{Search: &service.StoreSearchOp{NamespacePrefix: place[:1], StoreSearchOptions: service.StoreSearchOptions{Filter: json.RawMessage(`{"n": {"$gte": 9}}`)}}},
			{Search: &service.StoreSearchOp{StoreSearchOptions: service.StoreSearchOptions{Query: "tea"}}},
			{List: &service.StoreNamespacesOptions{MaxDepth: 1}},
			put("tea", `{"text": "white tea"}`, service.StorePutOptions{}),
			at("tea"),
			{Delete: &service.StoreKey{Key: "tea", Namespace: place}},
			{Delete: &service.StoreKey{Key: "tea", Namespace: place}},
			at("tea"),
		})
		require.NoError(t, err)
		require.Len(t, results, 12)
		require.Nil(t, results[0].Item)
		require.JSONEq(t, `{"text": "green tea", "n": 1}`, string(results[3].Item.Value))
		require.Equal(t, []string{"coffee"}, []string{results[4].Found.Items[0].Key})
		require.Len(t, results[5].Found.Items, 1)
		require.False(t, results[5].Found.Degraded)
		require.Equal(t, [][]string{{"notes"}}, results[6].Namespaces)
		require.JSONEq(t, `{"text": "white tea"}`, string(results[8].Item.Value))
		require.Equal(t, []bool{true, false}, []bool{results[9].Deleted, results[10].Deleted})
		require.Nil(t, results[11].Item)
		none, err := b.svc.StoreBatch(t.Context(), ada, nil)
		require.NoError(t, err)
		require.Empty(t, none)
	})

	t.Run("AllOrNone", func(t *testing.T) {
		t.Parallel()
		b := setup(t, nil)
		_, err := b.svc.StoreBatch(t.Context(), ada, []*service.StoreOp{
			put("tea", `{}`, service.StorePutOptions{}), {Get: &service.StoreKey{Key: "", Namespace: place}},
		})
		require.ErrorIs(t, err, db.ErrInvalidArgument)
		require.ErrorContains(t, err, "ops[1]")
		for _, ops := range [][]*service.StoreOp{{nil}, {{}}, {{Get: &service.StoreKey{}, List: &service.StoreNamespacesOptions{}}}, make([]*service.StoreOp, 1001)} {
			_, err = b.svc.StoreBatch(t.Context(), ada, ops)
			require.ErrorIs(t, err, db.ErrInvalidArgument)
		}
		item, err := b.svc.StoreGet(t.Context(), ada, place, "tea", nil)
		require.NoError(t, err)
		require.Nil(t, item)
	})

	// A name that can't be is refused by the operation's place, though all names are locked before the first is done.
	t.Run("NUL", func(t *testing.T) {
		t.Parallel()
		b := setup(t, nil)
		for want, op := range map[string]*service.StoreOp{
			"ops[1]: invalid text: key has a NUL at byte 1":          put("t\x00ea", `{}`, service.StorePutOptions{}),
			"ops[1]: invalid text: namespace[1] has a NUL at byte 0": {Delete: &service.StoreKey{Key: "tea", Namespace: []string{"notes", "\x00"}}},
			"ops[1]: invalid text: key has a NUL at byte 3":          {Get: &service.StoreKey{Key: "tea\x00", Namespace: place, RefreshTTL: true}},
		} {
			_, err := b.svc.StoreBatch(t.Context(), ada, []*service.StoreOp{put("tea", `{}`, service.StorePutOptions{}), op})
			require.ErrorIs(t, err, db.ErrInvalidText)
			require.ErrorContains(t, err, want)
		}
	})

	t.Run("JoinsATransaction", func(t *testing.T) {
		t.Parallel()
		b := setup(t, nil)
		ops := make([]*service.StoreOp, 100)
		for i := range ops {
			ops[i] = put(fmt.Sprint(i), `{"text": "tea"}`, service.StorePutOptions{})
		}
		err := b.begin(t, func(tx pgx.Tx) error {
			results, err := b.svc.StoreBatchTx(t.Context(), tx, ada, append(ops[:len(ops):len(ops)],
				&service.StoreOp{Search: &service.StoreSearchOp{StoreSearchOptions: service.StoreSearchOptions{Limit: 1000, Query: "tea"}}}))
			require.NoError(t, err)
			require.Len(t, results[100].Found.Items, 100)
			return errRollback
		})
		require.ErrorIs(t, err, errRollback)
		found, err := b.svc.StoreSearch(t.Context(), ada, nil, nil)
		require.NoError(t, err)
		require.Empty(t, found.Items)
	})

	// Batches of the same items in another order follow each other.
	t.Run("Together", func(t *testing.T) {
		t.Parallel()
		b := setup(t, nil)
		group, ctx := errgroup.WithContext(t.Context())
		for i := range 8 {
			group.Go(func() error {
				ops := []*service.StoreOp{}
				for k := range 20 {
					ops = append(ops, put(fmt.Sprint((k*(2*i+1)+i)%20), `{"text": "tea"}`, service.StorePutOptions{}))
				}
				for range 3 {
					if _, err := b.svc.StoreBatch(ctx, ada, ops); err != nil {
						return err
					}
				}
				return nil
			})
		}
		require.NoError(t, group.Wait())
	})
}
