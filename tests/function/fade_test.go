package function_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// insights is a thread with three old episodes that nobody used, and what was made of them: an insight, one that was
// drawn from that one, and a cluster. A fourth episode, of another thread, is in the cluster and well used.
type insights struct {
	*testBundle
	thread, used, first, second, cluster uuid.UUID
	episodes                             []uuid.UUID
}

func setupInsights(t *testing.T) *insights {
	t.Helper()
	b := &insights{testBundle: setup(t)}
	b.thread = b.testBundle.thread(t)
	other := b.testBundle.thread(t)
	for _, text := range []string{"We met in Oslo", "It rained in Oslo", "The Oslo plan was signed"} {
		b.say(t, b.thread, text, 0)
	}
	b.say(t, other, "The boat was blue", 0)
	const episode = "p_memory_type => 'episodic', p_thread_id => $5, p_from_seq => $6"
	for i, text := range []string{"We met in Oslo", "It rained in Oslo", "The Oslo plan was signed"} {
		b.episodes = append(b.episodes, b.rememberWith(t, text, episode, b.thread, i+1))
	}
	b.used = b.rememberWith(t, "The boat was blue", episode, other, 1)
	b.first = b.rememberWith(t, "A deal came of a wet day", "p_initial_score => 1")
	b.second = b.rememberWith(t, "Deals come of travel", "p_initial_score => 1")
	b.cluster = b.rememberWith(t, "The journey north", "p_memory_type => 'summary', p_initial_score => 1")
	link := func(from, to uuid.UUID) {
		b.exec(t, "SELECT hippocampus.link_memories($1, $2, $3, $4, 'derived_from')", b.UserID, b.AppName, from, to)
	}
	for _, e := range b.episodes {
		link(b.first, e)
	}
	link(b.second, b.first)
	b.exec(t, "INSERT INTO hippocampus.memory_clusters (started_at, ended_at, id, user_id, app_name) VALUES ($1, $1, $2, $3, $4)",
		b.now, b.cluster, b.UserID, b.AppName)
	b.exec(t, `INSERT INTO hippocampus.memory_cluster_members (cluster_id, memory_id, user_id, app_name)
		SELECT $1, m, $3, $4 FROM unnest($2::uuid[]) m`, b.cluster, append([]uuid.UUID{b.used}, b.episodes...), b.UserID, b.AppName)
	b.now = b.now.Add(8 * day)
	b.use(t, b.used)
	return b
}

// use has memories recalled so often that no sweep of the next weeks takes them.
func (b *insights) use(t *testing.T, ids ...uuid.UUID) {
	t.Helper()
	b.exec(t, "UPDATE hippocampus.memories SET access_count = 200, last_accessed_at = $3 WHERE user_id = $1 AND id = ANY ($2)", b.UserID, ids, b.now)
}

func (b *insights) sweep(t *testing.T) int {
	t.Helper()
	return get[int](t, b, "SELECT hippocampus.cleanup_low_value_memories(NULL, NULL, p_user_id => $1, p_app_name => $2, p_now => $3)", b.UserID, b.AppName, b.now)
}

func (b *insights) left(t *testing.T) []uuid.UUID {
	t.Helper()
	return list[uuid.UUID](t, b, "SELECT id FROM hippocampus.memories WHERE user_id = $1", b.UserID)
}

func (b *insights) planned(t *testing.T) []uuid.UUID {
	t.Helper()
	return list[uuid.UUID](t, b, "SELECT memory_id FROM hippocampus.preview_retention($1, $2, p_now => $3)", b.UserID, b.AppName, b.now)
}

