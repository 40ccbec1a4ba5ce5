package worker_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/pgvector/pgvector-go"
	"github.com/riverqueue/river"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/model"
	"github.com/hippocampus-memory/hippocampus/worker"
)

// limited is a provider's answer that asks for patience.
func limited(wait time.Duration) error {
	return &model.Error{Kind: model.KindRateLimited, Operation: "ask", Provider: "script", RetryAfter: wait}
}

// failing is a classifier whose calls fail as told, or find duplicates.
type failing struct {
	calls atomic.Int64
	with  func(call int64) error
}

func (f *failing) Classify(context.Context, *model.ClassifyInput) (*model.Classification, error) {
	if err := f.with(f.calls.Add(1)); err != nil {
		return nil, err
	}
	return &model.Classification{Model: "judge", Reason: "as told", Relation: model.RelationDuplicate}, nil
}

// What models were paid for is stored, though the classifier fails: the rules decide then, and nobody is asked again.
func TestClassifierFails(t *testing.T) {
	t.Parallel()
	const known = "color=red" // another value of a key must be read
	for name, c := range map[string]struct {
		fails    func(call int64) error
		calls    int64
		current  string
		unjudged int
	}{
		"LongerThanTheAttempt": {func(int64) error { return limited(time.Hour) }, 1, `"blue" "sour"`, 1},
		"Rejected":             {func(int64) error { return &model.Error{Kind: model.KindRejected, Status: 400} }, 1, `"blue" "sour"`, 1},
		"ShorterThanTheAttempt": {func(call int64) error {
			if call < 3 {
				return limited(time.Millisecond)
			}
			return nil
		}, 4, `"red" "sweet"`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			judge := &failing{with: c.fails}
			b := setup(t, &script{}, func(config *worker.Config) { config.Models.Classifier = judge })
			b.start(t)
			b.wait(t, b.enqueue(t, b.pool, b.thread(t, known, "taste=sweet"), worker.FullConsolidation), "completed")
			require.Zero(t, judge.calls.Load())
			thread := b.thread(t, "color=blue", "taste=sour")
			job := b.wait(t, b.enqueue(t, b.pool, thread, worker.FullConsolidation), "completed")
			require.EqualValues(t, 1, job.Attempts)
			require.Equal(t, c.unjudged, result(t, job).Unjudged)
			require.Equal(t, c.calls, judge.calls.Load())
			reflections, summaries := b.script.calls()
			require.Equal(t, []int{2, 2}, []int{reflections, summaries})
			require.Equal(t, 1, b.count(t, `SELECT (string_agg(value::text, ' ' ORDER BY key) = $1)::integer FROM hippocampus.facts WHERE valid_until IS NULL`, c.current))
			b.hasAll(t, thread, 2)
		})
	}

	t.Run("OfALesson", func(t *testing.T) {
		t.Parallel()
		judge := &failing{with: func(int64) error { return limited(time.Hour) }}
		b := setup(t, &script{reflect: rules(map[string]string{"no, use async instead": "Use async", "wrong, use threads instead": "Use threads"})}, func(c *worker.Config) {
			quickly(c)
			c.Models.Classifier = judge
		})
		thread := b.thread(t, "no, use async instead")
		b.start(t)
		b.harvested(t)
		b.say(t, thread, "user", "chat", "wrong, use threads instead")
		b.harvested(t)
		require.EqualValues(t, 1, judge.calls.Load())
		reflections, _ := b.script.calls()
		require.Equal(t, 2, reflections)
		require.Equal(t, 1, b.count(t, `SELECT count(*) FROM hippocampus.lessons WHERE rule = 'Use threads'`))
	})
}

