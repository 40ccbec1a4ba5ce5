package main

import (
	"context"
	"errors"
	"io"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/internal/command"
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

` + command.ExitCodes

// app is one run of the command.
type app struct {
	databaseURL string
	getenv      func(string) string
	json        bool
	stderr      io.Writer
	stdout      io.Writer
	verbose     bool
}

// run runs the command and gives its exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer, getenv func(string) string) int {
	a := &app{getenv: getenv, stderr: stderr, stdout: stdout}
	return command.Run(ctx, a.command(), args, stdout, stderr)
}

func (a *app) command() *cobra.Command {
	root := command.Root(command.Group(
		&cobra.Command{Use: "migrate", Short: "Bring a database to the schema of Hippocampus", Long: help},
		a.bootstrap(), a.down(), a.status(), a.up(), a.validate(), a.version()))
	flags := root.PersistentFlags()
	flags.StringVar(&a.databaseURL, "database-url", "", "the database, as postgres://user:password@host:port/name")
	flags.BoolVar(&a.json, "json", false, "print JSON")
	flags.BoolVarP(&a.verbose, "verbose", "v", false, "log each step to standard error")
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
		return command.Argument(err)
	}
	return errors.Join(fn(m), m.Close())
}
