package concurrency_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
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
	for what, sql := range map[string]string{
		"words that are not in the lists": `
			SELECT count(*) FROM hippocampus.row_terms r CROSS JOIN LATERAL unnest(r.terms, r.counts) AS u (term, tf)
			WHERE r.number > 0 AND NOT EXISTS (
				SELECT FROM (SELECT p.* FROM hippocampus.postings p WHERE p.user_id = r.user_id AND p.app_name = r.app_name
					AND p.source = r.source AND p.term = u.term AND p.block <= r.number ORDER BY p.block DESC LIMIT 1) p
				CROSS JOIN LATERAL unnest(p.numbers, p.places, p.counts, p.lengths) AS e (number, place, tf, length)
				WHERE (e.number, e.tf, e.length) = (r.number, u.tf, r.length) AND e.place IS NOT DISTINCT FROM r.place)`,
		"lists of rows that are gone": `
			SELECT count(*) FROM hippocampus.postings p CROSS JOIN LATERAL unnest(p.numbers) AS e (number)
			WHERE NOT EXISTS (SELECT FROM hippocampus.row_terms r WHERE r.user_id = p.user_id AND r.app_name = p.app_name
				AND r.source = p.source AND r.number = e.number AND p.term = ANY (r.terms))`,
		"rows that cannot be found, or are gone": `
			SELECT count(*) FROM (SELECT x.row_id FROM hippocampus.row_terms x WHERE NOT EXISTS (
				SELECT FROM hippocampus.unindexed_rows n WHERE n.user_id = x.user_id AND n.app_name = x.app_name AND n.id = x.id)) r
			FULL JOIN (SELECT m.id FROM hippocampus.memories m UNION ALL SELECT e.id FROM hippocampus.events e
				WHERE NOT EXISTS (SELECT FROM hippocampus.forgotten_events f WHERE f.thread_id = e.thread_id AND f.sequence_num = e.sequence_num)) s
				ON s.id = r.row_id
			WHERE r.row_id IS NULL OR s.id IS NULL`,
		"totals that are not the sums": `
			SELECT count(*) FROM (SELECT * FROM hippocampus.posting_totals x WHERE x.rows > 0) t
			FULL JOIN (SELECT x.source, count(*) AS rows, sum(x.length) AS terms FROM hippocampus.row_terms x WHERE x.number > 0 GROUP BY x.source) r
				ON r.source = t.source WHERE (t.rows, t.terms) IS DISTINCT FROM (r.rows, r.terms)`,
	} {
		require.Zero(t, get[int](t, b, sql), what)
	}
}
