package conversation

import (
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
		_, err := Read(strings.NewReader(" \n"), "x")
		require.ErrorContains(t, err, "the file is empty")
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
		require.Equal(t, "talk:1", cs[0].Sessions[0].Events[0].EventID)
		require.JSONEq(t, `{"text":"hello"}`, string(cs[0].Sessions[0].Events[0].Content))
		require.Equal(t, "e2", cs[0].Sessions[1].Events[0].EventID)
	})

	t.Run("JSONLinesFaults", func(t *testing.T) {
		t.Parallel()
		_, err := Read(strings.NewReader("{\"author\":\"user\",\"text\":\"x\"}\n{\"author\":\"user\"}"), "x")
		require.ErrorContains(t, err, "line 2: an event needs an author, and text or content")
		_, err = Read(strings.NewReader(`{"who":"user","text":"x"}`), "x")
		require.ErrorContains(t, err, `line 1 is no event: json: unknown field "who"`)
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
