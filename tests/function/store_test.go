package function_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/db"
)

// put stores a JSON object at the bundle's time, with more named arguments.
func (b *testBundle) put(t *testing.T, namespace []string, key, value string, named ...string) db.StoreEntry {
	t.Helper()
	return rowOf[db.StoreEntry](t, b, "SELECT * FROM hippocampus.store_put($1, $2, $3, $4, $5, p_now => $6"+more(named)+")",
		b.UserID, b.AppName, namespace, key, value, b.now)
}

// item reads an item at the bundle's time; nil where there is none.
func (b *testBundle) item(t *testing.T, namespace []string, key string, named ...string) *db.StoreEntry {
	t.Helper()
	found := rowsOf[db.StoreEntry](t, b, "SELECT * FROM hippocampus.store_get($1, $2, $3, $4, p_now => $5"+more(named)+")",
		b.UserID, b.AppName, namespace, key, b.now)
	if len(found) == 0 {
		return nil
	}
	require.Len(t, found, 1)
	return &found[0]
}

// stored searches below a prefix at the bundle's time.
func (b *testBundle) stored(t *testing.T, prefix []string, named ...string) []db.StoreEntry {
	t.Helper()
	return rowsOf[db.StoreEntry](t, b, "SELECT * FROM hippocampus.store_search($1, $2, $3, p_now => $4"+more(named)+")",
		b.UserID, b.AppName, prefix, b.now)
}

// refreshed is what a read gives that lets what it finds live its time again, at the bundle's time.
func (b *testBundle) refreshed(t *testing.T, read string) []db.StoreEntry {
	t.Helper()
	return rowsOf[db.StoreEntry](t, b, "SELECT * FROM hippocampus.store_refresh($1, $2, ARRAY(SELECT e FROM hippocampus."+read+" e), p_now => $3)",
		b.UserID, b.AppName, b.now)
}

// storedKeys are the keys of what a search finds, in its order.
func (b *testBundle) storedKeys(t *testing.T, prefix []string, named ...string) []string {
	t.Helper()
	keys := []string{}
	for _, entry := range b.stored(t, prefix, named...) {
		keys = append(keys, entry.Key)
	}
	return keys
}

func more(named []string) string {
	if len(named) == 0 {
		return ""
	}
	return ", " + strings.Join(named, ", ")
}

// ns is a namespace.
func ns(segments ...string) []string { return segments }

func TestStoreDelete(t *testing.T) {
	t.Parallel()

	t.Run("LeavesNothing", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		before := b.counts(t)
		b.put(t, ns("test"), "tea", `{"text": "green tea"}`, "p_embedding => array_fill(1, ARRAY[64])::public.vector")
		b.put(t, ns("test"), "coffee", `{"text": "black coffee"}`)
		for _, key := range []string{"tea", "coffee"} {
			require.True(t, get[bool](t, b, "SELECT hippocampus.store_delete($1, $2, $3, $4)", b.UserID, b.AppName, ns("test"), key))
			require.False(t, get[bool](t, b, "SELECT hippocampus.store_delete($1, $2, $3, $4)", b.UserID, b.AppName, ns("test"), key))
			require.Nil(t, b.item(t, ns("test"), key))
		}
		after := b.counts(t)
		for _, table := range []string{"store_items", "embeddings", "embedding_queue", "row_terms", "postings"} {
			require.Equal(t, before[table], after[table], table)
		}
	})

	t.Run("OfWhatHasExpiredTellsThatThereWasNone", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.put(t, ns("test"), "tea", `{}`, "p_ttl => '1 hour'")
		require.False(t, get[bool](t, b, "SELECT hippocampus.store_delete($1, $2, $3, 'tea', p_now => $4)",
			b.UserID, b.AppName, ns("test"), b.now.Add(time.Hour)))
	})
}

func TestStoreGet(t *testing.T) {
	t.Parallel()

	t.Run("GivesNothingForWhatIsNotThere", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.put(t, ns("test", "documents"), "doc1", `{"title": "Hello"}`)
		require.Nil(t, b.item(t, ns("test", "documents"), "doc2"))
		require.Nil(t, b.item(t, ns("test", "other"), "doc1"))
		require.Nil(t, b.item(t, ns("test"), "doc1"))
		require.Nil(t, b.item(t, ns("test", "documents", "deeper"), "doc1"))
	})

	t.Run("TellsNamespacesApart", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		names := [][]string{ns("a", "b"), ns("a.b"), ns("a", "b", "c"), ns("ab"), ns("a\x01b"), ns("a", "\x02b"), ns("a\x02", "b"), ns("A", "b"), ns("a", "b_"), ns("a", "b%"), ns("a", "猫")}
		for i, name := range names {
			b.put(t, name, "k", toJSON(t, map[string]any{"n": i}))
		}
		for i, name := range names {
			require.JSONEq(t, toJSON(t, map[string]any{"n": i}), string(b.item(t, name, "k").Value), "%q", name)
		}
		require.Equal(t, len(names), get[int](t, b, "SELECT count(DISTINCT path) FROM hippocampus.store_items WHERE user_id = $1", b.UserID))
	})
}

