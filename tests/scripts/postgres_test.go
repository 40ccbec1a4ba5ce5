// Package scripts_test runs the scripts of this repository.
package scripts_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Exit codes of scripts/postgres.
const (
	exitError   = 1
	exitStopped = 3
)

// A checkout is a copy of scripts/postgres in a folder of its own, which is all that the script
// needs of a checkout. Its server is removed when the test ends; the server's programs come from
// the cache of this machine, so that only the first test ever fetches them.
type checkout struct {
	script string
}

func newCheckout(t *testing.T) *checkout {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("scripts/postgres needs bash")
	}
	original, err := os.ReadFile(filepath.Join("..", "..", "scripts", "postgres"))
	require.NoError(t, err)
	c := &checkout{script: filepath.Join(t.TempDir(), "scripts", "postgres")}
	require.NoError(t, os.Mkdir(filepath.Dir(c.script), 0o700))
	require.NoError(t, os.WriteFile(c.script, original, 0o700))
	t.Cleanup(func() {
		if r := c.run(t, "stop", "--delete"); r.code != 0 {
			t.Errorf("scripts/postgres stop --delete: %s", r.stderr)
		}
	})
	return c
}

// result is what one run of the script said.
type result struct {
	code   int
	stdout string
	stderr string
}

// environment is that of this process without what names a server.
func environment() []string {
	var env []string
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "DATABASE_URL=") && !strings.HasPrefix(pair, "HIPPOCAMPUS_POSTGRES_OPTIONS=") {
			env = append(env, pair)
		}
	}
	return env
}

// run runs the script without DATABASE_URL, plus the KEY=value pairs among the arguments.
func (c *checkout) run(t *testing.T, args ...string) result {
	t.Helper()
	env := environment()
	for len(args) > 0 && strings.Contains(args[0], "=") {
		env, args = append(env, args[0]), args[1:]
	}

	// The test's own context is cancelled before its clean-up, which runs the script too.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 5*time.Minute)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, c.script, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = env, &stdout, &stderr
	if err := cmd.Run(); cmd.ProcessState == nil {
		t.Errorf("scripts/postgres %v: %v", args, err)
	}
	require.NotRegexp(t, `postgres: line \d+: `, stderr.String(), "bash speaks where the script should")
	return result{
		code:   cmd.ProcessState.ExitCode(),
		stdout: strings.TrimSpace(stdout.String()),
		stderr: strings.TrimSpace(stderr.String()),
	}
}

// mustRun is run that must succeed; it returns the standard output.
func (c *checkout) mustRun(t *testing.T, args ...string) string {
	t.Helper()
	r := c.run(t, args...)
	require.Zero(t, r.code, "scripts/postgres %v: %s", args, r.stderr)
	return r.stdout
}

// start starts the server; it returns its URL. A machine that has a server only in DATABASE_URL
// skips the test.
func (c *checkout) start(t *testing.T) *url.URL {
	t.Helper()
	r := c.run(t, "start")
	if r.code != 0 && os.Getenv("DATABASE_URL") != "" && strings.Contains(r.stderr, "no Postgres >= ") {
		t.Skip(r.stderr)
	}
	require.Zero(t, r.code, "scripts/postgres start: %s", r.stderr)
	serverURL, err := url.Parse(r.stdout)
	require.NoError(t, err)
	return serverURL
}

// pid is the server's process, as status says.
func (c *checkout) pid(t *testing.T) int {
	t.Helper()
	found := regexp.MustCompile(`process (\d+)`).FindStringSubmatch(c.mustRun(t, "status"))
	require.Len(t, found, 2)
	pid, err := strconv.Atoi(found[1])
	require.NoError(t, err)
	return pid
}

// dataFolder is the server's data folder, as status says.
func (c *checkout) dataFolder(t *testing.T) string {
	t.Helper()
	found := regexp.MustCompile(`data: +(.*)`).FindStringSubmatch(c.mustRun(t, "status"))
	require.Len(t, found, 2)
	return found[1]
}