// What retention deletes it takes alone, and it is what the preview said.
func TestFading(t *testing.T) {
	t.Parallel()

	for name, sweep := range map[string]string{
		"ByPolicy":    "SELECT hippocampus.cleanup_low_value_memories(NULL, NULL, p_user_id => $1, p_app_name => $2, p_now => $3)",
		"ByThreshold": "SELECT hippocampus.cleanup_low_value_memories(0.11, 7, p_user_id => $1, p_app_name => $2, p_now => $3)",
		"ByNumber":    "SELECT hippocampus.trim_memories(p_user_id => $1, p_app_name => $2, p_now => $3)",
	} {
		t.Run("TakesNothingAlong"+name, func(t *testing.T) {
			t.Parallel()
			b := setupInsights(t)
			if name == "ByNumber" {
				b.exec(t, "INSERT INTO hippocampus.retention_policies (app_name, max_per_user, min_age_days) VALUES ($1, 4, 30)", b.AppName)
			}
			require.ElementsMatch(t, b.episodes, b.planned(t))
			require.Equal(t, 3, get[int](t, b, sweep, b.UserID, b.AppName, b.now))
			require.ElementsMatch(t, []uuid.UUID{b.used, b.first, b.second, b.cluster}, b.left(t))
			require.Empty(t, b.planned(t))
			require.Equal(t, "1", get[string](t, b, "SELECT members::text FROM hippocampus.list_clusters($1, $2)", b.UserID, b.AppName))
		})
	}

	t.Run("LeavesWhatForgettingFinds", func(t *testing.T) {
		t.Parallel()
		for name, way := range map[string]struct {
			forget string
			left   func(b *insights) []uuid.UUID
		}{
			"AnEvent":       {"SELECT hippocampus.forget($1, $2, ARRAY(SELECT e.id FROM hippocampus.events e WHERE e.thread_id = $3 AND e.sequence_num = 2))", nil},
			"TheThread":     {"SELECT hippocampus.forget_thread($1, $2, $3)", nil},
			"ThreadByHand":  {"DELETE FROM hippocampus.threads WHERE user_id = $1 AND app_name = $2 AND id = $3", nil},
			"ByItsName":     {"SELECT hippocampus.forget_memory($1, $2, 'journey north') WHERE $3::uuid IS NOT NULL", func(b *insights) []uuid.UUID { return []uuid.UUID{b.first, b.second} }},
			"TheUser":       {"SELECT hippocampus.forget_user($1, $2) WHERE $3::uuid IS NOT NULL", func(*insights) []uuid.UUID { return nil }},
			"OneThatStayed": {"SELECT hippocampus.forget($1, $2, ARRAY(SELECT m.id FROM hippocampus.memories m WHERE m.user_id = $1 AND m.content LIKE 'The boat%' AND m.thread_id <> $3))", func(b *insights) []uuid.UUID { return []uuid.UUID{b.first, b.second} }},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				b := setupInsights(t)
				require.Equal(t, 3, b.sweep(t))
				b.exec(t, way.forget, b.UserID, b.AppName, b.thread)
				want := []uuid.UUID(nil)
				if way.left != nil {
					want = way.left(b)
				}
				left := b.left(t)
				if name == "ByItsName" {
					require.Contains(t, left, b.used)
				}
				require.ElementsMatch(t, want, without(left, b.used))
				if len(want) == 0 {
					require.Zero(t, get[int](t, b, "SELECT count(*) FROM hippocampus.faded_sources WHERE user_id = $1", b.UserID))
				}
			})
		}
	})

	t.Run("PassesOnWhatItWasMadeOf", func(t *testing.T) {
		t.Parallel()
		b := setupInsights(t)
		b.use(t, b.second, b.episodes[0])
		b.now = b.now.Add(22 * day)
		b.use(t, b.second, b.episodes[0])
		require.ElementsMatch(t, []uuid.UUID{b.first, b.cluster, b.episodes[1], b.episodes[2]}, b.planned(t))
		require.Equal(t, 4, b.sweep(t))
		require.ElementsMatch(t, []uuid.UUID{b.second, b.episodes[0], b.used}, b.left(t))
		require.Equal(t, []uuid.UUID{b.episodes[0]}, list[uuid.UUID](t, b, `SELECT id FROM hippocampus.linked_memories($1, $2, $3)`, b.UserID, b.AppName, b.second))
		for _, forget := range []string{
			"SELECT hippocampus.forget($1, $2, ARRAY[$3::uuid]) WHERE $4::uuid IS NOT NULL", "DELETE FROM hippocampus.memories WHERE user_id = $1 AND app_name = $2 AND id = $3 AND $4::uuid IS NOT NULL",
			"SELECT hippocampus.forget($1, $2, ARRAY(SELECT e.id FROM hippocampus.events e WHERE e.thread_id = $4 AND e.sequence_num = 3)) WHERE $3::uuid IS NOT NULL",
		} {
			attempt, err := b.Begin(t.Context())
			require.NoError(t, err)
			_, err = attempt.Exec(t.Context(), forget, b.UserID, b.AppName, b.episodes[0], b.thread)
			require.NoError(t, err)
			require.NotContains(t, list[uuid.UUID](t, attempt, "SELECT id FROM hippocampus.memories WHERE user_id = $1", b.UserID), b.second, forget)
			require.NoError(t, attempt.Rollback(t.Context()))
		}
	})

	t.Run("DoesNotMakeItFitToBeShared", func(t *testing.T) {
		t.Parallel()
		b := setupInsights(t)
		b.policy(t, `{"sharing": true}`)
		require.Equal(t, 3, b.sweep(t))
		b.refuses(t, "HC009", "was made of other memories", "SELECT hippocampus.share_memory($1, $2, $3)", b.UserID, b.AppName, b.first)
	})

	t.Run("OfAMemoryThatHasNoThread", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.policy(t, `{"sharing": true}`)
		source := b.remember(t, "told by a client")
		made := b.rememberWith(t, "what it comes to", "p_initial_score => 1")
		b.exec(t, "SELECT hippocampus.link_memories($1, $2, $3, $4, 'derived_from')", b.UserID, b.AppName, made, source)
		b.now = b.now.Add(8 * day)
		i := &insights{testBundle: b}
		require.Equal(t, 1, i.sweep(t))
		require.Equal(t, []uuid.UUID{made}, i.left(t))
		b.refuses(t, "HC009", "was made of other memories", "SELECT hippocampus.share_memory($1, $2, $3)", b.UserID, b.AppName, made)
	})
}

