package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/hippocampus-memory/hippocampus/bench"
	"github.com/hippocampus-memory/hippocampus/bench/report"
	"github.com/hippocampus-memory/hippocampus/internal/command"
)

func (a *app) benchRetention() *cobra.Command {
	var (
		opts bench.RetentionOptions
		out  reportFlags
	)
	cmd := &cobra.Command{
		Use:   "retention",
		Short: "Measure what is lost when memories are kept by their score",
		Long: `Makes histories of memories whose later use is known, keeps the best of each by the
database's scores, and says what part is left of the value that one who knows the
future would have kept. Nothing is written to the database.

How much can be kept depends on how much memories differ in their use. At a spread
of 3 a tenth of them has 43 % of the uses, at 5.4 a fifth has 80 %, at 10 a tenth
has 85 %.`,
		Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.measure(cmd, args, &out, false, func(ctx context.Context, e *bench.Engine, r *report.Report) error {
				return bench.Retention(ctx, e, &opts, r)
			})
		},
	}
	flags := cmd.Flags()
	out.add(flags)
	flags.IntVar(&opts.Keep, "keep", 500, "how many memories are kept")
	flags.IntVar(&opts.Memories, "memories", 1_000, "how many memories a history has")
	flags.Uint64Var(&opts.Seed, "seed", 1, "makes the first history")
	flags.IntVar(&opts.Seeds, "seeds", 5, "how many histories, by the seeds that follow")
	flags.Float64SliceVar(&opts.Spreads, "spread", []float64{3, 5.4, 10}, "by what factor memories differ in how often they are used (one σ)")
	return cmd
}
