package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/hippocampus-memory/hippocampus/bench"
	"github.com/hippocampus-memory/hippocampus/bench/report"
	"github.com/hippocampus-memory/hippocampus/internal/command"
)

func (a *app) benchTiers() *cobra.Command {
	var (
		opts bench.TiersOptions
		out  reportFlags
	)
	cmd := &cobra.Command{
		Use:   "tiers",
		Short: "Measure short-term and long-term memory of personas against their targets",
		Long: `Measures appends and the window of short-term memory, recall, the transaction that writes
a consolidation, and what memories take on disk. The corpus is that of bench scale: it is
loaded if it isn't there, stays, and is used again for the same --rows, --tenants and
--seed. What the run itself writes is forgotten when it ends.`,
		Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.measure(cmd, args, &out, false, func(ctx context.Context, e *bench.Engine, r *report.Report) error {
				results, err := bench.Tiers(ctx, e, &opts)
				bench.ReportTiers(r, results)
				return err
			})
		},
	}
	flags := cmd.Flags()
	out.add(flags)
	flags.IntVar(&opts.Batch, "batch", 50, "how many events a consolidation has to write")
	flags.IntVar(&opts.Batches, "batches", 30, "how many consolidations are measured")
	flags.IntVar(&opts.Events, "events", 500, "how many events are appended")
	flags.BoolVar(&opts.Scale.Fresh, "fresh", false, "load the corpus anew, if it is there")
	flags.IntVar(&opts.Queries, "queries", 200, "how many recalls are measured, each way")
	flags.IntVar(&opts.Scale.Rows, "rows", 20_000, "how many memories there are in all")
	flags.Uint64Var(&opts.Scale.Seed, "seed", 1, "makes the corpus and the queries")
	flags.IntSliceVar(&opts.Scale.Sizes, "sizes", []int{10_000}, "sizes that personas of the corpus have, beside those by chance")
	flags.IntVar(&opts.Scale.Tenants, "tenants", 20, "how many personas there are in all")
	return cmd
}
