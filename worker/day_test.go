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

	"github.com/hippocampus-memory/hippocampus/worker"
)

// TestDay is a day in the life of fifty personas, who only append: bursts and silence, small talk,
// decisions and errors. Whatever was urgent is remembered the next day, once.
func TestDay(t *testing.T) {
	t.Parallel()
	const personas, bursts = 50, 6
	b := setup(t, &script{}, func(c *worker.Config) { c.PolicyInterval = 200 * time.Millisecond })
	_, err := b.pool.Exec(t.Context(), `SELECT hippocampus.put_consolidation_policy('app', '{"enabled": true, "job_type": "fast_replay",
		"min_interval_seconds": 1, "idle_seconds": 2}')`)
	require.NoError(t, err)
	b.start(t)
	random := rand.New(rand.NewPCG(7, 7))
	dawn := time.Now().Add(-24 * time.Hour)
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
	for burst := range bursts {
		for i, thread := range threads {
			user := fmt.Sprintf("persona %d", i)
			batch := make([]happening, 1+random.IntN(30))
			for j := range batch {
				category := []string{"chat", "observation", "observation", "chat", "decision", "error"}[random.IntN(6)]
				batch[j] = happening{
					Author: "agent", Category: category, Content: fmt.Sprintf("%s of %s, number %d.%d", category, user, burst, j),
					CreatedAt: dawn.Add(time.Duration(burst)*4*time.Hour + time.Duration(j)*time.Second),
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
	}
	b.eventually(t, "the day to be consolidated", func() bool {
		return b.count(t, "SELECT count(*) FROM hippocampus.threads WHERE replayed_seq < next_seq - 1") == 0
	})

	require.Zero(t, b.count(t, `SELECT count(*) FROM (SELECT FROM hippocampus.memories WHERE memory_type = 'episodic'
		GROUP BY thread_id, from_seq HAVING count(*) > 1) d`), "an event is one memory")
	require.Zero(t, b.count(t, "SELECT count(*) FROM hippocampus.memories WHERE memory_type <> 'semantic' AND encounter_count > 1"))
	require.Equal(t, events, b.count(t, "SELECT sum((result ->> 'events')::int) FROM hippocampus.consolidation_jobs"), "each event was read once")
	require.Equal(t, events, b.count(t, "SELECT count(*) FROM hippocampus.events"), "the log keeps all")
	require.Equal(t, b.count(t, "SELECT count(*) FROM hippocampus.events WHERE importance >= 0.6"),
		b.count(t, "SELECT count(*) FROM hippocampus.memories WHERE memory_type = 'episodic'"), "what mattered less is no memory")
	require.Zero(t, b.count(t, `SELECT count(*) FROM hippocampus.threads t WHERE 100 < (
		SELECT count(*) FROM hippocampus.short_term_memory(t.user_id, 'app', p_now => now() + interval '1 day'))`), "the window is bounded")
	for user, want := range urgent {
		rows, err := b.pool.Query(t.Context(), `SELECT r.content FROM hippocampus.recall($1, 'app', p_min_importance => 0.7, p_limit => 1000,
			p_now => now() + interval '1 day') r`, user)
		require.NoError(t, err)
		found, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		require.ElementsMatch(t, want, found, user)
	}
	t.Logf("%d events of %d personas, %d jobs", events, personas, b.count(t, "SELECT count(*) FROM hippocampus.consolidation_jobs"))
}
