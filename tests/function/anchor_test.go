package function_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

// nearTo is a vector at a cosine of the first axis's.
func nearTo(cosine float64) any { return vector(float32(cosine), float32(math.Sqrt(1-cosine*cosine))) }

// embedChunks gives each chunk of the tenant a vector by its content.
func (b *testBundle) embedChunks(t *testing.T, vectors map[string]any) {
	t.Helper()
	for content, v := range vectors {
		id := get[uuid.UUID](t, b, "SELECT c.id FROM hippocampus.chunks c WHERE c.user_id = $1 AND c.content = $2", b.UserID, content)
		b.exec(t, "SELECT hippocampus.put_embedding($1, $2, 'chunk', $3, $4)", b.UserID, b.AppName, id, v)
	}
}

func (b *testBundle) claim(t *testing.T) *uuid.UUID {
	t.Helper()
	return get[*uuid.UUID](t, b, "SELECT hippocampus._claim_anchor_build($1, $2, 60)", b.UserID, b.AppName)
}

// build makes the lists of a vocabulary, whose vectors are given, without letting them serve.
func (b *testBundle) build(t *testing.T, token *uuid.UUID, vectors map[string]any) {
	t.Helper()
	for term, v := range vectors {
		terms := toJSON(t, []map[string]any{{"term": term, "kind": "word", "df": 1, "witnesses": list[uuid.UUID](t, b,
			"SELECT c.id FROM hippocampus.chunks c WHERE c.user_id = $1 AND c.content ILIKE '%' || $2 || '%'", b.UserID, term)}})
		for _, id := range list[uuid.UUID](t, b, "SELECT a.id FROM hippocampus._put_anchors($1, $2, $3, 60, $4) a", b.UserID, b.AppName, token, terms) {
			b.exec(t, "SELECT hippocampus.put_embedding($1, $2, 'anchor', $3, $4)", b.UserID, b.AppName, id, v)
		}
	}
	for last := new(uuid.UUID); last != nil; {
		last = get[*uuid.UUID](t, b, "SELECT hippocampus._fill_anchors($1, $2, $3, 60, $4, 2)", b.UserID, b.AppName, token, last)
	}
}

func (b *testBundle) switchTo(t *testing.T, token *uuid.UUID) {
	t.Helper()
	b.exec(t, "SELECT hippocampus._switch_anchors($1, $2, $3)", b.UserID, b.AppName, token)
}

// hit is what lookup_anchors returns.
type hit struct {
	Content, Origin, Path, Tier    string
	Score, AnchorScore, QueryScore float64
	Anchors, Ways                  []string
}

func (b *testBundle) lookup(t *testing.T, query, named string, args ...any) []hit {
	t.Helper()
	if named != "" {
		named = ", " + named
	}
	return rowsOf[hit](t, b, "SELECT content, origin, path, tier, score, anchor_score, query_score, anchors, ways FROM hippocampus.lookup_anchors($1, $2, $3"+named+")", append([]any{b.UserID, b.AppName, query}, args...)...)
}

// corpus is two documents under two anchors.
func (b *testBundle) corpus(t *testing.T) {
	t.Helper()
	b.document(t, "probes.md", "", chunk(1, "", "liveness restarts a container"), chunk(9, "", "liveness again, less so"))
	b.document(t, "volumes.md", "", chunk(1, "", "a volume keeps files"))
	b.embedChunks(t, map[string]any{
		"liveness restarts a container": nearTo(1), "liveness again, less so": nearTo(0.85), "a volume keeps files": vector(0, 0, 1),
	})
	token := b.claim(t)
	b.build(t, token, map[string]any{"Liveness": nearTo(0.99), "volume": vector(0, 0, 1)})
	b.switchTo(t, token)
}

func hitTexts(hits []hit) []string {
	texts := []string{}
	for _, h := range hits {
		texts = append(texts, h.Content)
	}
	return texts
}

