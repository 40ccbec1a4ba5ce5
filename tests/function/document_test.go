package function_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// change is what put_document returns.
type change struct {
	Added, Kept, Deleted int
	Unchanged            bool
}

// document stores a document of the bundle's tenant.
func (b *testBundle) document(t *testing.T, path, named string, chunks ...map[string]any) change {
	t.Helper()
	if named != "" {
		named = ", " + named
	}
	return rowOf[change](t, b, "SELECT added, kept, deleted, unchanged FROM hippocampus.put_document($1, $2, $3, $4, p_now => $5"+named+")",
		b.UserID, b.AppName, path, toJSON(t, chunks), b.now)
}

func chunk(line int, heading, content string) map[string]any {
	return map[string]any{"content": content, "heading": heading, "start_line": line}
}

func TestPutDocument(t *testing.T) {
	t.Parallel()

	t.Run("ChangesOnlyWhatHasChanged", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		first, second, third := chunk(1, "A", "the first"), chunk(5, "A > B", "the second"), chunk(9, "A > C", "the second")
		require.Equal(t, change{Added: 3}, b.document(t, "a.md", "", first, second, third))
		before := list[uuid.UUID](t, b, "SELECT c.id FROM hippocampus.chunks c WHERE c.user_id = $1 ORDER BY c.position", b.UserID)
		require.Equal(t, change{Kept: 3, Unchanged: true}, b.document(t, "a.md", "", first, second, third))
		second["start_line"] = 6 // a line came before it
		require.Equal(t, change{Added: 1, Kept: 2, Deleted: 1}, b.document(t, "a.md", "", chunk(1, "A", "the first, changed"), second, third))
		after := list[uuid.UUID](t, b, "SELECT c.id FROM hippocampus.chunks c WHERE c.user_id = $1 ORDER BY c.position", b.UserID)
		require.NotEqual(t, before[0], after[0])
		require.Equal(t, before[1:], after[1:])
		require.Equal(t, []int32{1, 6, 9}, list[int32](t, b, "SELECT c.start_line FROM hippocampus.chunks c WHERE c.user_id = $1 ORDER BY c.position", b.UserID))
		require.Equal(t, int64(3), get[int64](t, b, "SELECT count(*) FROM hippocampus.embedding_queue q WHERE q.user_id = $1 AND q.source = 'chunk'", b.UserID))
		// The same section twice is two chunks.
		require.Equal(t, change{Added: 2}, b.document(t, "b.md", "", chunk(1, "", "again"), chunk(2, "", "again")))
		require.Equal(t, change{Kept: 1, Deleted: 1}, b.document(t, "b.md", "", chunk(1, "", "again")))
	})

	t.Run("IsFoundAtOnce", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.document(t, "a.md", "", chunk(1, "Probes", "the kubelet restarts containers"), chunk(3, "探针", "存活探针重启容器"))
		find := func(query string) []string {
			return list[string](t, b, "SELECT c.content FROM hippocampus.search_chunks($1, $2, $3) c", b.UserID, b.AppName, query)
		}
		require.Equal(t, []string{"the kubelet restarts containers"}, find("restart a container"))
		require.Equal(t, []string{"the kubelet restarts containers"}, find("probes")) // the heading's
		require.Equal(t, []string{"存活探针重启容器"}, find("容器怎么重启"))
		require.True(t, get[bool](t, b, "SELECT hippocampus.delete_document($1, $2, 'a.md')", b.UserID, b.AppName))
		require.False(t, get[bool](t, b, "SELECT hippocampus.delete_document($1, $2, 'a.md')", b.UserID, b.AppName))
		require.Empty(t, find("restart a container"))
		for _, table := range []string{"chunks", "row_terms", "postings", "embedding_queue", "embeddings"} {
			require.Zero(t, get[int64](t, b, "SELECT count(*) FROM hippocampus."+table+" x WHERE x.user_id = $1", b.UserID), table)
		}
	})

	t.Run("Refuses", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		before := b.counts(t)
		const call = "SELECT hippocampus.put_document($1, $2, $3, $4, p_source => $5, p_kind => $6)"
		good := `[{"content": "x", "start_line": 1}]`
		for name, c := range map[string]struct {
			code, message, path, chunks, source, kind string
		}{
			"Kind":       {"HC009", "p_kind is 'page'", "a", good, "docs", "page"},
			"Line":       {"HC009", "p_chunks[0] has start_line one", "a", `[{"content": "x", "start_line": "one"}]`, "docs", "text"},
			"LineBefore": {"HC009", "p_chunks[0].start_line is 0", "a", `[{"content": "x", "start_line": 0}]`, "docs", "text"},
			"NoArray":    {"HC009", "p_chunks is a JSON object", "a", `{}`, "docs", "text"},
			"NoContent":  {"HC009", "p_chunks[0].content is null", "a", `[{"start_line": 1}]`, "docs", "text"},
			"Path":       {"HC009", "p_path is empty", "", good, "docs", "text"},
			"Source":     {"HC009", "p_source is empty", "a", good, "", "text"},
		} {
			b.refuses(t, c.code, c.message, call, b.UserID, b.AppName, c.path, c.chunks, c.source, c.kind)
			require.Equal(t, before, b.counts(t), name)
		}
		b.refuses(t, "HC006", "p_chunks[0].content is 70000 bytes long",
			"SELECT hippocampus.put_document($1, $2, 'a', jsonb_build_array(jsonb_build_object('content', repeat('x', 70000), 'start_line', 1)))", b.UserID, b.AppName)
		b.exec(t, "SELECT hippocampus.put_source_allowlist($1, $2, '{docs}')", b.UserID, b.AppName)
		hint := b.refuses(t, "HC009", "the source 'web' is not on the allowlist", call, b.UserID, b.AppName, "a", good, "web", "text")
		require.Contains(t, hint, "put_source_allowlist")
		require.Equal(t, before, b.counts(t))
	})
}
