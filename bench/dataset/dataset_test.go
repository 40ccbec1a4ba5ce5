package dataset_test

import (
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/bench/dataset"
)

// write writes files into a folder of the test's own. One that ends in .gz is compressed.
func write(t *testing.T, files map[string]string) func(name string) string {
	t.Helper()
	folder := t.TempDir()
	for name, content := range files {
		file, err := os.Create(filepath.Join(folder, name))
		require.NoError(t, err)
		if filepath.Ext(name) == ".gz" {
			zip := gzip.NewWriter(file)
			_, err = zip.Write([]byte(content))
			require.NoError(t, err)
			require.NoError(t, zip.Close())
		} else {
			_, err = file.WriteString(content)
			require.NoError(t, err)
		}
		require.NoError(t, file.Close())
	}
	return func(name string) string { return filepath.Join(folder, name) }
}

const locomo = `[{"sample_id":"conv-1","conversation":{
	"session_1_date_time":"1:00 pm on 1 March, 2024",
	"session_1":[{"speaker":"Ida","dia_id":"D1:1","text":"I keep bees."},{"speaker":"Otto","dia_id":"D1:2","text":"How many hives?"}],
	"session_2_date_time":"2:00 pm on 2 March, 2024",
	"session_2":[{"speaker":"Ida","dia_id":"D2:1","text":"Four hives."}]},
	"qa":[
	{"question":"How many hives has Ida?","evidence":["D1:2; D02:01","D1:2"],"category":1},
	{"question":2024,"evidence":["D2:1"],"category":2},
	{"question":"Which trap?","evidence":["D1:1"],"category":5},
	{"question":"What is lost?","evidence":["D","D9:9"],"category":3}]}]`