func TestLookupAnchors(t *testing.T) {
	t.Parallel()

	t.Run("Ways", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.corpus(t)
		hits := b.lookup(t, "What about LIVENESS?", "")
		require.Len(t, hits, 1) // of a document the best chunk
		require.Equal(t, "liveness restarts a container", hits[0].Content)
		require.Equal(t, []string{"Liveness"}, hits[0].Anchors)
		require.Equal(t, []string{"lexical"}, hits[0].Ways)
		require.InDelta(t, 0.99, hits[0].Score, 1e-3)

		hits = b.lookup(t, "why was it started anew", "p_query_embedding => $4", nearTo(0.95))
		require.Equal(t, []string{"semantic"}, hits[0].Ways)
		require.InDelta(t, 0.5*0.99+0.5*0.95, hits[0].Score, 1e-2)
		require.InDelta(t, 0.99, b.lookup(t, "why was it started anew", "p_query_embedding => $4, p_anchor_weight => 1", nearTo(0.95))[0].Score, 1e-3)
		require.Empty(t, b.lookup(t, "why was it started anew", "p_query_embedding => $4, p_semantic_theta => 1", nearTo(0.95)))

		require.Empty(t, b.lookup(t, "how large may it be", ""))
		hits = b.lookup(t, "how large may it be", "p_project_anchors => '{Volumes}'")
		require.Equal(t, []string{"a volume keeps files"}, hitTexts(hits))
		require.Equal(t, []string{"project"}, hits[0].Ways)
		require.Equal(t, []string{"liveness restarts a container", "a volume keeps files"}, hitTexts(b.lookup(t, "liveness of a volume", "p_query_embedding => $4", nearTo(1))))
		require.Len(t, b.lookup(t, "liveness of a volume", "p_max_chunks => 1"), 1)
	})

	t.Run("Chinese", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.document(t, "zh.md", "", chunk(1, "", "存活探针重启容器"))
		b.embedChunks(t, map[string]any{"存活探针重启容器": nearTo(1)})
		token := b.claim(t)
		b.build(t, token, map[string]any{"存活探针": nearTo(0.9)})
		b.switchTo(t, token)
		require.Equal(t, []string{"存活探针重启容器"}, hitTexts(b.lookup(t, "请问存活探针怎么用？", "")))
		require.Empty(t, b.lookup(t, "请问探针怎么用？", ""))
	})

	t.Run("DeniedAnchorsAndSourcesBringNothing", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.corpus(t)
		b.exec(t, "SELECT hippocampus.put_anchor_denylist($1, $2, '{liveness}')", b.UserID, b.AppName)
		require.Empty(t, b.lookup(t, "Liveness", "p_query_embedding => $4, p_project_anchors => '{liveness}'", nearTo(1)))
		b.exec(t, "SELECT hippocampus.put_anchor_denylist($1, $2, '{}')", b.UserID, b.AppName)
		require.Len(t, b.lookup(t, "Liveness", ""), 1)
		b.exec(t, "SELECT hippocampus.put_source_allowlist($1, $2, '{elsewhere}')", b.UserID, b.AppName)
		require.Empty(t, b.lookup(t, "liveness volume", "p_query_embedding => $4", nearTo(1)))
		require.Empty(t, list[string](t, b, "SELECT c.content FROM hippocampus.search_chunks($1, $2, 'liveness', $3) c", b.UserID, b.AppName, nearTo(1)))
		// nor does a rebuild list it, and its places are another's
		token := b.claim(t)
		b.build(t, token, map[string]any{"Liveness": nearTo(0.99)})
		require.Zero(t, get[int64](t, b, "SELECT count(*) FROM hippocampus.anchor_chunks c WHERE c.user_id = $1 AND c.generation = 2", b.UserID))
		b.refuses(t, "HC009", "'the' cannot be an anchor", "SELECT hippocampus.put_anchor_denylist($1, $2, '{the}')", b.UserID, b.AppName)
	})

	// Nor do they, or those of a rebuild that goes on, take the places of the others among the nearest.
	t.Run("DeniedAnchorsTakeNobodysPlace", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.corpus(t)
		fill := func(term string, since, n int) {
			b.exec(t, `WITH a AS (INSERT INTO hippocampus.anchors (user_id, app_name, since, until, df, key, kind, term)
					SELECT $1, $2, $4::integer, $4::integer, 1, $3 || n, 'word', $3 || n FROM generate_series(1, $5) n RETURNING id)
				INSERT INTO hippocampus.embeddings (dimension, row_id, user_id, app_name, source, embedding) SELECT $6::integer, a.id, $1, $2, 'anchor', $7::public.halfvec FROM a`,
				b.UserID, b.AppName, term, since, n, dbtest.DefaultDimension, nearTo(0.999))
		}
		fill("denied", 1, 30)
		fill("building", 2, 130)
		b.exec(t, "SELECT hippocampus.put_anchor_denylist($1, $2, ARRAY(SELECT 'denied' || n FROM generate_series(1, 30) n))", b.UserID, b.AppName)
		require.Equal(t, []string{"liveness restarts a container"}, hitTexts(b.lookup(t, "what is it", "p_query_embedding => $4", nearTo(1))))
		b.document(t, "new.md", "", chunk(1, "", "stored meanwhile"))
		b.embedChunks(t, map[string]any{"stored meanwhile": nearTo(1)})
		require.Contains(t, hitTexts(b.lookup(t, "liveness", "")), "stored meanwhile")
	})

	t.Run("IsAnArmOfSearchAndWindowWhenAskedFor", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.corpus(t)
		b.exec(t, "SELECT hippocampus.remember($1, $2, 'the kubelet was slow', p_embedding => $3, p_source => 'docs')", b.UserID, b.AppName, nearTo(0.97))
		search := func(named string) []string {
			return list[string](t, b, "SELECT m.content FROM hippocampus.search_memory($1, $2, 'whatever happened'"+named+") m", b.UserID, b.AppName)
		}
		window := func(named string) []string {
			return list[string](t, b, "SELECT w.content FROM hippocampus.get_context_window($1, $2, 'whatever happened'"+named+") w WHERE w.context_type = 'memory'", b.UserID, b.AppName)
		}
		const asked = ", p_project_anchors => '{liveness}'"
		require.Empty(t, search(""))
		require.Empty(t, search(", p_project_anchors => '{}'"))
		require.Equal(t, []string{"the kubelet was slow"}, search(asked))
		require.Empty(t, search(asked+", p_memory_types => '{summary}'"))
		require.Empty(t, window(""))
		lines := window(asked)
		require.Len(t, lines, 2)
		require.Equal(t, "- [document] probes.md:1: liveness restarts a container", lines[0])
		require.Contains(t, lines[1], "the kubelet was slow")
		require.LessOrEqual(t, get[int](t, b, "SELECT coalesce(sum(w.token_estimate), 0)::integer FROM hippocampus.get_context_window($1, $2, 'whatever', p_max_tokens => 60"+asked+") w", b.UserID, b.AppName), 60)

		b.exec(t, "SELECT hippocampus.put_source_allowlist($1, $2, '{elsewhere}')", b.UserID, b.AppName)
		require.Empty(t, b.lookup(t, "whatever happened", "p_project_anchors => '{liveness}'"))
		require.Empty(t, search(asked))
		require.Empty(t, window(asked))
		b.exec(t, "SELECT hippocampus.put_source_allowlist($1, $2, '{}'), hippocampus.put_anchor_denylist($1, $2, '{liveness}')", b.UserID, b.AppName)
		require.Empty(t, search(asked))
		require.Empty(t, window(asked))
	})

	t.Run("Refuses", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.refuses(t, "HC009", "p_max_chunks is 101", "SELECT hippocampus.lookup_anchors($1, $2, 'x', p_max_chunks => 101)", b.UserID, b.AppName)
		b.refuses(t, "HC009", "p_anchor_weight is 2", "SELECT hippocampus.lookup_anchors($1, $2, 'x', p_anchor_weight => 2)", b.UserID, b.AppName)
		b.refuses(t, "HC009", "daily", "SELECT hippocampus.lookup_anchors($1, $2, 'x', p_tiers => '{daily}')", b.UserID, b.AppName)
		b.refuses(t, "HC004", "p_query_embedding", "SELECT hippocampus.lookup_anchors($1, $2, 'x', '[1]')", b.UserID, b.AppName)
		b.refuses(t, "HC009", "leaves out parts", `SELECT hippocampus.put_setting('*', 'anchors', '{"theta": 0.5}')`)
		b.refuses(t, "HC009", "part theta", `SELECT hippocampus.put_setting('*', 'anchors', '{"theta": 2}')`)
		b.refuses(t, "HC009", "'top'", `SELECT hippocampus.put_setting('*', 'anchors/m', '{"top": 2}')`)
	})
}

