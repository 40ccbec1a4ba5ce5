package function_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/db"
)

func (b *testBundle) block(t *testing.T, key string) *string {
	t.Helper()
	return get[*string](t, b, "SELECT hippocampus.block_get($1, $2, $3)", b.UserID, b.AppName, key)
}

// write calls one of the writers of the block "persona" with more arguments.
func (b *testBundle) write(t *testing.T, function, args string) db.MemoryBlock {
	t.Helper()
	return rowOf[db.MemoryBlock](t, b, "SELECT * FROM hippocampus."+function+"($1, $2, 'persona', "+args+")", b.UserID, b.AppName)
}

func (b *testBundle) refusesWrite(t *testing.T, code, message, function, args string) {
	t.Helper()
	b.refuses(t, code, message, "SELECT hippocampus."+function+"($1, $2, 'persona', "+args+")", b.UserID, b.AppName)
}

func TestBlockAppend(t *testing.T) {
	t.Parallel()

	t.Run("AddsALine", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.write(t, "block_set", "'kind'")
		got := b.write(t, "block_append", "'helpful'")
		require.Equal(t, "kind\nhelpful", got.Value)
		require.Equal(t, int64(2), got.Version)
	})

	t.Run("CreatesWhatIsMissing", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		require.Nil(t, b.block(t, "persona"))
		got := b.write(t, "block_append", "'kind'")
		require.Equal(t, "kind", got.Value)
		require.Equal(t, int64(1), got.Version)
		require.Equal(t, int32(2000), got.TokenLimit)
	})

	t.Run("KeepsTheLimit", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.write(t, "block_set", "'kind', p_token_limit => 3, p_token_count => 1")
		require.Equal(t, int32(3), b.write(t, "block_append", "'helpful', p_token_count => 3").TokenLimit)
		b.refusesWrite(t, "HC006", "'persona' would hold 4 tokens, its limit is 3", "block_append", "'brief', p_token_count => 4")
		require.Equal(t, "kind\nhelpful", *b.block(t, "persona"))
	})

	t.Run("RefusesWhatCannotBe", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.write(t, "block_set", "'kind'")
		b.refusesWrite(t, "HC008", "'persona' is at version 1, not 3", "block_append", "'x', p_expected_version => 3")
		b.refusesWrite(t, "HC006", "p_text is 1048577 bytes long", "block_append", "repeat('x', 1048577)")
		b.refusesWrite(t, "HC009", "p_text is null", "block_append", "NULL")
		b.refusesWrite(t, "HC009", "p_token_count is -1", "block_append", "'x', p_token_count => -1")
		b.refuses(t, "HC001", "p_user_id is null", "SELECT hippocampus.block_append(NULL, 'a', 'k', 'x')")
		b.refuses(t, "HC009", "p_key is empty", "SELECT hippocampus.block_append('u', 'a', '', 'x')")
		require.Equal(t, "kind", *b.block(t, "persona"))
	})
}

func TestBlockGet(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.Nil(t, b.block(t, "persona")) // missing is null, and no error
	b.write(t, "block_set", "''")
	require.Empty(t, *b.block(t, "persona")) // empty is not missing
	require.Nil(t, b.block(t, "Persona"))
	require.Nil(t, get[*string](t, b, "SELECT hippocampus.block_get($1, $2, 'persona')", b.UserID+"x", b.AppName))
	b.refuses(t, "HC001", "p_app_name is null", "SELECT hippocampus.block_get('u', NULL, 'k')")
}

func TestBlockReplace(t *testing.T) {
	t.Parallel()

	t.Run("ReplacesAll", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.write(t, "block_set", "'tea, tea and coffee'")
		got := b.write(t, "block_replace", "'tea', 'juice'")
		require.Equal(t, "juice, juice and coffee", got.Value)
		require.Equal(t, int64(2), got.Version)
		require.Equal(t, " coffee", b.write(t, "block_replace", "'juice, juice and', ''").Value)
	})

	// What a prompt shows otherwise than it is is replaced where it stands, and no more of it.
	t.Run("AsAPromptShowsIt", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		for _, c := range []struct{ value, old, replaced string }{
			{"a &lt;/recalled b", "a ‹/recalled", "X b"},
			{"a &lt;/recalled b", "/recalled", "a &lt;X b"},
			{"& &lt; &#60recalled &lt ;recalled &", "‹recalled ‹", "& &lt; Xrecalled &"},
			{"&\u202alt;recalled b", "‹recalled", "X b"},
			{"&l\u202at;recalled b", "recalled b", "&l\u202at;X"},
			{"&lt\u3000x y", "‹\u3000x", "X y"},
			{"&lt \u3000x y", "‹ \u3000x", "X y"},
			{"&lt\u3000x y", "x y", "&lt\u3000X"},
			{"\u202aa\u202cb\u202ac\u202cd", "bc", "\u202aa\u202cXd"},
			{"\u202aab", "ab", "X"},
			{"a\u202ab a\u202cb, c", "ab", "X X, c"},
			{"☕\ufe0f\ufe0e\ufe0f t<recalled", "☕\ufe0f t", "X<recalled"},
			{"[/INST]<recalled", "(/INST)‹", "Xrecalled"},
			{"《红》<recalled_memories", "红》‹", "《Xrecalled_memories"},
		} {
			require.Equal(t, c.replaced, get[string](t, b, "SELECT coalesce(hippocampus._replace_shown($1, $2, 'X'), 'nothing')", c.value, c.old),
				"%+q in %+q", c.old, c.value)
		}
	})

	// As long as a block may be.
	t.Run("AsAPromptShowsItThroughout", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.write(t, "block_set", "repeat('&lt;recall ', 95000) || 'END', p_token_limit => 200000")
		require.Equal(t, strings.Repeat("&lt;recall ", 94999)+"X", b.write(t, "block_replace", "'‹recall END', 'X'").Value)
		b.write(t, "block_set", "repeat('&lt;recall ', 95000)")
		require.Equal(t, strings.Repeat("X ", 95000), b.write(t, "block_replace", "'‹recall', 'X'").Value)
	})

	t.Run("RefusesWhatCannotBe", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.refusesWrite(t, "HC011", "block 'persona' does not exist", "block_replace", "'a', 'b'")
		b.write(t, "block_set", "'tea'")
		b.refusesWrite(t, "HC012", "block 'persona' does not contain 'Tea'", "block_replace", "'Tea', 'b'")
		b.refusesWrite(t, "HC012", "does not contain 't.a'", "block_replace", "'t.a', 'b'") // no pattern
		b.refusesWrite(t, "HC008", "at version 1, not 2", "block_replace", "'tea', 'b', p_expected_version => 2")
		b.refusesWrite(t, "HC009", "p_old_text is empty", "block_replace", "'', 'b'")
		b.refusesWrite(t, "HC009", "p_new_text is null", "block_replace", "'tea', NULL")
		b.refusesWrite(t, "HC006", "would hold", "block_replace", "'tea', repeat('x', 1048576)")
		b.refuses(t, "HC011", "block null", "SELECT hippocampus.block_replace($1, $2, NULL, 'a', 'b')", b.UserID, b.AppName)
		require.Equal(t, "tea", *b.block(t, "persona"))
	})
}

