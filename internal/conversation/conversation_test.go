package conversation

import (
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRead(t *testing.T) {
	t.Parallel()

	t.Run("Empty", func(t *testing.T) {
		t.Parallel()
		for _, nothing := range []string{" \n", " [ ]\n"} {
			_, err := Read(strings.NewReader(nothing), "x")
			require.ErrorContains(t, err, "the file is empty")
		}
	})

	t.Run("JSONLines", func(t *testing.T) {
		t.Parallel()
		cs, err := Read(strings.NewReader(`{"session_id":"a","author":"user","text":"hello","created_at":"2026-05-01T00:00:00Z"}

{"session_id":"b","author":"agent","content":{"parts":[{"text":"你好"}]},"event_id":"e2"}
{"session_id":"a","author":"agent","text":"again"}
`), "talk")
		require.NoError(t, err)
		require.Len(t, cs, 1)
		require.Equal(t, "talk", cs[0].ID)
		require.Equal(t, 3, cs[0].Events())
		require.Equal(t, "a", cs[0].Sessions[0].ID)
		require.Regexp(t, "^sha256:[0-9a-f]{32}$", cs[0].Sessions[0].Events[0].EventID)
		require.JSONEq(t, `{"text":"hello"}`, string(cs[0].Sessions[0].Events[0].Content))
		require.Equal(t, "e2", cs[0].Sessions[1].Events[0].EventID)
	})

	t.Run("JSONLinesFaults", func(t *testing.T) {
		t.Parallel()
		for _, test := range []struct{ lines, want string }{
			{`{"author":"a","role":"b","text":"x"}`, "line 1: it has an author and a role"},
			{`{"author":"a","text":"x"} {"author":"b","text":"y"}`, "line 1: something follows the event; write one event a line"},
			{`{"author":"a","text":"x","created_at":"yesterday"}`, `line 1: created_at is "yesterday", which is no time such as`},
			{`{"author":"a","text":"x","tags":"t"}`, "line 1: tags is a JSON string, but must be a list of texts"},
			{`{"author":1,"text":"x"}`, "line 1: author is a JSON number, but must be text"},
			{`{"author":"a","content":1}`, "line 1: content is 1, but must be text, an object or a list of parts"},
			{`{"author":"a","content":null}`, "line 1: an event needs text or content"},
			{`{"author":"a","content":""}`, "line 1: an event needs text or content"},
			{`{"author":"a",`, "line 1: the JSON ends too early; write each event on one line"},
			{`{"text":"x"}`, "line 1: an event needs an author"},
			{`{"who":"user","text":"x"}`, `line 1: there is no field "who"; call it author`},
			{`{"author":"user","text":"x","mood":1}`, `line 1: there is no field "mood"; put what the log should keep into metadata`},
			{`"hello"`, "line 1: this is a JSON string, but an event is an object"},
			{"\n\n{\"author\":\"user\",\"text\":\"x\"}\n{\"author\":\"user\"}", "line 4: an event needs text or content"},
			{"hello", "line 1: this is no JSON: invalid character 'h'"},
			{"{\"author\":\"user\",\"text\":\"\xff\"}", "line 1: it is not UTF-8"},
			{`[{"who":"user","say":"x"}]`, "sample 1 has no sample_id or no conversation; a list of events or messages has author or role"},
			{`[{"role":"user","content":"x"},{"role":"user"}]`, "event 2 of the list: invalid argument: it has neither content nor text"},
			{`[{"role":"user","content":"x"}`, "this is no JSON: unexpected end"},
			{`{"role":"user","content":"x","timestamp":"2026"}`, `line 1: there is no field "timestamp"; call it created_at`},
			{`{"role":"user","content":"x","created_at":"soon"}`, `line 1: created_at is "soon"`},
			{`{"type":"unknown","id":"1"}`, `line 1: invalid argument: it has no role, and its type "unknown" does not tell who said it`},
		} {
			_, err := Read(strings.NewReader(test.lines), "x")
			require.ErrorContains(t, err, test.want)
			require.NotContains(t, err.Error(), "Go ")
		}
	})

	t.Run("JSONLinesIDs", func(t *testing.T) {
		t.Parallel()
		const hello, bye = `{"author":"user","text":"hello"}`, `{"author":"user","text":"bye"}`
		ids := func(name string, lines ...string) []string {
			cs, err := Read(strings.NewReader(strings.Join(lines, "\n")), name)
			require.NoError(t, err)
			var ids []string
			for _, e := range cs[0].Sessions[0].Events {
				ids = append(ids, e.EventID)
			}
			return ids
		}
		first := ids("x", hello, bye, hello)
		require.NotEqual(t, first[0], first[2], "said twice")
		require.Equal(t, first, ids("x", hello, bye, hello))
		require.Equal(t, first, ids("x", "\uFEFF"+hello+"\r", "", bye+"\r", hello), "a byte order mark, CRLF")
		inserted := ids("x", `{"author":"user","text":"new"}`, hello, bye, hello)
		require.Equal(t, first, inserted[1:])
		require.NotContains(t, first, inserted[0])
		require.NotEqual(t, first, ids("y", hello, bye, hello), "another session")
	})

	// A file of messages is read as the service reads a list of them, a line each or as an array.
	t.Run("Messages", func(t *testing.T) {
		t.Parallel()
		messages := []string{
			`{"role":"user","content":"hello","name":"ada","session_id":"s","tags":["x"]}`,
			`{"role":"assistant","content":[{"type":"text","text":"hi"}],"tool_calls":null,"session_id":"s"}`,
			`{"role":"assistant","content":null,"session_id":"s","tool_calls":[{"id":"1","function":{"name":"f","arguments":"{}"}}]}`,
			`{"type":"function_call_output","call_id":"1","output":"21 °C","session_id":"s","id":"o1"}`,
			`{"role":"model","parts":[{"text":"你好"}],"session_id":"s","created_at":"2026-05-01T00:00:00Z"}`,
		}
		lines, err := Read(strings.NewReader(strings.Join(messages, "\n")), "x")
		require.NoError(t, err)
		list, err := Read(strings.NewReader("["+strings.Join(messages, ",\n")+"]"), "x")
		require.NoError(t, err)
		require.Equal(t, lines, list)
		require.Equal(t, "s", list[0].Sessions[0].ID)
		events := list[0].Sessions[0].Events
		for i, want := range []struct{ author, text, content string }{
			{"user", "hello", `{"role":"user","content":"hello","name":"ada"}`},
			{"agent", "hi", `[{"type":"text","text":"hi"}]`},
			{"agent", "", `{"role":"assistant","content":null,"tool_calls":[{"id":"1","function":{"name":"f","arguments":"{}"}}]}`},
			{"tool", "21 °C", `{"type":"function_call_output","call_id":"1","output":"21 °C","id":"o1"}`},
			{"agent", "", `{"parts":[{"text":"你好"}]}`}, // the database reads its text
		} {
			require.Equal(t, want.author+": "+want.text, events[i].Author+": "+events[i].Text)
			require.JSONEq(t, want.content, string(events[i].Content))
		}
		require.Equal(t, "o1", events[3].EventID)
		require.Equal(t, "tool-use", events[3].Category)
		require.NotNil(t, events[4].CreatedAt)
		own, err := Read(strings.NewReader(`[{"author":"user","text":"x"}]`), "x")
		require.NoError(t, err)
		require.Equal(t, "user", own[0].Sessions[0].Events[0].Author)
	})

	t.Run("LoCoMo", func(t *testing.T) {
		t.Parallel()
		cs, err := Read(strings.NewReader(`[{"sample_id":"conv-1","conversation":{"speaker_a":"Ann",
			"session_1_date_time":"1:56 pm on 8 May, 2023",
			"session_1":[{"speaker":"Ann","dia_id":"D1:1","text":"Look!","blip_caption":"a red boat"}],
			"session_2_date_time":"9:00 AM on 9 May, 2023",
			"session_3_date_time":"12:05 am on 10 May, 2023",
			"session_3":[{"speaker":"Bo","dia_id":"D3:1","text":"Hm."},{"speaker":"Ann","dia_id":"D3:2","text":"Yes."}]}}]`), "x")
		require.NoError(t, err)
		require.Len(t, cs, 1)
		require.Equal(t, []string{"session_1", "session_3"}, []string{cs[0].Sessions[0].ID, cs[0].Sessions[1].ID})
		first := cs[0].Sessions[0].Events[0]
		require.Equal(t, "Look! [image: a red boat]", first.Text)
		require.Equal(t, "D1:1", first.EventID)
		require.Equal(t, time.Date(2023, 5, 8, 13, 56, 0, 0, time.UTC), *first.CreatedAt)
		require.Equal(t, time.Date(2023, 5, 10, 0, 5, 1, 0, time.UTC), *cs[0].Sessions[1].Events[1].CreatedAt)
	})

	t.Run("LoCoMoFaults", func(t *testing.T) {
		t.Parallel()
		_, err := Read(strings.NewReader(`[{"sample_id":"c","conversation":{"session_1":[],"session_1_date_time":"soon"}}]`), "x")
		require.ErrorContains(t, err, "sample c: session_1_date_time")
	})
}

func TestReadFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "talk.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(`{"author":"user","text":"hi"}`), 0o600))
	cs, err := ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "talk", cs[0].ID)
	_, err = ReadFile(path + ".missing")
	require.ErrorContains(t, err, "no such file")
}

// endless gives zeros for ever, and counts them.
type endless struct{ n int }

func (e *endless) Read(p []byte) (int, error) {
	clear(p)
	if e.n += len(p); e.n > 1<<30 {
		return 0, errors.New("read far too much")
	}
	return len(p), nil
}

func TestReadOfWhatHasNoEnd(t *testing.T) {
	t.Parallel()
	zeros := &endless{}
	_, err := Read(zeros, "zeros")
	require.ErrorContains(t, err, "it is no text")
	require.Less(t, zeros.n, 1<<20)

	path := filepath.Join(t.TempDir(), "zeros.gz")
	file, err := os.Create(path)
	require.NoError(t, err)
	zipped := gzip.NewWriter(file)
	_, err = zipped.Write(make([]byte, 1<<20))
	require.NoError(t, err)
	require.NoError(t, zipped.Close())
	require.NoError(t, file.Close())
	_, err = ReadFile(path)
	require.ErrorContains(t, err, "it is no text")
}