func without(ids []uuid.UUID, id uuid.UUID) []uuid.UUID {
	var others []uuid.UUID
	for _, other := range ids {
		if other != id {
			others = append(others, other)
		}
	}
	return others
}

// What a sleep merges says the same, and nobody who is trusted more loses his words.
func TestMergeRepeated(t *testing.T) {
	t.Parallel()
	// two stores two memories that are as near as p_near says, the second a minute later, and gives what is left of them.
	two := func(t *testing.T, b *testBundle, first, second string, near float64, trusts ...string) []string {
		t.Helper()
		for i, text := range []string{first, second} {
			trust := "user"
			if len(trusts) > i {
				trust = trusts[i]
			}
			x, y := float32(1), float32(0)
			if i == 1 {
				x, y = float32(near), float32(1-near)
			}
			b.rememberWith(t, text, "p_embedding => $5, p_trust => $6", vector(x, y), trust)
			b.now = b.now.Add(time.Minute)
		}
		b.exec(t, "SELECT hippocampus.tidy_memories($1, $2)", b.UserID, b.AppName)
		return list[string](t, b, "SELECT content FROM hippocampus.list_memories($1, $2) ORDER BY 1", b.UserID, b.AppName)
	}
	for name, c := range map[string]struct {
		first, second string
		trusts, left  []string
	}{
		"TheNewerStays":      {"She drinks tea", "She likes to drink tea", nil, []string{"She likes to drink tea"}},
		"OtherNumbers":       {"100 requests a minute are allowed", "1,000 requests a minute are allowed", nil, []string{"1,000 requests a minute are allowed", "100 requests a minute are allowed"}},
		"OneDenies":          {"他喝咖啡", "他不喝咖啡", nil, []string{"他不喝咖啡", "他喝咖啡"}},
		"AToolHidesNobody":   {"She drinks tea", "The page says that she drinks tea", []string{"user", "tool"}, []string{"She drinks tea"}},
		"AUserHidesATool":    {"The page says that she drinks tea", "She drinks tea", []string{"tool", "user"}, []string{"She drinks tea"}},
		"AnAgentHidesNobody": {"She drinks tea", "It seems that she drinks tea", []string{"user", "agent"}, []string{"She drinks tea"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.ElementsMatch(t, c.left, two(t, setup(t), c.first, c.second, 1, c.trusts...))
		})
	}

	t.Run("HowNearTheModelSays", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		require.Len(t, two(t, b, "She drinks tea", "Her drink is tea", 0.6), 2, "they are 0.83 alike")
		require.Equal(t, 1, get[int](t, b, "SELECT count(*) FROM hippocampus.memory_links WHERE user_id = $1", b.UserID))
		b = setup(t)
		b.exec(t, `SELECT hippocampus.put_setting($1, 'similarity', '{"duplicate": 0.8, "ask": 0.5, "forget": 0.4}')`, b.AppName)
		require.Equal(t, []string{"Her drink is tea"}, two(t, b, "She drinks tea", "Her drink is tea", 0.6))
		b = setup(t)
		b.exec(t, `SELECT hippocampus.put_setting($1, 'similarity', '{"duplicate": 0.99, "ask": 0.9, "forget": 0.4}')`, b.AppName)
		require.Len(t, two(t, b, "She drinks tea", "Her drink is tea", 0.6), 2)
		require.Zero(t, get[int](t, b, "SELECT count(*) FROM hippocampus.memory_links WHERE user_id = $1", b.UserID))
	})

	t.Run("NotWhatIsShownOrHasAName", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.policy(t, `{"sharing": true}`)
		shown := b.rememberWith(t, "The office opens early", "p_embedding => $5", vector(1))
		b.exec(t, "SELECT hippocampus.share_memory($1, $2, $3)", b.UserID, b.AppName, shown)
		b.now = b.now.Add(time.Minute)
		b.rememberWith(t, "Early the office opens", "p_embedding => $5", vector(1))
		named := get[uuid.UUID](t, b, "SELECT hippocampus.update_knowledge_base($1, $2, 'tea', 'green', 'Green tea at 80 degrees', p_embedding => $3, p_now => $4)", b.UserID, b.AppName, vector(0, 1), b.now)
		b.now = b.now.Add(time.Minute)
		b.rememberWith(t, "Tea that is green, at 80 degrees", "p_category => 'insight', p_embedding => $5, p_trust => 'agent'", vector(0, 1))
		b.exec(t, "SELECT hippocampus.tidy_memories($1, $2)", b.UserID, b.AppName)
		require.Equal(t, 0, get[int](t, b, "SELECT count(*) FROM hippocampus.memories WHERE id = ANY ($1) AND superseded_by IS NOT NULL", []uuid.UUID{shown, named}))
	})
}
