package concurrency_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// TestShareMemory is about what is shared at the moment when it may no longer be.
func TestShareMemory(t *testing.T) {
	t.Parallel()
	const share = "SELECT hippocampus.share_memory('ada', 'app', $1)"
	const end = `SELECT hippocampus.put_consolidation_policy('app', '{"sharing": false}')`
	const derive = "SELECT hippocampus.link_memories('ada', 'app', $1, $2, 'derived_from')"
	memories := func(t *testing.T) (b *testBundle, one, other uuid.UUID) {
		t.Helper()
		b = setup(t)
		_, err := b.Exec(t.Context(), `SELECT hippocampus.put_consolidation_policy('app', '{"sharing": true}')`)
		require.NoError(t, err)
		const remember = "SELECT hippocampus.remember('ada', 'app', $1)"
		return b, get[uuid.UUID](t, b, remember, "one"), get[uuid.UUID](t, b, remember, "other")
	}
	shown := func(t *testing.T, b *testBundle) []int64 {
		t.Helper()
		return get[[]int64](t, b, `SELECT ARRAY[(SELECT count(*) FROM hippocampus.shared_memories),
			(SELECT count(*) FROM hippocampus.memories m WHERE m.visibility = 'app')]`)
	}

	for name, steps := range map[string]struct {
		first, then    string
		waits, refused bool
	}{
		"ThePolicyThatEndsItWaits":      {share, end, true, false},
		"IsRefusedWhileThePolicyEndsIt": {end, share, false, true}, // the policy may wait for rows of who shares
		"ALinkThatDerivesItWaits":       {share, derive, true, false},
		"IsRefusedWhenItIsDerived":      {derive, share, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, one, other := memories(t)
			args := func(sql string) []any {
				return map[string][]any{share: {one}, derive: {one, other}}[sql]
			}
			first, second := b.session(t, "first"), b.session(t, "second")
			first.do("BEGIN")
			first.do(steps.first, args(steps.first)...)
			var done result
			if steps.waits {
				done = second.waits(steps.then, args(steps.then)...)
				first.do("COMMIT")
			} else {
				_, err := second.conn.Exec(t.Context(), steps.then, args(steps.then)...)
				done = make(result, 1)
				done <- err
				first.do("COMMIT")
			}
			if steps.refused {
				done.fails(t, "HC009")
			} else {
				done.succeeds(t)
			}
			require.Equal(t, []int64{0, 0}, shown(t, b))
		})
	}

	t.Run("LinksWaitForWhoForgets", func(t *testing.T) {
		t.Parallel()
		b, one, other := memories(t)
		first, second := b.session(t, "first"), b.session(t, "second")
		first.do("BEGIN")
		first.do("SELECT hippocampus.forget('ada', 'app', $1)", []uuid.UUID{other})
		waiting := second.waits(derive, one, other)
		first.do("COMMIT")
		waiting.fails(t, "HC011")
	})

	t.Run("ThePolicyPassesOverThreadsThatGo", func(t *testing.T) {
		t.Parallel()
		b, _, _ := memories(t)
		thread := b.thread(t, b.ada)
		first := b.session(t, "first")
		first.do("SELECT hippocampus.append_event($1, 'user', 'message', '\"tea\"')", thread)
		first.do("BEGIN")
		first.do("SELECT hippocampus.forget_thread('ada', 'app', $1)", thread)
		b.session(t, "second").do(`SELECT hippocampus.put_consolidation_policy('app', '{"enabled": true}')`)
		first.do("COMMIT")
		require.Zero(t, get[int64](t, b, "SELECT count(*) FROM hippocampus.unconsolidated_threads"))
	})
}
