package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/hippocampus-memory/hippocampus/bench"
	"github.com/hippocampus-memory/hippocampus/bench/report"
	"github.com/hippocampus-memory/hippocampus/internal/command"
)

func (a *app) benchScale() *cobra.Command {
	var (
		opts bench.ScaleOptions
		out  reportFlags
	)
	cmd := &cobra.Command{
		Use:   "scale",
		Short: "Measure how fast a search is, by the size of the tenant",
		Long: `Fills the database with a synthetic corpus of many tenants, has the worker build the
vector indexes that the large ones need, and measures searches of tenants of fixed
sizes among them. The corpus stays, and is used again for the same flags.`,
		Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.measure(cmd, args, &out, false, func(ctx context.Context, e *bench.Engine, r *report.Report) error {
				results, err := bench.Scale(ctx, e, &opts)
				bench.ReportScale(r, results, opts.Clients)
				return err
			})
		},
	}
	flags := cmd.Flags()
	out.add(flags)
	flags.IntVar(&opts.Clients, "clients", 4, "how many clients search at once, after one alone")
	flags.IntVar(&opts.Dimension, "dimension", 0, "what the database's dimension must be (default: any)")
	flags.BoolVar(&opts.Fresh, "fresh", false, "load the corpus anew, if it is there")
	flags.IntVar(&opts.Queries, "queries", 200, "how many searches are measured, each way, a tenant")
	flags.IntVar(&opts.Rows, "rows", 100_000, "how many memories there are in all")
	flags.Uint64Var(&opts.Seed, "seed", 1, "makes the corpus and the queries")
	flags.IntSliceVar(&opts.Sizes, "sizes", []int{100, 5_000, 50_000}, "the sizes of the tenants that are measured")
	flags.IntVar(&opts.Tenants, "tenants", 200, "how many tenants there are in all")
	return cmd
}
