package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hippocampus-memory/hippocampus/internal/command"
	"github.com/hippocampus-memory/hippocampus/service"
)

// statsReport is the shape of --json.
type statsReport struct {
	App  string `json:"app"`
	User string `json:"user"`
	service.Stats
}

func (a *app) stats() *cobra.Command {
	return &cobra.Command{
		Use:   "stats",
		Short: "Count what a user's memory holds",
		Args:  command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withEngine(cmd.Context(), func(e *engine) error {
				s, err := e.service.Stats(cmd.Context(), a.scope())
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(statsReport{App: a.appName, Stats: *s, User: a.userID})
				}
				fmt.Fprintf(a.stdout, "The memory of %s in %s\n\n", a.userID, a.appName)
				if *s == (service.Stats{}) {
					_, err := fmt.Fprintln(a.stdout, "It is empty: import a conversation, or name another with --user and --app.")
					return err
				}
				t := a.table("WHAT", "COUNT")
				t.row("threads", s.Threads)
				t.row("events", s.Events)
				t.row("  consolidated", s.EventsConsolidated)
				t.row("memories", s.Memories)
				t.row("  episodic", s.Episodic)
				t.row("  semantic", s.Semantic)
				t.row("  summaries", s.Summaries)
				t.row("  tokens", s.Tokens)
				t.row("facts, current", s.FactsCurrent)
				t.row("facts, history", s.FactsHistory)
				t.row("blocks", s.Blocks)
				t.row("vectors", s.Embeddings)
				t.row("  to come", s.EmbeddingsQueued)
				t.row("consolidations waiting", s.JobsPending)
				t.row("  running", s.JobsRunning)
				t.row("  failed", s.JobsFailed)
				return t.print()
			})
		},
	}
}

func (a *app) doctor() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Check the database and this login",
		Long:  "Checks the database and this login. The exit code is 1 where a check has failed (STATUS error).",
		Args:  command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			pool, err := a.openMigrated(cmd.Context())
			if err != nil {
				return err
			}
			defer pool.Close()
			findings, err := service.Examine(cmd.Context(), pool)
			if err != nil {
				return err
			}
			if a.json {
				return errors.Join(a.printJSON(findings), faults(findings))
			}
			t := a.table("STATUS", "CHECK", "FOUND")
			for _, f := range findings {
				t.row(f.Status, strings.ReplaceAll(f.Name, "_", " "), strings.TrimSpace(f.Detail+". "+f.Hint))
			}
			if err := t.print(); err != nil {
				return err
			}
			return faults(findings)
		},
	}
}

// faults is an error where a check has failed.
func faults(findings []*service.Finding) error {
	var failed []string
	for _, f := range findings {
		if f.Status == "error" {
			failed = append(failed, strings.ReplaceAll(f.Name, "_", " "))
		}
	}
	if len(failed) == 0 {
		return nil
	}
	return fmt.Errorf("something is wrong with %s: see what was found", strings.Join(failed, ", "))
}
