package function_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/db"
)

func TestRememberEvents(t *testing.T) {
	t.Parallel()

	t.Run("MakesAnEpisodeOfEachThatHasAText", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread := b.thread(t)
		b.exec(t, `SELECT hippocampus.append_events($1, '[{"author": "user", "text": "I like tea", "content": {}, "tags": ["drink"], "importance": 0.9},
			{"author": "agent", "text": "", "content": {}}, {"author": "agent", "text": " \n ", "content": {}}, {"author": "agent", "text": "猫茶", "content": {}},
			{"author": "user", "text": "I like tea", "content": {}}]')`, thread)
		remember := func() int {
			return get[int](t, b, "SELECT hippocampus.remember_events($1, $2, $3, 'test')", b.UserID, b.AppName, thread)
		}
		require.Equal(t, 3, remember())
		memories := rowsOf[db.Memory](t, b, "SELECT * FROM hippocampus.memories WHERE user_id = $1 ORDER BY from_seq", b.UserID)
		require.Len(t, memories, 3)
		for i, content := range []string{"user: I like tea", "agent: 猫茶", "user: I like tea"} {
			require.Equal(t, content, memories[i].Content)
			require.Equal(t, memories[i].FromSeq, memories[i].ToSeq)
			require.Equal(t, thread, *memories[i].ThreadID)
			require.Equal(t, int32(1), memories[i].EncounterCount)
		}
		require.Equal(t, []string{"drink"}, memories[0].Tags)
		require.InDelta(t, 0.9, memories[0].Importance, 1e-6)
		require.Zero(t, remember())
		b.exec(t, "SELECT hippocampus.append_event($1, 'user', 'message', '\"And coffee\"')", thread)
		require.Equal(t, 1, remember())
		require.Equal(t, int64(4), get[int64](t, b, "SELECT sum(encounter_count) FROM hippocampus.memories WHERE user_id = $1", b.UserID))
	})

	t.Run("LeavesForgottenWhatWasForgotten", func(t *testing.T) {
		t.Parallel()
		for _, log := range []string{"keep", "erase"} {
			b := setup(t)
			thread := b.thread(t)
			b.exec(t, "SELECT hippocampus.append_event($1, 'user', 'message', '\"I like tea\"')", thread)
			b.exec(t, "SELECT hippocampus.remember_events($1, $2, $3)", b.UserID, b.AppName, thread)
			require.Equal(t, 1, get[int](t, b, "SELECT hippocampus.forget($1, $2, ARRAY(SELECT id FROM hippocampus.memories WHERE user_id = $1), $3)",
				b.UserID, b.AppName, log))
			require.Zero(t, get[int](t, b, "SELECT hippocampus.remember_events($1, $2, $3)", b.UserID, b.AppName, thread), log)
		}
	})

	t.Run("RefusesAnUnknownThread", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.refuses(t, "HC002", "is unknown", "SELECT hippocampus.remember_events($1, $2, $3)", b.UserID, b.AppName, uuid.New())
		b.refuses(t, "HC002", "thread null is unknown", "SELECT hippocampus.remember_events($1, $2, NULL)", b.UserID, b.AppName)
		b.refuses(t, "HC002", "is unknown", "SELECT hippocampus.remember_events('somebody else', $1, $2)", b.AppName, b.thread(t))
		b.refuses(t, "HC001", "p_user_id is empty", "SELECT hippocampus.remember_events('', $1, NULL)", b.AppName)
	})
}
