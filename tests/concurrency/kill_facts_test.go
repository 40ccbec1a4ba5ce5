package concurrency_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Writers of one user's facts are killed, one when it has stored and not committed, others while they wait for it. What
// they would have said is not there, not in part either; those that live say theirs; and said again, it is there once.
func TestKillWritersOfFacts(t *testing.T) {
	t.Parallel()
	const writers = 16
	b := setup(t)
	// each states what all state, and a fact of its own, in one call
	const states = `SELECT hippocampus.remember_facts('ada', 'app', jsonb_build_array(
		jsonb_build_object('fact_type', 'preference', 'key', 'drink', 'value', 'tea'),
		jsonb_build_object('fact_type', 'preference', 'key', 'of_' || $1 || '_too', 'value', 'mine')))`
	type found struct{ rows, encounters, drinks int }
	look := func() found {
		t.Helper()
		return found{
			rows:       get[int](t, b, "SELECT count(*) FROM hippocampus.facts"),
			encounters: get[int](t, b, "SELECT coalesce(sum(encounter_count), 0) FROM hippocampus.facts"),
			drinks:     get[int](t, b, "SELECT coalesce(sum(encounter_count), 0) FROM hippocampus.facts WHERE key = 'drink'"),
		}
	}
	kill := func(s *session) {
		t.Helper()
		require.True(t, get[bool](t, b, "SELECT pg_terminate_backend($1::integer, 30000)", int32(s.pid)))
	}
	first := b.session(t, "first")
	first.do("BEGIN")
	first.do(states, "first")
	var sessions []*session
	var results []result
	for i := range writers {
		s := b.session(t, fmt.Sprint(i))
		sessions, results = append(sessions, s), append(results, s.waits(states, fmt.Sprint(i)))
	}
	for i := 0; i < writers; i += 2 {
		kill(sessions[i])
	}
	kill(first)
	for i, r := range results {
		if i%2 == 0 {
			require.Error(t, <-r)
		} else {
			r.succeeds(t)
		}
	}
	require.Equal(t, found{rows: 1 + writers/2, encounters: writers, drinks: writers / 2}, look())

	again := b.session(t, "again")
	for i := 0; i < writers; i += 2 {
		again.do(states, fmt.Sprint(i))
	}
	again.do(states, "first")
	require.Equal(t, found{rows: 2 + writers, encounters: 2 * (writers + 1), drinks: writers + 1}, look())
	require.Eventually(t, func() bool { // nobody holds the user's facts
		return get[int](t, b, "SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database WHERE d.datname = current_database() AND l.locktype = 'advisory'") == 0
	}, 30*time.Second, 10*time.Millisecond)
}
