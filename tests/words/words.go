// Package words checks a user's index of words.
package words

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/db"
)

// faults are queries of what must not be there.
var faults = map[string]string{
	"terms of folded rows that postings do not have, or have otherwise": `
		SELECT r.source, u.term, r.number::text FROM hippocampus.row_terms r CROSS JOIN LATERAL unnest(r.terms, r.counts) AS u (term, tf)
		WHERE r.user_id = $1 AND r.app_name = $2 AND r.number > 0 AND NOT EXISTS (
			SELECT FROM (SELECT p.* FROM hippocampus.postings p WHERE p.user_id = $1 AND p.app_name = $2 AND p.source = r.source
				AND p.term = u.term AND p.block <= r.number ORDER BY p.block DESC LIMIT 1) p
			CROSS JOIN LATERAL unnest(p.numbers, p.places, p.counts, p.lengths) AS e (number, place, tf, length)
			WHERE e.number = r.number AND e.place IS NOT DISTINCT FROM r.place AND e.tf = u.tf AND e.length = r.length)`,
	"postings of no row": `
		SELECT p.source, p.term, e.number::text FROM hippocampus.postings p CROSS JOIN LATERAL unnest(p.numbers) AS e (number)
		WHERE p.user_id = $1 AND p.app_name = $2 AND NOT EXISTS (SELECT FROM hippocampus.row_terms r
			WHERE r.user_id = $1 AND r.app_name = $2 AND r.source = p.source AND r.number = e.number AND p.term = ANY (r.terms))`,
	"blocks that are out of order": `
		SELECT p.source, p.term, p.block::text FROM hippocampus.postings p
		WHERE p.user_id = $1 AND p.app_name = $2 AND p.numbers <> ARRAY(SELECT n FROM unnest(p.numbers) n WHERE n >= p.block ORDER BY n)`,
	"totals that are not the sums": `
		SELECT coalesce(t.source, r.source), concat_ws(' ', t.rows, t.terms), concat_ws(' ', r.rows, r.terms)
		FROM (SELECT * FROM hippocampus.posting_totals x WHERE x.user_id = $1 AND x.app_name = $2 AND x.rows + x.terms > 0) t
		FULL JOIN (SELECT x.source, count(*) AS rows, sum(x.length) AS terms FROM hippocampus.row_terms x
			WHERE x.user_id = $1 AND x.app_name = $2 AND x.number > 0 GROUP BY x.source) r ON r.source = t.source
		WHERE (t.rows, t.terms) IS DISTINCT FROM (r.rows, r.terms)`,
	"rows without their terms, or with terms of none": `
		SELECT coalesce(r.source, s.source), r.row_id::text, s.id::text
		FROM (SELECT x.source, x.row_id FROM hippocampus.row_terms x WHERE x.user_id = $1 AND x.app_name = $2 AND NOT EXISTS (
			SELECT FROM hippocampus.unindexed_rows n WHERE n.user_id = $1 AND n.app_name = $2 AND n.id = x.id)) r
		FULL JOIN (
			SELECT 'memory' AS source, m.id FROM hippocampus.memories m WHERE m.user_id = $1 AND m.app_name = $2 AND m.superseded_by IS NULL
				AND EXISTS (SELECT FROM hippocampus._text_terms(hippocampus._memory_words(m.memory_type, m.content, m.occurred_from)))
			UNION ALL SELECT 'event', e.id FROM hippocampus.events e WHERE e.user_id = $1 AND e.app_name = $2
				AND EXISTS (SELECT FROM hippocampus._text_terms(e.text)) AND NOT EXISTS (SELECT FROM hippocampus.forgotten_events f
					WHERE f.thread_id = e.thread_id AND f.sequence_num = e.sequence_num AND f.user_id = $1 AND f.app_name = $2)
			UNION ALL SELECT 'fact', f.id FROM hippocampus.facts f WHERE f.user_id = $1 AND f.app_name = $2
		) s ON s.source = r.source AND s.id = r.row_id
		WHERE r.row_id IS NULL OR s.id IS NULL`,
}

// Faults compares the index of words of a user with itself and with its sources: each row that there is has its terms once,
// those of folded rows are in postings and no others are, where a row's number says, and totals agree.
func Faults(t *testing.T, q db.DBTX, userID, appName string) (found []string) {
	t.Helper()
	for what, sql := range faults {
		rows, err := q.Query(t.Context(), sql, userID, appName)
		require.NoError(t, err, what)
		wrong, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (string, error) {
			values, err := row.Values()
			return fmt.Sprint(values...), err
		})
		require.NoError(t, err, what)
		if len(wrong) > 0 {
			found = append(found, fmt.Sprintf("%s: %q", what, wrong))
		}
	}
	return found
}
