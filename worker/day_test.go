package worker_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/model/offline"
	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
	"github.com/hippocampus-memory/hippocampus/worker"
)

// TestDay is a day in the life of fifty personas, who only append: bursts and silence, small talk,
// decisions and errors. The clock is simulated, an hour at a time; the worker and its models are
// those of a deployment without a key. Whatever was urgent is remembered the next day, once.
func TestDay(t *testing.T) {
	t.Parallel()
	const personas = 50
	models, err := offline.Open(t.Context(), &offline.Config{Dimension: dbtest.DefaultDimension})
	require.NoError(t, err)
	b := setup(t, &script{}, func(c *worker.Config) { c.Models, c.PolicyInterval = models, 24*time.Hour })
	_, err = b.pool.Exec(t.Context(), `SELECT hippocampus.put_consolidation_policy('app', '{"enabled": true, "job_type": "fast_replay"}')`)
	require.NoError(t, err)
	_, err = b.pool.Exec(t.Context(), "INSERT INTO hippocampus.retention_policies (app_name, max_per_user) VALUES ('app', 60)")
	require.NoError(t, err)
	b.start(t)
	random := rand.New(rand.NewPCG(7, 7))
	dawn := time.Now()
	type happening struct {
		Author    string    `json:"author"`
		Category  string    `json:"category"`
		Content   string    `json:"content"`
		CreatedAt time.Time `json:"created_at"`
	}
	threads := make([]uuid.UUID, personas)
	events, urgent := 0, map[string][]string{}
	for i := range threads {
		err := b.pool.QueryRow(t.Context(), "SELECT hippocampus.create_thread($1, 'app', 'life')", fmt.Sprintf("persona %d", i)).Scan(&threads[i])
		require.NoError(t, err)
	}
	for hour := 6; hour < 24; hour += 3 {
		now := dawn.Add(time.Duration(hour) * time.Hour)
		for i, thread := range threads {
			user, size := fmt.Sprintf("persona %d", i), 1+random.IntN(4)
			switch random.IntN(4) {
			case 0: // silence
				continue
			case 1: // a burst
				size = 40 + random.IntN(20)
			}
			batch := make([]happening, size)
			for j := range batch {
				category := []string{"observation", "observation", "observation", "observation", "chat", "observation", "chat", "decision", "error"}[random.IntN(9)]
				batch[j] = happening{
					Author: "agent", Category: category, Content: fmt.Sprintf("%s of %s at %d:%02d", category, user, hour, j),
					CreatedAt: now.Add(time.Duration(j) * time.Second),
				}
				if category == "decision" || category == "error" {
					urgent[user] = append(urgent[user], "agent: "+batch[j].Content)
				}
			}
			text, err := json.Marshal(batch)
			require.NoError(t, err)
			_, err = b.pool.Exec(t.Context(), "SELECT hippocampus.append_events($1, $2)", thread, text)
			require.NoError(t, err)
			events += len(batch)
		}
		b.drain(t) // of what the appends themselves enqueued; what else is due, the clock says
		due := b.count(t, "SELECT hippocampus.enqueue_due_consolidations(1000, $1)", now.Add(time.Hour))
		b.drain(t)
		require.LessOrEqual(t, due, personas)
		require.Zero(t, b.count(t, "SELECT count(*) FROM hippocampus.threads WHERE replayed_seq < next_seq - 1"), "an hour later all is consolidated")
	}
	nextDay := dawn.Add(48 * time.Hour)

	require.Zero(t, b.count(t, `SELECT count(*) FROM (SELECT FROM hippocampus.memories WHERE memory_type = 'episodic'
		GROUP BY thread_id, from_seq HAVING count(*) > 1) d`), "an event is one memory")
	require.Zero(t, b.count(t, "SELECT count(*) FROM hippocampus.memories WHERE memory_type <> 'semantic' AND encounter_count > 1"))
	require.Equal(t, events, b.count(t, "SELECT sum((result ->> 'events')::int) FROM hippocampus.consolidation_jobs"), "each event was read once")
	require.Equal(t, events, b.count(t, "SELECT count(*) FROM hippocampus.events"), "the log keeps all")
	require.Equal(t, b.count(t, "SELECT count(*) FROM hippocampus.events WHERE importance >= 0.6"),
		b.count(t, "SELECT count(*) FROM hippocampus.memories WHERE memory_type = 'episodic'"), "what mattered less is no memory")
	for user, want := range urgent {
		rows, err := b.pool.Query(t.Context(), `SELECT r.content FROM hippocampus.recall($1, 'app', p_min_importance => 0.7, p_limit => 1000,
			p_now => $2) r`, user, nextDay)
		require.NoError(t, err)
		found, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		require.ElementsMatch(t, want, found, user)
		require.Equal(t, 1, b.count(t, `SELECT count(*) FROM hippocampus.recall_similar($1, 'app', $2, p_limit => 3, p_now => $3) r
			WHERE r.content = $4`, user, want[0][len("agent: "):], nextDay, want[0]), "it is found by its words")
	}

	// What a persona holds is bounded: the window by the policy, long-term memory by its cap, and nothing waits.
	require.Zero(t, b.count(t, `SELECT count(*) FROM hippocampus.threads t WHERE 100 < (
		SELECT count(*) FROM hippocampus.short_term_memory(t.user_id, 'app', p_now => $1))`, nextDay))
	crowded := b.count(t, "SELECT count(*) FROM (SELECT FROM hippocampus.memories GROUP BY user_id HAVING count(*) > 60) c")
	require.Positive(t, crowded, "the day was full enough")
	for b.count(t, "SELECT hippocampus.trim_memories(p_now => $1)", nextDay) > 0 {
	}
	require.Zero(t, b.count(t, "SELECT count(*) FROM (SELECT FROM hippocampus.memories GROUP BY user_id HAVING count(*) > 60) c"))
	b.count(t, "SELECT hippocampus.enqueue_due_consolidations(1000, $1)", nextDay)
	for _, table := range []string{"unconsolidated_threads", "embedding_queue", "event_uses"} {
		require.Zero(t, b.count(t, "SELECT count(*) FROM hippocampus."+table), table)
	}
	require.Zero(t, b.count(t, "SELECT count(*) FROM hippocampus.consolidation_jobs WHERE status <> 'completed'"))
	t.Logf("%d events of %d personas, %d consolidations, %d personas over the cap", events, personas,
		b.count(t, "SELECT count(*) FROM hippocampus.consolidation_jobs"), crowded)
}
