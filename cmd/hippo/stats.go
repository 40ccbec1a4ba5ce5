package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/hippocampus-memory/hippocampus/db"
)

func (a *app) stats() *cobra.Command {
	return &cobra.Command{
		Use:   "stats",
		Short: "Count what a user's memory holds",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withEngine(cmd.Context(), func(e *engine) error {
				s, err := e.service.Stats(cmd.Context(), a.scope())
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(s)
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
				t.row("facts that hold", s.FactsCurrent)
				t.row("  that held", s.FactsHistory)
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
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			pool, err := a.openPool(cmd.Context())
			if err != nil {
				return err
			}
			defer pool.Close()
			if err := db.CheckCompatible(cmd.Context(), pool); err != nil {
				return err
			}
			findings, err := db.New().AdminDoctor(cmd.Context(), pool)
			if err != nil {
				return db.Wrap(err)
			}
			if a.json {
				return a.printJSON(findings)
			}
			t := a.table("STATUS", "CHECK", "FOUND")
			for _, f := range findings {
				t.row(f.Status, strings.ReplaceAll(f.Name, "_", " "), strings.TrimSpace(f.Detail+". "+f.Hint))
			}
			return t.print()
		},
	}
}
