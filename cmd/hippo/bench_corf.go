package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/hippocampus-memory/hippocampus/bench"
	"github.com/hippocampus-memory/hippocampus/bench/report"
	"github.com/hippocampus-memory/hippocampus/internal/command"
)

func (a *app) benchCorf() *cobra.Command {
	var (
		made      int
		noVectors bool
		out       reportFlags
		save      string
	)
	cmd := &cobra.Command{
		Use:   "corf [FILE]",
		Short: "Measure how anchors and hybrid search find documents",
		Long: `Asks the questions of a file about the documents of --user and --app: by hybrid search, by
anchors, by both, and by anchors without project anchors, without re-ranking, and without
what was stored since the last rebuild. A line of the file is a question:

  {"id": "1", "kind": "hand", "query": "How …?", "project_anchors": ["…"], "paths": ["docs/a.md"]}

--make N makes N questions by rule instead, from titles and headings, and --save writes them.`,
		Args: command.AtMost(1, "one file of questions"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if (len(args) == 1) == (made > 0) {
				return command.Usagef("%s wants a file of questions, or --make", cmd.CommandPath())
			}
			return a.measure(cmd, args, &out, !noVectors, func(ctx context.Context, e *bench.Engine, r *report.Report) error {
				queries, err := corfQueries(ctx, a, e, args, made)
				if err != nil {
					return err
				}
				if save != "" {
					if err := writeFile(save, func(w io.Writer) error { return bench.WriteCorf(w, queries) }); err != nil {
						return err
					}
				}
				r.Fact("Questions", "%d", len(queries))
				return bench.Corf(ctx, e, a.scope(), queries, r)
			})
		},
	}
	out.add(cmd.Flags())
	cmd.Flags().IntVar(&made, "make", 0, "make so many questions by rule")
	cmd.Flags().BoolVar(&noVectors, "no-vectors", false, "ask by words alone")
	cmd.Flags().StringVar(&save, "save", "", "write the questions to this file")
	return cmd
}

func corfQueries(ctx context.Context, a *app, e *bench.Engine, args []string, made int) ([]*bench.CorfQuery, error) {
	if made > 0 {
		return bench.MakeCorf(ctx, e, a.scope(), made)
	}
	file, err := os.Open(args[0])
	if err != nil {
		return nil, fmt.Errorf("read questions: %w", err)
	}
	defer file.Close() //nolint:errcheck // only read
	queries, err := bench.ReadCorf(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", args[0], err)
	}
	return queries, nil
}
