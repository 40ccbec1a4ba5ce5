package dbtest

import (
	"bytes"
	"context"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
)

// A Checkout is a copy of scripts/postgres in a folder of its own, which is all that the script
// needs of a checkout. So its server is the test's own, to be stopped and killed; it is removed when
// the test ends. The server's programs come from the cache of this machine, so that only the first
// test ever fetches them.
type Checkout struct {
	// Script is the copy.
	Script string
}

// NewCheckout makes a checkout. Its server is not started.
func NewCheckout(t testing.TB) *Checkout {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("scripts/postgres needs bash")
	}
	root, err := Root()
	require.NoError(t, err)
	original, err := os.ReadFile(filepath.Join(root, "scripts", "postgres"))
	require.NoError(t, err)
	c := &Checkout{Script: filepath.Join(t.TempDir(), "scripts", "postgres")}
	require.NoError(t, os.Mkdir(filepath.Dir(c.Script), 0o700))
	require.NoError(t, os.WriteFile(c.Script, original, 0o700)) //nolint:gosec // it is run
	t.Cleanup(func() {
		if r := c.Run(t, "stop", "--delete"); r.Code != 0 {
			t.Errorf("scripts/postgres stop --delete: %s", r.Stderr)
		}
	})
	return c
}

// Result is what one run of the script said.
type Result struct {
	Code   int
	Stdout string
	Stderr string
}

// Environment is that of this process without what names a server.
func Environment() []string {
	var env []string
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "DATABASE_URL=") && !strings.HasPrefix(pair, "HIPPOCAMPUS_POSTGRES_OPTIONS=") {
			env = append(env, pair)
		}
	}
	return env
}

// Run runs the script without DATABASE_URL, plus the KEY=value pairs among the arguments.
func (c *Checkout) Run(t testing.TB, args ...string) Result {
	t.Helper()
	env := Environment()
	for len(args) > 0 && strings.Contains(args[0], "=") {
		env, args = append(env, args[0]), args[1:]
	}

	// The test's own context is cancelled before its clean-up, which runs the script too.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 5*time.Minute)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, c.Script, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = env, &stdout, &stderr
	if err := cmd.Run(); cmd.ProcessState == nil {
		t.Errorf("scripts/postgres %v: %v", args, err)
	}
	require.NotRegexp(t, `postgres: line \d+: `, stderr.String(), "bash speaks where the script should")
	return Result{
		Code:   cmd.ProcessState.ExitCode(),
		Stdout: strings.TrimSpace(stdout.String()),
		Stderr: strings.TrimSpace(stderr.String()),
	}
}

// MustRun is Run that must succeed; it returns the standard output.
func (c *Checkout) MustRun(t testing.TB, args ...string) string {
	t.Helper()
	r := c.Run(t, args...)
	require.Zero(t, r.Code, "scripts/postgres %v: %s", args, r.Stderr)
	return r.Stdout
}

// Start starts the server; it returns its URL. A machine that has a server only in DATABASE_URL
// skips the test.
func (c *Checkout) Start(t testing.TB) *url.URL {
	t.Helper()
	r := c.Run(t, "start")
	if r.Code != 0 && os.Getenv("DATABASE_URL") != "" && strings.Contains(r.Stderr, "no Postgres >= ") {
		t.Skip(r.Stderr)
	}
	require.Zero(t, r.Code, "scripts/postgres start: %s", r.Stderr)
	serverURL, err := url.Parse(r.Stdout)
	require.NoError(t, err)
	return serverURL
}

// PID is the server's process, as status says.
func (c *Checkout) PID(t testing.TB) int {
	t.Helper()
	found := regexp.MustCompile(`process (\d+)`).FindStringSubmatch(c.MustRun(t, "status"))
	require.Len(t, found, 2)
	pid, err := strconv.Atoi(found[1])
	require.NoError(t, err)
	return pid
}

// stopped is status's exit code where no server runs.
const stopped = 3

// Kill kills the server as kill -9 does, and waits until it is gone.
func (c *Checkout) Kill(t testing.TB) {
	t.Helper()
	require.NoError(t, syscall.Kill(c.PID(t), syscall.SIGKILL))
	require.Eventually(t, func() bool { return c.Run(t, "status").Code == stopped }, time.Minute, 50*time.Millisecond)
}

// Pool starts the server, and gives its database with the whole schema and no rows.
func (c *Checkout) Pool(t testing.TB) *pgxpool.Pool {
	t.Helper()
	databaseURL := c.Start(t).String()
	require.NoError(t, migrate(t.Context(), databaseURL, DefaultDimension))
	return newPool(t, withoutSearchPath(databaseURL), 8, nil)
}