func TestStoreListNamespaces(t *testing.T) {
	t.Parallel()
	list := func(t *testing.T, b *testBundle, named ...string) []string {
		t.Helper()
		return list[string](t, b, "SELECT array_to_string(namespace, '/') FROM hippocampus.store_list_namespaces($1, $2, p_now => $3"+more(named)+")",
			b.UserID, b.AppName, b.now)
	}
	fill := func(t *testing.T) *testBundle {
		t.Helper()
		b := setup(t)
		for _, name := range [][]string{
			ns("test", "documents", "public"), ns("test", "documents", "private"), ns("test", "images", "public"),
			ns("test", "images", "private"), ns("prod", "documents", "public"), ns("prod", "documents", "private"),
		} {
			b.put(t, name, "one", `{"content": "dummy"}`)
			b.put(t, name, "two", `{"content": "dummy"}`)
		}
		return b
	}

	t.Run("All", func(t *testing.T) {
		t.Parallel()
		require.Equal(t, []string{
			"prod/documents/private", "prod/documents/public", "test/documents/private", "test/documents/public",
			"test/images/private", "test/images/public",
		}, list(t, fill(t)))
	})

	t.Run("ByPrefixAndSuffix", func(t *testing.T) {
		t.Parallel()
		b := fill(t)
		require.Len(t, list(t, b, "p_prefix => '{test}'"), 4)
		require.Equal(t, []string{"prod/documents/public", "test/documents/public", "test/images/public"}, list(t, b, "p_suffix => '{public}'"))
		require.Equal(t, []string{"test/images/public"}, list(t, b, "p_prefix => '{test,images}', p_suffix => '{public}'"))
		require.Equal(t, []string{"test/images/public"}, list(t, b, "p_prefix => '{test}', p_suffix => '{images,public}'"))
		require.Empty(t, list(t, b, "p_prefix => '{tes}'"))
		require.Empty(t, list(t, b, "p_suffix => '{ublic}'"))
		require.Empty(t, list(t, b, "p_prefix => '{test,documents,public,more}'"))
	})

	t.Run("ByWildcard", func(t *testing.T) {
		t.Parallel()
		b := fill(t)
		require.Equal(t, []string{"prod/documents/private", "prod/documents/public", "test/documents/private", "test/documents/public"},
			list(t, b, "p_prefix => '{*,documents}'"))
		require.Equal(t, []string{"prod/documents/public", "test/documents/public"}, list(t, b, "p_suffix => '{documents,*}', p_prefix => '{*,*,public}'"))
		require.Empty(t, list(t, b, "p_prefix => '{*,*,*,*}'"))
		b.put(t, ns("user_%"), "k", `{}`)
		b.put(t, ns("user_%", "child"), "k", `{}`)
		b.put(t, ns("userX%"), "k", `{}`)
		require.Equal(t, []string{"user_%/child"}, list(t, b, "p_prefix => '{user_%,*}'"))
		require.Equal(t, []string{"user_%", "user_%/child"}, list(t, b, "p_prefix => '{user_%}'"))
	})

	t.Run("CutToADepth", func(t *testing.T) {
		t.Parallel()
		b := fill(t)
		require.Equal(t, []string{"prod/documents", "test/documents", "test/images"}, list(t, b, "p_max_depth => 2"))
		require.Equal(t, []string{"prod", "test"}, list(t, b, "p_max_depth => 1, p_suffix => '{public}'"))
		require.Len(t, list(t, b, "p_max_depth => 9"), 6)
	})

	t.Run("InPages", func(t *testing.T) {
		t.Parallel()
		b := fill(t)
		all := list(t, b)
		require.Equal(t, all[:3], list(t, b, "p_limit => 3"))
		require.Equal(t, all[3:], list(t, b, "p_limit => 3, p_offset => 3"))
		require.Equal(t, []string{"test/documents"}, list(t, b, "p_max_depth => 2, p_limit => 1, p_offset => 1"))
	})

	t.Run("WithoutWhatHasExpired", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.put(t, ns("gone"), "k", `{}`, "p_ttl => '1 minute'")
		b.put(t, ns("here"), "k", `{}`)
		require.Equal(t, []string{"gone", "here"}, list(t, b))
		b.now = b.now.Add(time.Minute)
		require.Equal(t, []string{"here"}, list(t, b))
	})

	t.Run("RefusesWhatCannotBe", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		for args, message := range map[string]string{
			"p_max_depth => 0": "p_max_depth is 0", "p_prefix => ARRAY['a', '']": "p_prefix has a segment that is empty",
			"p_suffix => ARRAY['a', NULL]": "p_suffix has a segment that is null", "p_limit => -1": "p_limit is -1",
			"p_offset => -1": "p_offset is -1", "p_prefix => '{{a},{b}}'": "p_prefix has 2 dimensions",
		} {
			b.refuses(t, "HC009", message, "SELECT hippocampus.store_list_namespaces($1, $2, "+args+")", b.UserID, b.AppName)
		}
		b.refuses(t, "HC001", "p_user_id is empty", "SELECT hippocampus.store_list_namespaces('', $1)", b.AppName)
	})
}

