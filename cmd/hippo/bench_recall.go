package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/hippocampus-memory/hippocampus/bench"
	"github.com/hippocampus-memory/hippocampus/bench/dataset"
	"github.com/hippocampus-memory/hippocampus/bench/report"
	"github.com/hippocampus-memory/hippocampus/internal/command"
)

type recallFlags struct {
	ablate    []string
	clients   int
	data      dataFlags
	depth     int
	noVectors bool
	profile   string
	report    reportFlags
	runFile   string
	types     []string
}

func (a *app) benchRecall() *cobra.Command {
	var f recallFlags
	cmd := &cobra.Command{
		Use:   "recall FILE…",
		Short: "Measure how much of the evidence a search finds",
		Args:  command.SomeArgs("a dataset's files"),
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := f.data.read(args)
			if err != nil {
				return err
			}
			variants, err := bench.ReadVariants(f.ablate)
			if err != nil {
				return command.Usage(err)
			}
			return a.measure(cmd, args, &f.report, !f.noVectors, func(ctx context.Context, e *bench.Engine, r *report.Report) error {
				return recall(ctx, e, r, d, variants, &f, f.data.app(cmd, a, d))
			})
		},
	}
	flags := cmd.Flags()
	f.data.add(flags)
	f.report.add(flags)
	flags.StringArrayVar(&f.ablate, "ablate", nil, `a ranking to try too: name={"text":1,"vector":0}; or a file of [{"name":…,"ranking":{…},"evidence":{…}}, …];
or mechanisms: words alone, and what each part of the evidence and the other arms add`)
	flags.IntVar(&f.clients, "clients", 2, "how many clients search at once")
	flags.IntVar(&f.depth, "k", 100, "how many memories a search asks for")
	flags.BoolVar(&f.noVectors, "no-vectors", false, "search by words alone")
	flags.StringVar(&f.profile, "profile", "", "how hits are ranked: default, strength or retention")
	flags.StringVar(&f.runFile, "run-file", "", "write the rankings, as JSON lines, for other scorers")
	flags.StringSliceVar(&f.types, "type", nil, "search only episodic, semantic or summary; may be given again")
	return cmd
}

func recall(
	ctx context.Context, e *bench.Engine, r *report.Report, d *dataset.Dataset, variants []*bench.Variant, f *recallFlags, app string,
) error {
	done, vectors, err := f.data.prepare(ctx, e, d, app)
	if err != nil {
		return err
	}
	opts := &bench.RecallOptions{
		App: app, Clients: f.clients, Depth: f.depth, MemoryTypes: f.types, Profile: f.profile, What: "searching",
	}
	result, err := bench.Recall(ctx, e, d, vectors, opts)
	var tried []*bench.VariantResult
	if err == nil {
		tried, err = bench.Ablate(ctx, e, d, vectors, opts, result, variants)
	}
	bench.ReportRecall(r, d, done, result, tried)
	if f.runFile != "" {
		if writeErr := writeFile(f.runFile, func(w io.Writer) error { return bench.WriteRun(w, d, result.Answers) }); err == nil {
			err = writeErr
		}
	}
	return err
}