func TestAnchorTiers(t *testing.T) {
	t.Parallel()

	t.Run("WhatIsStoredIsListedAtOnce", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.corpus(t)
		b.document(t, "new.md", "", chunk(1, "", "liveness, and a brand-new thing"))
		b.embedChunks(t, map[string]any{"liveness, and a brand-new thing": nearTo(0.999)})
		b.rememberWith(t, "a memory about restarts", "p_embedding => $5", nearTo(0.98))
		later := b.remember(t, "a memory whose vector comes later")
		b.exec(t, "SELECT hippocampus.put_embedding($1, $2, 'memory', $3, $4)", b.UserID, b.AppName, later, nearTo(0.9))
		hits := b.lookup(t, "liveness", "")
		require.Equal(t, []string{
			"a memory about restarts", "liveness, and a brand-new thing", "liveness restarts a container", "a memory whose vector comes later",
		}, hitTexts(hits))
		require.Equal(t, []string{"episodic", "episodic", "semantic", "episodic"}, []string{hits[0].Tier, hits[1].Tier, hits[2].Tier, hits[3].Tier})
		require.Equal(t, []string{"liveness restarts a container"}, hitTexts(b.lookup(t, "liveness", "p_tiers => '{semantic}'")))
		// what is far from every anchor is in no list, and what is superseded in no result
		b.rememberWith(t, "far from all", "p_embedding => $5", vector(0, 0, 0, 1))
		b.exec(t, "UPDATE hippocampus.memories SET superseded_by = id WHERE id = $1", later)
		require.Len(t, b.lookup(t, "liveness", ""), 3)
		// and a new term waits for the night
		require.Empty(t, b.lookup(t, "brand-new thing", ""))
	})

	t.Run("ListsAreCapped", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.corpus(t)
		b.exec(t, `SELECT hippocampus.put_setting($1, 'anchors', '{"cap": 5}')`, b.AppName)
		for i := range 9 {
			content := fmt.Sprintf("piece %d", i)
			b.document(t, content, "", chunk(1, "", content))
			b.embedChunks(t, map[string]any{content: nearTo(0.9 + float64(i)/100)})
		}
		require.Equal(t, []string{"liveness restarts a container", "piece 8", "piece 7", "piece 6", "piece 5"}, list[string](t, b,
			`SELECT c.content FROM hippocampus.anchor_chunks l JOIN hippocampus.chunks c ON c.id = l.chunk_id
			JOIN hippocampus.anchors a ON a.id = l.anchor_id WHERE l.user_id = $1 AND a.key = 'live' ORDER BY (c.content LIKE 'piece%'), c.content DESC`, b.UserID))
	})

	// A part of a word says nothing: «party» has no art.
	t.Run("AnAnchorIsSaidByWords", func(t *testing.T) {
		t.Parallel()
		for term, c := range map[string]struct {
			changed string
			stays   bool
		}{
			"art": {"the party starts", false}, "Art": {"some ARTS, a party", true}, "green tea": {"a greenish teapot", false}, "green teas": {"Green tea!", true},
			"探针": {"存活探针重启容器", true}, "探测": {"存活探针重启容器", false}, "gpt模型": {"用gpt模型训练", false}, // which no question finds either
		} {
			b := setup(t)
			b.document(t, "a.md", "", chunk(1, "", "say "+term))
			b.exec(t, `INSERT INTO hippocampus.anchors (user_id, app_name, since, until, df, key, kind, term, witnesses)
				SELECT $1, $2, 1, 1, 1, hippocampus._anchor_key($3, 'pg_catalog.english'), 'word', $3, ARRAY(SELECT c.id FROM hippocampus.chunks c WHERE c.user_id = $1)`, b.UserID, b.AppName, term)
			b.document(t, "a.md", "", chunk(1, "", c.changed))
			require.Equal(t, c.stays, get[bool](t, b, "SELECT EXISTS (SELECT FROM hippocampus.anchors WHERE user_id = $1)", b.UserID), term)
		}
	})

	// However far on it is said, and whatever pieces it is looked for in.
	t.Run("AnAnchorIsSaidAnywhere", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		soup := func(n int) string { return strings.Repeat("soup ", n) }
		for before, says := range map[string]string{
			soup(598): "green tea", soup(599): "green tea", soup(600): "green tea", soup(798): "green tea", soup(799): "green tea", soup(800): "green tea",
			soup(4998): "green tea", soup(12000): "green tea", strings.Repeat("tea ", 1000): "green tea", strings.Repeat("汤", 3999): "绿茶", strings.Repeat("汤", 16000): "绿茶",
			soup(599) + "a sm": "art", soup(797) + "a sm": "art", // which «smart» does not
		} {
			b.Scope = dbtest.NewScope(t)
			b.document(t, "a.md", "", chunk(1, "", "say "+says))
			b.exec(t, `INSERT INTO hippocampus.anchors (user_id, app_name, since, until, df, key, kind, term, witnesses)
				SELECT $1, $2, 1, 1, 1, hippocampus._anchor_key(n.term, 'pg_catalog.english'), 'word', n.term, ARRAY(SELECT c.id FROM hippocampus.chunks c WHERE c.user_id = $1)
				FROM unnest(ARRAY[$3, 'black tea']) n (term)`, b.UserID, b.AppName, says)
			b.document(t, "a.md", "", chunk(1, "", before+says+" "+soup(500)))
			require.Equal(t, !strings.HasSuffix(before, "sm"), get[bool](t, b, "SELECT count(*) = 1 AND min(a.term) = $2 FROM hippocampus.anchors a WHERE a.user_id = $1", b.UserID, says),
				"%s after %d characters", says, len(before))
		}
	})

	t.Run("AnAnchorGoesWithTheLastThatSaysIt", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.corpus(t)
		b.document(t, "probes.md", "", chunk(1, "", "liveness again, less so"))
		require.Equal(t, []string{"Liveness", "volume"}, list[string](t, b, "SELECT a.term FROM hippocampus.anchors a WHERE a.user_id = $1 ORDER BY 1", b.UserID))
		// A section that was changed and says it all the same keeps it, and is found by it when it has its vector.
		b.document(t, "probes.md", "", chunk(1, "", "the LIVENESS probe is new"))
		b.embedChunks(t, map[string]any{"the LIVENESS probe is new": nearTo(1)})
		require.Equal(t, []string{"the LIVENESS probe is new"}, hitTexts(b.lookup(t, "liveness", "")))
		b.document(t, "volumes.md", "", chunk(1, "", "a folder keeps files"))
		require.Equal(t, []string{"Liveness"}, list[string](t, b, "SELECT a.term FROM hippocampus.anchors a WHERE a.user_id = $1", b.UserID))
		b.document(t, "volumes.md", "", chunk(1, "", "a folder keeps files, a volume too")) // which waits for the night
		require.Empty(t, b.lookup(t, "volume", ""))
		b.document(t, "probes.md", "", chunk(1, "", "livenesses, and an aliveness")) // of which the one is its word
		require.Equal(t, []string{"Liveness"}, list[string](t, b, "SELECT a.term FROM hippocampus.anchors a WHERE a.user_id = $1", b.UserID))
		b.exec(t, "SELECT hippocampus.delete_document($1, $2, 'probes.md')", b.UserID, b.AppName)
		require.Empty(t, list[string](t, b, "SELECT a.term FROM hippocampus.anchors a WHERE a.user_id = $1", b.UserID))
		require.Zero(t, get[int64](t, b, "SELECT count(*) FROM hippocampus.embeddings e WHERE e.user_id = $1 AND e.source = 'anchor'", b.UserID))
	})
}

