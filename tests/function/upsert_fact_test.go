package function_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/hippocampus-memory/hippocampus/db"
)

// state states the fact "city" with more named arguments, at the bundle's time.
func (b *testBundle) state(t *testing.T, city, named string, args ...any) uuid.UUID {
	t.Helper()
	if named != "" {
		named = ", " + named
	}
	return get[uuid.UUID](t, b, "SELECT hippocampus.upsert_fact($1, $2, 'profile', 'city', to_jsonb($3::text), p_now => $4"+named+")",
		append([]any{b.UserID, b.AppName, city, b.now}, args...)...)
}

// cities are the values that held at a time, as far as was known at another; there must be one at most.
func (b *testBundle) cities(t *testing.T, at time.Time, known any) string {
	t.Helper()
	return strings.Join(list[string](t, b, "SELECT f.value #>> '{}' FROM hippocampus.facts_as_of($1, $2, $3, $4) f WHERE f.key = 'city'",
		b.UserID, b.AppName, at, known), " and ")
}

func (b *testBundle) facts(t *testing.T) []db.Fact {
	t.Helper()
	return rowsOf[db.Fact](t, b, "SELECT * FROM hippocampus.facts f WHERE f.user_id = $1 ORDER BY f.valid_from, f.recorded_at, f.valid_until", b.UserID)
}