// An attempt that has paid for a part of a long event, and is asked for more patience than it has, is a failed one:
// there are few of these, where snoozes have no end.
func TestRateLimitAfterAPartThatWasPaid(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	b := setup(t, &script{summarize: func(_ context.Context, c *model.Conversation) (*model.Summary, error) {
		switch calls.Add(1) {
		case 2:
			return nil, limited(time.Millisecond) // is waited for
		case 4:
			return nil, limited(time.Hour)
		}
		return summary(c), nil
	}}, func(c *worker.Config) { c.MaxConversationTokens = 10 })
	thread := b.thread(t, strings.Repeat("word ", 30))
	id := b.enqueue(t, b.pool, thread, worker.FastReplay)
	b.oneAttempt(t, id)
	b.start(t)
	job := b.wait(t, id, "failed")
	require.EqualValues(t, 1, job.Attempts)
	require.Contains(t, *job.Error, "retry after 1h0m0s")
	require.EqualValues(t, 4, calls.Load())
}

// snoozed waits until the job of a kind is put off for as long as the provider asked for, with no attempt counted.
func (b *bundle) snoozed(t *testing.T, kind string) {
	t.Helper()
	b.eventually(t, "the snooze of "+kind, func() bool {
		return b.count(t, `SELECT count(*) FROM hippocampus.river_job WHERE kind = $1 AND state = 'scheduled' AND attempt = 0
			AND scheduled_at > now() + interval '50 minutes'`, kind) == 1
	})
}

func TestRateLimitOfOtherJobs(t *testing.T) {
	t.Parallel()

	t.Run("Sleep", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &script{embed: alike, summarize: func(context.Context, *model.Conversation) (*model.Summary, error) {
			return nil, limited(time.Hour)
		}}, nil)
		b.episodes(t, 1)
		_, err := b.pool.Exec(t.Context(), `SELECT hippocampus.enqueue_sleep('ada', 'app')`)
		require.NoError(t, err)
		b.start(t)
		b.snoozed(t, "sleep")
		require.Equal(t, 1, b.count(t, `SELECT count(*) FROM hippocampus.sleep_reports WHERE status = 'pending' AND error LIKE '%rate limited%' AND model_calls = 0`))
	})

	t.Run("Rebuild", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &script{embed: func(_ context.Context, texts []string) ([][]float32, error) {
			if texts[0] == "Liveness probe" {
				return nil, limited(time.Hour)
			}
			return vectors(texts), nil
		}}, nil)
		for _, user := range []string{"ada", "bob"} {
			_, err := b.pool.Exec(t.Context(), `SELECT hippocampus.put_document($1, 'app', 'a.md',
				'[{"content": "restarts a container", "start_line": 1, "heading": "Liveness probe"}]')`, user)
			require.NoError(t, err)
		}
		b.start(t)
		b.drain(t)
		_, err := b.Client().Insert(t.Context(), worker.AnchorArgs{}, nil)
		require.NoError(t, err)
		b.snoozed(t, "rebuild_anchors")
	})

	t.Run("Harvest", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &script{reflect: func(context.Context, *model.Conversation) (*model.Reflection, error) { return nil, limited(time.Hour) }}, quickly)
		b.thread(t, "no, use async instead")
		b.thread(t, "no, use threads instead")
		b.start(t)
		b.snoozed(t, "harvest")
		reflections, _ := b.script.calls()
		require.Equal(t, 1, reflections)
	})
}

// A harvest begins no thread when half of its time is over, and one that does not end in time is put off.
func TestSlowHarvest(t *testing.T) {
	t.Parallel()
	goOn := make(chan struct{})
	var calls atomic.Int64
	b := setup(t, &script{reflect: func(ctx context.Context, c *model.Conversation) (*model.Reflection, error) {
		switch calls.Add(1) {
		case 1: // more than half of the job's time
			time.Sleep(1100 * time.Millisecond)
		case 2:
			select {
			case <-goOn:
			case <-ctx.Done():
			}
			<-ctx.Done() // for ever
			return nil, ctx.Err()
		}
		return reflection(c), nil
	}}, func(c *worker.Config) {
		quickly(c)
		c.ConsolidateTimeout = 2 * time.Second
	})
	ended := b.events(t, river.EventKindJobCompleted, river.EventKindJobFailed)
	for range 3 {
		b.thread(t, "no, use async instead")
	}
	b.start(t)
	for {
		e := receive(t, "the first harvest's end", ended)
		if e.Job.Kind == "harvest" {
			require.Equal(t, river.EventKindJobCompleted, e.Kind)
			break
		}
	}
	require.Equal(t, 2, b.count(t, `SELECT count(*) FROM hippocampus.harvests WHERE harvested_seq = 0`))
	close(goOn)
	b.eventually(t, "the one that hangs to be put off", func() bool {
		return b.count(t, `SELECT count(*) FROM hippocampus.harvests WHERE attempts = 1 AND found_at > now()`) == 1
	})
	b.eventually(t, "the others", func() bool {
		return b.count(t, `SELECT count(*) FROM hippocampus.harvests WHERE harvested_seq = 1`) == 2
	})
}

