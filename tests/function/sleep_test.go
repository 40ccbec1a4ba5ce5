package function_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// A sleep is due where something was stored since the last one, whoever stored it.
func TestEnqueueDueSleeps(t *testing.T) {
	t.Parallel()
	b := setup(t)
	now := get[time.Time](t, b, "SELECT now()")
	due := func(after time.Duration) int {
		return get[int](t, b, "SELECT hippocampus.enqueue_due_sleeps(p_now => $1)", now.Add(after))
	}
	remember := func(content, source string, at time.Duration) uuid.UUID {
		return get[uuid.UUID](t, b, "SELECT hippocampus.remember($1, $2, $3, p_source => $4, p_now => $5)", b.UserID, b.AppName, content, source, now.Add(at))
	}
	asleep := func(at time.Duration) { // as a worker does it
		b.exec(t, "UPDATE hippocampus.sleep_reports SET status = 'completed', created_at = $2, started_at = $2, completed_at = $2 WHERE user_id = $1 AND status = 'pending'",
			b.UserID, now.Add(at))
	}
	remember("one who only remembers", "client", -time.Hour)
	require.Zero(t, due(0), "off by default")
	b.policy(t, `{"sleep_enabled": true}`)
	require.Equal(t, 1, due(0))
	require.Equal(t, 1, get[int](t, b, "SELECT count(*) FROM hippocampus.river_job WHERE kind = 'sleep'"))
	require.Zero(t, due(0), "it waits already")
	asleep(0)
	require.Zero(t, due(48*time.Hour), "nothing has changed")
	remember("what a sleep made", "sleep", time.Minute)
	require.Zero(t, due(48*time.Hour), "nobody but the sleep has changed something")
	remember("a second one", "client", time.Hour)
	require.Zero(t, due(2*time.Hour), "it is too soon")
	require.Equal(t, 1, due(25*time.Hour))
	asleep(25 * time.Hour)
	require.Zero(t, due(72*time.Hour))

	late := remember("one whose vector comes late", "client", time.Hour)
	b.exec(t, "INSERT INTO hippocampus.untidied_memories (memory_id, user_id, app_name) VALUES ($3, $1, $2)", b.UserID, b.AppName, late)
	require.Zero(t, due(72*time.Hour))
	b.exec(t, "SELECT hippocampus.put_embedding($1, $2, 'memory', $3, $4)", b.UserID, b.AppName, late, vector(1))
	require.Equal(t, 1, due(72*time.Hour))
	b.refuses(t, "HC009", "p_limit is 0", "SELECT hippocampus.enqueue_due_sleeps(0)")
}
