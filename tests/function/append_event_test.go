package function_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

func TestAppendEvent(t *testing.T) {
	t.Parallel()

	t.Run("ContextScoresImportanceAndMetadataDoesNot", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread := b.thread(t)
		for named, want := range map[string]float64{
			`p_metadata => '{"mentionedMe": true}'`:                      0.6,
			`p_context => '{"mentionedMe": true}'`:                       0.8,
			`p_context => '{"mentionedMe": true}', p_importance => 0.25`: 0.25,
			`p_context => NULL, p_category => 'task'`:                    0.7,
		} {
			require.InDelta(t, want, get[float64](t, b,
				"SELECT (hippocampus.append_event($1, 'user', 'message', '{}', "+named+")).importance::float8", thread), 1e-6, named)
		}
		b.refuses(t, "HC009", "p_context is a JSON array", "SELECT hippocampus.append_event($1, 'user', 'message', '{}', p_context => '[]')", thread)
	})

	t.Run("Defaults", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread := b.thread(t)
		e := rowOf[db.Event](t, b, `SELECT * FROM hippocampus.append_event($1, 'user', 'message', '{"text": "I like tea"}')`, thread)
		require.Equal(t, int64(1), e.SequenceNum)
		require.Equal(t, b.UserID, e.UserID)
		require.Equal(t, b.AppName, e.AppName)
		require.Equal(t, "chat", e.Category)
		require.InDelta(t, 0.6, e.Importance, 1e-6)
		require.Equal(t, "I like tea", e.Text)
		require.Empty(t, e.Tags)
		require.JSONEq(t, "{}", string(e.Metadata))
		require.Nil(t, e.EventID)
		require.False(t, e.TokenCountExact)
		require.Equal(t, int32(len("user: I like tea")), e.TokenCount) // an estimate, never under
		require.True(t, get[bool](t, b, "SELECT now() = $1", e.CreatedAt))
	})

	t.Run("DuplicateEventIdReturnsTheRowThatIsThere", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread := b.thread(t)
		appendOne := func(text string) db.Event {
			return rowOf[db.Event](t, b, "SELECT * FROM hippocampus.append_event($1, 'user', 'message', $2, p_event_id => 'e')",
				thread, toJSON(t, text))
		}
		first := appendOne("one")
		require.Equal(t, first, appendOne("two"))
		require.Equal(t, int64(2), get[int64](t, b, "SELECT next_seq FROM hippocampus.threads WHERE id = $1", thread))
		require.Equal(t, int64(2), get[int64](t, b, "SELECT version FROM hippocampus.threads WHERE id = $1", thread))
	})

	t.Run("KeepsAllItIsGiven", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread := b.thread(t)
		e := rowOf[db.Event](t, b, `SELECT * FROM hippocampus.append_event($1, 'tool', 'call', '{"parts": [1, {"a": null}]}',
			p_text => 'what is searched', p_category => 'tool-use', p_importance => 0.25, p_tags => '{b,a}', p_metadata => '{"m": [1]}',
			p_event_id => 'e', p_invocation_id => 'i', p_branch => 'root.leaf', p_token_count => 7, p_created_at => $2,
			p_expected_version => 1)`, thread, dbtest.Epoch)
		require.JSONEq(t, `{"parts": [1, {"a": null}]}`, string(e.Content))
		require.JSONEq(t, `{"m": [1]}`, string(e.Metadata))
		require.Equal(t, []string{"b", "a"}, e.Tags)
		require.Equal(t, "what is searched", e.Text)
		require.Equal(t, float32(0.25), e.Importance)
		require.Equal(t, int32(7), e.TokenCount)
		require.True(t, e.TokenCountExact)
		require.True(t, dbtest.Epoch.Equal(e.CreatedAt))
		require.Equal(t, []string{"e", "i", "root.leaf"}, []string{*e.EventID, *e.InvocationID, *e.Branch})
	})

	t.Run("NullIsTheDefault", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread := b.thread(t)
		e := rowOf[db.Event](t, b, `SELECT * FROM hippocampus.append_event($1, 'user', NULL, '{}', p_category => NULL, p_tags => NULL,
			p_metadata => NULL)`, thread)
		require.Equal(t, "message", e.EventType)
		require.Equal(t, "chat", e.Category)
		require.Empty(t, e.Tags)
		require.JSONEq(t, "{}", string(e.Metadata))
	})

	t.Run("RefusesWhatCannotBe", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread := b.thread(t)
		before := b.counts(t)
		for _, c := range []struct{ code, message, named string }{
			{"HC002", "thread 00000000-0000-0000-0000-000000000001 is unknown", "p_thread_id => '00000000-0000-0000-0000-000000000001'"},
			{"HC002", "thread null is unknown", "p_thread_id => NULL"},
			{"HC006", "content of ", "p_content => jsonb_build_object('text', repeat('x', 10485760))"}, // 10 MB
			{"HC006", "text of 1048577 bytes", "p_text => repeat('x', 1048577)"},
			{"HC006", "metadata of ", "p_metadata => jsonb_build_object('x', repeat('x', 262144))"},
			{"HC008", "at version 1, not 7", "p_expected_version => 7"},
			{"HC009", "no author", "p_author => NULL"},
			{"HC009", "no author", "p_author => ''"},
			{"HC009", "author of 256 bytes", "p_author => repeat('x', 256)"},
			{"HC009", "no content", "p_content => NULL"},
			{"HC009", "no content", "p_content => 'null'"},
			{"HC009", "category 'gossip'", "p_category => 'gossip'"},
			{"HC009", "p_importance is 2", "p_importance => 2"},
			{"HC009", "p_importance is -0.1", "p_importance => -0.1"},
			{"HC009", "p_importance is NaN", "p_importance => 'NaN'"},
			{"HC009", "event_type ''", "p_event_type => ''"},
			{"HC009", "event_type 'xxx", "p_event_type => repeat('x', 65)"},
			{"HC009", "event_id of 0 bytes", "p_event_id => ''"},
			{"HC009", "event_id of 256 bytes", "p_event_id => repeat('x', 256)"},
			{"HC009", "invocation_id of 256 bytes", "p_invocation_id => repeat('x', 256)"},
			{"HC009", "branch of 1025 bytes", "p_branch => repeat('x', 1025)"},
			{"HC009", "token_count -1", "p_token_count => -1"},
			{"HC009", "65 tags", "p_tags => array_fill('x'::text, ARRAY[65])"},
			{"HC009", "a tag that is null", "p_tags => ARRAY['a', NULL]"},
			{"HC009", "a tag that is null, empty", "p_tags => ARRAY['']"},
			{"HC009", "over 255 bytes", "p_tags => ARRAY[repeat('x', 256)]"},
			{"HC009", "metadata that is no object", "p_metadata => '[]'"},
			{"HC009", "created_at infinity", "p_created_at => 'infinity'"},
		} {
			args := map[string]string{"p_thread_id": "$1", "p_author": "'user'", "p_event_type": "'message'", "p_content": `'{"text": "hi"}'`}
			name, value, _ := strings.Cut(c.named, " => ")
			args[name] = value
			named := []string{}
			for name, value := range args {
				named = append(named, name+" => "+value)
			}
			sql := "SELECT hippocampus.append_event(" + strings.Join(named, ", ") + ")"
			if strings.Contains(sql, "$1") {
				b.refuses(t, c.code, c.message, sql, thread)
			} else {
				b.refuses(t, c.code, c.message, sql)
			}
		}
		// A NUL is Postgres's to refuse.
		b.refuses(t, "22P05", "Unicode", `SELECT hippocampus.append_event($1, 'user', 'message', '{"text": "\u0000"}')`, thread)
		b.refuses(t, "22P02", "", `SELECT hippocampus.append_event($1, 'user', 'message', '{"text": "\ud800"}')`, thread)
		require.Equal(t, before, b.counts(t))
		require.Equal(t, int64(1), get[int64](t, b, "SELECT version FROM hippocampus.threads WHERE id = $1", thread))
	})

	t.Run("TextIsDrawnFromContent", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread := b.thread(t)
		for content, text := range map[string]string{
			`"a string"`:       "a string",
			`{"text": "a"}`:    "a",
			`{"message": "a"}`: "a",
			`{"content": "a"}`: "a",
			`{"parts": [{"text": "a"}, {"x": 1}, {"text": "b"}]}`:                             "a\nb",
			`{"content": {"parts": [{"text": "a"}]}}`:                                         "a",
			`{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image"}]}`: "a",
			// OpenAI: parts alone, of its three APIs
			`[{"type": "text", "text": "a"}, {"type": "image_url", "image_url": {}}, {"type": "input_text", "text": "b"}]`: "a\nb",
			`["a", "b"]`: "a\nb",
			`{"role": "assistant", "content": [{"type": "text", "text": {"value": "a", "annotations": []}}]}`: "a",
			`[{"role": "user", "content": "a"}, {"role": "user", "content": [{"text": "b"}, {"text": "c"}]}]`: "a\nb\nc",
			// Gemini: what it thought is no text
			`{"role": "model", "parts": [{"text": "so…", "thought": true}, {"text": "a"}, {"functionCall": {"name": "f"}}]}`: "a",
			// Anthropic: tools have content of their own
			`[{"type": "thinking", "thinking": "so…"}, {"type": "text", "text": "a"}, {"type": "tool_use", "input": {"text": "no"}}]`:     "a",
			`{"content": [{"type": "tool_result", "content": "a"}, {"type": "tool_result", "content": [{"type": "text", "text": "b"}]}]}`: "a\nb",
			`{"text": 7}`: "", `{}`: "", `[]`: "", `7`: "", `{"parts": "a"}`: "", `[7, null, {"content": {}}]`: "",
		} {
			e := rowOf[db.Event](t, b, "SELECT * FROM hippocampus.append_event($1, 'user', 'message', $2)", thread, content)
			require.Equal(t, text, e.Text, content)
		}
	})
}

