package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/hippocampus-memory/hippocampus/db"
)

// The exit codes; the help documents them.
const (
	exitOK      = 0
	exitFailed  = 1
	exitUsage   = 2
	exitInvalid = 3
	exitConnect = 4
	exitNewer   = 5
)

const help = `Brings a Postgres database to the schema of Hippocampus, and back.

The database is named by --database-url, else by DATABASE_URL, else by libpq's
variables PGHOST, PGPORT, PGUSER, PGPASSWORD, PGDATABASE, ... It must be a
direct connection, or a pooler in session mode. The server must be Postgres 16
or newer with pgvector 0.8 or newer.

Everything is made in the schema hippocampus and belongs to the role
hippocampus_owner. The first "migrate up" also makes that role, the four roles
to be granted to logins, and the extension vector; if its login may not, it
says what an administrator has to run once.

Exit codes
  0  done; for validate: the schema is as this binary needs it
  1  failed
  2  wrong arguments
  3  validate: the schema is older, or is not as migrations have left it
  4  no connection to the database
  5  the database is newer than this binary`

// app is one run of the command.
type app struct {
	databaseURL string
	getenv      func(string) string
	json        bool
	stderr      io.Writer
	stdout      io.Writer
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
		fmt.Fprintf(stderr, "migrate: %v\n", err)
	}
	var usage usageError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &usage):
		fmt.Fprintln(stderr, `See "migrate help".`)
		return exitUsage
	case errors.Is(err, db.ErrConnect):
		return exitConnect
	case errors.Is(err, db.ErrDatabaseNewer):
		return exitNewer
	case errors.Is(err, db.ErrInvalidSchema):
		return exitInvalid
	}
	return exitFailed
}

func (a *app) command() *cobra.Command {
	root := &cobra.Command{
		Use:           "migrate",
		Short:         "Bring a database to the schema of Hippocampus",
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
	flags.StringVar(&a.databaseURL, "database-url", "", "the database, as postgres://user:password@host:port/name")
	flags.BoolVar(&a.json, "json", false, "print JSON")
	flags.BoolVarP(&a.verbose, "verbose", "v", false, "log each step to standard error")
	root.AddCommand(a.bootstrap(), a.down(), a.status(), a.up(), a.validate(), a.version())
	return root
}

// migrator opens the database for fn.
func (a *app) migrator(ctx context.Context, dimension int, fn func(*db.Migrator) error) error {
	databaseURL := a.databaseURL
	if databaseURL == "" {
		databaseURL = a.getenv("DATABASE_URL")
	}
	logger := slog.New(slog.DiscardHandler)
	if a.verbose {
		logger = slog.New(slog.NewTextHandler(a.stderr, nil))
	}
	m, err := db.NewMigrator(ctx, databaseURL, &db.MigratorConfig{Dimension: dimension, Logger: logger})
	if err != nil {
		return err
	}
	return errors.Join(fn(m), m.Close())
}

// noArgs refuses arguments.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError{fmt.Errorf("%s takes no arguments, but got %q", cmd.Name(), args[0])}
	}
	return nil
}
