package worker_test

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

// crash is a server of the test's own under a worker that outlives it.
type crash struct {
	*dbtest.Checkout
	*process
	pool   *pgxpool.Pool
	models *server
	url    *url.URL
}

// TestPostgresIsKilled kills Postgres, time and again, under one worker that nobody starts again. It finds its
// way back by itself, and what was said is in memory once.
func TestPostgresIsKilled(t *testing.T) { //nolint:tparallel // its subtests are one worker's life
	t.Parallel()
	c := &crash{Checkout: dbtest.NewCheckout(t), models: newServer(t)}
	c.pool = c.Pool(t)
	c.url = c.Start(t)
	_, err := c.pool.Exec(t.Context(), "CREATE ROLE consolidator LOGIN PASSWORD 'secret'; GRANT hippocampus_worker TO consolidator")
	require.NoError(t, err)
	login := *c.url
	login.User = url.UserPassword("consolidator", "secret")
	c.process = startOn(t, login.String(), c.models, "--http=127.0.0.1:0")
	_, jobs := c.many(t, "warm")
	for _, job := range jobs { // so that it has as many connections to its models as it ever will
		waitStatus(t, c.pool, job, "completed")
	}
	waitEmbedded(t, c.pool)
	before := c.goroutines(t)

	t.Run("WhileAModelThinks", func(t *testing.T) {
		c.models.hold(opReflect)
		thread, job := conversationOf(t, c.pool, "think", events)
		receive(t, opReflect, c.models.arrived)
		c.Kill(t)
		c.models.release(opReflect) // there is nowhere to store it
		c.again(t)
		c.finish(t, thread, job)
	})

	t.Run("WhileItStores", func(t *testing.T) {
		c.models.hold(opSummarize)
		thread, job := conversationOf(t, c.pool, "store", events)
		receive(t, opSummarize, c.models.arrived)
		client, err := c.pool.Begin(t.Context())
		require.NoError(t, err)
		_, err = client.Exec(t.Context(), `SELECT FROM hippocampus.consolidation_jobs j WHERE j.id = $1 FOR UPDATE`, job)
		require.NoError(t, err)
		c.models.release(opSummarize)
		waitBlocked(t, c.pool)
		c.Kill(t)
		require.Error(t, client.Rollback(t.Context()))
		c.again(t)
		c.finish(t, thread, job)
	})

	t.Run("WhileMuchIsDone", func(t *testing.T) {
		threads, jobs := c.many(t, "user")
		done := `SELECT count(*) FROM hippocampus.consolidation_jobs WHERE status = 'completed' AND id = ANY ($1)`
		for _, least := range []int{2, conversations / 2} {
			eventually(t, "some to be done", func() bool { return count(t, c.pool, done, jobs) >= least })
			c.Kill(t)
			c.again(t)
		}
		for i := range jobs {
			c.finish(t, threads[i], jobs[i])
		}
		waitEmbedded(t, c.pool)
	})

	eventually(t, "the worker to listen again", func() bool {
		return count(t, c.pool, `SELECT count(*) FROM pg_stat_activity WHERE usename = 'consolidator' AND query LIKE 'LISTEN%'`) > 0
	})
	eventually(t, "no more goroutines than before", func() bool { return c.goroutines(t) <= before })
	select {
	case <-c.done:
		require.FailNow(t, "the worker has ended")
	default:
	}
}

// conversations are how many go on at once.
const conversations = 24

// many asks for many consolidations, each of another user.
func (c *crash) many(t *testing.T, name string) (threads, jobs []uuid.UUID) {
	t.Helper()
	for i := range conversations {
		thread, job := conversationOf(t, c.pool, fmt.Sprintf("%s %d", name, i), events)
		threads, jobs = append(threads, thread), append(jobs, job)
	}
	return threads, jobs
}

// again starts Postgres where it was, and lets the time pass that the worker would wait.
func (c *crash) again(t *testing.T) {
	t.Helper()
	require.Equal(t, c.url, c.Start(t))
	c.pool.Reset() // its connections are gone
	passTime(t, c.pool)
}

// finish waits for a consolidation, and makes sure that it was done once.
func (c *crash) finish(t *testing.T, thread, job uuid.UUID) {
	t.Helper()
	eventually(t, "the consolidation", func() bool {
		_, err := c.pool.Exec(t.Context(), `UPDATE hippocampus.river_job SET scheduled_at = now() WHERE state = 'retryable'`)
		require.NoError(t, err)
		return jobStatus(t, c.pool, job) == "completed"
	})
	requireOnce(t, c.pool, thread, events)
}

// goroutines is how many the worker has, as it says itself.
func (c *crash) goroutines(t *testing.T) int {
	t.Helper()
	var address []string
	eventually(t, "the worker's address", func() bool {
		address = regexp.MustCompile(`http=(\S+:\d+)`).FindStringSubmatch(c.text())
		return address != nil
	})
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address[1]+"/metrics", nil)
	require.NoError(t, err)
	response, err := client.Do(request)
	require.NoError(t, err)
	defer func() { require.NoError(t, response.Body.Close()) }()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	found := regexp.MustCompile(`(?m)^go_goroutines (\d+)`).FindSubmatch(body)
	require.NotNil(t, found)
	n, err := strconv.Atoi(string(found[1]))
	require.NoError(t, err)
	return n
}
