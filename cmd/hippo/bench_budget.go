package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/hippocampus-memory/hippocampus/bench"
	"github.com/hippocampus-memory/hippocampus/bench/report"
	"github.com/hippocampus-memory/hippocampus/internal/command"
)

func (a *app) benchBudget() *cobra.Command {
	var (
		data      dataFlags
		noVectors bool
		opts      bench.BudgetOptions
		out       reportFlags
	)
	cmd := &cobra.Command{
		Use:   "budget FILE…",
		Short: "Measure how much of the evidence stands in a window of so many tokens",
		Long: `Assembles a context window for each question of a dataset, at several budgets, and
looks how much of what answers the question stands in it, word for word: with the
default shares of the sections, and with all of the budget for memories.`,
		Args: command.SomeArgs("a dataset's files"),
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := data.read(args)
			if err != nil {
				return err
			}
			opts.App = data.app(cmd, a, d)
			return a.measure(cmd, args, &out, !noVectors, func(ctx context.Context, e *bench.Engine, r *report.Report) error {
				done, vectors, err := data.prepare(ctx, e, d, opts.App)
				if err != nil {
					return err
				}
				results, err := bench.Budget(ctx, e, d, vectors, &opts)
				bench.ReportBudget(r, d, done, results)
				return err
			})
		},
	}
	flags := cmd.Flags()
	data.add(flags)
	out.add(flags)
	flags.IntSliceVar(&opts.Budgets, "tokens", []int{500, 1000, 2000, 4000, 8000}, "the budgets")
	flags.IntVar(&opts.Clients, "clients", 2, "how many clients ask at once")
	flags.BoolVar(&noVectors, "no-vectors", false, "find memories by words alone")
	return cmd
}
