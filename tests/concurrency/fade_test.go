package concurrency_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// Retention and forgetting of a memory that something was made of.
func TestFading(t *testing.T) {
	t.Parallel()
	const sweep = "SELECT hippocampus.cleanup_low_value_memories(NULL, NULL, p_now => now() + interval '8 days')"
	// derived stores an old memory and one that was made of it.
	derived := func(t *testing.T, b *testBundle) (source, made uuid.UUID) {
		t.Helper()
		source = get[uuid.UUID](t, b, "SELECT hippocampus.remember('ada', 'app', 'the source')")
		made = get[uuid.UUID](t, b, "SELECT hippocampus.remember('ada', 'app', 'what was made of it', p_initial_score => 1)")
		get[string](t, b, "SELECT hippocampus.link_memories('ada', 'app', $1, $2, 'derived_from')::text", made, source)
		return source, made
	}

	t.Run("LeavesWhatIsBeingForgotten", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		source, made := derived(t, b)
		first, second := b.session(t, "forgets"), b.session(t, "sweeps")
		first.do("BEGIN")
		first.do("SELECT hippocampus.forget('ada', 'app', ARRAY[$1::uuid])", made)
		second.do(sweep)
		require.Equal(t, 1, get[int](t, b, "SELECT count(*) FROM hippocampus.memories WHERE id = $1", source), "the next sweep takes it")
		first.do("COMMIT")
		second.do(sweep)
		require.Zero(t, get[int](t, b, "SELECT count(*) FROM hippocampus.memories"))
	})

	// What is just becoming an instruction of the app is not swept; what is just being swept does not become one.
	t.Run("LeavesWhatBecomesAnInstruction", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		const record = "SELECT memory_id FROM hippocampus.record_experience('ada', 'app', $1, 2, p_insight => 'Tag first.')"
		const promote = "SELECT hippocampus.promote_experience('ada', 'app', $1, 'release')"
		const sweep = "SELECT hippocampus.cleanup_low_value_memories(1, 0, p_now => now() + interval '60 days')"
		first, second := b.session(t, "first"), b.session(t, "second")
		one := get[uuid.UUID](t, b, record, "one")
		first.do("BEGIN")
		first.do(promote, one)
		second.do(sweep)
		first.do("COMMIT")
		second.do(sweep)
		other := get[uuid.UUID](t, b, record, "other")
		first.do("BEGIN")
		first.do(sweep)
		waiting := second.waits(promote, other)
		first.do("COMMIT")
		waiting.fails(t, "HC011")
		require.Equal(t, "one\nTag first.", get[string](t, b, "SELECT content FROM hippocampus.instructions"))
		require.Equal(t, one, get[uuid.UUID](t, b, "SELECT id FROM hippocampus.memories"))
	})

	t.Run("IsForgottenByWhoWaitedForIt", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		source, _ := derived(t, b)
		first, second := b.session(t, "sweeps"), b.session(t, "forgets")
		first.do("BEGIN")
		first.do(sweep)
		waiting := second.waits("SELECT hippocampus.forget('ada', 'app', ARRAY[$1::uuid])", source)
		first.do("COMMIT")
		waiting.succeeds(t)
		require.Zero(t, get[int](t, b, "SELECT count(*) FROM hippocampus.memories"))
	})
}
