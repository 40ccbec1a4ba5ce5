package worker_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/model"
	"github.com/hippocampus-memory/hippocampus/model/openai"
	"github.com/hippocampus-memory/hippocampus/worker"
)

// journal is a log that may be read meanwhile.
type journal struct {
	mu sync.Mutex
	b  strings.Builder
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.String()
}

// What users said is in no log and in no error, whatever a model makes of it.
func TestContentStaysOutOfErrors(t *testing.T) {
	t.Parallel()
	const marker = "ZEBRA"
	badFact, err := json.Marshal(`{"facts":[{"type":"profile","key":"` + marker + strings.Repeat("x", 300) + `","value":"` + marker +
		`","confidence":"` + marker + `","intensity":7,"valid_from":"` + marker + `","sequences":["` + marker + `"]}],"insights":[]}`)
	require.NoError(t, err)
	for name, answer := range map[string]struct {
		status int
		body   string
	}{
		"Garbage":      {200, marker + " is not JSON"},
		"InvalidFact":  {200, `{"choices":[{"message":{"role":"assistant","content":` + string(badFact) + `},"finish_reason":"stop"}]}`},
		"QuotingError": {400, `{"error":{"message":"can't read the message '` + marker + `'","type":"invalid_request_error"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(answer.status)
				fmt.Fprint(w, answer.body)
			}))
			t.Cleanup(server.Close)
			log := &journal{}
			logger := slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
			models, err := openai.Open(t.Context(), &openai.Config{
				BaseURL: server.URL, Limits: model.Limits{Logger: logger, Retry: model.Retry{MaxAttempts: 1}},
			})
			require.NoError(t, err)
			s := &script{}
			b := setup(t, s, func(c *worker.Config) {
				c.Logger = logger
				c.Models = &model.Models{Embedder: s, Reflector: models.Reflector, Summarizer: models.Summarizer}
			})
			id := b.enqueue(t, b.pool, b.thread(t, marker+" is what I like"), worker.DeepReflection)
			b.oneAttempt(t, id)
			b.start(t)
			job := b.wait(t, id, "failed")
			require.NotNil(t, job.Error)
			require.NotContains(t, *job.Error, marker)
			var errors string
			require.NoError(t, b.pool.QueryRow(t.Context(), `SELECT r.errors::text FROM hippocampus.river_job r WHERE r.id = $1`,
				*job.RiverJobID).Scan(&errors))
			require.Contains(t, errors, "reflect")
			require.NotContains(t, errors, marker)
			require.Contains(t, log.String(), "a job failed")
			require.NotContains(t, log.String(), marker)
			require.NotNil(t, job.RawReply)
			require.Contains(t, *job.RawReply, marker)
		})
	}
}

// What was forgotten stays so: its events are not read again, and a summary that told it is nobody's context.
func TestForgettingHolds(t *testing.T) {
	t.Parallel()
	b := setup(t, &script{}, nil)
	b.start(t)
	thread := b.thread(t, "color=red", "Hello there")
	first := result(t, b.wait(t, b.enqueue(t, b.pool, thread, worker.FullConsolidation), "completed"))
	require.Len(t, first.FactIDs, 1)
	require.Len(t, first.EpisodeIDs, 2)
	require.Len(t, first.SummaryIDs, 1)
	gone := append(append([]uuid.UUID{}, first.FactIDs...), first.EpisodeIDs...)
	gone = append(gone, first.SummaryIDs...)
	var forgotten int
	require.NoError(t, b.pool.QueryRow(t.Context(), `SELECT hippocampus.forget('ada', 'app', $1)`, gone).Scan(&forgotten))
	require.Equal(t, len(gone)+1, forgotten, "the insight on them tells the same, and goes along")

	b.append(t, b.pool, thread, "food=sushi")
	second := result(t, b.wait(t, b.enqueue(t, b.pool, thread, worker.FullConsolidation), "completed"))
	require.Equal(t, 1, second.Events)
	b.drain(t)
	require.Zero(t, b.count(t, `SELECT count(*) FROM hippocampus.facts WHERE key = 'color'`))
	require.Zero(t, b.count(t, `SELECT count(*) FROM hippocampus.memories
		WHERE content LIKE '%red%' OR content LIKE '%Hello%'`))
	require.Equal(t, 1, b.count(t, `SELECT count(*) FROM hippocampus.facts WHERE key = 'food'`))
	require.Empty(t, b.script.reflected[1].PriorSummary, "a summary that was forgotten is told to nobody")
	require.Empty(t, b.script.summarized[1].PriorSummary)
	require.Len(t, b.script.reflected[1].Turns, 1)

	prior, err := db.New().MemoryGetPriorSummary(t.Context(), b.pool, &db.MemoryGetPriorSummaryParams{
		AppName: "app", ThreadID: &thread, UntilSeq: 3, UserID: "ada",
	})
	require.NoError(t, err)
	require.Equal(t, "Summary of food=sushi to food=sushi", prior)
}

// A conversation whose last words were forgotten is done, as any other: nothing asks for its consolidation again.
func TestForgottenLastWordsAreConsolidated(t *testing.T) {
	t.Parallel()
	b := setup(t, &script{}, nil)
	_, err := b.pool.Exec(t.Context(), `SELECT hippocampus.put_consolidation_policy('app', '{"enabled": true, "min_interval_seconds": 0}')`)
	require.NoError(t, err)
	forget := func(text string) {
		_, err := b.pool.Exec(t.Context(), `SELECT hippocampus.forget('ada', 'app', ARRAY(SELECT e.id FROM hippocampus.events e WHERE e.text = $1))`, text)
		require.NoError(t, err)
	}
	due := func() int { // a day later
		return b.count(t, `SELECT hippocampus.enqueue_due_consolidations(p_now => now() + interval '1 day')`)
	}
	b.start(t)
	thread, all := b.thread(t, "color=red", "food=sushi"), b.thread(t, "city=Paris")
	forget("food=sushi")
	forget("city=Paris")
	require.Equal(t, 2, due())
	b.drain(t)
	require.Equal(t, 2, b.count(t, `SELECT least(replayed_seq, reflected_seq) FROM hippocampus.threads WHERE id = $1`, thread))
	require.Equal(t, 1, b.count(t, `SELECT least(replayed_seq, reflected_seq) FROM hippocampus.threads WHERE id = $1`, all))
	require.Zero(t, due())
	b.eventually(t, "no note of them", func() bool { // which a look passes over that finds the thread held
		return due() == 0 && b.count(t, `SELECT count(*) FROM hippocampus.unconsolidated_threads`) == 0
	})
	require.Equal(t, 2, b.count(t, `SELECT count(*) FROM hippocampus.consolidation_jobs WHERE status = 'completed'`))
	require.Equal(t, 1, b.count(t, `SELECT count(*) FROM hippocampus.facts`))

	// Forgotten after it was reflected on, an event takes the fact along.
	forget("color=red")
	require.Zero(t, b.count(t, `SELECT count(*) FROM hippocampus.facts`))
	require.Zero(t, b.count(t, `SELECT count(*) FROM hippocampus.memories`))

	// One sort alone moves its own watermark only.
	b.append(t, b.pool, thread, "drink=tea")
	forget("drink=tea")
	b.wait(t, b.enqueue(t, b.pool, thread, worker.FastReplay), "completed")
	require.Equal(t, 3, b.count(t, `SELECT replayed_seq FROM hippocampus.threads WHERE id = $1`, thread))
	require.Equal(t, 2, b.count(t, `SELECT reflected_seq FROM hippocampus.threads WHERE id = $1`, thread))
}

// What a tool gave comes to a model as the tool's, under whatever role a client logged it, and nothing that is
// drawn from it is the user's word.
func TestToolsWords(t *testing.T) {
	t.Parallel()
	b := setup(t, &script{}, nil)
	thread := b.thread(t)
	_, err := b.pool.Exec(t.Context(), `SELECT hippocampus.append_events($1, '[
		{"author": "system", "content": "You are a travel assistant. Be brief."},
		{"author": "user", "content": [{"type": "text", "text": "colour=red"}]},
		{"author": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": [{"type": "text", "text": "pay=at once, always"}]}]}]')`, thread)
	require.NoError(t, err)
	id := b.enqueue(t, b.pool, thread, worker.FullConsolidation)
	b.start(t)
	b.wait(t, id, "completed")
	b.drain(t)
	require.Equal(t, []string{"user", "tool"}, []string{b.script.reflected[0].Turns[1].Author, b.script.reflected[0].Turns[2].Author})
	require.Equal(t, 1, b.count(t, `SELECT count(*) FROM hippocampus.facts WHERE key = 'colour' AND trust = 'user'`))
	require.Equal(t, 1, b.count(t, `SELECT count(*) FROM hippocampus.facts WHERE key = 'pay' AND trust = 'tool'`))
	require.Equal(t, 1, b.count(t, `SELECT count(*) FROM hippocampus.memories WHERE memory_type = 'episodic' AND from_seq = 3 AND trust = 'tool'`))
	require.Equal(t, 2, b.count(t, `SELECT count(*) FROM hippocampus.memories WHERE memory_type = 'episodic'`), "a prompt makes none")
	require.Zero(t, b.count(t, `SELECT count(*) FROM hippocampus.lessons`))
}
