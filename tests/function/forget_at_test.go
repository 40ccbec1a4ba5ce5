package function_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// fadedNow are the memories of an app that retention should delete, by their scores, all of which are computed.
func (b *testBundle) fadedNow(t *testing.T) []uuid.UUID {
	t.Helper()
	return list[uuid.UUID](t, b, `SELECT m.id FROM hippocampus.memories m
		CROSS JOIN LATERAL hippocampus._retention_policy(m.app_name, m.memory_type, m.category) p
		WHERE m.app_name = $1 AND m.created_at < $2::timestamptz - p.min_age_days * interval '24 hours'
			AND hippocampus._retention(p, m.initial_score, m.running_intensity, m.access_count, m.last_accessed_at, m.created_at, $2) < p.threshold
		ORDER BY m.id`, b.AppName, b.now)
}

// A sweep looks at those memories only whose predicted time has come, and yet deletes exactly those whose score is
// below the threshold: whatever was stored, used, told again or relabelled, and whatever the policies say meanwhile.
func TestSweepFaded(t *testing.T) {
	t.Parallel()
	sweep := func(t *testing.T, b *testBundle, limit int) (total swept) {
		t.Helper()
		for {
			batch := rowOf[swept](t, b, "SELECT * FROM hippocampus.sweep_faded($1, p_app_name => $2, p_now => $3)", limit, b.AppName, b.now)
			total.Scanned += batch.Scanned
			total.Refreshed += batch.Refreshed
			total.Deleted += batch.Deleted
			require.Equal(t, batch.Scanned, batch.Refreshed+batch.Deleted)
			if int(batch.Scanned) < limit {
				return total
			}
		}
	}

	t.Run("AgreesWithTheScores", func(t *testing.T) {
		t.Parallel()
		for seed := range uint64(6) {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				b := setup(t)
				random := rand.New(rand.NewPCG(seed, 1))
				pick := func(of ...any) any { return of[random.IntN(len(of))] }
				deleted, looked := 0, 0
				for step := range 60 {
					switch random.IntN(8) {
					case 0: // a policy comes, changes, or goes
						kind := pick("*", "semantic", "episodic")
						b.exec(t, "DELETE FROM hippocampus.retention_policies WHERE app_name = $1 AND memory_type = $2", b.AppName, kind)
						if random.IntN(4) > 0 {
							b.exec(t, `INSERT INTO hippocampus.retention_policies (app_name, memory_type, category, model, decay_rate, threshold, initial_weight, min_age_days)
								VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`, b.AppName, kind, pick("*", "insight"), pick("ebbinghaus", "strength"),
								pick(0.0, 0.02, 0.1, 0.3, 5.0), pick(0.0, 0.02, 0.1, 0.2, 0.5, 1.0), pick(0.0, 0.5, 1.0), pick(0, 1, 7, 30))
						}
					case 1, 2, 3: // stored, or told again with another intensity
						for range 1 + random.IntN(20) {
							b.exec(t, `SELECT hippocampus.remember($1, $2, $3, $4, $5, p_intensity => $6, p_initial_score => $7, p_now => $8)`,
								fmt.Sprint(b.UserID, random.IntN(2)), b.AppName, fmt.Sprint("memory ", random.IntN(200)), pick("semantic", "episodic"),
								pick("chat", "insight"), random.Float64(), pick(0.0, 0.2, 1.0, random.Float64()), b.now)
						}
					case 4:
						b.exec(t, `SELECT hippocampus.record_access(user_id, app_name, array_agg(id), $2) FROM hippocampus.memories
							WHERE app_name = $1 AND hashtext(id::text) % 5 = $3 GROUP BY user_id, app_name`, b.AppName, b.now, random.IntN(5))
					case 5:
						b.exec(t, "UPDATE hippocampus.memories SET category = $2 WHERE app_name = $1 AND hashtext(id::text) % 7 = $3", b.AppName,
							pick("chat", "insight"), random.IntN(7))
					}
					b.now = b.now.Add(time.Duration(random.Float64() * float64(pick(time.Minute, day, 5*day).(time.Duration))))
					if step%3 > 0 {
						continue
					}
					want := b.fadedNow(t)
					before := list[uuid.UUID](t, b, "SELECT id FROM hippocampus.memories WHERE app_name = $1 ORDER BY id", b.AppName)
					planned := list[uuid.UUID](t, b, `SELECT r.memory_id FROM (SELECT DISTINCT m.user_id FROM hippocampus.memories m WHERE m.app_name = $1) u
						CROSS JOIN LATERAL hippocampus.preview_retention(u.user_id, $1, p_now => $2) r WHERE r.reason = 'faded' ORDER BY 1`, b.AppName, b.now)
					require.Equal(t, want, planned)
					total := sweep(t, b, pick(1, 7, 5000).(int))
					after := list[uuid.UUID](t, b, "SELECT id FROM hippocampus.memories WHERE app_name = $1 ORDER BY id", b.AppName)
					gone := []uuid.UUID{}
					for _, id := range before {
						if !slices.Contains(after, id) {
							gone = append(gone, id)
						}
					}
					require.ElementsMatch(t, want, gone, "step %d", step)
					require.Equal(t, swept{}, sweep(t, b, 5000), "what was looked at is not due again")
					deleted += len(gone)
					looked += int(total.Scanned)
				}
				require.Positive(t, deleted)
				require.Greater(t, looked, deleted)
			})
		}
	})

	t.Run("LooksOnlyAtWhatIsDue", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		old, used := b.remember(t, "old"), b.remember(t, "old, and used")
		b.now = b.now.Add(5 * day)
		b.exec(t, "SELECT hippocampus.record_access($1, $2, $3, $4)", b.UserID, b.AppName, []uuid.UUID{used}, b.now)
		fresh := b.remember(t, "fresh")
		b.now = b.now.Add(3 * day)
		require.Equal(t, swept{Scanned: 2, Refreshed: 1, Deleted: 1}, sweep(t, b, 5000)) // the used one gets a later time
		require.Equal(t, []uuid.UUID{fresh, used}, list[uuid.UUID](t, b, "SELECT id FROM hippocampus.memories WHERE id = ANY ($1) ORDER BY content", []uuid.UUID{old, used, fresh}))
		require.Equal(t, swept{}, sweep(t, b, 5000))
		b.preset(t, "sensitive") // 0.3 a day, below 0.2
		require.Equal(t, swept{Scanned: 2, Refreshed: 1, Deleted: 1}, sweep(t, b, 5000))
		b.now = b.now.Add(5 * day)
		require.Equal(t, swept{Scanned: 1, Deleted: 1}, sweep(t, b, 5000))
	})

	t.Run("AUseWritesNoIndex", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		id := b.remember(t, "tea")
		predicted := get[time.Time](t, b, "SELECT forget_at FROM hippocampus.memories WHERE id = $1", id)
		b.exec(t, "SELECT hippocampus.record_access($1, $2, $3, $4)", b.UserID, b.AppName, []uuid.UUID{id}, b.now.Add(day))
		require.Equal(t, predicted, get[time.Time](t, b, "SELECT forget_at FROM hippocampus.memories WHERE id = $1", id))
		// No column that a use writes stands in an index: Postgres then updates the row in place (HOT).
		require.Empty(t, list[string](t, b, `SELECT a.attname::text FROM pg_catalog.pg_index i
			JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
			WHERE i.indrelid = 'hippocampus.memories'::regclass
				AND a.attname IN ('access_count', 'last_accessed_at', 'running_intensity', 'retention_score')`))
	})

	t.Run("RefusesWhatIsOutOfRange", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.refuses(t, "HC009", "p_limit is 0", "SELECT hippocampus.sweep_faded(0)")
		b.refuses(t, "HC009", "p_now is infinity", "SELECT hippocampus.sweep_faded(p_now => 'infinity')")
	})
}
