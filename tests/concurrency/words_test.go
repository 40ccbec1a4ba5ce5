package concurrency_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/tests/words"
)

// Many who remember, append, forget, delete, roll back and fold at once leave an index of words that
// agrees with what it indexes.
func TestWordsOfManyWriters(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const writers, steps = 8, 40
	thread := b.thread(t, b.ada)
	together(t, writers, func(ctx context.Context, w int) error {
		rnd := rand.New(rand.NewPCG(uint64(w), 1)) // the same each time
		for i := range steps {
			word := fmt.Sprintf("word%d tea%d %d-%d", rnd.IntN(9), rnd.IntN(99), w, i)
			sql := []string{
				"SELECT hippocampus.remember('ada', 'app', $1)",
				"SELECT hippocampus.remember('ada', 'app', $1)",
				"SELECT hippocampus.append_event('" + thread.String() + "', 'user', 'message', to_jsonb($1::text))",
				`SELECT hippocampus.forget('ada', 'app', ARRAY(SELECT m.id FROM hippocampus.memories m
					WHERE m.user_id = 'ada' AND m.content <> $1 ORDER BY md5(m.id::text || $1) LIMIT 3))`,
				"DELETE FROM hippocampus.memories WHERE user_id = 'ada' AND left(md5(id::text || $1), 1) = '0'",
				"SELECT hippocampus._fold_terms('ada', 'app', 'memory', 1) WHERE $1 <> ''",
				"SELECT hippocampus.fold_terms('ada', 'app') WHERE $1 <> ''",
			}[rnd.IntN(7)]
			tx, err := b.Begin(ctx)
			if err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, sql, word); err != nil {
				return err
			}
			if rnd.IntN(5) == 0 {
				err = tx.Rollback(ctx)
			} else {
				err = tx.Commit(ctx)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	require.Empty(t, words.Faults(t, b, "ada", "app"))
}
