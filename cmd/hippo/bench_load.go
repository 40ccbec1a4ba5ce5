package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hippocampus-memory/hippocampus/bench"
	"github.com/hippocampus-memory/hippocampus/bench/report"
	"github.com/hippocampus-memory/hippocampus/internal/command"
	"github.com/hippocampus-memory/hippocampus/internal/conversation"
)

func (a *app) benchLoad() *cobra.Command {
	var (
		noVectors bool
		opts      bench.LoadOptions
		out       reportFlags
	)
	cmd := &cobra.Command{
		Use:   "load [FILE…]",
		Short: "Measure readers, writers and workers at once",
		Long: `Has clients append and search at the same time, beside workers that consolidate, and
counts events and searches a second, errors, and the time from the commit of a
consolidation to its start. With --rate the writers keep a pace instead of filling the
machine, so that this time is that of being told, and not of waiting for other jobs.

What writers say is synthetic, or from the conversations of the files, in any format
that "hippo import" reads.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			for name, value := range map[string]int{"readers": opts.Readers, "workers": opts.Workers, "writers": opts.Writers} {
				if value < 0 {
					return command.Usagef("--%s is %d", name, value)
				}
			}
			if opts.Batch < 1 {
				return command.Usagef("--batch is %d: a writer appends an event at least", opts.Batch)
			}
			var err error
			if opts.Texts, err = readTexts(args); err != nil {
				return err
			}
			return a.measure(cmd, args, &out, !noVectors, func(ctx context.Context, e *bench.Engine, r *report.Report) error {
				results, err := bench.Load(ctx, e, &opts)
				bench.ReportLoad(r, results)
				return err
			})
		},
	}
	flags := cmd.Flags()
	out.add(flags)
	flags.IntVar(&opts.Batch, "batch", 1, "how many events a writer appends in one call")
	flags.DurationVar(&opts.Duration, "duration", 30*time.Second, "how long clients read and write")
	flags.IntVar(&opts.JobEvery, "job-every", 20, "after how many events a writer asks for a consolidation; 0 for never")
	flags.BoolVar(&noVectors, "no-vectors", false, "search by words alone")
	flags.Float64Var(&opts.Rate, "rate", 0, "events a second of each writer (default: as many as it can)")
	flags.IntVar(&opts.Readers, "readers", 2, "clients that search")
	flags.Uint64Var(&opts.Seed, "seed", 1, "makes the texts, where there are no files")
	flags.IntVar(&opts.Workers, "workers", 1, "workers in this process")
	flags.IntVar(&opts.Writers, "writers", 2, "clients that append")
	return cmd
}

// readTexts are what is said in the conversations of files, in order.
func readTexts(files []string) ([]string, error) {
	var texts []string
	for _, file := range files {
		conversations, err := conversation.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for _, c := range conversations {
			for _, s := range c.Sessions {
				for _, event := range s.Events {
					if event.Text != "" {
						texts = append(texts, event.Text)
					}
				}
			}
		}
	}
	if len(files) > 0 && len(texts) == 0 {
		return nil, fmt.Errorf("no event of %s has a text", strings.Join(files, ", "))
	}
	return texts, nil
}
