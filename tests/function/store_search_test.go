package function_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// letters is a vector of how often each letter stands in a text: near for texts that share letters.
// It stands for an embedder, as the store's contract is about how vectors rank and not about models.
func letters(text string) string {
	var counts [64]float64
	for _, r := range strings.ToLower(text) {
		counts[int(r)%len(counts)]++
	}
	return "'" + strings.ReplaceAll(fmt.Sprint(counts[:]), " ", ",") + "'::public.vector"
}

func TestStoreSearch(t *testing.T) {
	t.Parallel()

	t.Run("BelowANamespace", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.put(t, ns("test", "docs"), "doc1", `{"title": "First Doc", "author": "Alice", "tags": ["important"]}`)
		b.put(t, ns("test", "docs"), "doc2", `{"title": "Second Doc", "author": "Bob", "tags": ["draft"]}`)
		b.put(t, ns("test", "images"), "img1", `{"title": "Image 1", "author": "Alice", "tags": ["final"]}`)
		require.Len(t, b.stored(t, ns("test")), 3)
		require.Len(t, b.stored(t, nil), 3)
		require.Equal(t, []string{"doc1", "doc2"}, b.storedKeys(t, ns("test", "docs")))
		require.Equal(t, []string{"doc1", "img1"}, b.storedKeys(t, ns("test"), `p_filter => '{"author": "Alice"}'`))
		require.Len(t, b.stored(t, ns("test"), "p_limit => 2"), 2)
		require.Len(t, b.stored(t, ns("test"), "p_offset => 2"), 1)
		require.Empty(t, b.stored(t, ns("tes")))
		require.Empty(t, b.stored(t, ns("test", "docs", "deeper")))
		require.Equal(t, []string{"img1"}, b.storedKeys(t, ns("*", "images")))
	})

	t.Run("BySegmentAndNotByPattern", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		for _, name := range [][]string{ns("user_%"), ns("user_%", "child"), ns("userX%"), ns("USER_%"), ns("user_%2"), ns(`user\_%`)} {
			b.put(t, name, strings.Join(name, "/"), `{"text": "tea"}`)
		}
		require.Len(t, b.stored(t, nil), 6)
		require.Equal(t, []string{"user_%", "user_%/child"}, b.storedKeys(t, ns("user_%")))
		require.Equal(t, []string{"user_%", "user_%/child"}, b.storedKeys(t, ns("user_%"), "p_query => 'tea'"))
		require.Empty(t, b.stored(t, ns("%")))
	})

	t.Run("ByNumbersAsNumbers", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		for key, value := range map[string]string{"a": "2", "b": "9", "c": "10", "d": "11", "e": "9.5", "f": `"10"`, "g": "true", "h": "null", "i": "-3", "j": "1e1"} {
			b.put(t, ns("scores"), key, fmt.Sprintf(`{"score": %s}`, value))
		}
		b.put(t, ns("scores"), "none", `{}`)
		for test, keys := range map[string]string{
			`{"$gte": 10}`: "c d j", `{"$gt": 9}`: "c d e j", `{"$lt": 10}`: "a b e i", `{"$lte": 9}`: "a b i", `{"$eq": 10}`: "c j",
			`{"$ne": 10}`: "a b d e f g h i", `10`: "c j", `"10"`: "f", `{"$gt": 2, "$lt": 9.6}`: "b e", `{"$gte": "1"}`: "f", `{"$lt": 0}`: "i",
			`null`: "h", `true`: "g", `{"$gte": true}`: "g", `{"$eq": null}`: "h",
		} {
			found := b.storedKeys(t, ns("scores"), `p_filter => '{"score": `+test+`}'`, "p_limit => 100")
			require.ElementsMatch(t, strings.Fields(keys), found, test)
		}
	})

	t.Run("ByStringsAndWholeValues", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.put(t, ns("names"), "a", `{"name": "apple", "at": {"x": 1, "y": 2}, "tags": ["a", "b"]}`)
		b.put(t, ns("names"), "b", `{"name": "banana", "at": {"x": 1}, "tags": ["a"]}`)
		for filter, keys := range map[string]string{
			`{"name": {"$gt": "apple"}}`: "b", `{"name": {"$gte": "apple"}}`: "a b", `{"name": {"$lt": "Banana"}}`: "",
			`{"at": {"y": 2, "x": 1}}`: "a", `{"at": {"$ne": {"x": 1}}}`: "a", `{"tags": ["a"]}`: "b", `{"name": "apple", "tags": ["a"]}`: "",
			`{}`: "a b", `{"at": {"$eq": {"x": 1}}}`: "b", `{"missing": {"$ne": 1}}`: "",
		} {
			require.ElementsMatch(t, strings.Fields(keys), b.storedKeys(t, ns("names"), "p_filter => '"+filter+"'"), filter)
		}
	})

	t.Run("ByWords", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.put(t, ns("test"), "doc1", `{"text": "zany zebra Xerxes"}`)
		b.put(t, ns("test"), "doc2", `{"text": "something about dogs"}`)
		b.put(t, ns("test"), "doc3", `{"favourite_colour": "blue", "nested": {"list": [{"note": "about birds"}, "plain", 42]}}`)
		b.put(t, ns("test"), "doc4", `{"text": "dogs, dogs"}`, "p_index => '{}'")
		require.Equal(t, []string{"doc1"}, b.storedKeys(t, ns("test"), "p_query => 'Zany Xerxes'"))
		require.Equal(t, []string{"doc2"}, b.storedKeys(t, ns("test"), "p_query => 'dog'"), "doc4 is not indexed")
		for _, word := range []string{"colour", "blue", "bird", "plain", "42"} {
			require.Contains(t, b.storedKeys(t, ns("test"), "p_query => '"+word+"'"), "doc3", word)
		}
		require.Equal(t, []string{"doc2"}, b.storedKeys(t, ns("test"), "p_query => 'about birds or dogs'", `p_filter => '{"text": {"$gt": "a"}}'`))
		b.put(t, ns("test"), "doc1", `{"text": "new text about dogs"}`)
		require.Empty(t, b.stored(t, ns("test"), "p_query => 'Zany Xerxes'"))
		require.ElementsMatch(t, []string{"doc1", "doc2"}, b.storedKeys(t, ns("test"), "p_query => 'dogs'"))
		for _, entry := range b.stored(t, ns("test"), "p_query => 'dogs'") {
			require.Positive(t, *entry.Score)
			require.LessOrEqual(t, *entry.Score, 1.0)
		}
	})

	t.Run("ByWordsOfAnyLanguage", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		texts := []string{"这是中文", "これは日本語です", "이건 한국어야", "Это русский", "यह रूसी है", "猫が好き🐈"}
		for i, text := range texts {
			b.put(t, ns("user_123", "memories"), fmt.Sprint(i), toJSON(t, map[string]string{"text": text}))
		}
		for i, text := range texts {
			require.Equal(t, fmt.Sprint(i), b.storedKeys(t, ns("user_123", "memories"), "p_query => '"+text+"'")[0], text)
		}
		require.Equal(t, []string{"5"}, b.storedKeys(t, nil, "p_query => '猫'"))
	})

	t.Run("ByVector", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		put := func(key, text, value string) {
			b.put(t, ns("test"), key, value, "p_index => '{text}'", "p_embedding => "+letters(text))
		}
		put("doc1", "red apple", `{"text": "red apple", "color": "red", "score": 4.5}`)
		put("doc2", "red car", `{"text": "red car", "color": "red", "score": 3.0}`)
		put("doc3", "green apple", `{"text": "green apple", "color": "green", "score": 4.0}`)
		put("doc4", "blue car", `{"text": "blue car", "color": "blue", "score": 3.5}`)
		b.put(t, ns("test"), "doc5", `{"text": "apple", "color": "red"}`, "p_index => '{}'")
		near := func(text string) string { return "p_query_embedding => " + letters(text) }
		red := `p_filter => '{"color": "red"}'`
		require.Equal(t, []string{"doc1", "doc2"}, b.storedKeys(t, ns("test"), near("apple"), red))
		require.Equal(t, []string{"doc2", "doc1"}, b.storedKeys(t, ns("test"), near("car"), red))
		over := b.storedKeys(t, ns("test"), near("bbbbluuu"), `p_filter => '{"score": {"$gt": 3.2}}'`)
		require.Len(t, over, 3)
		require.Equal(t, "doc4", over[0])
		require.Equal(t, []string{"doc3"}, b.storedKeys(t, ns("test"), near("apple"), `p_filter => '{"score": {"$gte": 4.0}, "color": "green"}'`))
		// The score of a vector alone is the cosine; the rank of words and vector together has both.
		alone := b.stored(t, ns("test"), near("red apple"))
		require.Len(t, alone, 4)
		require.Equal(t, "doc1", alone[0].Key)
		require.InDelta(t, 1, *alone[0].Score, 1e-3)
		both := b.stored(t, ns("test"), near("car"), "p_query => 'green'")
		require.Len(t, both, 4)
		require.Equal(t, "doc3", both[0].Key)
	})

	t.Run("ByTheWeightsThatTheRankingHas", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.put(t, ns("test"), "word", `{"text": "cat"}`, "p_embedding => "+letters("zzzz"))
		b.put(t, ns("test"), "near", `{"text": "dog"}`, "p_embedding => "+letters("cat"))
		for ranking, best := range map[string]string{`{"vector": 1}`: "near", `{"text": 1}`: "word", `{"vector": 0.6, "text": 0.4}`: "near", `{"vector": 0.4, "text": 0.6}`: "word"} {
			b.exec(t, "SELECT hippocampus.put_setting($1, 'ranking', $2)", b.AppName, ranking)
			found := b.stored(t, ns("test"), "p_query => 'cat'", "p_query_embedding => "+letters("cat"))
			require.Len(t, found, 2)
			require.Equal(t, best, found[0].Key, ranking)
		}
	})

	t.Run("BeforeTheVectorHasCome", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.put(t, ns("test"), "late", `{"text": "green tea"}`)
		b.put(t, ns("test"), "early", `{"text": "a pot of tea"}`, "p_embedding => "+letters("a pot of tea"))
		require.ElementsMatch(t, []string{"late", "early"}, b.storedKeys(t, nil, "p_query => 'tea'", "p_query_embedding => "+letters("tea")))
	})

	t.Run("InPages", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		for i := range 5 {
			text := fmt.Sprintf("test document number %d", i)
			b.put(t, ns("test"), fmt.Sprintf("doc%d", i), toJSON(t, map[string]string{"text": text}), "p_embedding => "+letters(text))
		}
		for _, question := range []string{"p_query => 'test'", "p_query_embedding => " + letters("test"), "p_query => NULL"} {
			all := b.storedKeys(t, ns("test"), question)
			require.Len(t, all, 5)
			require.Equal(t, all[:2], b.storedKeys(t, ns("test"), question, "p_limit => 2"))
			require.Equal(t, all[2:4], b.storedKeys(t, ns("test"), question, "p_limit => 2", "p_offset => 2"))
			require.Empty(t, b.stored(t, ns("test"), question, "p_limit => 0"))
		}
	})

	t.Run("NewestFirstWithoutAQuestion", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		for _, key := range []string{"b", "a", "c"} {
			b.put(t, ns("test"), key, `{"text": "tea"}`)
			b.now = b.now.Add(time.Second)
		}
		b.put(t, ns("test"), "b", `{"text": "tea"}`)
		for _, query := range []string{"NULL", "''", "' '", "'!?'"} {
			found := b.stored(t, ns("test"), "p_query => "+query)
			require.Len(t, found, 3, query)
			require.Equal(t, []string{"b", "c", "a"}, []string{found[0].Key, found[1].Key, found[2].Key})
			require.Nil(t, found[0].Score)
		}
		require.Len(t, b.stored(t, ns("test"), "p_query => repeat('tea ', 1000)"), 3)
		require.Len(t, b.stored(t, ns("test"), "p_query => 'tea!@#$%^&*()'"), 3)
	})

	t.Run("OfChosenPaths", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		value := `{"title": "alpha", "author": {"name": "beta", "mail": "gamma"}, "notes": [{"text": "delta", "by": "epsilon"}, {"by": "zeta"}, {"text": "eta"}],
			"tags": ["theta", "iota"], "odd key": "kappa"}`
		for paths, words := range map[string]string{
			"{title}": "alpha", "{author.name}": "beta", "{author}": "beta gamma", "{notes[*].text}": "delta eta", "{notes[0]}": "delta epsilon",
			"{tags}": "theta iota", "{tags[-1]}": "iota", "{tags[-2]}": "theta", "{odd key}": "kappa", "{title,tags[0]}": "alpha theta",
			"{missing}": "", "{title.deeper}": "", "{tags[9]}": "", "{$}": "alpha beta gamma delta epsilon zeta eta theta iota kappa",
		} {
			b.put(t, ns("test"), "doc", value, "p_index => '"+paths+"'")
			found := []string{}
			for _, word := range strings.Fields("alpha beta gamma delta epsilon zeta eta theta iota kappa") {
				if len(b.stored(t, nil, "p_query => '"+word+"'")) > 0 {
					found = append(found, word)
				}
			}
			require.ElementsMatch(t, strings.Fields(words), found, paths)
		}
	})

	t.Run("DownTo64Levels", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		nested := func(text string, levels int) string { // of objects and lists in turn
			value := `"` + text + `"`
			for n := range levels {
				value = []string{`{"k": ` + value + `}`, `[` + value + `]`}[(levels-n-1)%2]
			}
			return value
		}
		b.put(t, ns("test"), "doc", fmt.Sprintf(`{"a": %s, "b": %s, "c": %s}`, nested("shallow", 63), nested("deep", 64), nested("abyss", 2000)))
		require.Len(t, b.stored(t, nil, "p_query => 'shallow'"), 1)
		require.Empty(t, b.stored(t, nil, "p_query => 'deep'"))
		require.Empty(t, b.stored(t, nil, "p_query => 'abyss'"))
	})

	t.Run("RefusesWhatCannotBe", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		for args, message := range map[string]string{
			`p_filter => '{"a": {"$in": [1]}}'`: "is '$in'", `p_filter => '{"a": {"$gt": 1, "b": 2}}'`: "is 'b'",
			`p_filter => '{"a": {"$gt": null}}'`: "'a' $gt null", `p_filter => '{"a": {"$lte": [1]}}'`: "'a' $lte [1]",
			`p_filter => '[]'`: "p_filter is a JSON array", "p_limit => 10001": "p_limit is 10001", "p_offset => -1": "p_offset is -1",
			"p_namespace_prefix => ARRAY['a', '']": "segment that is empty", "p_limit => NULL": "p_limit is null", "p_now => 'infinity'": "p_now is infinity",
		} {
			b.refuses(t, "HC009", message, "SELECT hippocampus.store_search($1, $2, "+args+")", b.UserID, b.AppName)
		}
		b.refuses(t, "HC004", "", "SELECT hippocampus.store_search($1, $2, p_query_embedding => '[1]')", b.UserID, b.AppName)
		b.refuses(t, "HC001", "p_user_id is null", "SELECT hippocampus.store_search(NULL, $1)", b.AppName)
	})
}
