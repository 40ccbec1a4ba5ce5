package function_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// seedThatFolds is a seed with which the first random() is below 0.02, the share of writers that fold.
func seedThatFolds(t *testing.T, b *testBundle) float64 {
	t.Helper()
	for i := range 1000 {
		seed := float64(i) / 1000
		b.exec(t, "SELECT setseed($1)", seed)
		if get[float64](t, b, "SELECT random()") < 0.02 {
			return seed
		}
	}
	t.Fatal("no seed folds")
	return 0
}

// totals compares posting_totals with postings, and gives the number of rows of totals.
func (b *testBundle) totals(t *testing.T, fatal func(format string, args ...any)) int {
	t.Helper()
	rows, err := b.Query(t.Context(), `
		SELECT coalesce(p.source, s.source), coalesce(p.rows, 0), coalesce(s.rows, 0), coalesce(p.terms, 0), coalesce(s.terms, 0)
		FROM (SELECT p.source, count(DISTINCT p.row_id) AS rows, sum(p.tf) AS terms FROM hippocampus.postings p
		      WHERE p.user_id = $1 AND p.app_name = $2 GROUP BY p.source) p
		FULL JOIN (SELECT s.source, sum(s.rows) AS rows, sum(s.terms) AS terms FROM hippocampus.posting_totals s
		      WHERE s.user_id = $1 AND s.app_name = $2 GROUP BY s.source) s ON s.source = p.source`, b.UserID, b.AppName)
	require.NoError(t, err)
	defer rows.Close()
	for rows.Next() {
		var (
			source              string
			rowsTrue, rowsSum   int64
			termsTrue, termsSum int64
		)
		require.NoError(t, rows.Scan(&source, &rowsTrue, &rowsSum, &termsTrue, &termsSum))
		if rowsTrue != rowsSum || termsTrue != termsSum {
			fatal("%s: %d rows and %d terms, the totals say %d and %d", source, rowsTrue, termsTrue, rowsSum, termsSum)
		}
	}
	require.NoError(t, rows.Err())
	return get[int](t, b, "SELECT count(*) FROM hippocampus.posting_totals WHERE user_id = $1", b.UserID)
}