func TestStorePut(t *testing.T) {
	t.Parallel()

	t.Run("KeepsTheVectorOfAnUnchangedText", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		id := func() uuid.UUID {
			return get[uuid.UUID](t, b, "SELECT id FROM hippocampus.store_items WHERE user_id = $1", b.UserID)
		}
		vectors := func() int {
			return get[int](t, b, "SELECT count(*) FROM hippocampus.embeddings WHERE user_id = $1", b.UserID)
		}
		queued := func() int {
			return get[int](t, b, "SELECT count(*) FROM hippocampus.embedding_queue WHERE user_id = $1", b.UserID)
		}
		b.put(t, ns("test"), "tea", `{"text": "green tea", "cups": 1}`, "p_index => '{text}'", "p_embedding => array_fill(1, ARRAY[64])::public.vector")
		first := id()
		require.Equal(t, []int{1, 0}, []int{vectors(), queued()})
		b.put(t, ns("test"), "tea", `{"text": "green tea", "cups": 2}`, "p_index => '{text}'")
		require.Equal(t, first, id())
		require.Equal(t, []int{1, 0}, []int{vectors(), queued()})
		b.put(t, ns("test"), "tea", `{"text": "black tea", "cups": 2}`, "p_index => '{text}'")
		require.NotEqual(t, first, id())
		require.Equal(t, []int{0, 1}, []int{vectors(), queued()})
		// A vector of the old text that comes late finds no row.
		b.exec(t, "SELECT hippocampus.put_embedding($1, $2, 'store', $3, array_fill(1, ARRAY[64])::public.vector)", b.UserID, b.AppName, first)
		require.Equal(t, []int{0, 1}, []int{vectors(), queued()})
		b.exec(t, "SELECT hippocampus.put_embedding($1, $2, 'store', $3, array_fill(1, ARRAY[64])::public.vector)", b.UserID, b.AppName, id())
		require.Equal(t, []int{1, 0}, []int{vectors(), queued()})
	})

	t.Run("RefusesWhatCannotBe", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		before := b.counts(t)
		long := strings.Repeat("x", 256)
		for args, message := range map[string]string{
			`NULL, 'k', '{}'`: "p_namespace is null", `'{}', 'k', '{}'`: "p_namespace has 0 segments",
			`'{{a},{b}}', 'k', '{}'`: "p_namespace has 2 dimensions", `ARRAY['a', ''], 'k', '{}'`: "segment that is empty",
			`ARRAY['a', NULL], 'k', '{}'`: "segment that is null", `ARRAY['a', '*'], 'k', '{}'`: "segment that is *",
			`ARRAY['` + long + `'], 'k', '{}'`: "256 bytes long", `array_fill('a'::text, ARRAY[33]), 'k', '{}'`: "has 33 segments",
			`'{a}', '', '{}'`: "p_key is empty", `'{a}', NULL, '{}'`: "p_key is null", `'{a}', 'k', NULL`: "p_value is null",
			`'{a}', 'k', 'null'`: "p_value is null", `'{a}', 'k', '[1]'`: "p_value is a JSON array", `'{a}', 'k', '"x"'`: "p_value is a JSON string",
			`'{a}', 'k', '{}', p_ttl => '0'`: "p_ttl is 00:00:00", `'{a}', 'k', '{}', p_ttl => '-1 day'`: "p_ttl is -1 days",
			`'{a}', 'k', '{}', p_ttl => '101 years'`: "p_ttl is 101 years", `'{a}', 'k', '{}', p_index => '{a..b}'`: "the path 'a..b'",
			`'{a}', 'k', '{}', p_index => '{"a[x]"}'`: "the path 'a[x]'", `'{a}', 'k', '{}', p_index => ARRAY['']`: "the path ''",
			`'{a}', 'k', '{}', p_index => ARRAY[NULL]`: "the path null", `'{a}', 'k', '{}', p_now => 'infinity'`: "p_now is infinity",
			`'{a}', 'k', '{}', p_embedding => array_fill(1, ARRAY[64])::public.vector`: "p_index takes nothing of p_value",
		} {
			b.refuses(t, "HC009", message, "SELECT hippocampus.store_put($1, $2, "+args+")", b.UserID, b.AppName)
		}
		for args, message := range map[string]string{
			`array_fill('` + long[:200] + `'::text, ARRAY[6]), 'k', '{}'`:                                  "p_namespace is 1206 bytes long",
			`'{a}', repeat('x', 513), '{}'`:                                                                "p_key is 513 bytes long",
			`'{a}', 'k', jsonb_build_object('x', (SELECT jsonb_agg(n) FROM generate_series(1, 200000) n))`: "p_value is",
		} {
			b.refuses(t, "HC006", message, "SELECT hippocampus.store_put($1, $2, "+args+")", b.UserID, b.AppName)
		}
		b.refuses(t, "HC004", "", `SELECT hippocampus.store_put($1, $2, '{a}', 'k', '{"t": "x"}', p_embedding => '[1]')`, b.UserID, b.AppName)
		b.refuses(t, "HC001", "p_app_name is reserved", "SELECT hippocampus.store_put($1, '*', '{a}', 'k', '{}')", b.UserID)
		require.Equal(t, before, b.counts(t))
	})

	t.Run("ReplacesTheWholeValue", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		first := b.put(t, ns("test", "documents"), "doc1", `{"title": "Test Document", "content": "Hello, World!"}`)
		require.Equal(t, db.StoreEntry{
			Namespace: ns("test", "documents"), Key: "doc1", Value: json.RawMessage(`{"title": "Test Document", "content": "Hello, World!"}`),
			CreatedAt: first.CreatedAt, UpdatedAt: first.UpdatedAt,
		}, first)
		require.True(t, first.CreatedAt.Equal(b.now))
		b.now = b.now.Add(time.Minute)
		b.put(t, ns("test", "documents"), "doc1", `{"title": "Updated"}`)
		got := b.item(t, ns("test", "documents"), "doc1")
		require.JSONEq(t, `{"title": "Updated"}`, string(got.Value))
		require.True(t, got.CreatedAt.Equal(first.CreatedAt))
		require.True(t, got.UpdatedAt.Equal(b.now))
		require.Equal(t, 1, get[int](t, b, "SELECT count(*) FROM hippocampus.store_items WHERE user_id = $1", b.UserID))
	})
}