func TestAnchorRebuild(t *testing.T) {
	t.Parallel()

	t.Run("ServesAtTheSwitchOnly", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.corpus(t)
		token := b.claim(t)
		b.build(t, token, map[string]any{"restarts": nearTo(1), "volume": vector(0, 0, 1)})
		require.Empty(t, b.lookup(t, "restarts", ""))
		require.Len(t, b.lookup(t, "liveness", ""), 1)
		// what is stored meanwhile is in both
		b.document(t, "new.md", "", chunk(1, "", "stored meanwhile"))
		b.embedChunks(t, map[string]any{"stored meanwhile": nearTo(0.995)})
		require.Equal(t, []string{"stored meanwhile", "liveness restarts a container"}, hitTexts(b.lookup(t, "liveness", "p_query_embedding => $4, p_anchor_weight => 0", nearTo(0.995))))
		b.switchTo(t, token)
		require.Equal(t, []string{"liveness restarts a container", "stored meanwhile"}, hitTexts(b.lookup(t, "restarts", "")))
		require.Empty(t, b.lookup(t, "liveness", "")) // no longer in the vocabulary
		require.Equal(t, []int32{2}, list[int32](t, b, "SELECT DISTINCT c.generation FROM hippocampus.anchor_chunks c WHERE c.user_id = $1", b.UserID))
	})

	t.Run("OneWorksAndOneLeaves", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.corpus(t)
		first := b.claim(t)
		require.NotNil(t, first)
		require.Nil(t, b.claim(t))
		b.build(t, first, map[string]any{"restarts": nearTo(1)})
		// The first is killed: when its lease has run out, another begins, and what was left is gone.
		b.exec(t, "UPDATE hippocampus.anchor_indexes SET lease_until = '2000-01-01' WHERE user_id = $1", b.UserID)
		require.Len(t, b.lookup(t, "liveness", ""), 1)
		second := b.claim(t)
		require.NotNil(t, second)
		require.Zero(t, get[int64](t, b, "SELECT count(*) FROM hippocampus.anchor_chunks c WHERE c.user_id = $1 AND c.generation > 1", b.UserID))
		// and the first, should it live after all, is stopped
		b.refuses(t, "HC008", "no longer under way", "SELECT hippocampus._fill_anchors($1, $2, $3, 60, NULL, 5)", b.UserID, b.AppName, first)
		b.refuses(t, "HC008", "no longer under way", "SELECT hippocampus._switch_anchors($1, $2, $3)", b.UserID, b.AppName, first)
		b.build(t, second, map[string]any{"restarts": nearTo(1)})
		b.switchTo(t, second)
		require.Len(t, b.lookup(t, "restarts", ""), 1)
	})

	t.Run("OneWhoseSessionEndedIsDeadAtOnce", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.corpus(t)
		first := get[*uuid.UUID](t, b, "SELECT hippocampus._claim_anchor_build($1, $2, 60, true)", b.UserID, b.AppName)
		require.NotNil(t, first)
		require.Nil(t, b.claim(t))
		// This session goes on, so the lock is let go as its end would.
		require.True(t, get[bool](t, b, "SELECT pg_advisory_unlock(hashtextextended('hippocampus.anchors ' || $1::uuid, 0))", first))
		require.Len(t, b.lookup(t, "liveness", ""), 1)
		second := b.claim(t)
		require.NotNil(t, second)
		b.refuses(t, "HC008", "no longer under way", "SELECT hippocampus._switch_anchors($1, $2, $3)", b.UserID, b.AppName, first)
		b.build(t, second, map[string]any{"restarts": nearTo(1)})
		b.switchTo(t, second)
		require.Len(t, b.lookup(t, "restarts", ""), 1)
	})
}