func TestAppendEvents(t *testing.T) {
	t.Parallel()
	appendAll := func(t *testing.T, b *testBundle, thread uuid.UUID, events any) []db.Event {
		t.Helper()
		return rowsOf[db.Event](t, b, "SELECT * FROM hippocampus.append_events($1, $2)", thread, toJSON(t, events))
	}
	texts := func(events []db.Event) []string {
		all := make([]string, len(events))
		for i, e := range events {
			all[i] = e.Text
		}
		return all
	}
	nextSeq := func(t *testing.T, b *testBundle, thread uuid.UUID) int64 {
		t.Helper()
		return get[int64](t, b, "SELECT next_seq FROM hippocampus.threads WHERE id = $1", thread)
	}

	t.Run("BatchOfTenThousand", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread := b.thread(t)
		events := appendAll(t, b, thread, said(10_000))
		require.Len(t, events, 10_000)
		for i, e := range events {
			require.Equal(t, int64(i+1), e.SequenceNum)
		}
		require.Equal(t, "said 10000", events[9_999].Text)
		require.Equal(t, int64(10_001), nextSeq(t, b, thread))
		require.Equal(t, int64(2), get[int64](t, b, "SELECT version FROM hippocampus.threads WHERE id = $1", thread))
		require.Equal(t, int64(10_000), get[int64](t, b, `SELECT count(*) FROM hippocampus.row_terms
			WHERE user_id = $1 AND source = 'event'`, b.UserID))
	})

	t.Run("ContextScoresImportance", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread := b.thread(t)
		events := appendAll(t, b, thread, []map[string]any{
			{"author": "user", "content": "a", "category": "observation", "context": map[string]any{"mentionedMe": true}},
			{"author": "user", "content": "b", "category": "observation"},
			{"author": "user", "content": "c", "category": "observation", "importance": 0, "context": map[string]any{"mentionedMe": true}},
		})
		require.InDelta(t, 0.6, events[0].Importance, 1e-6)
		require.InDelta(t, 0.4, events[1].Importance, 1e-6)
		require.Zero(t, events[2].Importance) // 0 is given, not unset
	})

	t.Run("DuplicateEventIds", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread := b.thread(t)
		event := func(id, text string) map[string]any {
			e := map[string]any{"author": "user", "content": text}
			if id != "" {
				e["event_id"] = id
			}
			return e
		}
		batch := []map[string]any{event("a", "1"), event("b", "2"), event("a", "again in the batch"), event("", "3"), event("", "4")}
		require.Equal(t, []string{"1", "2", "3", "4"}, texts(appendAll(t, b, thread, batch)))
		require.Equal(t, int64(5), nextSeq(t, b, thread))
		// Sent twice: what has an id is skipped.
		require.Equal(t, []string{"3", "4"}, texts(appendAll(t, b, thread, batch)))
		require.Equal(t, []string{"5"}, texts(appendAll(t, b, thread, []map[string]any{event("b", "x"), event("c", "5"), event("c", "y")})))
		require.Empty(t, appendAll(t, b, thread, batch[:3]))
		require.Equal(t, int64(8), nextSeq(t, b, thread))
		require.Equal(t, []int64{1, 2, 3, 4, 5, 6, 7}, list[int64](t, b,
			"SELECT sequence_num FROM hippocampus.events WHERE thread_id = $1 ORDER BY 1", thread))
		// The same id in another thread is another event.
		require.Len(t, appendAll(t, b, b.thread(t), batch[:2]), 2)
	})

	t.Run("EventIdsThatLookLikePlaces", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		events := appendAll(t, b, b.thread(t), []map[string]any{
			{"author": "user", "content": "1"},
			{"author": "user", "content": "2", "event_id": "n1"},
			{"author": "user", "content": "3", "event_id": "n4"},
			{"author": "user", "content": "4"},
		})
		require.Equal(t, []string{"1", "2", "3", "4"}, texts(events))
	})

	t.Run("EmptyBatchChangesNothing", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread := b.thread(t)
		require.Empty(t, appendAll(t, b, thread, []any{}))
		require.Equal(t, int64(1), get[int64](t, b, "SELECT version FROM hippocampus.threads WHERE id = $1", thread))
	})

	t.Run("ExpectedVersion", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread := b.thread(t)
		appendAt := "SELECT hippocampus.append_events($1, $2, $3)"
		b.exec(t, appendAt, thread, toJSON(t, said(2)), 1)
		b.refuses(t, "HC008", "at version 2, not 1", appendAt, thread, toJSON(t, said(2)), 1)
		b.exec(t, appendAt, thread, toJSON(t, said(2)), 2)
		require.Equal(t, int64(5), nextSeq(t, b, thread))
	})

	t.Run("FieldsOfAnyJsonNull", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		event := map[string]any{"author": "user", "content": map[string]any{"text": "hi"}}
		for _, field := range []string{
			"branch", "category", "context", "created_at", "event_id", "event_type", "importance", "invocation_id", "metadata",
			"tags", "text", "token_count",
		} {
			event[field] = nil
		}
		events := appendAll(t, b, b.thread(t), []any{event})
		require.Equal(t, []string{"hi"}, texts(events))
		require.Equal(t, "message", events[0].EventType)
		require.InDelta(t, 0.6, events[0].Importance, 1e-6)
	})

	t.Run("LargestContent", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread := b.thread(t)
		for _, unit := range []string{"one two three ", "Ünïcödé wörds ", "天地玄黄宇宙洪荒", "🎉🎊 ", "𐐀𐐁𐐂-𐐃𐐄 ", "https://example.com/a?b=c ", "\ufdfa"} {
			text := strings.Repeat(unit, 1_000_000/len(unit))
			require.Equal(t, []string{text}, texts(appendAll(t, b, thread, []map[string]any{{"author": "user", "content": text}})))
		}
	})

	t.Run("RefusesWhatCannotBe", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread := b.thread(t)
		before := b.counts(t)
		const fine = `{"author": "user", "content": {"text": "hi"}}`
		for _, c := range []struct{ code, message, events string }{
			{"HC009", "p_events is null", ""},
			{"HC009", "p_events is a JSON object", fine},
			{"HC009", "event 2 of the batch is a JSON string", `[` + fine + `, "x"]`},
			{"HC009", "event 2 of the batch is a JSON null", `[` + fine + `, null]`},
			{"HC009", "event 2 of the batch is a JSON array", `[` + fine + `, []]`},
			{"HC009", "event 2 of the batch has no author", `[` + fine + `, {"content": "x"}]`},
			{"HC009", "event 2 of the batch has author 7", `[` + fine + `, {"author": 7, "content": "x"}]`},
			{"HC009", "event 2 of the batch has no content", `[` + fine + `, {"author": "user"}]`},
			{"HC009", "event 2 of the batch has no content", `[` + fine + `, {"author": "user", "content": null}]`},
			{"HC009", "event 1 of the batch has mood", `[{"author": "user", "content": "x", "mood": "good"}]`},
			{"HC009", `event 1 of the batch has  7`, `[{"author": "user", "content": "x", "": 7}]`},
			{"HC009", "the event has category 'gossip'", `[{"author": "user", "content": "x", "category": "gossip"}]`},
			{"HC009", "the event has importance 2", `[{"author": "user", "content": "x", "importance": 2}]`},
			{"HC009", "has importance 1", `[{"author": "user", "content": "x", "importance": 1e400}]`},
			{"HC009", `has importance "high"`, `[{"author": "user", "content": "x", "importance": "high"}]`},
			{"HC009", `has tags "a"`, `[{"author": "user", "content": "x", "tags": "a"}]`},
			{"HC009", `has tags {"a": 1}`, `[{"author": "user", "content": "x", "tags": {"a": 1}}]`},
			{"HC009", `has tags ["a", 1]`, `[{"author": "user", "content": "x", "tags": ["a", 1]}]`},
			{"HC009", `has tags ["a", null]`, `[{"author": "user", "content": "x", "tags": ["a", null]}]`},
			{"HC009", `has tags [["a"]]`, `[{"author": "user", "content": "x", "tags": [["a"]]}]`},
			{"HC009", `has metadata []`, `[{"author": "user", "content": "x", "metadata": []}]`},
			{"HC009", `has token_count 1.5`, `[{"author": "user", "content": "x", "token_count": 1.5}]`},
			{"HC009", `has token_count 3000000000`, `[{"author": "user", "content": "x", "token_count": 3000000000}]`},
			{"HC009", `has token_count -3000000000`, `[{"author": "user", "content": "x", "token_count": -3000000000}]`},
			{"HC009", `has token_count -1`, `[{"author": "user", "content": "x", "token_count": -1}]`},
			{"HC009", `has created_at "tomorrowish"`, `[{"author": "user", "content": "x", "created_at": "tomorrowish"}]`},
			{"HC009", `has created_at infinity`, `[{"author": "user", "content": "x", "created_at": "infinity"}]`},
			{"HC009", `has created_at 7`, `[{"author": "user", "content": "x", "created_at": 7}]`},
		} {
			var events any
			if c.events != "" {
				require.True(t, json.Valid([]byte(c.events)), c.events)
				events = c.events
			}
			b.refuses(t, c.code, c.message, "SELECT hippocampus.append_events($1, $2)", thread, events)
		}
		require.Equal(t, before, b.counts(t))
		require.Equal(t, int64(1), nextSeq(t, b, thread))
	})

	t.Run("RollsBackWithTheCaller", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread := b.thread(t)
		before := b.counts(t)
		attempt, err := b.Begin(t.Context())
		require.NoError(t, err)
		_, err = attempt.Exec(t.Context(), "SELECT hippocampus.append_events($1, $2)", thread, toJSON(t, said(3)))
		require.NoError(t, err)
		_, err = attempt.Exec(t.Context(), "SELECT hippocampus.enqueue_consolidation($1)", thread)
		require.NoError(t, err)
		require.NoError(t, attempt.Rollback(t.Context()))
		require.Equal(t, before, b.counts(t))
		require.Len(t, appendAll(t, b, thread, said(1)), 1)
	})
}