func TestUpsertFact(t *testing.T) {
	t.Parallel()

	t.Run("EqualStrengthens", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		id := b.state(t, "Berlin", "p_confidence => 0.6, p_intensity => 0.4")
		b.now = b.now.Add(day)
		require.Equal(t, id, b.state(t, "Berlin", "p_confidence => 0.9, p_intensity => 0.8"))
		require.Equal(t, id, b.state(t, "Berlin", "p_confidence => 0.1, p_intensity => 0.6"))
		facts := b.facts(t)
		require.Len(t, facts, 1)
		require.Equal(t, int32(3), facts[0].EncounterCount)
		require.InDelta(t, 0.6, facts[0].RunningIntensity, 1e-6)
		require.InDelta(t, 0.9, facts[0].Confidence, 1e-9)
		require.True(t, b.now.Equal(facts[0].LastAccessedAt))
		require.True(t, b.now.Add(-day).Equal(facts[0].ValidFrom))
	})

	t.Run("EqualButEarlierReachesBack", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		start := b.now
		b.state(t, "Berlin", "")
		b.now = start.Add(60 * day)
		paris := b.state(t, "Paris", "")
		b.now = start.Add(90 * day)
		// «It has been Paris for longer than you think.»
		require.Equal(t, paris, b.state(t, "Paris", "p_valid_from => $5", start.Add(30*day)))
		require.Equal(t, int32(2), rowOf[db.Fact](t, b, "SELECT * FROM hippocampus.facts WHERE id = $1", paris).EncounterCount)
		require.Equal(t, "Berlin", b.cities(t, start.Add(29*day), nil))
		require.Equal(t, "Paris", b.cities(t, start.Add(30*day), nil))
		require.Equal(t, "Paris", b.cities(t, start.Add(60*day), nil))
		// What was believed before stays what was believed then.
		require.Equal(t, "Berlin", b.cities(t, start.Add(45*day), start.Add(70*day)))
		// Once more, from within: nothing to add.
		require.Len(t, b.facts(t), 3)
		b.state(t, "Paris", "p_valid_from => $5", start.Add(40*day))
		require.Len(t, b.facts(t), 3)
		// It is one value, which began earlier; what it was thought to be never held.
		held := rowsOf[db.Fact](t, b, `SELECT * FROM hippocampus.facts f WHERE f.user_id = $1
			AND (f.valid_until IS NULL OR f.valid_until > f.valid_from) ORDER BY f.valid_from`, b.UserID)
		require.Len(t, held, 2)
		require.Equal(t, paris, held[1].ID)
		require.True(t, start.Add(30*day).Equal(held[1].ValidFrom))
		// The same of a neighbour in the history.
		b.now = start.Add(100 * day)
		b.state(t, "Oslo", "")
		b.now = start.Add(110 * day)
		require.Equal(t, paris, b.state(t, "Paris", "p_valid_from => $5", start.Add(10*day)))
		require.Equal(t, "Paris", b.cities(t, start.Add(20*day), nil))
		require.Equal(t, "Oslo", b.cities(t, b.now, nil))
		require.Equal(t, "Berlin", b.cities(t, start.Add(20*day), start.Add(105*day)))
	})

	t.Run("GuessIsHistoryThatNeverHeld", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		sure := b.state(t, "Berlin", "p_confidence => 0.9")
		b.now = b.now.Add(day)
		guess := b.state(t, "Paris", "p_confidence => 0.55")
		require.NotEqual(t, sure, guess)
		require.Equal(t, "Berlin", b.cities(t, b.now, nil))
		require.Equal(t, "Berlin", b.cities(t, b.now, b.now))
		f := rowOf[db.Fact](t, b, "SELECT * FROM hippocampus.facts WHERE id = $1", guess)
		require.Equal(t, &sure, f.SupersededBy)
		require.True(t, f.ValidFrom.Equal(*f.ValidUntil))
		// Within the margin it is no guess.
		b.now = b.now.Add(day)
		b.state(t, "Rome", "p_confidence => 0.65")
		require.Equal(t, "Rome", b.cities(t, b.now, nil))
	})

	t.Run("GuessIsMeasuredAgainstItsTime", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		start := b.now
		b.state(t, "Berlin", "p_confidence => 0.5")
		b.now = start.Add(60 * day)
		b.state(t, "Paris", "p_confidence => 1")
		b.now = start.Add(90 * day)
		b.state(t, "Rome", "p_confidence => 0.4, p_valid_from => $5", start.Add(30*day))
		require.Equal(t, "Rome", b.cities(t, start.Add(45*day), nil)) // as sure as Berlin, which it replaces
		require.Equal(t, "Paris", b.cities(t, b.now, nil))
	})

	t.Run("HistoryNeverOverlaps", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		run := 0
		rapid.Check(t, func(r *rapid.T) {
			run++
			b.UserID = fmt.Sprintf("rapid-%s-%d", b.AppName, run)
			type told struct {
				city        string
				from, known time.Time
				corrected   time.Time // when it was told that it began earlier
			}
			never := b.now.Add(1000 * day)
			var stated []told
			// The truth: what was told to have begun last before a time, of what was known; of one beginning, what was told last.
			held := func(at, known time.Time) string {
				last := told{}
				for _, s := range stated {
					if !s.from.After(at) && !s.known.After(known) && s.corrected.After(known) && !s.from.Before(last.from) {
						last = s
					}
				}
				return last.city
			}
			start := b.now
			defer func() { b.now = start }()
			facts := rapid.IntRange(1, 12).Draw(r, "facts")
			for i := range facts {
				city := rapid.SampledFrom([]string{"Berlin", "Paris", "Rome"}).Draw(r, "city")
				from := start.Add(time.Duration(rapid.IntRange(0, 10).Draw(r, "from")) * day)
				b.now = start.Add(time.Duration(20+i) * day)
				b.state(t, city, "p_valid_from => $5", from)
				if held(from, b.now) == city { // told again, it only gets stronger
					continue
				}
				var next told // what began next, of one beginning what was told last
				for _, s := range stated {
					if s.from.After(from) && s.corrected.After(b.now) && (next.city == "" || !s.from.After(next.from)) {
						next = s
					}
				}
				for j := range stated {
					if s := &stated[j]; next.city == city && s.from.Equal(next.from) && s.corrected.After(b.now) {
						s.corrected = b.now // it is the same value, and began now
					}
				}
				stated = append(stated, told{city, from, b.now, never})
			}
			if n := get[int](t, b, "SELECT count(*) FROM hippocampus.facts WHERE user_id = $1 AND valid_until IS NULL", b.UserID); n != 1 {
				r.Fatalf("%d current values", n)
			}
			rows, err := b.Query(t.Context(), `
				SELECT a.at, k.known, coalesce(string_agg(f.value #>> '{}', ' and '), '')
				FROM generate_series($3::timestamptz - interval '1 day', $3 + interval '12 days', interval '1 day') AS a (at)
				CROSS JOIN generate_series($3 + interval '19 days', $4, interval '1 day') AS k (known)
				LEFT JOIN LATERAL hippocampus.facts_as_of($1, $2, a.at, k.known) f ON true
				GROUP BY a.at, k.known`, b.UserID, b.AppName, start, b.now)
			require.NoError(t, err)
			var (
				at, known time.Time
				got       string
			)
			_, err = pgx.ForEachRow(rows, []any{&at, &known, &got}, func() error {
				if want := held(at, known); got != want {
					r.Fatalf("at %s, known at %s: %q, not %q", at, known, got, want)
				}
				return nil
			})
			require.NoError(t, err)
			for at := range 12 { // and as of now
				at := start.Add(time.Duration(at) * day)
				if got, want := b.cities(t, at, nil), held(at, b.now); got != want {
					r.Fatalf("at %s: %q, not %q", at, got, want)
				}
			}
		})
	})

	t.Run("LateFactIsPlacedInTheHistory", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		start := b.now
		b.state(t, "Berlin", "")
		b.now = start.Add(60 * day)
		b.state(t, "Paris", "")
		learned := start.Add(90 * day)
		b.now = learned
		rome := b.state(t, "Rome", "p_valid_from => $5", start.Add(30*day))
		for at, city := range map[int]string{-1: "", 0: "Berlin", 29: "Berlin", 30: "Rome", 59: "Rome", 60: "Paris", 1000: "Paris"} {
			require.Equal(t, city, b.cities(t, start.Add(time.Duration(at)*day), nil), at)
		}
		require.NotEqual(t, rome, rowOf[db.Fact](t, b, "SELECT * FROM hippocampus.facts WHERE user_id = $1 AND valid_until IS NULL", b.UserID).ID)
		// As was known before Rome was told of, and before Paris was.
		require.Equal(t, "Berlin", b.cities(t, start.Add(45*day), start.Add(70*day)))
		require.Equal(t, "Paris", b.cities(t, start.Add(75*day), start.Add(80*day)))
		require.Equal(t, "Berlin", b.cities(t, start.Add(75*day), start.Add(50*day)))
		// Before all that is known.
		b.state(t, "Oslo", "p_valid_from => $5", start.Add(-30*day))
		require.Equal(t, "Oslo", b.cities(t, start.Add(-day), nil))
		require.Equal(t, "Berlin", b.cities(t, start, nil))
		require.Equal(t, "Paris", b.cities(t, learned, nil))
	})

	t.Run("NewerSupersedes", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		old := b.state(t, "Berlin", "")
		moved := b.now.Add(10 * day)
		b.now = b.now.Add(20 * day)
		id := b.state(t, "Paris", "p_valid_from => $5", moved)
		facts := b.facts(t)
		require.Len(t, facts, 2)
		require.Equal(t, old, facts[0].ID)
		require.Equal(t, &id, facts[0].SupersededBy)
		require.True(t, moved.Equal(*facts[0].ValidUntil))
		require.True(t, b.now.Equal(*facts[0].ClosedAt))
		require.Nil(t, facts[1].ValidUntil)
		require.True(t, b.now.Equal(facts[1].RecordedAt))
	})

	t.Run("OthersAreLeftAlone", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		var ids []uuid.UUID
		for _, kind := range [][2]string{{"profile", "city"}, {"profile", "city "}, {"profile", "City"}, {"profile", "ci_y"}, {"profile", "ci%"}, {"custom", "city"}} {
			ids = append(ids, get[uuid.UUID](t, b, "SELECT hippocampus.upsert_fact($1, $2, $3, $4, '1')", b.UserID, b.AppName, kind[0], kind[1]))
		}
		ids = append(ids, get[uuid.UUID](t, b, "SELECT hippocampus.upsert_fact($1, $2, 'profile', 'city', '1')", b.UserID+"x", b.AppName),
			get[uuid.UUID](t, b, "SELECT hippocampus.upsert_fact($1, $2, 'profile', 'city', '1')", b.UserID, b.AppName+"x"))
		b.state(t, "Paris", "")
		require.Equal(t, len(ids)-1, get[int](t, b, "SELECT count(*) FROM hippocampus.facts WHERE id = ANY ($1) AND valid_until IS NULL", ids))
	})

	t.Run("RefusesWhatCannotBe", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		before := b.counts(t)
		for _, c := range []struct{ code, message, named string }{
			{"HC001", "p_user_id is empty", "p_user_id => ''"},
			{"HC002", "thread 00000000-0000-0000-0000-000000000001 is unknown", "p_thread_id => '00000000-0000-0000-0000-000000000001'"},
			{"HC004", "p_embedding has 1 dimensions", "p_embedding => '[1]'"},
			{"HC006", "p_key is 256 bytes long", "p_key => repeat('x', 256)"},
			{"HC006", "p_metadata is ", "p_metadata => jsonb_build_object('x', repeat('x', 262144))"},
			{"HC006", "p_value is 262145 bytes long", "p_value => to_jsonb(repeat('x', 262143))"},
			{"HC009", "p_confidence is 1.5", "p_confidence => 1.5"},
			{"HC009", "p_confidence is NaN", "p_confidence => 'NaN'"},
			{"HC009", "p_confidence is null", "p_confidence => NULL"},
			{"HC009", "p_fact_type is 'rumour'", "p_fact_type => 'rumour'"},
			{"HC009", "p_intensity is -1", "p_intensity => -1"},
			{"HC009", "p_key is empty", "p_key => ''"},
			{"HC009", "p_key is null", "p_key => NULL"},
			{"HC009", "p_metadata is a JSON string", `p_metadata => '"x"'`},
			{"HC009", "p_token_count is -1", "p_token_count => -1"},
			{"HC009", "p_valid_from is infinity", "p_valid_from => 'infinity'"},
			{"HC009", "p_value is null", "p_value => NULL"},
		} {
			args := map[string]string{"p_user_id": "'u'", "p_app_name": "'a'", "p_fact_type": "'custom'", "p_key": "'k'", "p_value": "'1'"}
			name, value, _ := strings.Cut(c.named, " => ")
			args[name] = value
			named := []string{}
			for name, value := range args {
				named = append(named, name+" => "+value)
			}
			b.refuses(t, c.code, c.message, "SELECT hippocampus.upsert_fact("+strings.Join(named, ", ")+")")
		}
		require.Equal(t, before, b.counts(t))
	})

	t.Run("SameMomentReplaces", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.state(t, "Berlin", "")
		b.state(t, "Paris", "")
		require.Equal(t, "Paris", b.cities(t, b.now, nil))
		require.Equal(t, "Paris", b.cities(t, b.now.Add(day), nil))
		require.Len(t, b.facts(t), 2)
	})

	t.Run("TransactionThatBeganEarlierIsStillNewer", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		began := b.now
		b.now = began.Add(time.Minute)
		b.state(t, "Berlin", "") // another session's, committed meanwhile
		b.now = began
		b.state(t, "Paris", "")
		require.Equal(t, "Paris", b.cities(t, began.Add(time.Minute), nil))
		require.Equal(t, "Paris", b.cities(t, began.Add(day), nil))
		require.Empty(t, b.cities(t, began, nil))
	})

	t.Run("VectorComesAlong", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		state := func(t *testing.T) (vectors, queued int) {
			t.Helper()
			return get[int](t, b, "SELECT count(*) FROM hippocampus.embeddings WHERE user_id = $1", b.UserID),
				get[int](t, b, "SELECT count(*) FROM hippocampus.embedding_queue WHERE user_id = $1", b.UserID)
		}
		b.state(t, "Berlin", "")
		vectors, queued := state(t)
		require.Equal(t, []int{0, 1}, []int{vectors, queued})
		b.state(t, "Berlin", "p_embedding => $5", vector(1))
		vectors, queued = state(t)
		require.Equal(t, []int{1, 0}, []int{vectors, queued})
		b.state(t, "Paris", "p_embedding => $5", vector(1))
		vectors, queued = state(t)
		require.Equal(t, []int{2, 0}, []int{vectors, queued})
	})

	t.Run("ValuesOfAnyJson", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		for i, value := range []string{`null`, `false`, `0`, `""`, `[]`, `{"a": [1, null]}`, `"日本"`} {
			b.now = b.now.Add(day)
			id := get[uuid.UUID](t, b, "SELECT hippocampus.upsert_fact($1, $2, 'custom', 'any', $3, p_now => $4)", b.UserID, b.AppName, value, b.now)
			require.Equal(t, id, get[uuid.UUID](t, b, "SELECT hippocampus.upsert_fact($1, $2, 'custom', 'any', $3, p_now => $4)",
				b.UserID, b.AppName, value, b.now), value)
			require.Len(t, b.facts(t), i+1)
		}
	})
}

