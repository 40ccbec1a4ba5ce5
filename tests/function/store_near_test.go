package function_test

import (
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// A search below a namespace reads the vectors of that namespace, and ranks as one of the whole store does.
func TestStoreSearchReadsItsNamespace(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i := range 60 {
		namespace := []string{"notes", "tea"}
		if i >= 5 {
			namespace = []string{"notes", fmt.Sprint("of ", i%3)}
		}
		key := fmt.Sprint("item ", i)
		b.put(t, namespace, key, fmt.Sprintf(`{"text": "item %d"}`, i))
		b.exec(t, "SELECT hippocampus.put_embedding($1, $2, 'store', $3, $4)", b.UserID, b.AppName,
			get[uuid.UUID](t, b, "SELECT id FROM hippocampus.store_items WHERE user_id = $1 AND key = $2", b.UserID, key), nearTo(float64(i+1)/100))
	}
	read := func() int64 {
		return get[int64](t, b, `SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relid = 'hippocampus.embeddings'::regclass`)
	}
	asked := fmt.Sprintf("p_query_embedding => '%s', p_limit => 100", vector(1).String())
	before := read()
	near := b.storedKeys(t, []string{"notes", "tea"}, asked)
	require.Equal(t, []string{"item 4", "item 3", "item 2", "item 1", "item 0"}, near)
	require.LessOrEqual(t, read()-before, int64(10))
	var same []string
	for _, entry := range b.stored(t, nil, asked) {
		if entry.Namespace[1] == "tea" {
			same = append(same, entry.Key)
		}
	}
	require.Equal(t, near, same)
}