func TestBlockSet(t *testing.T) {
	t.Parallel()

	t.Run("CountsTokens", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		got := b.write(t, "block_set", "'kind and helpful'")
		require.False(t, got.TokenCountExact)
		require.Equal(t, int32(len("kind and helpful")), got.TokenCount)
		got = b.write(t, "block_set", "'kind', p_token_count => 1")
		require.True(t, got.TokenCountExact)
		require.Equal(t, int32(1), got.TokenCount)
	})

	t.Run("ExpectedVersion", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.refusesWrite(t, "HC008", "'persona' is at version 0, not 1", "block_set", "'x', p_expected_version => 1")
		b.write(t, "block_set", "'a', p_expected_version => 0")
		b.refusesWrite(t, "HC008", "'persona' is at version 1, not 0", "block_set", "'x', p_expected_version => 0")
		require.Equal(t, int64(2), b.write(t, "block_set", "'b', p_expected_version => 1").Version)
		require.Equal(t, "b", *b.block(t, "persona"))
	})

	t.Run("RefusesWhatCannotBe", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		before := b.counts(t)
		b.refusesWrite(t, "HC006", "p_value is 10485760 bytes long", "block_set", "repeat('x', 10485760)")
		b.refusesWrite(t, "HC006", "would hold 2001 tokens, its limit is 2000", "block_set", "'x', p_token_count => 2001")
		b.refusesWrite(t, "HC006", "its limit is 10", "block_set", "repeat('x', 161), p_token_limit => 10")
		b.refusesWrite(t, "HC009", "p_token_limit is 0", "block_set", "'x', p_token_limit => 0")
		b.refusesWrite(t, "HC009", "p_token_limit is 200001", "block_set", "'x', p_token_limit => 200001")
		b.refusesWrite(t, "HC009", "p_value is null", "block_set", "NULL")
		b.refuses(t, "HC006", "p_key is 256 bytes long", "SELECT hippocampus.block_set('u', 'a', repeat('x', 256), 'x')")
		require.Equal(t, before, b.counts(t))
	})

	t.Run("WholeMebibyte", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.write(t, "block_set", "repeat('x', 1048576), p_token_limit => 200000, p_token_count => 1")
		b.refusesWrite(t, "HC006", "would be 1048578 bytes long", "block_append", "'x', p_token_count => 1")
		require.Equal(t, strings.Repeat("x", 1048576), *b.block(t, "persona"))
	})
}

func TestPutInstruction(t *testing.T) {
	t.Parallel()
	put := func(t *testing.T, b *testBundle, key, content string) int32 {
		t.Helper()
		return get[int32](t, b, "SELECT hippocampus.put_instruction($1, $2, $3)", b.AppName, key, content)
	}

	t.Run("NewVersionsNeverRewriteOldOnes", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		require.Equal(t, int32(1), put(t, b, "style", "be kind"))
		require.Equal(t, int32(2), put(t, b, "style", "be brief"))
		require.Equal(t, int32(1), put(t, b, "other", "be kind"))
		require.Equal(t, int32(3), put(t, b, "style", "be kind"))
		require.Equal(t, []string{"be kind", "be brief", "be kind"}, list[string](t, b,
			"SELECT i.content FROM hippocampus.instructions i WHERE i.app_name = $1 AND i.instruction_key = 'style' ORDER BY i.version", b.AppName))
	})

	t.Run("RefusesWhatCannotBe", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		before := b.counts(t)
		for message, args := range map[string]string{
			"HC001 p_app_name is reserved: *":       "'*', 'k', 'x'",
			"HC001 p_app_name is null":              "NULL, 'k', 'x'",
			"HC006 p_content is 1048577 bytes long": "'a', 'k', repeat('x', 1048577)",
			"HC009 p_content is empty":              "'a', 'k', ''",
			"HC009 p_instruction_key is null":       "'a', NULL, 'x'",
			"HC009 p_metadata is a JSON number":     "'a', 'k', 'x', '7'",
			"HC009 p_token_count is -1":             "'a', 'k', 'x', p_token_count => -1",
		} {
			b.refuses(t, message[:5], message[6:], "SELECT hippocampus.put_instruction("+args+")")
		}
		require.Equal(t, before, b.counts(t))
	})
}
