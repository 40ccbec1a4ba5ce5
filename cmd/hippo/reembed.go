package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/spf13/cobra"

	"github.com/hippocampus-memory/hippocampus/assembler"
	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/internal/command"
	"github.com/hippocampus-memory/hippocampus/model"
	"github.com/hippocampus-memory/hippocampus/model/provider"
	"github.com/hippocampus-memory/hippocampus/worker"
)

// The progress of a re-embedding is looked at ever more seldom, from firstLook to lastLook.
const (
	firstLook = time.Second
	lastLook  = 5 * time.Second
)

// reembedFlags are those of the command reembed.
type reembedFlags struct {
	dimension int
	model     string
	provider  string
	rate      float64
	switchNow bool
}

func (a *app) reembed() *cobra.Command {
	var f reembedFlags
	cmd := &cobra.Command{
		Use:   "reembed",
		Short: "Change the embedding model while everything goes on",
		Long: `Changes the embedding model of the deployment online. A second generation of vectors
is filled beside the one that serves, by jobs of this process and of every worker that
was started with the new model. What is written meanwhile gets both. It can be broken
off and started again.

  hippo reembed --model M --dimension N    fill it, with a progress bar
  hippo reembed status                     how far each generation is
  hippo reembed switch                     let it serve, in one transaction
  hippo reembed rollback                   let the one before serve again
  hippo reembed drop                       delete the one that does not serve

Services and workers of the old model go on after the switch, and search its vectors:
start them again with the new one at leisure, then drop the old. Keep a worker of
each model running until then, so that both stay current.`,
		Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.fillGeneration(cmd.Context(), &f) },
	}
	flags := cmd.Flags()
	flags.IntVar(&f.dimension, "dimension", 0, "dimension of the new vectors (default: "+provider.EnvDimension+", else the database's)")
	flags.StringVar(&f.model, "model", "", "the new embedding model (default: "+provider.EnvEmbedModel+")")
	flags.StringVar(&f.provider, "provider", "", "who makes its vectors: gemini, openai or offline (default: "+provider.EnvEmbedder+")")
	flags.Float64Var(&f.rate, "rate", 0, "rows a second that this process embeds at most; 0 for no bound")
	flags.BoolVar(&f.switchNow, "switch", false, "let it serve as soon as it is whole")
	cmd.AddCommand(a.reembedStatus(), a.reembedDrop(),
		a.reembedTo("switch", "Let the generation serve that was filled", "building", "no generation is building: start one with hippo reembed"),
		a.reembedTo("rollback", "Let the generation serve that served before", "standby", "no generation is standby: nothing can be rolled back"))
	return cmd
}

