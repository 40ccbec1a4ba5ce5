// Package command is what all commands of the project have in common: how they end by a signal, how
// they say what went wrong, and which exit code they end with.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hippocampus-memory/hippocampus/db"
)

// The exit codes; the help of every command has [ExitCodes].
const (
	ExitOK          = 0
	ExitFailed      = 1
	ExitUsage       = 2
	ExitInvalid     = 3
	ExitConnect     = 4
	ExitNewer       = 5
	ExitInterrupted = 130 // as shells have it
)

// ExitCodes documents them.
const ExitCodes = `Exit codes
  0    done, or stopped as asked
  1    failed
  2    wrong arguments: a flag, a variable, the database's URL, a model's name
  3    the database is not as this binary needs it: it is not migrated, older, not
       as migrations have left it, or its vectors are of another model
  4    no connection to the database
  5    the database is newer than this binary
  130  interrupted before it was done`

// UsageError is a command line that can't be understood.
type UsageError struct{ Err error }

// Error is that of what is wrong.
func (e *UsageError) Error() string { return e.Err.Error() }

// Unwrap gives what is wrong.
func (e *UsageError) Unwrap() error { return e.Err }

// Usage makes an error a [UsageError].
func Usage(err error) error { return &UsageError{Err: err} }

// Usagef makes a [UsageError] as [fmt.Errorf] makes errors.
func Usagef(format string, args ...any) error { return &UsageError{Err: fmt.Errorf(format, args...)} }

// Argument makes an error that is about what the command line gave, as [db.ErrInvalidArgument] is of the
// database's URL, a [UsageError]; others stay.
func Argument(err error) error {
	if errors.Is(err, db.ErrInvalidArgument) {
		return Usage(err)
	}
	return err
}

// Main runs a command as this process, and ends it with the exit code. The command's context is done
// at the first interrupt or SIGTERM.
func Main(run func(ctx context.Context, args []string, stdout, stderr io.Writer, getenv func(string) string) int) {
	os.Exit(run(untilSignal(), os.Args[1:], os.Stdout, os.Stderr, os.Getenv))
}

// Root makes a command the root of a command line that Run runs. Its --version is [Version].
func Root(cmd *cobra.Command) *cobra.Command {
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.Version = Version()
	cmd.CompletionOptions.DisableDefaultCmd = true
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return Usage(err) })
	return cmd
}

// Group makes a command that does nothing without one of its commands.
func Group(cmd *cobra.Command, commands ...*cobra.Command) *cobra.Command {
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		for cmd.SuggestionsMinimumDistance = 1; cmd.SuggestionsMinimumDistance <= 2; cmd.SuggestionsMinimumDistance++ {
			if near := cmd.SuggestionsFor(args[0]); len(near) > 0 { // the nearest alone
				return Usagef("there is no command %q; did you mean %s?", args[0], strings.Join(near, " or "))
			}
		}
		return Usagef("there is no command %q", args[0])
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		_ = cmd.Help()
		return Usage(errors.New("a command is missing"))
	}
	cmd.AddCommand(commands...)
	return cmd
}

// Run runs a command line, says on stderr what went wrong, and gives the exit code. Whatever error a
// command ends with once ctx is done, it was interrupted.
func Run(ctx context.Context, root *cobra.Command, args []string, stdout, stderr io.Writer) int {
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return ExitOK
	}
	code := exitCode(ctx, err)
	switch {
	case code == ExitInterrupted && errors.Is(err, context.Canceled):
		fmt.Fprintf(stderr, "%s: interrupted; start it again to go on\n", root.Name())
	case code == ExitInterrupted:
		fmt.Fprintf(stderr, "%s: interrupted: %v; start it again to go on\n", root.Name(), err)
	default:
		fmt.Fprintf(stderr, "%s: %v\n", root.Name(), err)
	}
	if code == ExitUsage {
		fmt.Fprintf(stderr, "See \"%s --help\".\n", cmd.CommandPath())
	}
	return code
}

func exitCode(ctx context.Context, err error) int {
	var usage *UsageError
	switch {
	case ctx.Err() != nil:
		return ExitInterrupted
	case errors.As(err, &usage), errors.Is(err, db.ErrInvalidScope), errors.Is(err, db.ErrInvalidBudget):
		return ExitUsage
	case errors.Is(err, db.ErrConnect):
		return ExitConnect
	case errors.Is(err, db.ErrDatabaseNewer):
		return ExitNewer
	case errors.Is(err, db.ErrInvalidSchema), errors.Is(err, db.ErrNotMigrated), errors.Is(err, db.ErrDimension),
		errors.Is(err, db.ErrEmbeddingModel):
		return ExitInvalid
	}
	return ExitFailed
}

// Count is so many things, in words.
func Count(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// NoArgs refuses arguments.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return Usagef("%s takes no arguments, but got %q", cmd.Name(), args[0])
	}
	return nil
}

// SomeArgs wants one argument at least, and says what it is.
func SomeArgs(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return Usagef("%s wants %s", cmd.Name(), what)
		}
		return nil
	}
}

// OneArg wants one argument, and says what it is.
func OneArg(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return Usagef("%s wants %s, but got %s", cmd.Name(), what, Count(int64(len(args)), "argument", "arguments"))
		}
		return nil
	}
}

// AtMost refuses more than n arguments, and says what they are.
func AtMost(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > n {
			return Usagef("%s takes %s, but got %d arguments", cmd.Name(), what, len(args))
		}
		return nil
	}
}