func TestPostgres(t *testing.T) {
	t.Parallel()

	t.Run("DatabaseURL", func(t *testing.T) {
		t.Parallel()
		c := newCheckout(t)
		const external = "DATABASE_URL=postgres://somebody@example.invalid/db"
		require.Equal(t, "postgres://somebody@example.invalid/db", c.mustRun(t, external, "start"))
		require.Equal(t, "postgres://somebody@example.invalid/db", c.mustRun(t, external, "url"))
		r := c.run(t, external, "stop")
		require.Zero(t, r.code)
		require.Contains(t, r.stderr, "DATABASE_URL is set")
		require.Equal(t, exitStopped, c.run(t, "status").code, "no server of its own was started")
	})

	// In a shell that has eval'ed "env", DATABASE_URL is this checkout's own.
	t.Run("DatabaseURLOfItsOwn", func(t *testing.T) {
		t.Parallel()
		c := newCheckout(t)
		serverURL := c.start(t)
		own := "DATABASE_URL=" + serverURL.String()
		require.Contains(t, c.mustRun(t, own, "env"), "export PATH=")
		require.Contains(t, c.mustRun(t, own, "status"), "process")
		require.Contains(t, c.run(t, own, "stop").stderr, "stopped")
		require.Equal(t, exitStopped, c.run(t, own, "url").code)
		c.mustRun(t, own, "start")
		require.Contains(t, c.mustRun(t, own, "psql", "-Atc", "SELECT 'alive'"), "alive")
		// Of another password it is another server's.
		other := *serverURL
		other.User = url.UserPassword("hippocampus", rand.Text())
		require.Contains(t, c.run(t, "DATABASE_URL="+other.String(), "stop").stderr, "DATABASE_URL is set")
		require.Contains(t, c.mustRun(t, "status"), "process")
	})

	// A start that is killed while it makes the cluster, alone or with the programs that it runs, leaves nothing
	// that the next one stumbles over.
	t.Run("KilledWhileStarting", func(t *testing.T) {
		t.Parallel()
		c := newCheckout(t)
		c.start(t)                          // the server's programs are there from now on
		for _, whom := range []int{1, -1} { // the script, its process group
			c.mustRun(t, "stop", "--delete")
			cmd := exec.CommandContext(t.Context(), c.script, "start")
			cmd.Env, cmd.SysProcAttr = environment(), &syscall.SysProcAttr{Setpgid: true}
			stderr, err := cmd.StderrPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			said, killed := bufio.NewScanner(stderr), false
			for !killed && said.Scan() {
				if strings.Contains(said.Text(), "making a database cluster") {
					killed = true
					require.NoError(t, syscall.Kill(whom*cmd.Process.Pid, syscall.SIGKILL))
				}
			}
			require.Error(t, cmd.Wait())
			require.True(t, killed)

			serverURL := c.start(t)
			require.Equal(t, "1", c.mustRun(t, "psql", "-Atc", "SELECT 1"))
			require.Equal(t, serverURL.String(), c.mustRun(t, "start"))
		}
	})

	t.Run("Lifecycle", func(t *testing.T) {
		t.Parallel()
		c := newCheckout(t)

		r := c.run(t, "status")
		require.Equal(t, exitStopped, r.code)
		require.Contains(t, r.stderr, "not running")
		require.Equal(t, exitStopped, c.run(t, "url").code)
		require.Equal(t, exitStopped, c.run(t, "psql", "-c", "SELECT 1").code)
		require.Contains(t, c.run(t, "stop").stderr, "not running")

		serverURL := c.start(t)
		require.Equal(t, "127.0.0.1", serverURL.Hostname())
		require.Equal(t, "/hippocampus", serverURL.Path)
		require.Equal(t, "hippocampus", serverURL.User.Username())
		r = c.run(t, "start")
		require.Equal(t, serverURL.String(), r.stdout)
		require.Empty(t, r.stderr, "a second start has nothing to say")
		require.Equal(t, serverURL.String(), c.mustRun(t, "url"))

		require.Equal(t, "t", c.mustRun(t, "psql", "-Atqc",
			`CREATE EXTENSION vector; SELECT '[1,0]'::vector <=> '[0,1]'::vector = 1`))
		require.Equal(t, "on", c.mustRun(t, "psql", "-Atc", "SHOW fsync"))

		wrong := *serverURL
		wrong.User = url.UserPassword("hippocampus", rand.Text())
		r = c.run(t, "psql", "-d", wrong.String(), "-c", "SELECT 1")
		require.NotZero(t, r.code)
		require.Contains(t, r.stderr, "password authentication failed")

		c.mustRun(t, "stop")
		require.Equal(t, exitStopped, c.run(t, "status").code)
		require.Equal(t, serverURL, c.start(t))
		require.Equal(t, "vector", c.mustRun(t, "psql", "-Atc",
			"SELECT extname FROM pg_extension WHERE extname = 'vector'"), "data outlive a stop")

		folder := filepath.Dir(c.dataFolder(t))
		c.mustRun(t, "stop", "--delete")
		require.NoDirExists(t, folder)
	})

	t.Run("Restart", func(t *testing.T) {
		t.Parallel()
		c := newCheckout(t)
		serverURL := c.start(t)
		data := c.dataFolder(t)
		pidFile := filepath.Join(data, "postmaster.pid")
		requireWorks := func() {
			t.Helper()
			require.Equal(t, "1", c.mustRun(t, "psql", "-Atc", "SELECT 1"))
		}

		// After a kill -9.
		require.NoError(t, syscall.Kill(c.pid(t), syscall.SIGKILL))
		require.Eventually(t, func() bool { return c.run(t, "status").code == exitStopped },
			10*time.Second, 50*time.Millisecond)
		require.FileExists(t, pidFile)
		require.Equal(t, serverURL, c.start(t))
		requireWorks()

		// After a reboot the process of that number may be anybody's: here, this test's.
		c.mustRun(t, "stop")
		stale := []byte(strconv.Itoa(os.Getpid()) + "\n" + data + "\n")
		require.NoError(t, os.WriteFile(pidFile, stale, 0o600))
		require.Equal(t, exitStopped, c.run(t, "status").code)
		require.Contains(t, c.run(t, "stop").stderr, "not running")
		require.NoError(t, os.WriteFile(pidFile, stale, 0o600))
		require.Equal(t, serverURL, c.start(t))
		requireWorks()

		// When the port has been taken.
		c.mustRun(t, "stop")
		listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", serverURL.Host)
		require.NoError(t, err)
		moved := c.start(t)
		require.NoError(t, listener.Close())
		require.NotEqual(t, serverURL.Host, moved.Host)
		require.Equal(t, serverURL.User, moved.User)
		requireWorks()

		// With other options.
		const options = "HIPPOCAMPUS_POSTGRES_OPTIONS=-c "
		r := c.run(t, options+"work_mem=7MB", "start")
		require.Zero(t, r.code)
		require.Contains(t, r.stderr, "stop it first")
		c.mustRun(t, "stop")
		r = c.run(t, options+"no_such_setting=1", "start")
		require.Equal(t, exitError, r.code)
		require.Contains(t, r.stderr, `unrecognized configuration parameter "no_such_setting"`)
		c.mustRun(t, options+"work_mem=7MB", "start")
		require.Equal(t, "7MB", c.mustRun(t, "psql", "-Atc", "SHOW work_mem"))
	})

	t.Run("TwoCheckouts", func(t *testing.T) {
		t.Parallel()
		checkouts := []*checkout{newCheckout(t), newCheckout(t)}
		checkouts[0].start(t)
		checkouts[0].mustRun(t, "stop")

		// Each of the two is started twice, all at once.
		urls := make([]string, 4)
		var running sync.WaitGroup
		for i := range urls {
			running.Go(func() { urls[i] = checkouts[i%2].run(t, "start").stdout })
		}
		running.Wait()
		require.NotEmpty(t, urls[0])
		require.NotEmpty(t, urls[1])
		require.NotEqual(t, urls[0], urls[1])
		require.Equal(t, urls[:2], urls[2:])

		checkouts[0].mustRun(t, "psql", "-qc", "CREATE TABLE mine ()")
		require.Equal(t, "f", checkouts[1].mustRun(t, "psql", "-Atc", "SELECT to_regclass('mine') IS NOT NULL"))
		checkouts[0].mustRun(t, "stop")
		require.Equal(t, urls[1], checkouts[1].mustRun(t, "url"), "the other one still runs")
	})

	t.Run("Usage", func(t *testing.T) {
		t.Parallel()
		c := newCheckout(t)
		require.Contains(t, c.mustRun(t, "help"), "Usage: scripts/postgres COMMAND")
		r := c.run(t, "frobnicate")
		require.Equal(t, exitError, r.code)
		require.Contains(t, r.stderr, "there is no command frobnicate")
		require.Equal(t, exitError, c.run(t, "stop", "--delete", "everything").code)
	})
}
