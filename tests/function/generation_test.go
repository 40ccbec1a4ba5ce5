package function_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/db"
)

// A generation is watched by what is cheap to read, which tells what is left for good from what is tried again.
func TestEmbeddingProgress(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.exec(t, "UPDATE hippocampus.embedding_models SET model = 'ours' WHERE status = 'serving'")
	b.exec(t, "SELECT hippocampus.start_reembedding('theirs', 2)")
	generation := get[int32](t, b, "SELECT generation FROM hippocampus.embedding_models WHERE status = 'building'")
	progress := func() db.EmbeddingProgress {
		return rowOf[db.EmbeddingProgress](t, b, "SELECT * FROM hippocampus.embedding_progress($1, $2)", generation, b.now)
	}
	before := progress()
	require.Nil(t, before.QueuedAt)
	for _, text := range []string{"one", "two", "three"} {
		b.exec(t, "SELECT hippocampus.remember($1, $2, $3)", b.UserID, b.AppName, text)
	}
	b.exec(t, "UPDATE hippocampus.embedding_queue SET queued_at = $2, run_after = $2 WHERE generation = $1", generation, b.now)
	b.exec(t, "UPDATE hippocampus.embedding_models SET queued_at = $2, looked = 3 WHERE generation = $1", generation, b.now)
	got := progress()
	require.Equal(t, [4]int64{3, 3, 3, 3}, [4]int64{got.Looked, got.Waiting, got.Lacking, got.Tried})
	for _, c := range []struct {
		set   string
		tried int64
		after time.Duration
	}{
		{"error = 'rate limited', attempts = 1", 3, 12 * time.Second}, // its embedder asked for patience
		{"error = 'rate limited', attempts = 1", 0, time.Minute},      // for more than anybody would wait for
		{"error = 'no such text', attempts = 5", 0, 12 * time.Second}, // again and again
		{"error = NULL, attempts = 6", 3, 2 * time.Minute},            // under work
	} {
		b.exec(t, "UPDATE hippocampus.embedding_queue SET "+c.set+", run_after = $2 WHERE generation = $1", generation, b.now.Add(c.after))
		got := progress()
		require.Equal(t, [2]int64{3, c.tried}, [2]int64{got.Lacking, got.Tried}, c)
	}
	// Begun again, what failed is tried at once.
	b.exec(t, "UPDATE hippocampus.embedding_queue SET error = 'no key', attempts = 9 WHERE generation = $1", generation)
	b.exec(t, "SELECT hippocampus.start_reembedding('theirs', 2, $1)", b.now)
	require.Equal(t, int64(3), progress().Tried)
	b.refuses(t, "HC011", "there is no generation 99", "SELECT hippocampus.embedding_progress(99)")
}