func TestFactsAsOf(t *testing.T) {
	t.Parallel()

	// A value that changed three times, each change told some days after it, and one of them after the one that
	// followed: at any instant holds what began last by then, of what was known by then.
	t.Run("ChangedThreeTimes", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		start := b.now
		at := func(days float64) time.Time { return start.Add(time.Duration(days * float64(day))) }
		changes := []struct {
			city           string
			from, recorded float64 // days
		}{{"Berlin", 0, 1}, {"Lisbon", 20, 22}, {"Oslo", 30, 33}, {"Paris", 10, 40}, {"Rome", 50, 50}}
		for _, c := range changes {
			b.now = at(c.recorded)
			b.state(t, c.city, "p_valid_from => $5", at(c.from))
		}
		for when := -1.0; when < 60; when += 0.5 {
			for known := -1.0; known < 60; known += 0.5 {
				want, from := "", -1.0
				for _, c := range changes {
					if c.recorded <= known && c.from <= when && c.from > from {
						want, from = c.city, c.from
					}
				}
				require.Equal(t, want, b.cities(t, at(when), at(known)), "on day %v, as known on day %v", when, known)
			}
		}
	})

	t.Run("CorrectedSinceTheSameBeginning", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		start := b.now
		b.state(t, "Berlin", "")
		b.now = start.Add(10 * day)
		b.state(t, "Paris", "p_valid_from => $5", start) // «I was wrong all the time.»
		require.Equal(t, "Paris", b.cities(t, start, nil))
		require.Equal(t, "Paris", b.cities(t, start.Add(5*day), nil))
		require.Equal(t, "Berlin", b.cities(t, start.Add(5*day), start.Add(5*day))) // what one would have answered then
	})

	t.Run("Defaults", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.exec(t, "SELECT hippocampus.upsert_fact($1, $2, 'custom', 'k', '1')", b.UserID, b.AppName)
		for _, args := range []string{"", ", NULL", ", now(), NULL, NULL, NULL"} {
			require.Equal(t, 1, get[int](t, b, "SELECT count(*) FROM hippocampus.facts_as_of($1, $2"+args+")", b.UserID, b.AppName), args)
		}
	})

	t.Run("ForgottenFactsHoldNoLonger", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		start := b.now
		b.state(t, "Berlin", "")
		b.now = start.Add(10 * day)
		id := b.state(t, "Paris", "")
		b.exec(t, "SELECT hippocampus.forget($1, $2, $3)", b.UserID, b.AppName, []uuid.UUID{id})
		require.Equal(t, "Berlin", b.cities(t, start.Add(9*day), nil))
		require.Empty(t, b.cities(t, start.Add(10*day), nil)) // it is known that Berlin had ended
		b.now = start.Add(20 * day)
		b.state(t, "Rome", "p_valid_from => $5", start.Add(5*day))
		require.Equal(t, "Berlin", b.cities(t, start.Add(4*day), nil))
		require.Equal(t, "Rome", b.cities(t, start.Add(5*day), nil))
		require.Equal(t, "Rome", b.cities(t, b.now, nil))
	})

	t.Run("OfOneTypeOrKey", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		for _, kind := range []string{"custom", "preference", "profile", "rule"} {
			for _, key := range []string{"b", "a"} {
				b.exec(t, "SELECT hippocampus.upsert_fact($1, $2, $3, $4, '1')", b.UserID, b.AppName, kind, key)
			}
		}
		keys := func(named string) []string {
			return list[string](t, b, "SELECT f.fact_type || ' ' || f.key FROM hippocampus.facts_as_of($1, $2"+named+") f", b.UserID, b.AppName)
		}
		require.Equal(t, []string{"custom a", "custom b", "preference a", "preference b", "profile a", "profile b", "rule a", "rule b"}, keys(""))
		require.Equal(t, []string{"rule a", "rule b"}, keys(", p_fact_type => 'rule'"))
		require.Equal(t, []string{"rule b"}, keys(", p_fact_type => 'rule', p_key => 'b'"))
		require.Len(t, keys(", p_key => 'b'"), 4)
	})

	t.Run("RefusesWhatCannotBe", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.refuses(t, "HC001", "p_user_id is null", "SELECT hippocampus.facts_as_of(NULL, 'a')")
		b.refuses(t, "HC009", "p_fact_type is 'rumour'", "SELECT hippocampus.facts_as_of('u', 'a', p_fact_type => 'rumour')")
	})
}