func TestRead(t *testing.T) {
	t.Parallel()

	t.Run("Together", func(t *testing.T) {
		t.Parallel()
		two := locomo[:len(locomo)-1] + "," + strings.Replace(locomo[1:], "conv-1", "conv-2", 1)
		path := write(t, map[string]string{"l.json": two})
		d, err := dataset.Read([]string{path("l.json")}, nil)
		require.NoError(t, err)
		d.Together()
		require.Len(t, d.Conversations, 1)
		require.Equal(t, 6, d.Events())
		require.Equal(t, "conv-2/session_1", d.Conversations[0].Sessions[2].ID)
		require.Equal(t, "conv-2/D1:1", d.Conversations[0].Sessions[2].Events[0].EventID)
		q := d.Questions[len(d.Questions)-1]
		require.Equal(t, "Which trap?", q.Text)
		require.Equal(t, d.Conversations[0].ID, q.Conversation)
		require.Equal(t, time.Date(2024, 3, 2, 14, 0, 0, 0, time.UTC), q.Asked.UTC())
		require.Equal(t, []string{"conv-2/D1:1"}, q.Gold)
		require.Equal(t, []string{"conv-2/S1"}, q.GoldSessions)
		require.Equal(t, "conv-2/S1", d.Session("conv-2/session_1"))
		require.Equal(t, "conv-2/D1:1", d.Turn("conv-2/D1:1"))
		require.Equal(t, "conv-2/D1:summary", d.Summary("conv-2/S1"))
	})

	t.Run("Limit", func(t *testing.T) {
		t.Parallel()
		path := write(t, map[string]string{"l.json": locomo})
		d, err := dataset.Read([]string{path("l.json")}, nil)
		require.NoError(t, err)
		d.Limit(1)
		require.Len(t, d.Questions, 1)
		require.Len(t, d.Conversations, 1)
		d.Limit(5)
		require.Len(t, d.Questions, 1)
	})

	t.Run("LoCoMo", func(t *testing.T) {
		t.Parallel()
		path := write(t, map[string]string{"l.json": locomo})
		d, err := dataset.Read([]string{path("l.json")}, nil)
		require.NoError(t, err)
		require.Equal(t, dataset.LoCoMo, d.Format)
		require.Equal(t, map[string]int{"3 open-domain": 1}, d.Excluded)
		require.Len(t, d.Questions, 3)
		first := d.Questions[0]
		require.Equal(t, "conv-1#0", first.ID)
		require.Equal(t, []string{"D1:2", "D2:1"}, first.Gold)
		require.Equal(t, []string{"S1", "S2"}, first.GoldSessions)
		require.True(t, first.In(d.Headline))
		require.Equal(t, "2024", d.Questions[1].Text)
		require.False(t, d.Questions[2].In(d.Headline))
		require.Equal(t, 3, d.Events())
		require.Equal(t, "S2", d.Session("session_2"))
		require.Equal(t, "D2:summary", d.Summary("S2"))
		require.Equal(t, time.Date(2024, 3, 2, 14, 0, 0, 0, time.UTC), d.Ends()["conv-1"])
	})

	t.Run("LongMemEval", func(t *testing.T) {
		t.Parallel()
		path := write(t, map[string]string{
			"questions.jsonl": `{"question_id":"q1","question_type":"single-session-user","question":"Where are the skates?",` +
				`"question_date":"2024/02/03 (Sat) 10:00","answer_session_ids":["s2"],` +
				`"haystack":[["s1","2024/01/01 (Mon) 08:00"],["s2","2024/01/02 (Tue) 08:00"],["s1","2024/01/03 (Wed) 08:00"]]}
{"question_id":"q2_abs","question_type":"temporal-reasoning","question":"When did I fly?",` +
				`"question_date":"2024/02/03 (Sat) 10:00","answer_session_ids":["s1"],"haystack":[["s1","2024/01/01 (Mon) 08:00"]]}`,
			"sessions.jsonl.gz": `{"session_id":"s1","turns":[{"role":"user","content":"Hello"}]}
{"session_id":"s2","turns":[{"role":"user","content":" "},{"role":"user","content":"My skates are in the attic.","has_answer":true}]}`,
		})
		for _, files := range [][]string{{"questions.jsonl"}, {"sessions.jsonl.gz"}, {"sessions.jsonl.gz", "questions.jsonl"}} {
			paths := make([]string, len(files))
			for i, name := range files {
				paths[i] = path(name)
			}
			d, err := dataset.Read(paths, nil)
			require.NoError(t, err, files)
			require.Equal(t, dataset.LongMemEval, d.Format)
			require.Equal(t, []string{"single-session-user", "all, no abstention", "all incl. abstention"}, d.Rows)
			require.Equal(t, []string{"s2#1"}, d.Questions[0].Gold)
			require.Equal(t, time.Date(2024, 2, 3, 10, 0, 0, 0, time.UTC), d.Questions[0].Asked)
			require.Empty(t, d.Questions[1].Gold)
			require.Equal(t, []string{"s1"}, d.Questions[1].GoldSessions)
			require.False(t, d.Questions[1].In(d.Headline))
			require.Len(t, d.Conversation("q1").Sessions, 2)
			require.Equal(t, 2, d.Conversation("q1").Events())
			require.Nil(t, d.Conversation("q3"))
		}
	})

	t.Run("LongMemEvalInOneFile", func(t *testing.T) {
		t.Parallel()
		path := write(t, map[string]string{"lme.json": `[{"question_id":"q1","question_type":"multi-session","question":"?",
			"question_date":"2024/02/03 (Sat) 10:00","answer_session_ids":["s1"],"haystack_session_ids":["s1"],
			"haystack_dates":["2024/01/01 (Mon) 08:00"],"haystack_sessions":[[{"role":"user","content":"Yes","has_answer":true}]]}]`})
		d, err := dataset.Read([]string{path("lme.json")}, nil)
		require.NoError(t, err)
		require.Equal(t, []string{"s1#0"}, d.Questions[0].Gold)
	})

	t.Run("MemoryBank", func(t *testing.T) {
		t.Parallel()
		path := write(t, map[string]string{
			"events_en.jsonl": `{"user":"Ida","id":"2024-03-01#0","date":"2024-03-01","query":"I keep bees.","response":"How nice!"}
{"user":"Ida","id":"2024-03-02#0","date":"2024-03-02","query":"Four hives.","response":"So many?"}`,
			"questions_en.jsonl": `{"qid":"en-0","user":"Ida","question":"What do I keep?","gold":["2024-03-01#0","2024-03-02#0"],` +
				`"gold_groups":[["2024-03-01#0","2024-03-02#0"]],"answerable":true}
{"qid":"en-1","user":"Ida","question":"Who am I?","gold":[],"gold_groups":[],"answerable":false}`,
		})
		d, err := dataset.Read([]string{path("events_en.jsonl")}, nil)
		require.NoError(t, err)
		require.Equal(t, "memorybank-en", d.Name)
		require.Len(t, d.Questions, 1)
		require.Equal(t, map[string]int{"answerable": 1}, d.Excluded)
		require.Equal(t, []string{"2024-03-01", "2024-03-02"}, d.Questions[0].GoldSessions)
		require.Equal(t, "2024-03-02#0", d.Turn("2024-03-02#0/response"))

		d, err = dataset.Read([]string{filepath.Dir(path("events_en.jsonl"))}, nil)
		require.NoError(t, err)
		require.Equal(t, "memorybank-en", d.Name)
		_, err = dataset.Read([]string{filepath.Dir(path("events_en.jsonl"))}, &dataset.Options{Language: "cn"})
		require.ErrorContains(t, err, "holds no dataset that is known, or several")
	})

	t.Run("Refuses", func(t *testing.T) {
		t.Parallel()
		path := write(t, map[string]string{
			"events.jsonl": `{"author":"user","text":"hi"}`,
			"l.json":       locomo,
			"lost.json":    `[{"sample_id":"conv-2","qa":[]}]`,
			"none.json":    `[{"sample_id":"conv-1","conversation":{"session_1_date_time":"1:00 pm on 1 March, 2024","session_1":[]},"qa":[]}]`,
		})
		for _, test := range []struct {
			files []string
			opts  *dataset.Options
			want  string
		}{
			{nil, nil, "give the dataset's files"},
			{[]string{"gone.json"}, nil, "no such file"},
			{[]string{"events.jsonl"}, nil, "is of no format that is known; give --format"},
			{[]string{"l.json"}, &dataset.Options{Format: "beam"}, `the format "beam" is none of locomo, longmemeval, memorybank`},
			{[]string{"l.json"}, &dataset.Options{Questions: path("lost.json")}, "there is no conversation conv-2"},
			{[]string{"l.json", "l.json"}, nil, "it is one file, but 2 were given"},
			{[]string{"none.json"}, nil, "none of its questions has evidence"},
		} {
			paths := make([]string, len(test.files))
			for i, name := range test.files {
				paths[i] = path(name)
			}
			_, err := dataset.Read(paths, test.opts)
			require.ErrorContains(t, err, test.want)
		}
	})
}
