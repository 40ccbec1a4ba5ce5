package concurrency_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// A supersession locks both memories in the order of their ids before it looks at them: it is no deadlock with who uses
// both, and what is forgotten meanwhile is unknown.
func TestSupersede(t *testing.T) {
	t.Parallel()
	const supersede = "SELECT hippocampus.supersede('ada', 'app', $1, $2)"
	memories := func(t *testing.T, b *testBundle) (lower, higher uuid.UUID) {
		t.Helper()
		const remember = "SELECT hippocampus.remember('ada', 'app', $1)"
		lower, higher = get[uuid.UUID](t, b, remember, "one"), get[uuid.UUID](t, b, remember, "other")
		if lower.String() > higher.String() {
			lower, higher = higher, lower
		}
		return lower, higher
	}

	t.Run("LocksInTheOrderOfIDs", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		lower, higher := memories(t, b)
		first, second := b.session(t, "first"), b.session(t, "second")
		first.do("BEGIN")
		first.do("SELECT hippocampus.record_access('ada', 'app', $1)", []uuid.UUID{lower})
		waiting := second.waits(supersede, higher, lower)
		first.do("SELECT hippocampus.record_access('ada', 'app', $1)", []uuid.UUID{higher})
		first.do("COMMIT")
		waiting.succeeds(t)
		require.Equal(t, lower, get[uuid.UUID](t, b, "SELECT superseded_by FROM hippocampus.memories WHERE id = $1", higher))
	})

	t.Run("DoesNotFindWhatIsForgotten", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		lower, higher := memories(t, b)
		first, second := b.session(t, "first"), b.session(t, "second")
		first.do("BEGIN")
		first.do("SELECT hippocampus.forget('ada', 'app', $1)", []uuid.UUID{lower})
		waiting := second.waits(supersede, higher, lower)
		first.do("COMMIT")
		waiting.fails(t, "HC011")
	})
}
