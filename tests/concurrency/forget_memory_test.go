package concurrency_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func TestForgetMemory(t *testing.T) {
	t.Parallel()

	t.Run("WhileAThreadThatToldItIsForgotten", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		var threads []uuid.UUID
		for range 2 {
			thread := b.thread(t, b.ada)
			get[string](t, b, "SELECT hippocampus.append_event($1, 'user', 'message', '\"The safe opens with 1234.\"')::text", thread)
			get[int](t, b, "SELECT hippocampus.remember_events('ada', 'app', $1)", thread)
			threads = append(threads, thread)
		}
		require.NotZero(t, get[int](t, b, "SELECT count(*) FROM hippocampus.memories"))
		first, second := b.session(t, "first"), b.session(t, "second")
		first.do("BEGIN")
		first.do("SELECT hippocampus.forget_thread('ada', 'app', $1)", threads[0])
		waiting := second.waits("SELECT hippocampus.forget_memory('ada', 'app', 'The safe opens with 1234')")
		first.do("COMMIT")
		waiting.succeeds(t)
		require.Zero(t, get[int](t, b, "SELECT count(*) FROM hippocampus.memories"))
		require.Equal(t, threads[1], get[uuid.UUID](t, b, "SELECT thread_id FROM hippocampus.forgotten_events"))
		require.Zero(t, get[int](t, b, "SELECT count(*) FROM hippocampus.recall_conversation('ada', 'app', 'safe')"))
	})
}
