package command_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/internal/command"
	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

// run runs "tool do" with arguments, whose command ends with an error.
func run(ctx context.Context, err error, args ...string) (code int, stderr string) {
	do := &cobra.Command{Use: "do", Args: command.NoArgs, RunE: func(*cobra.Command, []string) error { return err }}
	root := command.Root(command.Group(&cobra.Command{Use: "tool"}, do))
	var out, errs bytes.Buffer
	code = command.Run(ctx, root, args, &out, &errs)
	return code, errs.String()
}

func TestRun(t *testing.T) {
	t.Parallel()

	t.Run("Version", func(t *testing.T) {
		t.Parallel()
		var out bytes.Buffer
		root := command.Root(command.Group(&cobra.Command{Use: "tool"}))
		require.Zero(t, command.Run(t.Context(), root, []string{"--version"}, &out, &out))
		require.Equal(t, "tool version "+command.Version()+"\n", out.String())
	})

	t.Run("Codes", func(t *testing.T) {
		t.Parallel()
		for _, tt := range []struct {
			err  error
			code int
		}{
			{nil, command.ExitOK},
			{errors.New("no"), command.ExitFailed},
			{command.Usagef("what is %q", "x"), command.ExitUsage},
			{fmt.Errorf("open: %w", command.Usage(db.ErrConnect)), command.ExitUsage},
			{db.ErrInvalidScope, command.ExitUsage},
			{db.ErrInvalidBudget, command.ExitUsage},
			{db.ErrInvalidSchema, command.ExitInvalid},
			{db.ErrNotMigrated, command.ExitInvalid},
			{db.ErrDimension, command.ExitInvalid},
			{db.ErrEmbeddingModel, command.ExitInvalid},
			{db.ErrConnect, command.ExitConnect},
			{db.ErrDatabaseNewer, command.ExitNewer},
		} {
			code, said := run(t.Context(), tt.err, "do")
			require.Equal(t, tt.code, code, tt.err)
			switch {
			case tt.err == nil:
				require.Empty(t, said)
			case code == command.ExitUsage:
				require.Equal(t, fmt.Sprintf("tool: %v\nSee \"tool do --help\".\n", tt.err), said)
			default:
				require.Equal(t, fmt.Sprintf("tool: %v\n", tt.err), said)
			}
		}
	})

	t.Run("Interrupted", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		code, said := run(ctx, fmt.Errorf("query: %w", context.Canceled), "do")
		require.Equal(t, command.ExitInterrupted, code)
		require.Equal(t, "tool: interrupted; start it again to go on\n", said)
		code, said = run(ctx, errors.New("the disk is full"), "do")
		require.Equal(t, command.ExitInterrupted, code)
		require.Equal(t, "tool: interrupted: the disk is full; start it again to go on\n", said, "nothing is swallowed")
		code, _ = run(ctx, nil, "do")
		require.Equal(t, command.ExitOK, code, "it had been done")
	})

	t.Run("Usage", func(t *testing.T) {
		t.Parallel()
		for want, args := range map[string][]string{
			"a command is missing":                       {},
			`there is no command "play"`:                 {"play"},
			`there is no command "od"; did you mean do?`: {"od"},
			`do takes no arguments, but got "x"`:         {"do", "x"},
			"unknown flag: --x":                          {"do", "--x"},
		} {
			code, said := run(t.Context(), nil, args...)
			require.Equal(t, command.ExitUsage, code)
			require.Contains(t, said, "tool: "+want+"\nSee \"tool")
		}
	})
}

// TestSignals interrupts each command in the middle of its work.
func TestSignals(t *testing.T) {
	t.Parallel()
	root, err := dbtest.Root()
	require.NoError(t, err)
	bin := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-o", bin, "./cmd/...")
	build.Dir = root
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))

	// interrupted starts a command that waits for a lock, and gives how it ends by a signal.
	interrupted := func(t *testing.T, databaseURL, lock, waits string, signal syscall.Signal, args ...string) (int, string) {
		t.Helper()
		conn, err := pgx.Connect(t.Context(), databaseURL)
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close(context.Background()) })
		tx, err := conn.Begin(t.Context())
		require.NoError(t, err)
		_, err = tx.Exec(t.Context(), lock)
		require.NoError(t, err)
		var said bytes.Buffer
		cmd := exec.CommandContext(t.Context(), filepath.Join(bin, args[0]), args[1:]...)
		cmd.Env = append(cmd.Environ(), "DATABASE_URL="+databaseURL)
		cmd.Stderr = &said
		require.NoError(t, cmd.Start())
		watch, err := pgx.Connect(t.Context(), databaseURL)
		require.NoError(t, err)
		defer func() { _ = watch.Close(context.Background()) }()
		for waiting := false; !waiting; {
			require.NoError(t, watch.QueryRow(t.Context(), waits).Scan(&waiting))
		}
		require.NoError(t, cmd.Process.Signal(signal))
		_ = cmd.Wait()
		return cmd.ProcessState.ExitCode(), said.String()
	}
	const waits = `SELECT EXISTS (SELECT FROM pg_stat_activity a
		WHERE a.datname = current_database() AND a.wait_event_type = 'Lock')`

	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run("migrate/"+signal.String(), func(t *testing.T) {
			t.Parallel()
			databaseURL := dbtest.DatabaseURL(dbtest.DB(t))
			code, said := interrupted(t, databaseURL, "LOCK TABLE hippocampus.settings", waits, signal, "migrate", "down", "--to", "0", "--yes")
			require.Equal(t, command.ExitInterrupted, code, said)
			require.Contains(t, said, "migrate: interrupted")
		})
		t.Run("hippo/"+signal.String(), func(t *testing.T) {
			t.Parallel()
			databaseURL := dbtest.DatabaseURL(dbtest.DB(t))
			code, said := interrupted(t, databaseURL, "LOCK TABLE hippocampus.memories", waits, signal, "hippo", "remember", "tea")
			require.Equal(t, command.ExitInterrupted, code, said)
			require.Contains(t, said, "hippo: interrupted")
		})
		t.Run("worker/"+signal.String(), func(t *testing.T) {
			t.Parallel()
			databaseURL := dbtest.DatabaseURL(dbtest.DB(t))
			code, said := interrupted(t, databaseURL, "LOCK TABLE hippocampus.settings", waits, signal, "worker", "--once")
			require.Equal(t, command.ExitInterrupted, code, said)
			require.Contains(t, said, "worker: interrupted")
		})
	}
}
