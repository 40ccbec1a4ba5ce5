package function_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

// stateFact states a fact of any key, as having begun on a day, with more named arguments.
func (b *testBundle) stateFact(t *testing.T, key, value string, since int, named string) uuid.UUID {
	t.Helper()
	return get[uuid.UUID](t, b, "SELECT hippocampus.upsert_fact($1, $2, 'profile', $3, to_jsonb($4::text), p_valid_from => $5, p_now => $6"+named+")",
		b.UserID, b.AppName, key, value, b.day(since), b.now)
}

// day is a day of the thousand that end with the epoch.
func (b *testBundle) day(n int) time.Time {
	return dbtest.Epoch.Add(time.Duration(n-1000) * day)
}

// held are the facts that held on a day, as is known now.
func (b *testBundle) held(t *testing.T, n int) string {
	t.Helper()
	return strings.Join(list[string](t, b, "SELECT f.key || ' ' || (f.value #>> '{}') FROM hippocampus.facts_as_of($1, $2, $3) f", b.UserID, b.AppName, b.day(n)), ", ")
}

// What is learned late of a time when another value held ends as that one had, where nothing of its key followed.
func TestLateFactOfWhatHadEnded(t *testing.T) {
	t.Parallel()

	t.Run("UnderAnotherKey", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		berlin := b.stateFact(t, "location", "Berlin", 100, "")
		lisbon := b.stateFact(t, "home", "Lisbon", 300, "")
		b.exec(t, "SELECT hippocampus.supersede($1, $2, $3, $4, 'moved', p_now => $5)", b.UserID, b.AppName, berlin, lisbon, b.now)
		b.now = b.now.Add(time.Hour)
		munich := b.stateFact(t, "location", "Munich", 200, "")
		for n, want := range map[int]string{50: "", 150: "location Berlin", 250: "location Munich", 350: "home Lisbon", 1000: "home Lisbon"} {
			require.Equal(t, want, b.held(t, n), n)
		}
		f := rowOf[db.Fact](t, b, "SELECT * FROM hippocampus.facts WHERE id = $1", munich)
		require.Equal(t, &lisbon, f.SupersededBy)
		require.Equal(t, "client moved", *f.ClosedBy+" "+*f.ClosedReason)
		require.True(t, b.day(300).Equal(*f.ValidUntil))
		// The same value a while later is one that began again, and the time between stays empty.
		b.stateFact(t, "location", "Berlin", 400, "")
		b.stateFact(t, "location", "Berlin", 250, "")
		require.Equal(t, "location Berlin", b.held(t, 275))
		require.Equal(t, "home Lisbon", b.held(t, 350))
		require.Equal(t, "home Lisbon, location Berlin", b.held(t, 450))
		// Taken back, the supersession would let two values of a key follow a third that holds.
		b.refuses(t, "HC009", "followed by others of its key", "SELECT hippocampus.revert_supersession($1, $2, $3)", b.UserID, b.AppName, munich)
	})

	t.Run("ARefutedLesson", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		state := func(value string, since int) {
			b.exec(t, `SELECT hippocampus.upsert_fact($1, $2, 'rule', 'io', to_jsonb($3::text), 0.3, p_valid_from => $4, p_metadata => '{"domain": "python"}', p_now => $5)`,
				b.UserID, b.AppName, value, b.day(since), b.now)
		}
		state("Use threads", 100)
		b.exec(t, "SELECT hippocampus.weigh_lesson($1, $2, (SELECT id FROM hippocampus.lessons WHERE user_id = $1), false, p_now => $3)", b.UserID, b.AppName, b.day(300))
		require.Empty(t, b.held(t, 350))
		state("Use processes", 200)
		require.Equal(t, "io Use threads", b.held(t, 150))
		require.Equal(t, "io Use processes", b.held(t, 250))
		require.Empty(t, b.held(t, 350))
		state("Use async", 400) // newer than the refutation
		require.Equal(t, "io Use async", b.held(t, 1000))
	})
}

