package function_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func TestCreateThread(t *testing.T) {
	t.Parallel()

	t.Run("ExistingNameIsRefusedOrReturned", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		id := get[uuid.UUID](t, b, "SELECT hippocampus.create_thread($1, $2, 's')", b.UserID, b.AppName)
		hint := b.refuses(t, "23505", "'s'", "SELECT hippocampus.create_thread($1, $2, 's')", b.UserID, b.AppName)
		require.Contains(t, hint, "p_if_not_exists")
		again := get[uuid.UUID](t, b, "SELECT hippocampus.create_thread($1, $2, 's', p_if_not_exists => true)", b.UserID, b.AppName)
		require.Equal(t, id, again)
		other := get[uuid.UUID](t, b, "SELECT hippocampus.create_thread($1, $2, 's')", b.UserID+"x", b.AppName)
		require.NotEqual(t, id, other)
	})

	t.Run("NewThread", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		id := get[uuid.UUID](t, b, `SELECT hippocampus.create_thread($1, $2, 's', '{"a": 1}')`, b.UserID, b.AppName)
		require.Equal(t, `{"a": 1} s 1 1 0`, get[string](t, b, `SELECT concat_ws(' ', t.state, t.session_id, t.version, t.next_seq,
			least(t.replayed_seq, t.reflected_seq)) FROM hippocampus.threads t WHERE t.id = $1`, id))
	})

	t.Run("RandomNameByDefault", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		one, two := b.thread(t), b.thread(t)
		require.NotEqual(t, one, two)
	})

	t.Run("RefusesWhatCannotBe", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		before := b.counts(t)
		long := strings.Repeat("é", 128) // 256 bytes
		for _, c := range []struct {
			code, message, sql string
			args               []any
		}{
			{"HC001", "p_user_id is null", "create_thread(NULL, 'a')", nil},
			{"HC001", "p_user_id is empty", "create_thread('', 'a')", nil},
			{"HC001", "p_user_id is 256 bytes long", "create_thread($1, 'a')", []any{long}},
			{"HC001", "p_app_name is null", "create_thread('u', NULL)", nil},
			{"HC001", "p_app_name is empty", "create_thread('u', '')", nil},
			{"HC001", "p_app_name is reserved: *", "create_thread('u', '*')", nil},
			{"HC001", "p_app_name is 256 bytes long", "create_thread('u', $1)", []any{long}},
			{"HC009", "p_session_id is empty", "create_thread('u', 'a', '')", nil},
			{"HC006", "p_session_id is 256 bytes long", "create_thread('u', 'a', $1)", []any{long}},
			{"HC009", "p_state is null", "create_thread('u', 'a', p_state => NULL)", nil},
			{"HC009", "p_state is a JSON array", "create_thread('u', 'a', p_state => '[]')", nil},
			{"HC006", "p_state is 1048", "create_thread('u', 'a', p_state => jsonb_build_object('x', repeat('x', 1048576)))", nil},
		} {
			b.refuses(t, c.code, c.message, "SELECT hippocampus."+c.sql, c.args...)
		}
		require.Equal(t, before, b.counts(t))
	})
}