// A process whose model is taking another's place searches by its own vectors, of its own dimension.
func TestDocumentsWhileTheModelChanges(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.exec(t, "UPDATE hippocampus.embedding_models SET model = 'ours' WHERE status = 'serving'")
	b.corpus(t)
	b.exec(t, "SELECT hippocampus.start_reembedding('theirs', 2)")
	b.exec(t, "UPDATE hippocampus.embedding_models SET queued_at = now() WHERE model = 'theirs'")
	b.exec(t, `SELECT hippocampus.put_setting('*', 'anchors/theirs', '{"anchor_weight": 0.25}')`)
	for _, row := range []struct{ query, text, source, vector string }{
		{"SELECT id FROM hippocampus.chunks WHERE user_id = $1 AND content = $2", "liveness restarts a container", "chunk", "[1,0]"},
		{"SELECT id FROM hippocampus.chunks WHERE user_id = $1 AND content = $2", "a volume keeps files", "chunk", "[0.28,0.96]"},
		{"SELECT id FROM hippocampus.anchors WHERE user_id = $1 AND term = $2", "Liveness", "anchor", "[1,0]"},
		{"SELECT id FROM hippocampus.anchors WHERE user_id = $1 AND term = $2", "volume", "anchor", "[0,1]"},
	} {
		b.exec(t, "SELECT hippocampus.put_embedding($1, $2, $3, $4, $5, 'theirs')", b.UserID, b.AppName, row.source,
			get[uuid.UUID](t, b, row.query, b.UserID, row.text), row.vector)
	}
	const search = "SELECT c.content FROM hippocampus.search_chunks($1, $2, '', $3) c"
	const unserved = "SELECT hippocampus.lookup_anchors($1, $2, 'where', $3)"
	b.refuses(t, "HC004", "p_query_embedding has 2 dimensions", unserved, b.UserID, b.AppName, "[0,1]")
	require.Equal(t, "liveness restarts a container", list[string](t, b, search, b.UserID, b.AppName, nearTo(1))[0])

	b.exec(t, "SELECT set_config('hippocampus.embedding_model', 'theirs', true)")
	require.Equal(t, []string{"a volume keeps files", "liveness restarts a container"}, list[string](t, b, search, b.UserID, b.AppName, "[0,1]"))
	hits := b.lookup(t, "where", "p_query_embedding => $4", "[0,1]")
	require.Equal(t, []string{"a volume keeps files"}, hitTexts(hits))
	require.Equal(t, []string{"semantic"}, hits[0].Ways)
	require.InDelta(t, 0.96, hits[0].QueryScore, 1e-2)
	require.InDelta(t, 0.25*hits[0].AnchorScore+0.75*hits[0].QueryScore, hits[0].Score, 1e-6) // as their model's setting has it

	// A rebuild in their name finds that the anchors have vectors, and lists by them.
	token := b.claim(t)
	b.build(t, token, map[string]any{"volume": nil})
	b.switchTo(t, token)
	require.InDelta(t, 0.96, b.lookup(t, "volume", "")[0].AnchorScore, 1e-2)

	b.exec(t, "SELECT set_config('hippocampus.embedding_model', 'nobody', true)")
	b.refuses(t, "HC014", "'nobody'", unserved, b.UserID, b.AppName, nearTo(1))
}