// The log's own promises, which hold for every writer of SQL.
func TestEvents(t *testing.T) {
	t.Parallel()
	const insert = `INSERT INTO hippocampus.events (thread_id, sequence_num, user_id, app_name, author, content, token_count)
		VALUES ($1, $2, $3, $4, 'user', '{}', 1)`

	t.Run("CannotBeUpdated", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread := b.thread(t)
		b.exec(t, "SELECT hippocampus.append_events($1, $2)", thread, toJSON(t, said(2)))
		for _, set := range []string{
			"text = 'x'", "content = '{}'", "sequence_num = 7", "thread_id = gen_random_uuid()", "id = gen_random_uuid()",
			"user_id = 'x'", "app_name = 'x'",
		} {
			b.refuses(t, "HC009", "events cannot change", "UPDATE hippocampus.events SET "+set+" WHERE thread_id = $1", thread)
		}
		b.exec(t, "UPDATE hippocampus.events SET token_count = 3, token_count_exact = true WHERE thread_id = $1", thread)
	})

	t.Run("InsertWithAGapIsRefused", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread := b.thread(t)
		b.exec(t, "SELECT hippocampus.append_events($1, $2)", thread, toJSON(t, said(2)))
		for _, seq := range []int{3, 4, 100} { // 3 would be next, but the thread's next_seq must move with it
			hint := b.refuses(t, "HC013", "leave a gap", insert, thread, seq, b.UserID, b.AppName)
			require.Contains(t, hint, "append_event")
		}
		b.refuses(t, "23505", "events_pkey", insert, thread, 2, b.UserID, b.AppName)
		b.refuses(t, "23514", "events_sequence_num_check", insert, thread, 0, b.UserID, b.AppName)
		b.refuses(t, "23503", "events_thread_id_fkey", insert, thread, 3, b.UserID+"x", b.AppName)
	})

	t.Run("InsertWithoutAGapIsNot", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread := b.thread(t)
		b.exec(t, "UPDATE hippocampus.threads SET next_seq = 3 WHERE id = $1", thread)
		b.refuses(t, "HC013", "events 2 to 2", insert, thread, 2, b.UserID, b.AppName)
		b.exec(t, `INSERT INTO hippocampus.events (thread_id, sequence_num, user_id, app_name, author, content, token_count)
			SELECT $1, n, $2, $3, 'user', '{}', 1 FROM generate_series(1, 2) n`, thread, b.UserID, b.AppName)
	})
}
