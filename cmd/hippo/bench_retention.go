package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/hippocampus-memory/hippocampus/bench"
	"github.com/hippocampus-memory/hippocampus/bench/dataset"
	"github.com/hippocampus-memory/hippocampus/bench/report"
	"github.com/hippocampus-memory/hippocampus/internal/command"
)

func (a *app) benchRetention() *cobra.Command {
	var (
		data dataFlags
		fit  []string
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
has 85 %. The spread of real use is 3.3 in LoCoMo's conversations; --fit finds it in
a dataset of your own, by how often each turn is evidence of a question.`,
		Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			var lived *dataset.Dataset
			if len(fit) > 0 {
				var err error
				if lived, err = data.read(fit); err != nil {
					return err
				}
			}
			return a.measure(cmd, args, &out, false, func(ctx context.Context, e *bench.Engine, r *report.Report) error {
				if lived != nil {
					spread, err := bench.FitRetention(lived, r)
					if err != nil {
						return err
					}
					opts.Spreads = append(opts.Spreads, spread)
				}
				return bench.Retention(ctx, e, &opts, r)
			})
		},
	}
	flags := cmd.Flags()
	out.add(flags)
	flags.StringSliceVar(&fit, "fit", nil, "a dataset's files: adds the spread that its use has")
	flags.StringVar(&data.format, "format", "", "of --fit: locomo, longmemeval or memorybank (default: told from the files)")
	flags.StringVar(&data.language, "lang", "en", "of --fit: which language of a folder with several")
	flags.IntVar(&opts.Keep, "keep", 500, "how many memories are kept")
	flags.IntVar(&opts.Memories, "memories", 1_000, "how many memories a history has")
	flags.Float64Var(&opts.Rate, "rate", 0.03, "how often the median memory is used a day")
	flags.Uint64Var(&opts.Seed, "seed", 1, "makes the first history")
	flags.IntVar(&opts.Seeds, "seeds", 48, "how many histories of a spread, by the seeds that follow")
	flags.Float64SliceVar(&opts.Spreads, "spread", []float64{2, 3.3, 5.4, 7, 10}, "by what factor memories differ in how often they are used (one σ)")
	return cmd
}