// A supersession that is taken back takes nothing away of what was known of the time before.
func TestRevertSupersessionOfFacts(t *testing.T) {
	t.Parallel()
	const revert = "SELECT hippocampus.revert_supersession($1, $2, $3)"

	t.Run("AGuessThatWasRight", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.stateFact(t, "location", "Berlin", 100, "")
		paris := b.stateFact(t, "location", "Paris", 300, ", p_confidence => 0.2")
		require.Equal(t, "location Berlin", b.held(t, 400))
		b.exec(t, revert, b.UserID, b.AppName, paris)
		require.Equal(t, "location Berlin", b.held(t, 200))
		require.Equal(t, "location Paris", b.held(t, 400))
		require.Equal(t, "client taken back", get[string](t, b, "SELECT concat_ws(' ', closed_by, closed_reason) FROM hippocampus.facts WHERE superseded_by = $1 AND valid_until = $2", paris, b.day(300)))
	})

	// One that holds again would stand behind one that has ended, and be seen by nobody.
	t.Run("NotBeforeWhatHeldSince", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		berlin := b.stateFact(t, "location", "Berlin", 100, "")
		paris := b.stateFact(t, "location", "Paris", 200, "")
		guess := b.stateFact(t, "location", "Oslo", 250, ", p_confidence => 0.2")
		lisbon := b.stateFact(t, "home", "Lisbon", 300, "")
		b.exec(t, "SELECT hippocampus.supersede($1, $2, $3, $4)", b.UserID, b.AppName, paris, lisbon)
		b.refuses(t, "HC009", paris.String(), revert, b.UserID, b.AppName, berlin)
		b.refuses(t, "HC009", paris.String(), revert, b.UserID, b.AppName, guess)
		b.exec(t, revert, b.UserID, b.AppName, paris)
		require.Equal(t, "home Lisbon, location Paris", b.held(t, 400))
		b.exec(t, revert, b.UserID, b.AppName, berlin)
		require.Equal(t, "home Lisbon, location Berlin", b.held(t, 400))
	})

	// Nor beside one that began before and reaches past its beginning.
	t.Run("NotBesideWhatReachesPast", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.stateFact(t, "location", "Paris", 300, ", p_confidence => 0.2")
		paris := b.stateFact(t, "location", "Paris", 100, "")
		lisbon := b.stateFact(t, "home", "Lisbon", 900, "")
		b.exec(t, "SELECT hippocampus.supersede($1, $2, $3, $4, p_now => $5)", b.UserID, b.AppName, paris, lisbon, b.now)
		b.stateFact(t, "location", "Berlin", 100, "")
		ended := list[uuid.UUID](t, b, "SELECT id FROM hippocampus.facts WHERE user_id = $1 AND valid_until IS NOT NULL ORDER BY valid_from, valid_until", b.UserID)
		require.NotEmpty(t, ended)
		for _, id := range ended {
			_, err := b.Exec(t.Context(), "SAVEPOINT before_revert")
			require.NoError(t, err)
			_, err = b.Exec(t.Context(), revert, b.UserID, b.AppName, id)
			end := "RELEASE SAVEPOINT before_revert"
			if err != nil {
				end = "ROLLBACK TO SAVEPOINT before_revert"
			}
			_, err = b.Exec(t.Context(), end)
			require.NoError(t, err)
		}
		require.Zero(t, get[int](t, b, `SELECT count(*) FROM hippocampus.facts a JOIN hippocampus.facts o ON o.key = a.key AND o.id > a.id AND o.user_id = a.user_id
			WHERE a.user_id = $1 AND a.value <> o.value AND tstzrange(a.valid_from, a.valid_until) && tstzrange(o.valid_from, o.valid_until)`, b.UserID), "two values of a key hold at one time")
	})
}

// A time that names no zone is UTC, whatever the session's zone is.
func TestTimesOfClientsAreUTC(t *testing.T) {
	t.Parallel()
	for _, zone := range []string{"Asia/Tokyo", "America/Los_Angeles"} {
		b := setup(t)
		b.exec(t, "SELECT set_config('timezone', $1, true)", zone)
		thread := b.thread(t)
		at := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
		b.exec(t, `SELECT hippocampus.append_events($1, '[{"author": "user", "content": "x", "created_at": "2024-01-01"}]')`, thread)
		require.True(t, at.Equal(get[time.Time](t, b, "SELECT created_at FROM hippocampus.events WHERE thread_id = $1", thread)))
		for range 2 { // stated, and repeated
			b.exec(t, `SELECT hippocampus.remember_facts($1, $2, '[{"key": "city", "value": "Berlin", "valid_from": "2024-01-01"}]')`, b.UserID, b.AppName)
			require.True(t, at.Equal(get[time.Time](t, b, "SELECT valid_from FROM hippocampus.facts WHERE user_id = $1", b.UserID)), zone)
		}
		require.Equal(t, zone, get[string](t, b, "SELECT current_setting('timezone')"))
		// By a zone ten hours west of it the first day that clients can read would be none.
		b.refuses(t, "HC009", "valid_from", `SELECT hippocampus.remember_facts($1, $2, '[{"key": "k", "value": 1, "valid_from": "0001-01-01 23:00"}]')`, b.UserID, b.AppName)
	}
}
