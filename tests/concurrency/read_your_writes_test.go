package concurrency_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// TestReadYourWrites writes in one session and reads in another: nothing before the commit, all of it in the next
// statement, by its words at once and by its meaning as soon as it has a vector. The writer sees it before.
func TestReadYourWrites(t *testing.T) {
	t.Parallel()
	b := setup(t)
	thread := b.thread(t, b.ada)
	writer, reader := b.session(t, "writer"), b.session(t, "reader")
	const (
		byWords   = "SELECT coalesce(string_agg(m.content, '; '), '') FROM hippocampus.search_memory('ada', 'app', 'green tea') m"
		byMeaning = `SELECT coalesce(string_agg(m.content, '; '), '')
			FROM hippocampus.search_memory('ada', 'app', 'something else', array_fill(1, ARRAY[64])::public.vector) m`
		said   = "SELECT coalesce(string_agg(e.text, '; '), '') FROM hippocampus.recall_conversation('ada', 'app', '绿茶') e"
		facts  = "SELECT coalesce(string_agg(f.value #>> '{}', '; '), '') FROM hippocampus.facts_as_of('ada', 'app') f"
		window = `SELECT coalesce(string_agg(w.context_type, ', ' ORDER BY w.context_type), '') FROM hippocampus.get_context_window('ada', 'app',
			'green tea', p_max_tokens => 4000) w`
	)
	seen := func(session *session) []string {
		t.Helper()
		var found []string
		for _, query := range []string{byWords, said, facts, window} {
			found = append(found, get[string](t, session.conn, query))
		}
		return found
	}
	nothing := []string{"", "", "", ""}
	all := []string{"Ada drinks green tea", "我喜欢绿茶", "green tea", "fact, history, memory"}

	for _, end := range []string{"ROLLBACK", "COMMIT"} {
		writer.do("BEGIN")
		writer.do("SELECT hippocampus.remember('ada', 'app', 'Ada drinks green tea')")
		writer.do("SELECT hippocampus.append_event($1, 'user', 'message', '{\"text\": \"我喜欢绿茶\"}')", thread)
		writer.do("SELECT hippocampus.upsert_fact('ada', 'app', 'preference', 'drink', '\"green tea\"')")
		require.Equal(t, all, seen(writer), "its own, before the %s", end)
		require.Equal(t, nothing, seen(reader), "another's, before the %s", end)
		writer.do(end)
		if end == "ROLLBACK" {
			require.Equal(t, nothing, seen(writer))
		}
	}
	require.Equal(t, all, seen(reader))

	require.Empty(t, get[string](t, reader.conn, byMeaning), "it has no vector yet")
	id := get[uuid.UUID](t, b, "SELECT id FROM hippocampus.memories")
	writer.do("SELECT hippocampus.put_embedding('ada', 'app', 'memory', $1, array_fill(1, ARRAY[64])::public.vector)", id)
	require.Equal(t, "Ada drinks green tea", get[string](t, reader.conn, byMeaning))
}