// fillGeneration begins a generation, or goes on with it, and embeds until it is whole.
func (a *app) fillGeneration(ctx context.Context, f *reembedFlags) error {
	if err := inRange("rate", f.rate, 0, 1e9); err != nil {
		return err
	}
	if err := inRange("dimension", f.dimension, 0, 4000); err != nil {
		return err
	}
	pool, err := a.openMigrated(ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	models, err := a.openNextModels(ctx, pool, f)
	if err != nil {
		return err
	}
	defer models.Close() //nolint:errcheck // nothing is left to be done with them
	counter, err := assembler.CounterOf(ctx, pool)
	if err != nil {
		return err
	}
	begun, err := db.New().EmbeddingGenerationStart(ctx, pool, &db.EmbeddingGenerationStartParams{
		Dimension: int32(models.Embedder.Dimension()), Model: models.Embedder.Name(),
	})
	if err != nil {
		return fmt.Errorf("begin a generation: %w", db.Wrap(err))
	}
	w, err := worker.New(pool, &worker.Config{
		Counter: counter, EmbedOnly: true, Logger: a.warner(slog.LevelInfo), MaxEmbedRate: f.rate, Models: models, SweepInterval: time.Second,
	})
	if err != nil {
		return err
	}
	if err := w.Start(ctx); err != nil {
		return err
	}
	lacking, err := a.watchGeneration(ctx, pool, begun.Generation)
	if err == nil && lacking == 0 { // or searches of large tenants would read all their vectors after the switch
		if err = w.IndexVectors(ctx, true); err != nil {
			err = fmt.Errorf("generation %d has its vectors, but not all indexes; workers go on with them, or hippo reembed: %w", begun.Generation, err)
		}
	}
	// What is running may finish, or is started again by another worker.
	if err = errors.Join(err, w.Stop(context.WithoutCancel(ctx))); err != nil {
		return err
	}
	whole, err := countGeneration(ctx, pool, begun.Generation)
	if err != nil {
		return err
	}
	if lacking > 0 {
		return a.explainMissing(ctx, pool, whole, lacking)
	}
	if f.switchNow {
		return a.switchTo(ctx, pool, begun.Generation, 0)
	}
	return a.print(whole, fmt.Sprintf("Generation %d (%s, %d dimensions) is whole: %d vectors. Next: hippo reembed switch.",
		whole.Generation, whole.Model, whole.Dimension, whole.Vectors))
}

// openNextModels opens the models as the flags have it and, where they say nothing, as the environment
// does.
func (a *app) openNextModels(ctx context.Context, pool *pgxpool.Pool, f *reembedFlags) (*model.Models, error) {
	said := map[string]string{provider.EnvEmbedModel: f.model, provider.EnvEmbedder: f.provider}
	if f.dimension > 0 {
		said[provider.EnvDimension] = strconv.Itoa(f.dimension)
	}
	next := *a
	next.getenv = func(name string) string { return cmp.Or(said[name], a.getenv(name)) }
	models, err := next.openModels(ctx, pool)
	if err != nil {
		return nil, err
	}
	// A provider that has one model, or asks its language model, would make the whole generation by that.
	if name := models.Embedder.Name(); f.model != "" && !strings.HasSuffix(name, "/"+f.model) {
		return nil, errors.Join(command.Usagef("--model is %q, but the vectors would be of %s: name who has that model with --provider", f.model, name), models.Close())
	}
	return models, nil
}

// explainMissing is the error of a generation whose every row was tried, and some in vain. It never
// serves by itself: one that the model could not be reached for is empty.
func (a *app) explainMissing(ctx context.Context, pool *pgxpool.Pool, g *db.EmbeddingGeneration, lacking int64) error {
	cause, err := whyMissing(ctx, pool, g.Generation)
	if err != nil {
		return err
	}
	return fmt.Errorf("generation %d (%s) has %d vectors, %d rows have none: %s; a worker tries them again, and so does "+
		"hippo reembed; to go without them, hippo reembed switch --missing %d", g.Generation, g.Model, g.Vectors, lacking, cause, lacking)
}

// whyMissing is the latest error with which a row of a generation got no vector.
func whyMissing(ctx context.Context, pool *pgxpool.Pool, generation int32) (cause string, err error) {
	err = pool.QueryRow(ctx, `SELECT q.error FROM hippocampus.embedding_queue q
		WHERE q.generation = $1 AND q.error IS NOT NULL ORDER BY q.run_after DESC LIMIT 1`, generation).Scan(&cause)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) { // embedded a moment ago
		return "", fmt.Errorf("read why rows have no vector: %w", db.Wrap(err))
	}
	return cause, nil
}

// countGeneration is a generation with its counts, which takes a look at all rows.
func countGeneration(ctx context.Context, pool *pgxpool.Pool, number int32) (*db.EmbeddingGeneration, error) {
	all, err := db.New().EmbeddingGenerationList(ctx, pool)
	if err != nil {
		return nil, fmt.Errorf("look at the generations: %w", db.Wrap(err))
	}
	g := find(all, func(g *db.EmbeddingGeneration) bool { return g.Generation == number })
	if g == nil {
		return nil, droppedError(number)
	}
	return g, nil
}

func droppedError(number int32) error {
	return fmt.Errorf("generation %d was dropped by somebody else", number)
}

// watchGeneration draws the progress of a generation until every row that can be embedded is. It tells how many
// can't.
func (a *app) watchGeneration(ctx context.Context, pool *pgxpool.Pool, number int32) (lacking int64, err error) {
	g, err := countGeneration(ctx, pool, number)
	if err != nil {
		return 0, err
	}
	bar := a.progress(int(max(g.Total, 1)), "embedding")
	defer func() { _ = bar.Finish() }()
	for wait := firstLook; ; wait = min(wait*3/2, lastLook) {
		p, err := db.New().EmbeddingProgress(ctx, pool, number)
		switch {
		case err != nil:
			return 0, fmt.Errorf("look how far generation %d is: %w", number, db.Wrap(err))
		case p.Status == "retired":
			return 0, droppedError(number)
		case p.QueuedAt != nil && p.Tried == 0:
			return p.Lacking, nil
		}
		_ = bar.Set64(min(max(p.Looked-p.Waiting, 0), g.Total))
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(wait):
		}
	}
}

