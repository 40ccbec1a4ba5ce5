package conversation

import (
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	haystackQuestions = `{"question_id":"q1","question_type":"t","question":"Where?","question_date":"2024/02/03 (Sat) 10:00",` +
		`"answer_session_ids":["s1"],"haystack":[["s1","2024/01/01 (Mon) 08:00"]]}`
	haystackSessions = `{"session_id":"s1","turns":[{"role":"user","content":"Hello"},{"role":"assistant","content":""},` +
		`{"role":"user","content":"In the attic.","has_answer":true}]}`
)

func TestReadLongMemEval(t *testing.T) {
	t.Parallel()

	t.Run("Beside", func(t *testing.T) {
		t.Parallel()
		folder := t.TempDir()
		path := filepath.Join(folder, "questions.jsonl")
		require.NoError(t, os.WriteFile(path, []byte(haystackQuestions), 0o600))
		_, err := ReadFile(path)
		require.ErrorContains(t, err, "sessions.jsonl.gz: no such file")

		file, err := os.Create(filepath.Join(folder, "sessions.jsonl.gz"))
		require.NoError(t, err)
		zip := gzip.NewWriter(file)
		_, err = zip.Write([]byte(haystackSessions))
		require.NoError(t, err)
		require.NoError(t, zip.Close())
		require.NoError(t, file.Close())
		cs, err := ReadFile(path)
		require.NoError(t, err)
		require.Len(t, cs, 1)
		require.Equal(t, "q1", cs[0].ID)
		require.Equal(t, 2, cs[0].Events())
		last := cs[0].Sessions[0].Events[1]
		require.Equal(t, "s1#2", last.EventID)
		require.Equal(t, "user", last.Author)
		require.Equal(t, time.Date(2024, 1, 1, 8, 0, 2, 0, time.UTC), *last.CreatedAt)
		require.Nil(t, last.Metadata) // the answer is not given away
	})

	t.Run("Faults", func(t *testing.T) {
		t.Parallel()
		for _, test := range []struct{ questions, sessions, want string }{
			{haystackQuestions, `{"session_id":"s2","turns":[]}`, "question 1 (q1): the session s1 is not among the sessions"},
			{haystackQuestions, `{"session_id":`, "session 1: unexpected EOF"},
			{strings.Replace(haystackQuestions, "2024/02/03", "today", 1), haystackSessions, "question_date"},
			{strings.Replace(haystackQuestions, "2024/01/01", "2024/13/01", 1), haystackSessions, "session s1"},
			{`{"question_id":"q1"}`, "", "it has no question_id or no question"},
			{
				`[{"question_id":"q","question":"?","question_date":"2024/02/03 (Sat) 10:00","haystack_session_ids":["s"]}]`, "",
				"1 session ids, 0 dates and 0 sessions",
			},
		} {
			_, err := ReadLongMemEval(strings.NewReader(test.questions), strings.NewReader(test.sessions))
			require.ErrorContains(t, err, test.want)
		}
		_, err := Read(strings.NewReader(haystackQuestions), "x")
		require.ErrorContains(t, err, "its sessions are in another file")
	})

	t.Run("NumberForAQuestion", func(t *testing.T) {
		t.Parallel()
		hs, err := ReadLongMemEval(strings.NewReader(strings.Replace(haystackQuestions, `"Where?"`, "2024", 1)), strings.NewReader(haystackSessions))
		require.NoError(t, err)
		require.Equal(t, "2024", hs[0].Question)
	})

	t.Run("Whole", func(t *testing.T) {
		t.Parallel()
		cs, err := Read(strings.NewReader(`[{"question_id":"q1","question":"?","question_date":"2024/02/03 (Sat) 10:00",
			"haystack_session_ids":["s1"],"haystack_dates":["2024/01/01 (Mon) 08:00"],
			"haystack_sessions":[[{"role":"user","content":"Yes"}]]}]`), "x")
		require.NoError(t, err)
		require.Equal(t, "s1#0", cs[0].Sessions[0].Events[0].EventID)
	})
}

func TestReadMemoryBank(t *testing.T) {
	t.Parallel()

	t.Run("Exchanges", func(t *testing.T) {
		t.Parallel()
		cs, err := Read(strings.NewReader(`{"user":"林晓","id":"2024-03-01#0","date":"2024-03-01","query":"我养蜜蜂。","response":"真好！"}
{"user":"Otto","id":"2024-03-01#0","date":"2024-03-01","query":"Hi","response":""}
{"user":"林晓","id":"2024-03-01#1","date":"2024-03-01","query":"四个蜂箱。","response":"这么多？"}`), "x")
		require.NoError(t, err)
		require.Len(t, cs, 2)
		require.Equal(t, "林晓", cs[0].ID)
		require.Len(t, cs[0].Sessions, 1)
		events := cs[0].Sessions[0].Events
		require.Len(t, events, 4)
		require.Equal(t, "2024-03-01#1/response", events[3].EventID)
		require.Equal(t, "assistant", events[3].Author)
		require.Equal(t, "2024-03-01#1", ExchangeID(events[3].EventID))
		require.True(t, events[3].CreatedAt.After(*events[2].CreatedAt))
		require.Equal(t, 1, cs[1].Events())
	})

	t.Run("Faults", func(t *testing.T) {
		t.Parallel()
		_, err := Read(strings.NewReader(`{"user":"a","id":"x#0","date":"soon","query":"q","response":"r"}`), "x")
		require.ErrorContains(t, err, "exchange 1: date")
		_, err = Read(strings.NewReader(`{"id":"x#0","date":"2024-03-01","query":"q","response":"r"}`), "x")
		require.ErrorContains(t, err, "it has no user or no id")
	})

	t.Run("Whole", func(t *testing.T) {
		t.Parallel()
		cs, err := Read(strings.NewReader(`{"Otto":{"name":"Otto","history":{"2024-03-02":[{"query":"c","response":"d"}],
			"2024-03-01":[{"query":"a","response":"b"}]}}}`), "x")
		require.NoError(t, err)
		require.Len(t, cs, 1)
		require.Equal(t, "2024-03-01", cs[0].Sessions[0].ID)
		require.Equal(t, "2024-03-02#0/query", cs[0].Sessions[1].Events[0].EventID)
	})
}