func TestPostingTotals(t *testing.T) {
	t.Parallel()

	t.Run("AreTheTruth", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		folds := seedThatFolds(t, b)
		run := 0
		rapid.Check(t, func(r *rapid.T) {
			run++
			b.UserID = fmt.Sprintf("rapid-%s-%d", b.AppName, run)
			text := rapid.SampledFrom([]string{
				"tea", "tea and tea", "the", "我用PostgreSQL数据库", "🎉", "", "a long talk about tea and coffee", "!?",
			})
			var ids, threads []uuid.UUID
			steps := map[string]func(){
				"append": func() {
					if len(threads) == 0 {
						threads = append(threads, b.thread(t))
					}
					events := []map[string]any{}
					for range rapid.IntRange(1, 5).Draw(r, "events") {
						events = append(events, map[string]any{"author": "user", "content": text.Draw(r, "text")})
					}
					b.exec(t, "SELECT hippocampus.append_events($1, $2)", threads[len(threads)-1], toJSON(t, events))
				},
				"fold": func() {
					b.exec(t, "SELECT setseed($1)", folds)
					ids = append(ids, b.remember(t, "fold "+text.Draw(r, "text")))
					b.exec(t, "SELECT setseed(0.5)") // whose first random() is above
				},
				"forget": func() {
					if len(ids) > 0 {
						b.exec(t, "SELECT hippocampus.forget($1, $2, $3)", b.UserID, b.AppName, ids[:rapid.IntRange(0, len(ids)).Draw(r, "ids")])
					}
				},
				"forgetThread": func() {
					if len(threads) > 0 {
						b.exec(t, "SELECT hippocampus.forget_thread($1, $2, $3)", b.UserID, b.AppName, threads[0])
						threads = threads[1:]
					}
				},
				"remember": func() { ids = append(ids, b.remember(t, "remember "+text.Draw(r, "text"))) },
				"state":    func() { ids = append(ids, b.state(t, text.Draw(r, "text"), "")) },
				"supersede": func() {
					if len(ids) > 0 {
						// … and back, unless the same words have been stored since.
						b.exec(t, `UPDATE hippocampus.memories m SET superseded_by = CASE WHEN m.superseded_by IS NULL THEN gen_random_uuid() END
							WHERE m.id = $1 AND NOT EXISTS (SELECT FROM hippocampus.memories o WHERE o.user_id = m.user_id
								AND o.content_hash = m.content_hash AND o.superseded_by IS NULL AND o.id <> m.id)`, ids[0])
					}
				},
			}
			names := slices.Sorted(maps.Keys(steps))
			for _, step := range rapid.SliceOfN(rapid.SampledFrom(names), 1, 12).Draw(r, "steps") {
				steps[step]()
			}
			b.totals(t, r.Fatalf)
		})
	})

	t.Run("FoldsIntoOneRow", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		folds := seedThatFolds(t, b)
		b.exec(t, "SELECT setseed(0.5)")
		for i := range 9 {
			b.remember(t, fmt.Sprintf("memory %d", i))
		}
		b.state(t, "Paris", "")
		require.GreaterOrEqual(t, b.totals(t, t.Fatalf), 2)
		b.exec(t, "SELECT setseed($1)", folds)
		b.remember(t, "the tenth")
		require.Equal(t, 1, get[int](t, b, "SELECT count(*) FROM hippocampus.posting_totals WHERE user_id = $1 AND source = 'memory'", b.UserID))
		require.Equal(t, int64(10), get[int64](t, b, "SELECT rows FROM hippocampus.posting_totals WHERE user_id = $1 AND source = 'memory'", b.UserID))
		b.totals(t, t.Fatalf)
	})

	t.Run("FoldedByTheWorker", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.exec(t, "SELECT setseed(0.5)")
		b.remember(t, "tea")
		b.exec(t, `INSERT INTO hippocampus.posting_totals (rows, terms, user_id, app_name, source)
			SELECT n % 3 - 1, 1 - n % 3, $1, $2, 'memory' FROM generate_series(1, 63) n`, b.UserID, b.AppName)
		require.Equal(t, 64, b.totals(t, t.Fatalf))
		b.exec(t, "SELECT hippocampus.fold_posting_totals()")
		require.Equal(t, 64, b.totals(t, t.Fatalf)) // is few enough
		b.exec(t, `INSERT INTO hippocampus.posting_totals (rows, terms, user_id, app_name, source) VALUES (0, 0, $1, $2, 'memory')`,
			b.UserID, b.AppName)
		b.exec(t, "SET LOCAL ROLE hippocampus_worker")
		require.GreaterOrEqual(t, get[int](t, b, "SELECT hippocampus.fold_posting_totals(p_limit => 1000)"), 1)
		require.Equal(t, 1, b.totals(t, t.Fatalf))
		b.refuses(t, "HC009", "p_limit is 0", "SELECT hippocampus.fold_posting_totals(0)")
	})

	t.Run("SeveralTenantsInOneStatement", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		users := []string{b.UserID + "-a", b.UserID + "-b"}
		b.exec(t, `INSERT INTO hippocampus.memories (user_id, app_name, content, content_hash, token_count)
			SELECT u, $2, 'tea ' || n, sha256(n::text::bytea), 1 FROM unnest($1::text[]) u, generate_series(1, 5) n`, users, b.AppName)
		b.exec(t, "DELETE FROM hippocampus.memories WHERE user_id = ANY ($1) AND content IN ('tea 1', 'tea 2')", users)
		for _, b.UserID = range users {
			b.totals(t, t.Fatalf)
			require.Equal(t, int64(3), get[int64](t, b, "SELECT sum(rows) FROM hippocampus.posting_totals WHERE user_id = $1", b.UserID))
		}
	})

	t.Run("WidestKey", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		// The longest tenant with the longest term that a tsvector takes must fit a page of the index.
		b.exec(t, "SELECT hippocampus.remember($1, $2, $3)", randomText(255, 1), randomText(255, 2), randomText(2046, 3)+" "+randomText(5000, 4))
		require.Equal(t, 2046, get[int](t, b, "SELECT max(octet_length(term)) FROM hippocampus.postings"))
	})
}

// randomText is a word of n letters that doesn't compress.
func randomText(n int, seed uint64) string {
	letters := make([]byte, n)
	for i := range letters {
		seed = seed*6364136223846793005 + 1442695040888963407
		letters[i] = 'a' + byte((seed>>33)%26)
	}
	return string(letters)
}

// What is beyond a posting's count is left out of the totals too.
func TestPostingOfLongText(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.remember(t, strings.Repeat("猫", 40_000)) // and 39,999 pairs of it
	terms := func() int64 {
		return get[int64](t, b, "SELECT sum(t.terms)::bigint FROM hippocampus.posting_totals t WHERE t.user_id = $1 AND t.app_name = $2", b.UserID, b.AppName)
	}
	require.Equal(t, []int64{32767, 32767}, list[int64](t, b, "SELECT p.tf FROM hippocampus.postings p WHERE p.row_id = $1", id))
	require.Equal(t, []int64{32767, 32767}, list[int64](t, b, "SELECT p.length FROM hippocampus.postings p WHERE p.row_id = $1", id))
	require.Equal(t, int64(2*32767), terms())
	b.exec(t, "SELECT hippocampus.forget($1, $2, ARRAY[$3]::uuid[])", b.UserID, b.AppName, id)
	require.Zero(t, terms())
}
