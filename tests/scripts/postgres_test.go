// Package scripts_test runs the scripts of this repository.
package scripts_test

import (
	"bufio"
	"crypto/rand"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

// Exit codes of scripts/postgres.
const (
	exitError   = 1
	exitStopped = 3
)

type checkout struct{ *dbtest.Checkout }

func newCheckout(t *testing.T) checkout {
	t.Helper()
	return checkout{dbtest.NewCheckout(t)}
}

// dataFolder is the server's data folder, as status says.
func (c checkout) dataFolder(t *testing.T) string {
	t.Helper()
	found := regexp.MustCompile(`data: +(.*)`).FindStringSubmatch(c.MustRun(t, "status"))
	require.Len(t, found, 2)
	return found[1]
}

func TestPostgres(t *testing.T) {
	t.Parallel()

	t.Run("DatabaseURL", func(t *testing.T) {
		t.Parallel()
		c := newCheckout(t)
		const external = "DATABASE_URL=postgres://somebody@example.invalid/db"
		require.Equal(t, "postgres://somebody@example.invalid/db", c.MustRun(t, external, "start"))
		require.Equal(t, "postgres://somebody@example.invalid/db", c.MustRun(t, external, "url"))
		r := c.Run(t, external, "stop")
		require.Zero(t, r.Code)
		require.Contains(t, r.Stderr, "DATABASE_URL is set")
		require.Equal(t, exitStopped, c.Run(t, "status").Code, "no server of its own was started")
	})

	// In a shell that has eval'ed "env", DATABASE_URL is this checkout's own.
	t.Run("DatabaseURLOfItsOwn", func(t *testing.T) {
		t.Parallel()
		c := newCheckout(t)
		serverURL := c.Start(t)
		own := "DATABASE_URL=" + serverURL.String()
		require.Contains(t, c.MustRun(t, own, "env"), "export PATH=")
		require.Contains(t, c.MustRun(t, own, "status"), "process")
		require.Contains(t, c.Run(t, own, "stop").Stderr, "stopped")
		require.Equal(t, exitStopped, c.Run(t, own, "url").Code)
		c.MustRun(t, own, "start")
		require.Contains(t, c.MustRun(t, own, "psql", "-Atc", "SELECT 'alive'"), "alive")
		// Of another password it is another server's.
		other := *serverURL
		other.User = url.UserPassword("hippocampus", rand.Text())
		require.Contains(t, c.Run(t, "DATABASE_URL="+other.String(), "stop").Stderr, "DATABASE_URL is set")
		require.Contains(t, c.MustRun(t, "status"), "process")
	})

	// A start that is killed while it makes the cluster, alone or with the programs that it runs, leaves nothing
	// that the next one stumbles over.
	t.Run("KilledWhileStarting", func(t *testing.T) {
		t.Parallel()
		c := newCheckout(t)
		c.Start(t)                          // the server's programs are there from now on
		for _, whom := range []int{1, -1} { // the script, its process group
			c.MustRun(t, "stop", "--delete")
			cmd := exec.CommandContext(t.Context(), c.Script, "start")
			cmd.Env, cmd.SysProcAttr = dbtest.Environment(), &syscall.SysProcAttr{Setpgid: true}
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

			serverURL := c.Start(t)
			require.Equal(t, "1", c.MustRun(t, "psql", "-Atc", "SELECT 1"))
			require.Equal(t, serverURL.String(), c.MustRun(t, "start"))
		}
	})

	t.Run("Lifecycle", func(t *testing.T) {
		t.Parallel()
		c := newCheckout(t)

		r := c.Run(t, "status")
		require.Equal(t, exitStopped, r.Code)
		require.Contains(t, r.Stderr, "not running")
		require.Equal(t, exitStopped, c.Run(t, "url").Code)
		require.Equal(t, exitStopped, c.Run(t, "psql", "-c", "SELECT 1").Code)
		require.Contains(t, c.Run(t, "stop").Stderr, "not running")

		serverURL := c.Start(t)
		require.Equal(t, "127.0.0.1", serverURL.Hostname())
		require.Equal(t, "/hippocampus", serverURL.Path)
		require.Equal(t, "hippocampus", serverURL.User.Username())
		r = c.Run(t, "start")
		require.Equal(t, serverURL.String(), r.Stdout)
		require.Empty(t, r.Stderr, "a second start has nothing to say")
		require.Equal(t, serverURL.String(), c.MustRun(t, "url"))

		require.Equal(t, "t", c.MustRun(t, "psql", "-Atqc",
			`CREATE EXTENSION vector; SELECT '[1,0]'::vector <=> '[0,1]'::vector = 1`))
		require.Equal(t, "on", c.MustRun(t, "psql", "-Atc", "SHOW fsync"))

		wrong := *serverURL
		wrong.User = url.UserPassword("hippocampus", rand.Text())
		r = c.Run(t, "psql", "-d", wrong.String(), "-c", "SELECT 1")
		require.NotZero(t, r.Code)
		require.Contains(t, r.Stderr, "password authentication failed")

		c.MustRun(t, "stop")
		require.Equal(t, exitStopped, c.Run(t, "status").Code)
		require.Equal(t, serverURL, c.Start(t))
		require.Equal(t, "vector", c.MustRun(t, "psql", "-Atc",
			"SELECT extname FROM pg_extension WHERE extname = 'vector'"), "data outlive a stop")

		folder := filepath.Dir(c.dataFolder(t))
		c.MustRun(t, "stop", "--delete")
		require.NoDirExists(t, folder)
	})

	t.Run("Restart", func(t *testing.T) {
		t.Parallel()
		c := newCheckout(t)
		serverURL := c.Start(t)
		data := c.dataFolder(t)
		pidFile := filepath.Join(data, "postmaster.pid")
		requireWorks := func() {
			t.Helper()
			require.Equal(t, "1", c.MustRun(t, "psql", "-Atc", "SELECT 1"))
		}

		// After a kill -9.
		c.Kill(t)
		require.FileExists(t, pidFile)
		require.Equal(t, serverURL, c.Start(t))
		requireWorks()

		// After a reboot the process of that number may be anybody's: here, this test's.
		c.MustRun(t, "stop")
		stale := []byte(strconv.Itoa(os.Getpid()) + "\n" + data + "\n")
		require.NoError(t, os.WriteFile(pidFile, stale, 0o600))
		require.Equal(t, exitStopped, c.Run(t, "status").Code)
		require.Contains(t, c.Run(t, "stop").Stderr, "not running")
		require.NoError(t, os.WriteFile(pidFile, stale, 0o600))
		require.Equal(t, serverURL, c.Start(t))
		requireWorks()

		// When the port has been taken.
		c.MustRun(t, "stop")
		listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", serverURL.Host)
		require.NoError(t, err)
		moved := c.Start(t)
		require.NoError(t, listener.Close())
		require.NotEqual(t, serverURL.Host, moved.Host)
		require.Equal(t, serverURL.User, moved.User)
		requireWorks()

		// With other options.
		const options = "HIPPOCAMPUS_POSTGRES_OPTIONS=-c "
		r := c.Run(t, options+"work_mem=7MB", "start")
		require.Zero(t, r.Code)
		require.Contains(t, r.Stderr, "stop it first")
		c.MustRun(t, "stop")
		r = c.Run(t, options+"no_such_setting=1", "start")
		require.Equal(t, exitError, r.Code)
		require.Contains(t, r.Stderr, `unrecognized configuration parameter "no_such_setting"`)
		c.MustRun(t, options+"work_mem=7MB", "start")
		require.Equal(t, "7MB", c.MustRun(t, "psql", "-Atc", "SHOW work_mem"))
	})

	t.Run("TwoCheckouts", func(t *testing.T) {
		t.Parallel()
		checkouts := []checkout{newCheckout(t), newCheckout(t)}
		checkouts[0].Start(t)
		checkouts[0].MustRun(t, "stop")

		// Each of the two is started twice, all at once.
		urls := make([]string, 4)
		var running sync.WaitGroup
		for i := range urls {
			running.Go(func() { urls[i] = checkouts[i%2].Run(t, "start").Stdout })
		}
		running.Wait()
		require.NotEmpty(t, urls[0])
		require.NotEmpty(t, urls[1])
		require.NotEqual(t, urls[0], urls[1])
		require.Equal(t, urls[:2], urls[2:])

		checkouts[0].MustRun(t, "psql", "-qc", "CREATE TABLE mine ()")
		require.Equal(t, "f", checkouts[1].MustRun(t, "psql", "-Atc", "SELECT to_regclass('mine') IS NOT NULL"))
		checkouts[0].MustRun(t, "stop")
		require.Equal(t, urls[1], checkouts[1].MustRun(t, "url"), "the other one still runs")
	})

	t.Run("Usage", func(t *testing.T) {
		t.Parallel()
		c := newCheckout(t)
		require.Contains(t, c.MustRun(t, "help"), "Usage: scripts/postgres COMMAND")
		r := c.Run(t, "frobnicate")
		require.Equal(t, exitError, r.Code)
		require.Contains(t, r.Stderr, "there is no command frobnicate")
		require.Equal(t, exitError, c.Run(t, "stop", "--delete", "everything").Code)
	})
}