// lockedBuffer is a log that may be read meanwhile.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// What users said is in no log line, and in no error of a job: a fact's key is of their words.
func TestLogsHoldNoWords(t *testing.T) {
	t.Parallel()
	const secret = "divorce_of_my_sister"
	log := &lockedBuffer{}
	key := secret + strings.Repeat("x", 300) // longer than a key may be
	b := setup(t, &script{reflect: func(_ context.Context, c *model.Conversation) (*model.Reflection, error) {
		value, _ := json.Marshal(secret)
		return &model.Reflection{Model: "script", Facts: []model.Fact{
			{Confidence: 0.9, Key: key, Sequences: []int64{c.Turns[0].Sequence}, Type: model.FactRule, Value: value},
		}}, nil
	}}, func(c *worker.Config) {
		quickly(c)
		c.Logger = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		c.Models.Classifier = classifier(func(*model.ClassifyInput) model.Relation { return model.RelationDistinct })
	})
	thread := b.thread(t, "no, use async instead")
	id := b.enqueue(t, b.pool, thread, worker.FullConsolidation)
	b.oneAttempt(t, id)
	b.start(t)
	job := b.wait(t, id, "failed")
	require.NotContains(t, *job.Error, secret)
	b.eventually(t, "the harvest's failure", func() bool {
		return b.count(t, `SELECT count(*) FROM hippocampus.harvests WHERE error IS NOT NULL`) == 1
	})
	require.Zero(t, b.count(t, `SELECT count(*) FROM hippocampus.harvests WHERE error LIKE '%'||$1||'%'`, secret))
	require.Contains(t, log.String(), "a job failed")
	require.NotContains(t, log.String(), secret)
}

// An embedder that does not manage a batch in the time of a job is given ever fewer rows, until it does.
func TestSlowEmbedder(t *testing.T) {
	t.Parallel()
	slow := func(ctx context.Context, texts []string) ([][]float32, error) {
		select {
		case <-time.After(time.Duration(len(texts)) * 40 * time.Millisecond):
			return vectors(texts), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}

	t.Run("OfAJob", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &script{embed: slow}, func(c *worker.Config) { c.EmbedTimeout = time.Second })
		contents := make([]string, 60) // 2.4 s in one call
		for i := range contents {
			contents[i] = "memory " + strings.Repeat("x", i)
		}
		b.remember(t, contents...)
		b.start(t)
		b.drain(t)
		require.Equal(t, 60, b.embeddings(t))
		require.Zero(t, b.count(t, `SELECT count(*) FROM hippocampus.embedding_queue`))
	})

	// One row that the embedder hangs on keeps no other from its vector.
	t.Run("OfARow", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &script{embed: func(ctx context.Context, texts []string) ([][]float32, error) {
			for _, text := range texts {
				if text == "hang" {
					<-ctx.Done()
					return nil, ctx.Err()
				}
			}
			return vectors(texts), nil
		}}, func(c *worker.Config) { c.EmbedTimeout = time.Second })
		b.remember(t, "one", "hang", "two", "three")
		b.start(t)
		b.eventually(t, "the others", func() bool { return b.embeddings(t) == 3 })
		b.eventually(t, "the one to be put off", func() bool {
			return b.count(t, `SELECT count(*) FROM hippocampus.embedding_queue WHERE error LIKE '%too slow for a row%' AND run_after > now()`) == 1
		})
	})

	t.Run("OfAConsolidation", func(t *testing.T) {
		t.Parallel()
		hang := func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}
		var calls atomic.Int64
		b := setup(t, &script{embed: func(ctx context.Context, _ []string) ([][]float32, error) { return nil, hang(ctx) }}, func(c *worker.Config) {
			c.ConsolidateTimeout = 3 * time.Second
			c.Models.Classifier = classifierFunc(func(ctx context.Context) error {
				calls.Add(1)
				return hang(ctx)
			})
		})
		_, err := b.pool.Exec(t.Context(), `SELECT hippocampus.upsert_fact('ada', 'app', 'preference', 'color', '"red"')`)
		require.NoError(t, err)
		thread := b.thread(t, "color=blue", "taste=sour")
		id := b.enqueue(t, b.pool, thread, worker.FullConsolidation)
		b.start(t)
		job := b.wait(t, id, "completed")
		require.EqualValues(t, 1, job.Attempts)
		require.Equal(t, []int{6, 1, 2}, []int{result(t, job).WithoutEmbedding, result(t, job).Unjudged, result(t, job).Facts})
		require.EqualValues(t, 1, calls.Load())
	})
}

