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

	"github.com/hippocampus-memory/hippocampus/tests/words"
)

func (b *testBundle) checkWords(t *testing.T, fatal func(format string, args ...any)) {
	t.Helper()
	if faults := words.Faults(t, b.Tx, b.UserID, b.AppName); len(faults) > 0 {
		fatal("%q", faults)
	}
}

// folded is how many rows of a source are folded into postings, and how many are not.
func (b *testBundle) folded(t *testing.T, source string) [2]int {
	t.Helper()
	var n [2]int
	require.NoError(t, b.QueryRow(t.Context(), `SELECT count(*) FILTER (WHERE r.number > 0), count(*) FILTER (WHERE r.number < 0)
		FROM hippocampus.row_terms r WHERE r.user_id = $1 AND r.app_name = $2 AND r.source = $3`, b.UserID, b.AppName, source).Scan(&n[0], &n[1]))
	return n
}

func TestWordIndex(t *testing.T) {
	t.Parallel()

	t.Run("AgreesWithWhatItIndexes", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		run := 0
		rapid.Check(t, func(r *rapid.T) {
			run++
			b.UserID = fmt.Sprintf("rapid-%s-%d", b.AppName, run)
			text := rapid.SampledFrom([]string{
				"tea", "tea and tea", "the", "我用PostgreSQL数据库", "🎉", "", "a long talk about tea and coffee", "!?", "Which tea?",
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
					b.exec(t, "SELECT hippocampus._fold_terms($1, $2, $3, 1)", b.UserID, b.AppName, rapid.SampledFrom([]string{"event", "fact", "memory"}).Draw(r, "source"))
				},
				"many": func() {
					n := rapid.IntRange(60, 140).Draw(r, "n") // of a word more than a block holds
					b.exec(t, `INSERT INTO hippocampus.memories (user_id, app_name, content, content_hash, token_count)
						SELECT $1, $2, 'tea ' || n, sha256(gen_random_uuid()::text::bytea), 1 FROM generate_series(1, $3) n`, b.UserID, b.AppName, n)
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
				"dropThread": func() { // whose memories stay
					if len(threads) > 0 {
						b.rememberWith(t, text.Draw(r, "text")+uuid.NewString(), "p_memory_type => 'episodic', p_thread_id => $5, p_from_seq => 1", threads[0])
						b.exec(t, "DELETE FROM hippocampus.threads WHERE id = $1", threads[0])
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
				"thin": func() { // a share of what there is, small or large
					b.exec(t, "DELETE FROM hippocampus.memories WHERE user_id = $1 AND content_hash < decode($2, 'hex')", b.UserID,
						rapid.SampledFrom([]string{"08", "80", "ff"}).Draw(r, "share"))
				},
			}
			names := slices.Sorted(maps.Keys(steps))
			for _, step := range rapid.SliceOfN(rapid.SampledFrom(names), 1, 12).Draw(r, "steps") {
				steps[step]()
				b.checkWords(t, r.Fatalf)
			}
			b.exec(t, "SELECT hippocampus.fold_terms($1, $2)", b.UserID, b.AppName)
			b.checkWords(t, r.Fatalf)
			require.Zero(t, get[int](t, b, "SELECT count(*) FROM hippocampus.unindexed_rows WHERE user_id = $1", b.UserID))
		})
	})

	t.Run("IsFoldedLaterWhereAsked", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		write := func(from, to int) {
			b.exec(t, `INSERT INTO hippocampus.memories (user_id, app_name, content, content_hash, token_count)
				SELECT $1, $2, 'green tea ' || n, sha256(n::text::bytea), 1 FROM generate_series($3::int, $4::int) n`, b.UserID, b.AppName, from, to)
		}
		b.exec(t, "SELECT set_config('hippocampus.fold_later', 'on', true)")
		write(1, 100)
		require.Equal(t, [2]int{0, 100}, b.folded(t, "memory"))
		require.Equal(t, 10, get[int](t, b, "SELECT count(*) FROM hippocampus.search_memory($1, $2, 'tea')", b.UserID, b.AppName))
		require.Equal(t, 100, get[int](t, b, "SELECT hippocampus.fold_terms($1, $2, 64)", b.UserID, b.AppName))
		require.Equal(t, [2]int{100, 0}, b.folded(t, "memory"))
		write(101, 110)
		require.Zero(t, get[int](t, b, "SELECT hippocampus.fold_terms($1, $2, 64)", b.UserID, b.AppName))
		b.exec(t, "SELECT set_config('hippocampus.fold_later', '', true)")
		write(111, 200)
		require.Equal(t, [2]int{200, 0}, b.folded(t, "memory"))
		b.refuses(t, "HC009", "p_min_rows", "SELECT hippocampus.fold_terms($1, $2, 0)", b.UserID, b.AppName)
		b.checkWords(t, t.Fatalf)
	})

	t.Run("FindsTheSameFoldedOrNot", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.talk(t, "Otto: Which tea did you buy?", "Ida: The green one from Kyoto.", "Otto: 绿茶好喝吗", "Ida: 很好喝。")
		for i := range 30 {
			b.remember(t, fmt.Sprintf("note %d on tea and %s", i, []string{"milk", "lemon", "sugar"}[i%3]))
		}
		find := func() (all []string) {
			for _, query := range []string{"green tea", "Kyoto", "绿茶", "note 7", "lemon"} {
				all = append(all, list[string](t, b, `SELECT concat_ws(' ', h.content, round(h.score::numeric, 9), round(h.word_score::numeric, 9))
					FROM hippocampus.search_memory($1, $2, $3, p_now => $4) h ORDER BY 1`, b.UserID, b.AppName, query, b.now)...)
			}
			return all
		}
		before := find()
		require.NotEmpty(t, before)
		b.exec(t, "SELECT hippocampus._fold_terms($1, $2, 'memory', 1)", b.UserID, b.AppName)
		require.Equal(t, 0, b.folded(t, "memory")[1])
		require.Equal(t, before, find())
	})

	t.Run("FoldsWhatIsWrittenTogetherAtOnce", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.exec(t, `INSERT INTO hippocampus.memories (user_id, app_name, content, content_hash, token_count)
			SELECT $1, $2, 'tea is good for ' || n, sha256(n::text::bytea), 1 FROM generate_series(1, 1500) n`, b.UserID, b.AppName)
		require.Equal(t, [2]int{1500, 0}, b.folded(t, "memory"))
		require.Equal(t, []int{64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 28},
			list[int](t, b, "SELECT cardinality(p.numbers) FROM hippocampus.postings p WHERE p.user_id = $1 AND p.term = 'tea' ORDER BY cardinality(p.numbers) DESC", b.UserID))
		b.checkWords(t, t.Fatalf)
	})

	t.Run("FoldedWhereNoWriterDid", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		for i := range 16 {
			b.exec(t, `INSERT INTO hippocampus.row_terms (row_id, length, asks, user_id, app_name, source, terms, counts)
				VALUES (gen_random_uuid(), 1, false, $1, $2, 'memory', $3, '{1}')`, b.UserID, b.AppName, []string{fmt.Sprint("tea", i)})
			if i == 14 { // is few enough
				require.Zero(t, get[int](t, b, "SELECT hippocampus.fold_terms($1, $2)", b.UserID, b.AppName))
				require.Equal(t, [2]int{0, 15}, b.folded(t, "memory"))
			}
		}
		for _, role := range []string{"hippocampus_service", "hippocampus_worker"} {
			b.exec(t, "SET LOCAL ROLE "+role)
			require.Equal(t, map[bool]int{true: 16}[role == "hippocampus_service"], get[int](t, b, "SELECT hippocampus.fold_terms($1, $2)", b.UserID, b.AppName))
		}
		require.Equal(t, [2]int{16, 0}, b.folded(t, "memory"))
		b.refuses(t, "HC001", "user_id", "SELECT hippocampus.fold_terms('', $1)", b.AppName)
	})

	t.Run("SeveralTenantsInOneStatement", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		users := []string{b.UserID + "-a", b.UserID + "-b"}
		b.exec(t, `INSERT INTO hippocampus.memories (user_id, app_name, content, content_hash, token_count)
			SELECT u, $2, 'tea ' || n, sha256(n::text::bytea), 1 FROM unnest($1::text[]) u, generate_series(1, 600) n`, users, b.AppName)
		b.exec(t, "DELETE FROM hippocampus.memories WHERE user_id = ANY ($1) AND content IN ('tea 1', 'tea 2')", users)
		for _, b.UserID = range users {
			b.checkWords(t, t.Fatalf)
			require.Equal(t, [2]int{598, 0}, b.folded(t, "memory"))
		}
	})

	// Of a sweep, rows are not taken out of the lists one by one.
	t.Run("TakesOutManyTogether", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.exec(t, `INSERT INTO hippocampus.memories (user_id, app_name, content, content_hash, token_count)
			SELECT $1, $2, 'tea ' || n, sha256(n::text::bytea), 1 FROM generate_series(1, 6000) n`, b.UserID, b.AppName)
		b.exec(t, "DELETE FROM hippocampus.memories WHERE user_id = $1 AND content BETWEEN 'tea 1000' AND 'tea 2099' AND length(content) = 8", b.UserID)
		noted := func() int {
			return get[int](t, b, "SELECT count(*) FROM hippocampus.unindexed_rows WHERE user_id = $1", b.UserID)
		}
		require.Equal(t, 1100, noted(), "not yet")
		require.Empty(t, b.search(t, "1111", "p_min_relevance => 0.5"))
		require.NotEmpty(t, b.search(t, "2111", "p_min_relevance => 0.5"))
		b.checkWords(t, t.Fatalf)
		b.remember(t, "a writer takes out some")
		require.Equal(t, 1100-64, noted())
		b.checkWords(t, t.Fatalf)
		b.exec(t, "SELECT hippocampus.fold_terms($1, $2)", b.UserID, b.AppName)
		require.Zero(t, noted())
		b.checkWords(t, t.Fatalf)
	})

	// Where most rows are gone, blocks that each hold a few would hide what lies behind them.
	t.Run("FindsWhatIsLeftOfMany", func(t *testing.T) {
		t.Parallel()
		for _, steps := range []int{1, 12} {
			b := setup(t)
			b.exec(t, `INSERT INTO hippocampus.memories (user_id, app_name, content, content_hash, token_count)
				SELECT $1, $2, 'tea ' || n, sha256(n::text::bytea), 1 FROM generate_series(1, 6000) n`, b.UserID, b.AppName)
			for step := range steps {
				b.exec(t, `DELETE FROM hippocampus.memories WHERE user_id = $1 AND substr(content, 5)::integer % 40 <> 0
					AND substr(content, 5)::integer % $2 = $3`, b.UserID, steps, step)
			}
			b.exec(t, "SELECT hippocampus.fold_terms($1, $2)", b.UserID, b.AppName)
			b.checkWords(t, t.Fatalf)
			require.LessOrEqual(t, get[int](t, b, "SELECT count(*) FROM hippocampus.postings WHERE user_id = $1 AND term = 'tea'", b.UserID), 4)
			require.Len(t, b.search(t, "tea", "p_limit => 200"), 150)
		}
	})

	t.Run("WidestKey", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		// The longest tenant with the longest term that a tsvector takes must fit a page of the index.
		b.UserID, b.AppName = randomText(255, 1), randomText(255, 2)
		b.exec(t, "SELECT hippocampus.remember($1, $2, $3)", b.UserID, b.AppName, randomText(2046, 3)+" "+randomText(5000, 4))
		b.exec(t, "SELECT hippocampus._fold_terms($1, $2, 'memory', 1)", b.UserID, b.AppName)
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

// What is beyond a count is left out of the totals too.
func TestTermsOfLongText(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.remember(t, strings.Repeat("猫", 40_000)) // and 39,999 pairs of it
	b.exec(t, "SELECT hippocampus._fold_terms($1, $2, 'memory', 1)", b.UserID, b.AppName)
	terms := func() int64 {
		return get[int64](t, b, "SELECT t.terms FROM hippocampus.posting_totals t WHERE t.user_id = $1 AND t.app_name = $2", b.UserID, b.AppName)
	}
	require.Equal(t, []int64{32767, 32767}, list[int64](t, b, "SELECT unnest(r.counts) FROM hippocampus.row_terms r WHERE r.row_id = $1", id))
	require.Equal(t, []int64{32767}, list[int64](t, b, "SELECT r.length FROM hippocampus.row_terms r WHERE r.row_id = $1", id))
	require.Equal(t, int64(32767), terms())
	b.exec(t, "SELECT hippocampus.forget($1, $2, ARRAY[$3]::uuid[])", b.UserID, b.AppName, id)
	require.Zero(t, terms())
}
