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

	// A vector that is just being stored goes with the others of what is superseded.
	t.Run("WaitsForAVector", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		lower, higher := memories(t, b)
		first, second := b.session(t, "first"), b.session(t, "second")
		first.do("BEGIN")
		first.do("SELECT hippocampus.put_embedding('ada', 'app', 'memory', $1, array_fill(1, ARRAY[64])::public.vector)", lower)
		waiting := second.waits(supersede, lower, higher)
		first.do("COMMIT")
		waiting.succeeds(t)
		require.Zero(t, get[int](t, b, "SELECT count(*) FROM hippocampus.embeddings WHERE row_id = $1", lower))
	})

	// What is forgotten releases what it had superseded: both are locked before either is touched.
	t.Run("ReleasesInTheOrderOfIDs", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		lower, higher := memories(t, b)
		thread := get[uuid.UUID](t, b, "SELECT hippocampus.create_thread('ada', 'app')")
		first, second := b.session(t, "first"), b.session(t, "second")
		first.do(supersede, lower, higher)
		first.do("INSERT INTO hippocampus.memory_sources (memory_id, thread_id, user_id, app_name, from_seq, to_seq) VALUES ($1, $2, 'ada', 'app', 1, 1)", higher, thread)
		first.do("BEGIN")
		first.do("SELECT hippocampus.record_access('ada', 'app', $1)", []uuid.UUID{lower})
		waiting := second.waits("SELECT hippocampus.forget_thread('ada', 'app', $1)", thread)
		first.do("SELECT hippocampus.record_access('ada', 'app', $1)", []uuid.UUID{higher})
		first.do("COMMIT")
		waiting.succeeds(t)
		require.Equal(t, lower, get[uuid.UUID](t, b, "SELECT id FROM hippocampus.memories WHERE superseded_by IS NULL"))
	})

	// Who states another value of a key does not wait for who supersedes; the one who comes second is told.
	t.Run("DoesNotReplaceWhatEndedMeanwhile", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		berlin := get[uuid.UUID](t, b, `SELECT hippocampus.upsert_fact('ada', 'app', 'profile', 'city', '"Berlin"')`)
		home := get[uuid.UUID](t, b, `SELECT hippocampus.upsert_fact('ada', 'app', 'profile', 'home', '"Lisbon"')`)
		first, second := b.session(t, "first"), b.session(t, "second")
		first.do("BEGIN")
		first.do(`SELECT hippocampus.upsert_fact('ada', 'app', 'profile', 'city', '"Paris"')`)
		waiting := second.waits(supersede, berlin, home)
		first.do("COMMIT")
		waiting.fails(t, "HC009")
	})

	// The key before its rows, as whoever states it locks them.
	t.Run("IsTakenBackInTheOrderOfLocks", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		const upsert = `SELECT hippocampus.upsert_fact('ada', 'app', 'profile', 'city', to_jsonb($1::text), p_valid_from => $2::text::timestamptz)`
		berlin := get[uuid.UUID](t, b, upsert, "Berlin", "2020-01-01")
		get[uuid.UUID](t, b, upsert, "Paris", "2024-01-01")
		first, second := b.session(t, "first"), b.session(t, "second")
		first.do("BEGIN")
		first.do(upsert, "Paris", "2024-01-01")
		waiting := second.waits("SELECT hippocampus.revert_supersession('ada', 'app', $1)", berlin)
		first.do(upsert, "Rome", "2022-01-01")
		first.do("COMMIT")
		waiting.fails(t, "HC009")
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