func TestStoreTTL(t *testing.T) {
	t.Parallel()

	t.Run("ExpiredIsNeverReturned", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		entry := b.put(t, ns("test"), "tea", `{"text": "green tea"}`, "p_ttl => '10 minutes'", "p_embedding => array_fill(1, ARRAY[64])::public.vector")
		require.True(t, entry.ExpiresAt.Equal(b.now.Add(10*time.Minute)))
		b.now = b.now.Add(10*time.Minute - time.Microsecond)
		require.NotNil(t, b.item(t, ns("test"), "tea"))
		require.Len(t, b.stored(t, nil), 1)
		b.now = b.now.Add(time.Microsecond)
		require.Nil(t, b.item(t, ns("test"), "tea"))
		require.Empty(t, b.stored(t, nil))
		require.Empty(t, b.stored(t, ns("test"), "p_query => 'tea'"))
		require.Empty(t, b.stored(t, nil, "p_query_embedding => array_fill(1, ARRAY[64])::public.vector"))
		require.Empty(t, b.refreshed(t, "store_get($1, $2, '{test}', 'tea', p_now => $3)"))
		// Nor does a refresh that comes too late bring it back.
		require.Len(t, b.refreshed(t, "store_get($1, $2, '{test}', 'tea', p_now => $3::timestamptz - interval '1 minute')"), 1)
		require.Nil(t, b.item(t, ns("test"), "tea"))
		require.Equal(t, 1, get[int](t, b, "SELECT count(*) FROM hippocampus.store_items WHERE user_id = $1", b.UserID)) // nobody swept
	})

	t.Run("IsRefreshedByAReadThatAsks", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		start := b.now
		at := func(minutes int) { b.now = start.Add(time.Duration(minutes) * time.Minute) }
		b.put(t, ns("foo"), "item1", `{"foo": "bar"}`, "p_ttl => '6 minutes'")
		at(4)
		got := b.refreshed(t, "store_get($1, $2, '{foo}', 'item1', p_now => $3)")
		require.Len(t, got, 1)
		require.True(t, got[0].ExpiresAt.Equal(start.Add(10*time.Minute)))
		at(8)
		found := b.refreshed(t, "store_search($1, $2, '{foo}', p_query => 'foo', p_now => $3)")
		require.Len(t, found, 1)
		require.True(t, found[0].ExpiresAt.Equal(start.Add(14*time.Minute)))
		at(12)
		require.True(t, b.item(t, ns("foo"), "item1").ExpiresAt.Equal(start.Add(14*time.Minute))) // a read that does not ask
		require.Len(t, b.stored(t, ns("foo")), 1)
		at(14)
		require.Empty(t, b.stored(t, ns("foo")))
	})

	t.Run("OfAPageIsRefreshedForThePage", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		start := b.now
		for _, key := range []string{"a", "b", "c"} {
			b.put(t, ns("test"), key, `{}`, "p_ttl => '6 minutes'")
		}
		b.put(t, ns("test"), "d", `{}`)
		b.now = start.Add(5 * time.Minute)
		page := b.refreshed(t, "store_search($1, $2, p_limit => 2, p_now => $3)")
		require.Equal(t, []string{"a", "b"}, []string{page[0].Key, page[1].Key})
		b.now = start.Add(6 * time.Minute)
		require.Equal(t, []string{"a", "b", "d"}, b.storedKeys(t, nil))
	})

	t.Run("PutDecidesAnew", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		first := b.put(t, ns("test"), "k", `{"n": 1}`, "p_ttl => '1 minute'")
		require.Nil(t, b.put(t, ns("test"), "k", `{"n": 1}`).ExpiresAt)
		b.put(t, ns("test"), "k", `{"n": 1}`, "p_ttl => '1 minute'")
		b.now = b.now.Add(time.Hour)
		require.Nil(t, b.item(t, ns("test"), "k"))
		again := b.put(t, ns("test"), "k", `{"n": 1}`)
		require.True(t, again.CreatedAt.Equal(b.now), "what had expired was not there: %v, %v", first.CreatedAt, again.CreatedAt)
	})

	t.Run("SweepDeletesWhatHasExpired", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		sweep := func() int { return get[int](t, b, "SELECT hippocampus.sweep_store(2, p_now => $1)", b.now) }
		for _, key := range []string{"a", "b", "c"} {
			b.put(t, ns("test"), key, `{"text": "tea"}`, "p_ttl => '6 minutes'")
		}
		b.put(t, ns("test"), "d", `{"text": "tea"}`, "p_ttl => '7 minutes'")
		b.put(t, ns("test"), "e", `{"text": "tea"}`)
		require.Zero(t, sweep())
		b.now = b.now.Add(6 * time.Minute)
		require.Equal(t, []int{2, 1, 0}, []int{sweep(), sweep(), sweep()})
		require.Equal(t, []string{"d", "e"}, list[string](t, b, "SELECT key FROM hippocampus.store_items WHERE user_id = $1 ORDER BY key", b.UserID))
		// Their words are found no more, and taken out by whoever comes next to this user.
		words := "SELECT count(*) FROM hippocampus.row_terms r WHERE r.user_id = $1 AND 'tea' = ANY (r.terms)"
		require.Equal(t, 2, get[int](t, b, words+" AND NOT EXISTS (SELECT FROM hippocampus.unindexed_rows n WHERE n.id = r.id)", b.UserID))
		b.exec(t, "SELECT hippocampus.fold_terms($1, $2)", b.UserID, b.AppName)
		require.Equal(t, 2, get[int](t, b, words, b.UserID))
		require.Equal(t, 2, get[int](t, b, "SELECT count(*) FROM hippocampus.embedding_queue WHERE user_id = $1", b.UserID))
		b.refuses(t, "HC009", "p_limit is 0", "SELECT hippocampus.sweep_store(0)")
	})
}
