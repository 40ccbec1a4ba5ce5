package concurrency_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStore(t *testing.T) {
	t.Parallel()

	t.Run("OneItemOfManySessions", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		together(t, 48, func(ctx context.Context, i int) error {
			_, err := b.Exec(ctx, "SELECT hippocampus.store_put('ada', 'app', '{notes}', 'tea', jsonb_build_object('text', 'cup ' || $1::text))",
				fmt.Sprint(i%5))
			return err
		})
		require.Equal(t, 1, get[int](t, b, "SELECT count(*) FROM hippocampus.store_items"))
		require.Equal(t, 1, get[int](t, b, "SELECT count(*) FROM hippocampus.embedding_queue"))
		require.Equal(t, 1, get[int](t, b, `SELECT count(*) FROM hippocampus.row_terms r
			WHERE NOT EXISTS (SELECT FROM hippocampus.unindexed_rows n WHERE n.id = r.id)`))
	})

	t.Run("RefreshedWrittenAndSweptAtOnce", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		for i := range 10 {
			_, err := b.Exec(t.Context(), "SELECT hippocampus.store_put('ada', 'app', '{notes}', $1, '{\"text\": \"tea\"}', p_ttl => '1 hour')", fmt.Sprint(i))
			require.NoError(t, err)
		}
		together(t, 24, func(ctx context.Context, i int) error {
			sql := []string{
				"SELECT count(*) FROM hippocampus.store_refresh('ada', 'app', ARRAY(SELECT e FROM hippocampus.store_search('ada', 'app', p_query => 'tea') e))",
				"SELECT count(*) FROM hippocampus.store_refresh('ada', 'app', ARRAY(SELECT e FROM hippocampus.store_search('ada', 'app') e))",
				"SELECT hippocampus.sweep_store()",
				"SELECT hippocampus.store_put('ada', 'app', '{notes}', '3', jsonb_build_object('text', 'tea ' || clock_timestamp()), p_ttl => '1 hour')",
			}[i%4]
			_, err := b.Exec(ctx, sql)
			return err
		})
		require.Equal(t, 10, get[int](t, b, "SELECT count(*) FROM hippocampus.store_items"))
	})
}
