package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/internal/command"
	sqlfiles "github.com/hippocampus-memory/hippocampus/sql"
)

func (a *app) bootstrap() *cobra.Command {
	return &cobra.Command{
		Use:   "bootstrap",
		Short: "Print the SQL that only an administrator may run",
		Long: `Prints the SQL that makes the roles, the schema and the extension. "migrate up"
runs it by itself; print it where the login of "migrate up" may not. An
administrator then runs, once and in the database that will hold the memory:

    migrate bootstrap | psql -v ON_ERROR_STOP=1 "$ADMIN_URL"
    psql -c 'GRANT hippocampus_owner TO the_login' "$ADMIN_URL"

It may be run again, and asks for no database.`,
		Args: command.NoArgs,
		RunE: func(_ *cobra.Command, _ []string) error {
			_, err := fmt.Fprint(a.stdout, sqlfiles.Bootstrap)
			return err
		},
	}
}

func (a *app) down() *cobra.Command {
	var (
		to  int64
		yes bool
	)
	cmd := &cobra.Command{
		Use:   "down",
		Short: "Take the database back to an older version; data is lost",
		Long: `Takes the database back to an older version, and drops what the newer ones
made, with its data. The SQL functions are dropped in any case; "migrate up"
brings them back. Version 0 removes everything but the roles, the empty schema
and the extension.

Without --yes it only says what it would do.`,
		Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if newest := db.BinaryVersion(); to < 0 || to > newest {
				return command.Usagef("--to is %d, but must be between 0 and %d", to, newest)
			}
			return a.migrator(cmd.Context(), 0, func(m *db.Migrator) error {
				status, err := m.Status(cmd.Context())
				if err != nil {
					return err
				}
				if !cmd.Flags().Changed("to") {
					to = versionBefore(status)
				}
				if to == status.Version {
					return a.printReport(&db.MigrationReport{Dimension: status.Dimension, From: to, To: to}, "down")
				}
				if undone := appliedAfter(status, to); !yes && len(undone) > 0 {
					return command.Usagef("this would take the database %s from version %d to %d, and undo %s with their data: "+
						"run it again with --yes", status.Database, status.Version, to, strings.Join(undone, ", "))
				}
				report, err := m.Down(cmd.Context(), to)
				if err != nil {
					return err
				}
				return a.printReport(report, "down")
			})
		},
	}
	cmd.Flags().Int64Var(&to, "to", 0, "the version to go to (default the one before the database's)")
	cmd.Flags().BoolVar(&yes, "yes", false, "do it")
	return cmd
}

// versionBefore is the newest applied version before the database's.
func versionBefore(s *db.Status) int64 {
	before := int64(0)
	for _, m := range s.Migrations {
		if !m.AppliedAt.IsZero() && m.Version < s.Version {
			before = max(before, m.Version)
		}
	}
	return before
}

// appliedAfter names the migrations of versions after one that the database has.
func appliedAfter(s *db.Status, version int64) []string {
	var names []string
	for _, m := range s.Migrations {
		if !m.AppliedAt.IsZero() && m.Version > version {
			names = append(names, m.Name)
		}
	}
	return names
}

func (a *app) status() *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show the server, the migrations and the functions",
		Long:  "Shows which migrations are applied and which are pending. Changes nothing.",
		Args:  command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.migrator(cmd.Context(), 0, func(m *db.Migrator) error {
				status, err := m.Status(cmd.Context())
				if err != nil {
					return err
				}
				return a.printStatus(status)
			})
		},
	}
}

func (a *app) up() *cobra.Command {
	var dimension int
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Bring the database to this binary's version",
		Long: `Brings the database to this binary's version: roles, schema and extension where
they are missing, then the pending migrations, then the SQL functions where any
has changed. May be run at every start of a deployment, by any number of
processes at once: one does the work, the others wait for it.

The dimension of the embeddings is chosen by the first "migrate up" of a
database, and is that of the embedding model to be used: 1536 for OpenAI's
text-embedding-3-small, 768 or 3072 for Gemini's gemini-embedding-001.`,
		Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("dimension") && (dimension < 1 || dimension > db.MaxDimension) {
				return command.Usagef("--dimension is %d, but must be between 1 and %d", dimension, db.MaxDimension)
			}
			return a.migrator(cmd.Context(), dimension, func(m *db.Migrator) error {
				report, err := m.Up(cmd.Context())
				if err != nil {
					return err
				}
				return a.printReport(report, "up")
			})
		},
	}
	cmd.Flags().IntVar(&dimension, "dimension", 0,
		"components of an embedding, 1 to 4000 (default what the database has, 1536 for a new one)")
	return cmd
}

func (a *app) validate() *cobra.Command {
	return &cobra.Command{
		Use:   "validate",
		Short: "Check that the database is as this binary needs it",
		Long: `Checks the server, every migration, River's tables, the SQL functions and the
owner of everything. Changes nothing. The exit code is 3 if something is not as
it must be; standard error says what.`,
		Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.migrator(cmd.Context(), 0, func(m *db.Migrator) error {
				err := m.Validate(cmd.Context())
				switch {
				case err == nil:
					return a.printValidation("")
				case errors.Is(err, db.ErrInvalidSchema):
					return errors.Join(a.printValidation(err.Error()), err)
				}
				return err
			})
		},
	}
}

func (a *app) version() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of the database's schema and of this binary's",
		Args:  command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.migrator(cmd.Context(), 0, func(m *db.Migrator) error {
				version, err := m.Version(cmd.Context())
				if err != nil {
					return err
				}
				return a.printVersion(version)
			})
		},
	}
}
