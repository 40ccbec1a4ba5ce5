package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/hippocampus-memory/hippocampus/bench"
	"github.com/hippocampus-memory/hippocampus/bench/report"
	"github.com/hippocampus-memory/hippocampus/internal/command"
)

func (a *app) benchReembed() *cobra.Command {
	var (
		dimension int
		opts      bench.ReembedOptions
		out       reportFlags
	)
	cmd := &cobra.Command{
		Use:   "reembed",
		Short: "Measure a change of the embedding model under reads and writes",
		Long: `Fills the database with a synthetic corpus, embeds it, and changes to another dimension of
the same model, or with --dimension 0 to the same model anew, by a process of its own
that is killed on the way and started again, while clients search and write. It counts
searches that failed or found nothing, and compares what was found before and after.
At the end the old vectors are dropped: use a database of its own.`,
		Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := inRange("kill-at", opts.KillAt, 0, 0.95); err != nil {
				return err
			}
			if err := inRange("dimension", dimension, 0, 4000); err != nil {
				return err
			}
			return a.measure(cmd, args, &out, true, func(ctx context.Context, e *bench.Engine, r *report.Report) error {
				models, err := a.openNextModels(ctx, e.Pool, &reembedFlags{dimension: cmp.Or(dimension, e.Embedder.Dimension())})
				if err != nil {
					return err
				}
				defer models.Close() //nolint:errcheck // nothing is left to be done with them
				opts.Next = models.Embedder
				opts.Fill = func(ctx context.Context) (bench.Filler, error) {
					return a.startReembed(ctx, models.Embedder.Dimension())
				}
				results, err := bench.Reembed(ctx, e, &opts)
				bench.ReportReembed(r, results)
				return err
			})
		},
	}
	flags := cmd.Flags()
	out.add(flags)
	flags.IntVar(&dimension, "dimension", 0, "dimension of the new vectors; 0 for the same again")
	flags.Float64Var(&opts.KillAt, "kill-at", 0.5, "the share of vectors at which the process is killed; 0 to leave it alone")
	flags.IntVar(&opts.Queries, "queries", 200, "how many questions are compared")
	flags.IntVar(&opts.Readers, "readers", 2, "clients that search")
	flags.IntVar(&opts.Rows, "rows", 100_000, "how many memories there are in all")
	flags.Uint64Var(&opts.Seed, "seed", 1, "makes the corpus and the questions")
	flags.IntVar(&opts.Tenants, "tenants", 50, "how many tenants there are in all")
	flags.DurationVar(&opts.Watch, "watch", 5*time.Second, "how long searches are watched before the change, and after it")
	flags.IntVar(&opts.Writers, "writers", 1, "clients that write")
	return cmd
}

// process is hippo reembed in a process of its own.
type process struct{ *exec.Cmd }

// Kill ends the process as a crash would.
func (p process) Kill() error {
	if err := p.Process.Kill(); err != nil {
		return fmt.Errorf("kill hippo reembed: %w", err)
	}
	return nil
}

func (a *app) startReembed(ctx context.Context, dimension int) (bench.Filler, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	cmd := exec.CommandContext(ctx, self, "reembed", "--dimension", strconv.Itoa(dimension), "--json")
	cmd.Env = append(os.Environ(), "DATABASE_URL="+a.url()) // not an argument: it holds a password
	cmd.Stderr = a.stderr
	return process{cmd}, cmd.Start()
}
