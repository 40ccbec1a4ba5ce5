package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/hippocampus-memory/hippocampus/db"
)

// The exit codes; the help documents them.
const (
	exitOK      = 0
	exitFailed  = 1
	exitUsage   = 2
	exitConnect = 4
)

const help = `Hippocampus for people: the memory of AI agents, whole, inside one Postgres.

The database is named by --database-url, else by DATABASE_URL, else by libpq's
variables PGHOST, PGPORT, PGUSER, PGPASSWORD, PGDATABASE, ... Bring it to the
schema with "migrate up" first; "hippo demo" does so by itself.

Models are named by the environment: HIPPOCAMPUS_MODEL_PROVIDER (offline, gemini
or openai; offline needs no key and no network), GEMINI_API_KEY, OPENAI_API_KEY,
OPENAI_BASE_URL, HIPPOCAMPUS_CHAT_MODEL, HIPPOCAMPUS_EMBED_MODEL.

Exit codes
  0  done
  1  failed
  2  wrong arguments
  4  no connection to the database`

// app is one run of the command.
type app struct {
	appName     string
	databaseURL string
	getenv      func(string) string
	json        bool
	stderr      io.Writer
	stdout      io.Writer
	userID      string
	verbose     bool
}

// usageError is a command line that can't be understood.
type usageError struct{ error }

// run runs the command and gives its exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer, getenv func(string) string) int {
	a := &app{getenv: getenv, stderr: stderr, stdout: stdout}
	root := a.command()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err != nil {
		fmt.Fprintf(stderr, "hippo: %v\n", err)
	}
	var usage usageError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &usage):
		fmt.Fprintln(stderr, `See "hippo help".`)
		return exitUsage
	case errors.Is(err, db.ErrConnect):
		return exitConnect
	}
	return exitFailed
}

func (a *app) command() *cobra.Command {
	root := &cobra.Command{
		Use:           "hippo",
		Short:         "Remember, recall and inspect the memory of agents",
		Long:          help,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_ = cmd.Help()
			return usageError{errors.New("a command is missing")}
		},
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError{fmt.Errorf("there is no command %q", args[0])}
			}
			return nil
		},
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	flags := root.PersistentFlags()
	flags.StringVar(&a.appName, "app", "hippo", "the app whose memory it is")
	flags.StringVar(&a.databaseURL, "database-url", "", "the database, as postgres://user:password@host:port/name")
	flags.BoolVar(&a.json, "json", false, "print JSON")
	flags.StringVar(&a.userID, "user", "me", "the user whose memory it is")
	flags.BoolVarP(&a.verbose, "verbose", "v", false, "log to standard error")
	root.AddCommand(a.bench(), a.context(), a.demo(), a.doctor(), a.importing(), a.search(), a.sqlAPI(), a.stats())
	return root
}

// noArgs refuses arguments.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError{fmt.Errorf("%s takes no arguments, but got %q", cmd.Name(), args[0])}
	}
	return nil
}

// someArgs wants one argument at least, and says what it is.
func someArgs(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usageError{fmt.Errorf("%s wants %s", cmd.Name(), what)}
		}
		return nil
	}
}

func (a *app) printJSON(v any) error {
	enc := json.NewEncoder(a.stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return nil
}