func find(all []*db.EmbeddingGeneration, is func(*db.EmbeddingGeneration) bool) *db.EmbeddingGeneration {
	for _, g := range all {
		if is(g) {
			return g
		}
	}
	return nil
}

// print prints a value as JSON, or a line about it.
func (a *app) print(v any, line string) error {
	if a.json {
		return a.printJSON(v)
	}
	if _, err := fmt.Fprintln(a.stdout, line); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return nil
}

func (a *app) switchTo(ctx context.Context, pool *pgxpool.Pool, number int32, missing int64) error {
	g, err := db.New().EmbeddingGenerationSwitch(ctx, pool, &db.EmbeddingGenerationSwitchParams{
		Generation: number, MaxMissing: missing,
	})
	if err != nil {
		return fmt.Errorf("switch to generation %d: %w", number, db.Wrap(err))
	}
	return a.print(g, fmt.Sprintf("Generation %d (%s, %d dimensions) serves.", g.Generation, *g.Model, g.Dimension))
}

func (a *app) reembedStatus() *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Show how far each generation of vectors is", Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			pool, err := a.openMigrated(cmd.Context())
			if err != nil {
				return err
			}
			defer pool.Close()
			all, err := db.New().EmbeddingGenerationList(cmd.Context(), pool)
			if err != nil {
				return fmt.Errorf("look at the generations: %w", db.Wrap(err))
			}
			if a.json {
				return a.printJSON(all)
			}
			t := a.table("GENERATION", "STATUS", "MODEL", "DIMENSION", "VECTORS", "WAITING", "FAILED", "ROWS")
			for _, g := range all {
				t.row(g.Generation, g.Status, g.Model, g.Dimension, g.Vectors, g.Waiting, g.Failed, g.Total)
			}
			if err := t.print(); err != nil {
				return err
			}
			for _, g := range all {
				if g.Failed == 0 {
					continue
				}
				cause, err := whyMissing(cmd.Context(), pool, g.Generation)
				if err != nil {
					return err
				}
				fmt.Fprintf(a.stderr, "hippo: why rows of generation %d failed, the latest: %s\n", g.Generation, cause)
			}
			return nil
		},
	}
}

// reembedTo lets the generation of a status serve; none says that there is none.
func (a *app) reembedTo(use, short, status, none string) *cobra.Command {
	var missing int64
	cmd := &cobra.Command{
		Use: use, Short: short, Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			pool, err := a.openMigrated(cmd.Context())
			if err != nil {
				return err
			}
			defer pool.Close()
			all, err := db.New().EmbeddingModelList(cmd.Context(), pool)
			if err != nil {
				return fmt.Errorf("look at the generations: %w", db.Wrap(err))
			}
			for _, g := range all {
				if g.Status == status {
					return a.switchTo(cmd.Context(), pool, g.Generation, missing)
				}
			}
			return errors.New(none)
		},
	}
	cmd.Flags().Int64Var(&missing, "missing", 0, "how many rows may lack a vector")
	return cmd
}

func (a *app) reembedDrop() *cobra.Command {
	var building bool
	cmd := &cobra.Command{
		Use: "drop", Short: "Delete the vectors that served before", Args: command.NoArgs,
		Long: `Deletes the vectors of the generation that served before the switch; with --building,
those of one that is being filled, which gives it up.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			status := "standby"
			if building {
				status = "building"
			}
			pool, err := a.openMigrated(cmd.Context())
			if err != nil {
				return err
			}
			defer pool.Close()
			all, err := db.New().EmbeddingGenerationList(cmd.Context(), pool)
			if err != nil {
				return fmt.Errorf("look at the generations: %w", db.Wrap(err))
			}
			// one whose dropping was broken off is retired already
			g := find(all, func(g *db.EmbeddingGeneration) bool {
				return g.Status == status || g.Status == "retired" && g.Vectors > 0
			})
			if g == nil {
				if find(all, func(g *db.EmbeddingGeneration) bool { return g.Status == "building" }) != nil {
					return fmt.Errorf("no generation is %s; one is building, which --building gives up", status)
				}
				return fmt.Errorf("no generation is %s", status)
			}
			for looked := int32(1); looked > 0; {
				if looked, err = db.New().EmbeddingGenerationDrop(cmd.Context(), pool, g.Generation); err != nil {
					return fmt.Errorf("drop generation %d: %w", g.Generation, db.Wrap(err))
				}
			}
			return a.print(g, fmt.Sprintf("Generation %d (%s) is dropped.", g.Generation, g.Model))
		},
	}
	cmd.Flags().BoolVar(&building, "building", false, "the one that is being filled")
	return cmd
}
