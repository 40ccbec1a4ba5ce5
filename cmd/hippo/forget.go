package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hippocampus-memory/hippocampus/internal/command"
	"github.com/hippocampus-memory/hippocampus/service"
)

// forgetFlags are those of the command forget.
type forgetFlags struct {
	limit     int
	threshold float64
	yes       bool
}

func (a *app) forget() *cobra.Command {
	var f forgetFlags
	cmd := &cobra.Command{
		Use:   "forget DESCRIPTION…",
		Short: "Forget what a description means",
		Long: `Lists the facts and memories that a description means, counts what would go along with
them, and forgets nothing until it is called with --yes: then all of it is deleted for good,
and no consolidation brings it back.
Memory blocks are not touched.

` + meaning,
		Args: command.SomeArgs("a description"),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts := &service.ForgetMemoryOptions{Limit: f.limit, Preview: !f.yes}
			if err := inRange("limit", f.limit, 1, 10_000); err != nil {
				return err
			}
			if cmd.Flags().Changed("threshold") {
				if err := inRange("threshold", f.threshold, 0, 1); err != nil {
					return err
				}
				opts.Threshold = &f.threshold
			}
			return a.withEngine(cmd.Context(), func(e *engine) error {
				forgotten, err := e.service.ForgetMemory(cmd.Context(), a.scope(), strings.Join(args, " "), opts)
				if err != nil {
					return err
				}
				return a.printForgotten(forgotten, f.yes)
			})
		},
	}
	cmd.Flags().IntVar(&f.limit, "limit", 100, "the greatest number of facts and memories")
	cmd.Flags().Float64Var(&f.threshold, "threshold", 0, "how near to the description they must be, 0 to 1 (default the database's)")
	cmd.Flags().BoolVar(&f.yes, "yes", false, "forget them")
	return cmd
}

func (a *app) printForgotten(forgotten *service.Forgotten, done bool) error {
	switch {
	case a.json:
		return a.printJSON(forgotten)
	case done:
		_, err := fmt.Fprintf(a.stdout, "Forgot %d memories and %d facts.\n", forgotten.Memories, forgotten.Facts)
		return err
	}
	t := newTable(a.stdout, "MEANING", "SOURCE", "DATE", "CONTENT")
	for _, m := range forgotten.Matches {
		t.row(m.Similarity, m.Source, m.CreatedAt.Format(time.DateOnly), oneLine(m.Text, 100))
	}
	none := a.nothing("is nothing that near to this", "A lower --threshold finds what is less near.")
	if err := t.printOr(none); err != nil || len(forgotten.Matches) == 0 {
		return err
	}
	_, err := fmt.Fprintf(a.stderr, "hippo: nothing is forgotten yet; --yes forgets %d memories and %d facts, these and what tells the same, and passes over %d events that told it\n",
		forgotten.Memories, forgotten.Facts, forgotten.Events)
	return err
}
