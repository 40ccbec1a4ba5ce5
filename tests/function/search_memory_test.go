package function_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/pgvector/pgvector-go"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

// search searches at the bundle's time, with more named arguments.
func (b *testBundle) search(t *testing.T, query any, named string, args ...any) []db.MemoryHit {
	t.Helper()
	if named != "" {
		named = ", " + named
	}
	return rowsOf[db.MemoryHit](t, b, "SELECT * FROM hippocampus.search_memory($1, $2, $3, p_now => $4"+named+")",
		append([]any{b.UserID, b.AppName, query, b.now}, args...)...)
}

// found are the contents that a search finds.
func (b *testBundle) found(t *testing.T, query any, named string, args ...any) []string {
	t.Helper()
	hits := b.search(t, query, named, args...)
	contents := make([]string, len(hits))
	for i, h := range hits {
		contents[i] = h.Content
	}
	return contents
}

// memories stores n memories of a kind in one statement.
func (b *testBundle) memories(t *testing.T, n int, content, kind string) {
	t.Helper()
	b.exec(t, `SELECT hippocampus.remember($1, $2, $3 || n, $4, p_now => $5) FROM generate_series(1, $6) n`,
		b.UserID, b.AppName, content, kind, b.now, n)
}

// at is a vector whose cosine with vector(1) is given.
func at(cosine float64) pgvector.Vector {
	return vector(float32(cosine), float32(math.Sqrt(1-cosine*cosine)))
}

