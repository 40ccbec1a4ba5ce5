package main

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/hippocampus-memory/hippocampus/db"
)

// The shapes of --json. Durations are in milliseconds, times in RFC 3339.
type (
	reportJSON struct {
		From       int64         `json:"from"`
		To         int64         `json:"to"`
		Dimension  int           `json:"dimension"`
		Functions  int           `json:"functions"`
		DurationMS float64       `json:"duration_ms"`
		Applied    []appliedJSON `json:"applied"`
	}
	appliedJSON struct {
		Version    int64   `json:"version"`
		Name       string  `json:"name"`
		DurationMS float64 `json:"duration_ms"`
	}
	statusJSON struct {
		Database      string          `json:"database"`
		Postgres      string          `json:"postgres"`
		Pgvector      string          `json:"pgvector"`
		Version       int64           `json:"version"`
		BinaryVersion int64           `json:"binary_version"`
		Dimension     int             `json:"dimension"`
		Functions     string          `json:"functions"`
		Migrations    []migrationJSON `json:"migrations"`
	}
	migrationJSON struct {
		Version   int64      `json:"version"`
		Name      string     `json:"name"`
		Breaking  bool       `json:"breaking"`
		AppliedAt *time.Time `json:"applied_at"`
	}
	validationJSON struct {
		Valid   bool   `json:"valid"`
		Problem string `json:"problem,omitempty"`
	}
	versionJSON struct {
		Version       int64 `json:"version"`
		BinaryVersion int64 `json:"binary_version"`
	}
)

func (a *app) printJSON(v any) error {
	enc := json.NewEncoder(a.stdout)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func (a *app) printReport(r *db.MigrationReport, direction string) error {
	if a.json {
		out := reportJSON{
			Applied: []appliedJSON{}, Dimension: r.Dimension, DurationMS: milliseconds(r.Duration),
			From: r.From, Functions: r.Functions, To: r.To,
		}
		for _, m := range r.Applied {
			out.Applied = append(out.Applied, appliedJSON{m.Version, m.Name, milliseconds(m.Duration)})
		}
		return a.printJSON(out)
	}
	if len(r.Applied) == 0 && r.Functions == 0 {
		_, err := fmt.Fprintf(a.stdout, "Nothing to do: the database is at version %d.\n", r.To)
		return err
	}
	return a.table(func(w io.Writer) {
		for _, m := range r.Applied {
			fmt.Fprintf(w, "%s\t%s\t%.0f ms\n", direction, m.Name, milliseconds(m.Duration))
		}
	}, func(w io.Writer) {
		verb := "applied"
		if direction == "down" {
			verb = "dropped"
		}
		fmt.Fprintf(w, "%d functions %s. The database went from version %d to %d in %.0f ms.\n",
			r.Functions, verb, r.From, r.To, milliseconds(r.Duration))
		if r.Dimension != 0 {
			fmt.Fprintf(w, "Its embeddings have dimension %d.\n", r.Dimension)
		}
	})
}

func (a *app) printStatus(s *db.Status) error {
	if a.json {
		out := statusJSON{
			BinaryVersion: s.BinaryVersion, Database: s.Database, Dimension: s.Dimension, Functions: s.Functions,
			Migrations: []migrationJSON{}, Pgvector: s.Pgvector, Postgres: s.Postgres, Version: s.Version,
		}
		for _, m := range s.Migrations {
			row := migrationJSON{Breaking: m.Breaking, Name: m.Name, Version: m.Version}
			if !m.AppliedAt.IsZero() {
				row.AppliedAt = &m.AppliedAt
			}
			out.Migrations = append(out.Migrations, row)
		}
		return a.printJSON(out)
	}
	return a.table(func(w io.Writer) {
		fmt.Fprintf(w, "database\t%s\n", s.Database)
		fmt.Fprintf(w, "postgres\t%s\n", s.Postgres)
		fmt.Fprintf(w, "pgvector\t%s\n", orNone(s.Pgvector))
		fmt.Fprintf(w, "version\t%d, this binary's is %d\n", s.Version, s.BinaryVersion)
		if s.Dimension != 0 {
			fmt.Fprintf(w, "dimension\t%d\n", s.Dimension)
		}
		fmt.Fprintf(w, "functions\t%s\n", s.Functions)
	}, func(w io.Writer) {
		fmt.Fprintln(w, "\nmigration\tapplied at")
		for _, m := range s.Migrations {
			applied := "pending"
			if !m.AppliedAt.IsZero() {
				applied = m.AppliedAt.UTC().Format(time.RFC3339)
			}
			name := m.Name
			if name == "" {
				name = fmt.Sprintf("%05d, unknown to this binary", m.Version)
			}
			if m.Breaking {
				applied += "\tbreaking"
			}
			fmt.Fprintf(w, "%s\t%s\n", name, applied)
		}
	})
}

func orNone(s string) string {
	if s == "" {
		return "not installed in this database"
	}
	return s
}

// printValidation prints what is wrong, or nothing for "". As text it prints the good news only: the
// other is the run's error.
func (a *app) printValidation(problem string) error {
	if a.json {
		return a.printJSON(validationJSON{Problem: problem, Valid: problem == ""})
	}
	if problem != "" {
		return nil
	}
	_, err := fmt.Fprintf(a.stdout, "Valid: the database is at version %d, as this binary needs it.\n", db.BinaryVersion())
	return err
}

func (a *app) printVersion(version int64) error {
	if a.json {
		return a.printJSON(versionJSON{BinaryVersion: db.BinaryVersion(), Version: version})
	}
	return a.table(func(w io.Writer) {
		fmt.Fprintf(w, "database\t%d\n", version)
		fmt.Fprintf(w, "binary\t%d\n", db.BinaryVersion())
	})
}

// table prints parts whose columns are aligned each for itself.
func (a *app) table(parts ...func(io.Writer)) error {
	for _, part := range parts {
		w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
		part(w)
		if err := w.Flush(); err != nil {
			return err
		}
	}
	return nil
}