type classifierFunc func(ctx context.Context) error

func (f classifierFunc) Classify(ctx context.Context, _ *model.ClassifyInput) (*model.Classification, error) {
	return nil, f(ctx)
}

// Nothing that a model is given is over what it takes, whatever is configured otherwise.
func TestNoCallIsOverTheModelsLimit(t *testing.T) {
	t.Parallel()
	const most = 2000
	s := &script{}
	check := func(c *model.Conversation) error {
		if c.Chars() > most {
			return &model.Error{Err: errors.New("give it in parts"), Kind: model.KindRejected, Operation: "read"}
		}
		return nil
	}
	s.summarize = func(_ context.Context, c *model.Conversation) (*model.Summary, error) {
		return &model.Summary{Content: strings.Repeat("summary ", 400), Model: "script/chat"}, check(c)
	}
	s.reflect = func(_ context.Context, c *model.Conversation) (*model.Reflection, error) {
		return reflection(c), check(c)
	}
	s.embed = func(_ context.Context, texts []string) ([][]float32, error) {
		for _, text := range texts {
			if utf8.RuneCountInString(text) > most {
				return nil, &model.Error{Kind: model.KindRejected, Operation: "embed", Status: 400}
			}
		}
		return vectors(texts), nil
	}
	b := setup(t, s, func(c *worker.Config) {
		quickly(c)
		c.Models.MaxInputChars, c.Models.MaxEmbedChars = most, most
	})
	texts := []string{"no, use async instead"}
	for i := range 30 {
		texts = append(texts, strings.Repeat("喝茶 ", 80+i))
	}
	texts = append(texts, strings.Repeat("a very long one ", 500))
	thread := b.thread(t, texts...)
	id := b.enqueue(t, b.pool, thread, worker.FullConsolidation)
	b.start(t)
	job := b.wait(t, id, "completed")
	require.EqualValues(t, 1, job.Attempts)
	require.Greater(t, result(t, job).Pieces, 4)
	b.drain(t)
	b.hasAll(t, thread, len(texts))
	require.Zero(t, b.count(t, `SELECT count(*) FROM hippocampus.embedding_queue`))
	b.harvested(t)
	require.Zero(t, b.count(t, `SELECT count(*) FROM hippocampus.harvests WHERE error IS NOT NULL`))
	_, err := b.pool.Exec(t.Context(), `SELECT hippocampus.remember('ada', 'app', repeat('episode ' || i || ' ', 500), 'episodic',
		p_occurred_from => now() - interval '9 hours' + make_interval(mins => i), p_embedding => $1, p_embedding_model => 'script/v1') FROM generate_series(1, 5) i`,
		pgvector.NewVector(vectors([]string{"the same"})[0]))
	require.NoError(t, err)
	_, err = b.pool.Exec(t.Context(), "SELECT hippocampus.enqueue_sleep('ada', 'app')")
	require.NoError(t, err)
	b.eventually(t, "a cluster", func() bool {
		return b.count(t, "SELECT count(*) FROM hippocampus.sleep_reports WHERE status = 'completed' AND clusters > 0 AND error IS NULL") == 1
	})
}
