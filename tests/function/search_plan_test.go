package function_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSearchReadsWhatItFound is about a user of many memories among users of few: by the statistics an average user has
// so few that reading all of them looks cheaper than reading what was found.
func TestSearchReadsWhatItFound(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.exec(t, "SELECT hippocampus.remember($1 || n, $2, 'tea ' || n, p_now => $3) FROM generate_series(1, 200) n", b.UserID, b.AppName, b.now)
	b.exec(t, "SELECT hippocampus.remember($1, $2, 'I moved, with tea ' || n, p_now => $3) FROM generate_series(1, 1500) n", b.UserID, b.AppName, b.now)
	b.exec(t, "ANALYZE hippocampus.memories")
	read := func() int64 {
		t.Helper()
		return get[int64](t, b, "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relid = 'hippocampus.memories'::regclass")
	}
	for _, query := range []string{"tea", "Which tea did I drink before I moved?"} {
		before := read()
		require.Len(t, b.search(t, query, ""), 10)
		require.Less(t, read()-before, int64(300), query)
	}
}
