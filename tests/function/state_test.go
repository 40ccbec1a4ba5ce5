package function_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/db"
)

const (
	mergeApp    = "SELECT * FROM hippocampus.app_state_merge($1, $2)"
	mergeThread = "SELECT * FROM hippocampus.thread_state_merge($1, $2)"
	mergeUser   = "SELECT * FROM hippocampus.user_state_merge($1, $2, $3)"
)

func TestAppStateMerge(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.Empty(t, rowsOf[db.AppState](t, b, "SELECT * FROM hippocampus.app_state_get($1)", b.AppName))
	row := rowOf[db.AppState](t, b, mergeApp, b.AppName, `{"greeting": "你好", "open": true}`)
	require.Equal(t, int64(1), row.Version)
	row = rowOf[db.AppState](t, b, mergeApp, b.AppName, `{"open": null}`)
	require.JSONEq(t, `{"greeting": "你好"}`, string(row.State))
	require.Equal(t, row, rowOf[db.AppState](t, b, "SELECT * FROM hippocampus.app_state_get($1)", b.AppName))

	b.refuses(t, "HC001", "p_app_name is empty", mergeApp, "", "{}")
	b.refuses(t, "HC001", "reserved", "SELECT hippocampus.app_state_get('*')")
	b.refuses(t, "HC009", "p_delta is a JSON array", mergeApp, b.AppName, "[]")
	b.refuses(t, "HC008", "is at version 2, not 1", "SELECT hippocampus.app_state_merge($1, '{}', 1)", b.AppName)
}

func TestThreadStateMerge(t *testing.T) {
	t.Parallel()
	b := setup(t)
	thread := get[uuid.UUID](t, b, `SELECT hippocampus.create_thread($1, $2, p_state => '{"step": 1, "old": true}')`, b.UserID, b.AppName)
	row := rowOf[db.Thread](t, b, mergeThread, thread, `{"step": 2, "old": null}`)
	require.JSONEq(t, `{"step": 2}`, string(row.State))
	require.Equal(t, int64(2), row.Version) // the thread's own
	b.refuses(t, "HC008", "is at version 2, not 1", "SELECT hippocampus.thread_state_merge($1, '{}', 1)", thread)
	b.refuses(t, "HC002", "is unknown", mergeThread, uuid.New(), "{}")
	b.refuses(t, "HC002", "thread null is unknown", mergeThread, nil, "{}")
}

func TestUserStateMerge(t *testing.T) {
	t.Parallel()

	t.Run("ExpectsAVersion", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		const at = "SELECT hippocampus.user_state_merge($1, $2, $3, $4)"
		b.refuses(t, "HC008", "is at version 0, not 1", at, b.UserID, b.AppName, `{"a": 1}`, 1)
		b.exec(t, at, b.UserID, b.AppName, `{"a": 1}`, 0)
		b.refuses(t, "HC008", "is at version 1, not 0", at, b.UserID, b.AppName, `{"a": 2}`, 0)
		b.exec(t, at, b.UserID, b.AppName, `{"a": 3}`, 1)
		row := rowOf[db.UserState](t, b, "SELECT * FROM hippocampus.user_state_get($1, $2)", b.UserID, b.AppName)
		require.JSONEq(t, `{"a": 3}`, string(row.State))
		require.Equal(t, int64(2), row.Version)
	})

	t.Run("MergesByKey", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		var row db.UserState
		for _, step := range []struct{ delta, state string }{
			{`{"a": 1, "b": {"deep": 1, "kept": null}, "gone": null}`, `{"a": 1, "b": {"deep": 1, "kept": null}}`},
			{`{"b": {"other": 2}}`, `{"a": 1, "b": {"other": 2}}`},
			{`{"a": null, "never": null}`, `{"b": {"other": 2}}`},
			{`{}`, `{"b": {"other": 2}}`},
		} {
			row = rowOf[db.UserState](t, b, mergeUser, b.UserID, b.AppName, step.delta)
			require.JSONEq(t, step.state, string(row.State), step.delta)
		}
		require.Equal(t, int64(4), row.Version)
		require.Empty(t, rowsOf[db.UserState](t, b, "SELECT * FROM hippocampus.user_state_get($1, 'another')", b.UserID))
	})

	t.Run("RefusesWhatCannotBe", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.exec(t, mergeUser, b.UserID, b.AppName, `{"a": 1}`)
		before := b.counts(t)
		b.refuses(t, "HC001", "p_user_id is null", mergeUser, nil, b.AppName, `{}`)
		b.refuses(t, "HC009", "p_delta is a JSON string", mergeUser, b.UserID, b.AppName, `"x"`)
		// Each fits alone.
		half := func(key string) string {
			raw, err := json.Marshal(map[string]string{key: strings.Repeat("x", 600_000)})
			require.NoError(t, err)
			return string(raw)
		}
		b.exec(t, mergeUser, b.UserID, b.AppName, half("first"))
		b.refuses(t, "HC006", "the merged state is", mergeUser, b.UserID, b.AppName, half("second"))
		require.Equal(t, before, b.counts(t))
	})
}
