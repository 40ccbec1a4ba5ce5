package main

import (
	"errors"
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
	log       string
	threshold float64
	yes       bool
}

func (a *app) forget() *cobra.Command {
	var f forgetFlags
	cmd := &cobra.Command{
		Use:   "forget DESCRIPTION…",
		Short: "Forget what a description means",
		Long: `Lists the facts and memories that a description means, and after them, without a number,
what would go along with them, and forgets nothing until it is called with --yes: then all of
it is deleted for good, and no consolidation brings it back. The events that told it stay in
the log, out of every search and context window, but to be shown: hippo history without a
query still prints them. --log erase empties them, too.
Memory blocks are not touched.

` + meaning + withoutVector,
		Args: command.SomeArgs("a description"),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts := &service.ForgetMemoryOptions{Limit: f.limit, Log: f.log, Preview: !f.yes}
			if err := errors.Join(inRange("limit", f.limit, 1, 10_000),
				oneOf("log", []string{f.log}, service.LogKeep, service.LogErase)); err != nil {
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
				return a.printForgotten(forgotten, &f)
			})
		},
	}
	cmd.Flags().IntVar(&f.limit, "limit", 100, "the greatest number of facts and memories")
	cmd.Flags().StringVar(&f.log, "log", service.LogKeep, "what becomes of the events that told it: keep, or erase their text")
	cmd.Flags().Float64Var(&f.threshold, "threshold", 0, "how near to the description they must be, 0 to 1 (default the database's)")
	cmd.Flags().BoolVar(&f.yes, "yes", false, "forget them")
	return cmd
}

func (a *app) printForgotten(forgotten *service.Forgotten, f *forgetFlags) error {
	none := a.nothing("nothing that near to this", "A lower --threshold finds what is less near.")
	rows := command.Count(forgotten.Memories, "memory", "memories") + " and " + command.Count(forgotten.Facts, "fact", "facts")
	events := command.Count(forgotten.Events, "event", "events")
	passes, passed := "passes over", "passed over"
	if f.log == service.LogErase {
		passes, passed = "empties", "emptied"
	}
	switch done := f.yes; {
	case a.json:
		return a.printJSON(forgotten)
	case done && forgotten.Memories+forgotten.Facts == 0:
		_, err := fmt.Fprintln(a.stderr, "hippo: nothing was forgotten. "+none)
		return err
	case done:
		told := ""
		if forgotten.Events > 0 {
			told = fmt.Sprintf(", and %s %s that told it", passed, events)
		}
		_, err := fmt.Fprintf(a.stdout, "Forgot %s%s.\n", rows, told)
		return err
	}
	t := newTable(a.stdout, "MEANING", "SOURCE", "DATE", "CONTENT")
	for _, m := range forgotten.Matches {
		t.row(m.Similarity, m.Source, m.OccurredAt.UTC().Format(time.DateOnly), oneLine(m.Text, 100))
	}
	for _, m := range forgotten.Along {
		t.row("", m.Source, m.OccurredAt.UTC().Format(time.DateOnly), oneLine(m.Text, 100))
	}
	if err := t.printOr(none); err != nil || len(forgotten.Matches) == 0 {
		return err
	}
	_, err := fmt.Fprintf(a.stderr, "hippo: nothing is forgotten yet; --yes forgets %s, and %s %s that told it\n",
		rows, passes, events)
	return err
}