func TestSearchMemory(t *testing.T) {
	t.Parallel()

	t.Run("BeforeTheVectorAndAfter", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		id := b.remember(t, "I drink green tea")
		b.rememberWith(t, "My bike is red", "p_embedding => $5", vector(0, 0, 1))
		require.Equal(t, "I drink green tea", b.found(t, "tea", "")[0]) // the next statement finds it
		hit := b.search(t, "tea", "p_query_embedding => $5", vector(1))[0]
		require.Equal(t, id, hit.MemoryID)
		require.Equal(t, 1.0, hit.VectorScore) // as near in meaning as it is in words
		require.NotContains(t, b.found(t, "beverages", "p_query_embedding => $5, p_min_relevance => 0.1", vector(1)), "I drink green tea")
		b.exec(t, "SELECT hippocampus.put_embedding($1, $2, 'memory', $3, $4)", b.UserID, b.AppName, id, at(0.8))
		hit = b.search(t, "beverages", "p_query_embedding => $5", vector(1))[0]
		require.Equal(t, id, hit.MemoryID)
		require.Zero(t, hit.TextScore)
		require.InDelta(t, 0.8, hit.VectorScore, 1e-3)
		require.InDelta(t, 0.8, b.search(t, "tea", "p_query_embedding => $5", vector(1))[0].VectorScore, 1e-3)
	})

	t.Run("EmptyQueryBrowses", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		for i := range 5 {
			b.now = b.now.Add(day)
			b.rememberWith(t, fmt.Sprintf("day %d", i), "p_initial_score => $5", []float64{0, 1, 0, 0, 0}[i])
		}
		for _, query := range []any{"", nil, "the of and", "!!! & | ()", " \t\n"} {
			require.Equal(t, []string{"day 1", "day 4", "day 3", "day 2", "day 0"}, b.found(t, query, ""), "%v", query)
			require.Empty(t, b.found(t, query, "p_min_relevance => 0.01"), "%v", query)
		}
		require.Empty(t, b.found(t, "zebra", ""))
	})

	t.Run("FiltersNeverUnderReturn", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread := b.thread(t)
		// Thousands of better ones, in words and in meaning, and a few that only the filter asks for.
		b.exec(t, `WITH m AS (
				INSERT INTO hippocampus.memories (user_id, app_name, memory_type, content, content_hash, token_count, created_at, occurred_from, occurred_until)
				SELECT $1, $2, 'semantic', 'tea tea ' || n, sha256(n::text::bytea), 1, $3, $3, $3 FROM generate_series(1, 2500) n RETURNING id)
			INSERT INTO hippocampus.embeddings (dimension, row_id, user_id, app_name, source, embedding)
			SELECT 64, m.id, $1, $2, 'memory', $4::public.halfvec FROM m`, b.UserID, b.AppName, b.now, vector(1))
		for i := range 3 {
			b.rememberWith(t, fmt.Sprintf("a long text of many other words in which tea is named %d", i),
				`p_memory_type => 'episodic', p_category => 'decision', p_tags => '{x,y}', p_thread_id => $5, p_occurred_from => $6,
				p_occurred_until => $7, p_embedding => $8`, thread, b.now.Add(-40*day), b.now.Add(-30*day), at(0.01))
		}
		for _, filter := range []string{
			"p_memory_types => '{episodic}'", "p_memory_types => '{episodic,summary}'", "p_categories => '{decision}'",
			"p_tags => '{x}'", "p_tags => '{y,x}'", "p_thread_id => '" + thread.String() + "'", "p_until => '2025-12-20'",
			"p_since => '2025-11-01', p_until => '2025-12-01'", "p_since => '2025-12-01', p_until => '2025-12-02'",
		} {
			for _, arm := range []string{"", ", p_query_embedding => $5"} {
				for _, query := range []string{"tea", "nothing of this kind"} {
					if arm == "" && query != "tea" {
						continue
					}
					args := []any{}
					if arm != "" {
						args = append(args, vector(1))
					}
					require.Len(t, b.found(t, query, filter+arm, args...), 3, "%s%s %s", filter, arm, query)
				}
			}
			require.Len(t, b.found(t, "", filter), 3, filter)
		}
		for _, none := range []string{
			"p_tags => '{x,z}'", "p_memory_types => '{}'", "p_categories => '{chat}'", "p_thread_id => '00000000-0000-0000-0000-000000000001'",
			"p_since => '2027-01-01'",
		} {
			require.Empty(t, b.found(t, "tea", none), none)
		}
		require.Len(t, b.found(t, "tea", "p_memory_types => '{semantic}', p_limit => 10000"), 2500)
	})

	t.Run("FindsTheNearestExactly", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		random := rand.New(rand.NewPCG(1, 2))
		vectors := make([]pgvector.Vector, 400)
		for i := range vectors {
			values := make([]float32, dbtest.DefaultDimension)
			for j := range values {
				values[j] = float32(random.NormFloat64())
			}
			vectors[i] = pgvector.NewVector(values)
			b.rememberWith(t, fmt.Sprintf("memory %d", i), "p_embedding => $5", vectors[i])
		}
		cosine := func(x, y pgvector.Vector) float64 {
			var xy, xx, yy float64
			for i := range x.Slice() {
				a, b := float64(x.Slice()[i]), float64(y.Slice()[i])
				xy, xx, yy = xy+a*b, xx+a*a, yy+b*b
			}
			return xy / math.Sqrt(xx*yy)
		}
		for q := range 5 {
			query := vectors[q*7]
			hits := b.search(t, "", "p_query_embedding => $5, p_limit => 20, p_profile => 'retention'", query)
			want := make([]float64, len(vectors))
			for i, v := range vectors {
				want[i] = cosine(query, v)
			}
			slices.Sort(want)
			slices.Reverse(want)
			require.Len(t, hits, 20)
			for i, h := range hits {
				require.InDelta(t, want[i], h.VectorScore, 2e-3)
			}
		}
	})

	t.Run("HybridBeatsEachArm", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		// Each question has an answer that is good in both, one that only has the words, one that only has the meaning.
		for i := range 8 {
			axis := make([]float32, 20)
			axis[2*i] = 0.9
			axis[2*i+1] = 0.44
			b.rememberWith(t, fmt.Sprintf("answer %d is about topic%d and word%d", i, i, i), "p_embedding => $5", vector(axis...))
			b.rememberWith(t, fmt.Sprintf("topic%d topic%d word%d word%d", i, i, i, i), "p_embedding => $5", vector(slices.Repeat([]float32{0, 0.1}, 20)...))
			axis[2*i], axis[2*i+1] = 1, 0
			b.rememberWith(t, fmt.Sprintf("something else %d", i), "p_embedding => $5", vector(axis...))
		}
		reciprocal := map[string]float64{}
		for i := range 8 {
			axis := make([]float32, 20)
			axis[2*i] = 1
			query := fmt.Sprintf("topic%d word%d", i, i)
			for arm, found := range map[string][]string{
				"both":    b.found(t, query, "p_query_embedding => $5", vector(axis...)),
				"meaning": b.found(t, "", "p_query_embedding => $5", vector(axis...)),
				"words":   b.found(t, query, ""),
			} {
				if rank := slices.Index(found, fmt.Sprintf("answer %d is about topic%d and word%d", i, i, i)); rank >= 0 {
					reciprocal[arm] += 1 / float64(rank+1) / 8
				}
			}
		}
		require.Equal(t, 1.0, reciprocal["both"])
		require.LessOrEqual(t, reciprocal["meaning"], 0.5)
		require.LessOrEqual(t, reciprocal["words"], 0.5)
	})

	t.Run("LimitIsKept", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.memories(t, 300, "tea ", "semantic")
		for _, limit := range []int{0, 1, 10, 100, 101, 250, 300} {
			require.Len(t, b.found(t, "tea", fmt.Sprintf("p_limit => %d", limit)), limit)
			require.Len(t, b.found(t, "", fmt.Sprintf("p_limit => %d", limit)), limit)
		}
		require.Len(t, b.found(t, "tea", "p_limit => 10000"), 300)
	})

	t.Run("LongQueries", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.remember(t, "北京的故宫博物院在冬天下雪的时候非常漂亮")
		b.remember(t, "zzyzx")
		words := make([]string, 400)
		for i := range words {
			words[i] = fmt.Sprintf("word%d", i)
		}
		long := strings.Join(words, " ")
		// Of more terms than are looked up, no alphabet is left out.
		require.Equal(t, []string{"北京的故宫博物院在冬天下雪的时候非常漂亮"}, b.found(t, long+" 北京的故宫博物院在冬天下雪的时候非常漂亮", ""))
		require.Equal(t, []string{"zzyzx"}, b.found(t, strings.Repeat("zzyzx ", 170_000), "")) // 1 MB
		require.Equal(t, []string{"zzyzx"}, b.found(t, long+strings.Repeat(" zzyzx", 10), ""))
	})

	t.Run("MetacharactersAreText", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.remember(t, "plain tea")
		b.remember(t, `C:\temp\100%_done 'quoted' "double" O'Reilly --`)
		for _, query := range []string{
			"tea & | ! <-> :* ( ) tea", "tea:*", "'tea'", `"tea"`, "tea'; DROP TABLE hippocampus.memories; --", `tea\`, "tea%", "te_a tea",
			"tea <2> tea", "((tea", "tea)", "!tea", "$1 tea", "%s tea", "tea\u2028", "{tea}", "[tea]", "tea*",
		} {
			require.Equal(t, []string{"plain tea"}, b.found(t, query, "p_limit => 1"), query)
		}
		require.Empty(t, b.found(t, "te_", ""))
		require.Empty(t, b.found(t, "te%", ""))
		require.Len(t, b.found(t, "O'Reilly", ""), 1)
		require.Len(t, b.found(t, "100%_done", ""), 1)
	})

	t.Run("MinimumRelevance", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		for i := range 11 {
			b.rememberWith(t, fmt.Sprintf("memory %d", i), "p_embedding => $5", at(float64(i)/10))
		}
		all := b.search(t, "", "p_query_embedding => $5, p_limit => 100", vector(1))
		require.Len(t, all, 11)
		for _, least := range []float64{0, 0.1, 0.15, 0.2, 0.3} {
			want := 0
			for _, h := range all {
				if h.Relevance >= least {
					want++
				}
			}
			got := b.search(t, "", "p_query_embedding => $5, p_limit => 100, p_min_relevance => $6", vector(1), least)
			require.Len(t, got, want, "%v", least)
			for _, h := range got {
				require.GreaterOrEqual(t, h.Relevance, least)
			}
		}
	})

	t.Run("OfThisTenantOnly", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.rememberWith(t, "tea", "p_embedding => $5", vector(1))
		for _, scope := range [][2]string{{b.UserID + "x", b.AppName}, {b.UserID, b.AppName + "x"}, {"%", b.AppName}, {"_____", b.AppName}} {
			require.Empty(t, list[uuid.UUID](t, b, "SELECT memory_id FROM hippocampus.search_memory($1, $2, 'tea', $3)", scope[0], scope[1], vector(1)))
		}
	})

	t.Run("OrderIsDeterministic", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		// Five hundred that differ in nothing that counts: more than an arm takes.
		b.exec(t, `SELECT hippocampus.remember($1, $2, 'tea ' || n, p_now => $3, p_embedding => $4) FROM generate_series(1, 500) n`,
			b.UserID, b.AppName, b.now, vector(1))
		searches := func() [][]string {
			return [][]string{
				b.found(t, "tea", ""), b.found(t, "tea", "p_query_embedding => $5", vector(1)),
				b.found(t, "", ""), b.found(t, "", "p_query_embedding => $5", vector(1)),
			}
		}
		first := searches()
		for i, s := range first {
			require.Len(t, s, 10, "%d", i)
		}
		for _, setting := range []string{"enable_hashagg", "enable_hashjoin", "enable_indexscan", "enable_sort", "enable_nestloop"} {
			b.exec(t, "SET LOCAL "+setting+" = off")
			require.Equal(t, first, searches(), setting)
			b.exec(t, "SET LOCAL "+setting+" = on")
		}
		b.exec(t, "UPDATE hippocampus.memories SET token_count = token_count + 1 WHERE user_id = $1", b.UserID) // other places on disk
		require.Equal(t, first, searches())
	})

	t.Run("Profiles", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.rememberWith(t, "green tea", "p_embedding => $5, p_intensity => 0.9, p_initial_score => 0.7, p_occurred_from => $6", at(0.9), b.now.Add(-20*day))
		b.rememberWith(t, "tea pot", "p_embedding => $5, p_intensity => 0.2", at(0.5))
		b.remember(t, "tea cup, without a vector")
		b.exec(t, "SELECT hippocampus.record_access($1, $2, ARRAY(SELECT id FROM hippocampus.memories WHERE content = 'tea pot'), $3)", b.UserID, b.AppName, b.now)
		b.now = b.now.Add(10 * day)
		ranking := map[string]float64{}
		for part, weight := range rowOf[struct{ Ranking map[string]float64 }](t, b,
			"SELECT value AS ranking FROM hippocampus.settings WHERE app_name = '*' AND key = 'ranking'").Ranking {
			ranking[part] = weight
		}
		for _, profile := range []string{"default", "retention", "strength"} {
			for _, arm := range []string{"", ", p_query_embedding => $6"} {
				args := []any{profile}
				if arm != "" {
					args = append(args, vector(1))
				}
				hits := b.search(t, "tea", "p_profile => $5"+arm, args...)
				require.Len(t, hits, 3, profile)
				for i, h := range hits {
					m := b.memory(t, h.MemoryID)
					strength := get[float64](t, b, "SELECT hippocampus.effective_strength($1, $2, $3, $4)",
						m.RunningIntensity, m.AccessCount, m.LastAccessedAt, b.now)
					require.InDelta(t, math.Exp(-0.01*b.now.Sub(h.OccurredUntil).Hours()/24), h.Recency, 1e-9)
					require.InDelta(t, max(
						get[float64](t, b, "SELECT hippocampus.calculate_retention_score($1, $2, p_now => $3)", m.AccessCount, m.LastAccessedAt, b.now),
						map[string]float64{"green tea": 0.7, "tea pot": 0.2, "tea cup, without a vector": 0.2}[h.Content]*math.Exp(-0.1*b.now.Sub(h.CreatedAt).Hours()/24),
					), h.Retention, 1e-6)
					want := map[string]float64{
						"default": ranking["text"]*h.TextScore + ranking["vector"]*h.VectorScore + ranking["strength"]*h.Retention +
							ranking["recency"]*h.Recency,
						"retention": h.VectorScore * h.Retention,
						"strength":  0.6*h.VectorScore + 0.3*strength + 0.1*h.Recency,
					}[profile]
					require.InDelta(t, want, h.Score, 1e-9, "%s %s", profile, h.Content)
					for _, part := range []float64{h.Relevance, h.TextScore, h.VectorScore, h.Retention, h.Recency} {
						require.True(t, part >= 0 && part <= 1, "%+v", h)
					}
					if i > 0 {
						require.GreaterOrEqual(t, hits[i-1].Score, h.Score)
					}
				}
			}
		}
	})

	t.Run("RankingIsASettingOfTheApp", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.remember(t, "tea")
		b.exec(t, `INSERT INTO hippocampus.settings (app_name, key, value) VALUES ($1, 'ranking', '{"text": 1}')`, b.AppName)
		hit := b.search(t, "tea", "")[0]
		require.InDelta(t, hit.TextScore, hit.Score, 1e-12) // what it leaves out counts nothing
		require.InDelta(t, hit.TextScore, hit.Relevance, 1e-12)
	})

	t.Run("RefusesWhatCannotBe", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.remember(t, "tea")
		for _, c := range []struct{ code, message, args string }{
			{"HC001", "p_user_id is null", "NULL, 'a', 'tea'"},
			{"HC001", "p_app_name is reserved: *", "'u', '*', 'tea'"},
			{"HC004", "p_query_embedding has 3 dimensions, this deployment 64", "'u', 'a', 'tea', '[1,2,3]'"},
			{"HC005", "p_query_embedding has length 0", "'u', 'a', 'tea', array_fill(0, ARRAY[64])::public.vector"},
			{"HC009", "p_limit is -1", "'u', 'a', 'tea', p_limit => -1"},
			{"HC009", "p_limit is 10001", "'u', 'a', 'tea', p_limit => 10001"},
			{"HC009", "p_limit is 2147483647", "'u', 'a', 'tea', p_limit => 2147483647"},
			{"HC009", "p_limit is null", "'u', 'a', 'tea', p_limit => NULL"},
			{"HC009", "p_min_relevance is 1.5", "'u', 'a', 'tea', p_min_relevance => 1.5"},
			{"HC009", "p_min_relevance is NaN", "'u', 'a', 'tea', p_min_relevance => 'NaN'"},
			{"HC009", "p_categories is 'fun'", "'u', 'a', 'tea', p_categories => '{chat,fun}'"},
			{"HC009", "p_memory_types is 'dream'", "'u', 'a', 'tea', p_memory_types => '{dream}'"},
			{"HC009", "p_memory_types is null", "'u', 'a', 'tea', p_memory_types => '{NULL}'"},
			{"HC009", "p_tags has a tag that is null", "'u', 'a', 'tea', p_tags => '{NULL}'"},
			{"HC009", "p_now is null", "'u', 'a', '', p_now => NULL"},
			{"HC009", "p_profile is 'best'", "'u', 'a', 'tea', p_profile => 'best'"},
			{"HC009", "p_profile is null", "'u', 'a', 'tea', p_profile => NULL"},
		} {
			b.refuses(t, c.code, c.message, "SELECT hippocampus.search_memory("+c.args+")")
		}
		b.refuses(t, "22000", "NaN", "SELECT hippocampus.search_memory('u', 'a', 'tea', array_fill('NaN'::real, ARRAY[64])::public.vector)")
	})

	t.Run("StrengthLeavesOutWhatIsTooWeak", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.rememberWith(t, "weak tea", "p_intensity => 0.049")
		b.rememberWith(t, "strong tea", "p_intensity => 0.051")
		require.Len(t, b.found(t, "tea", "p_profile => 'strength'"), 2) // the policy's model is another one
		b.exec(t, "INSERT INTO hippocampus.retention_policies (app_name, memory_type, model) VALUES ($1, 'semantic', 'strength')", b.AppName)
		for _, profile := range []string{"default", "retention", "strength"} {
			require.Equal(t, []string{"strong tea"}, b.found(t, "tea", "p_profile => '"+profile+"'"), profile)
		}
		b.exec(t, `SELECT hippocampus.remember($1, $2, 'weak tea tea ' || n, p_now => $3, p_intensity => 0) FROM generate_series(1, 200) n`,
			b.UserID, b.AppName, b.now)
		require.Equal(t, []string{"strong tea"}, b.found(t, "tea", ""))
		b.rememberWith(t, "weak tea of another kind", "p_intensity => 0, p_memory_type => 'episodic'")
		require.ElementsMatch(t, []string{"strong tea", "weak tea of another kind"}, b.found(t, "tea", ""))
	})

	t.Run("SupersededTakesNoPlace", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.exec(t, `SELECT hippocampus.remember($1, $2, 'tea tea ' || n, p_now => $3, p_embedding => $4) FROM generate_series(1, 300) n`,
			b.UserID, b.AppName, b.now.Add(time.Hour), vector(1))
		b.exec(t, "UPDATE hippocampus.memories SET superseded_by = gen_random_uuid() WHERE user_id = $1", b.UserID)
		for i := range 3 {
			b.rememberWith(t, fmt.Sprintf("a longer text that names tea only once %d", i), "p_embedding => $5", at(0.1))
		}
		require.Len(t, b.found(t, "tea", ""), 3)
		require.Len(t, b.found(t, "", "p_query_embedding => $5", vector(1)), 3)
		require.Len(t, b.found(t, "tea", "p_query_embedding => $5", vector(1)), 3)
		require.Len(t, b.found(t, "", ""), 3)
	})

	t.Run("ThreadsThatTellItToo", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		one, two := b.thread(t), b.thread(t)
		id := b.remember(t, "tea")
		b.source(t, "memory_id", id, one)
		b.source(t, "memory_id", id, two)
		for _, thread := range []uuid.UUID{one, two} {
			require.Equal(t, []string{"tea"}, b.found(t, "tea", "p_thread_id => $5", thread))
		}
		require.Empty(t, b.found(t, "tea", "p_thread_id => $5", b.thread(t)))
	})

	t.Run("VeryLargeContent", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		for i, unit := range []string{"lorem ipsum ", "天地玄黄宇宙洪荒", "Ünïcödé wörds "} {
			word := fmt.Sprintf("needle%d", i)
			content := word + " " + strings.Repeat(unit, (1_048_576-len(word)-1)/len(unit))
			b.remember(t, content)
			require.Equal(t, []string{content}, b.found(t, word, ""))
		}
	})
}
