package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hippocampus-memory/hippocampus/internal/command"
	"github.com/hippocampus-memory/hippocampus/service"
	"github.com/hippocampus-memory/hippocampus/worker"
)

func (a *app) anchors() *cobra.Command {
	return command.Group(&cobra.Command{
		Use:   "anchors",
		Short: "Look up, rebuild and calibrate the anchor index of documents",
	}, a.anchorsCalibrate(), a.anchorsDeny(), a.anchorsLookup(), a.anchorsRebuild(), a.anchorsSources(), a.anchorsStatus())
}

func (a *app) anchorsLookup() *cobra.Command {
	var (
		limit    int
		projects []string
	)
	cmd := &cobra.Command{
		Use:   "lookup QUERY…",
		Short: "Find chunks and memories by the anchors of a question",
		Long: `Finds chunks and memories by the anchors that a question names (lexical) or means
(semantic), and by those of the project that is being talked about (--project), which
stand for what a pronoun leaves out. Of each document the best chunk is shown, and which
anchors brought it. Nothing is found before the first rebuild.`,
		Args: command.SomeArgs("a question"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := errors.Join(inRange("limit", limit, 1, 100), notEmpty("project", projects)); err != nil {
				return err
			}
			return a.withEngine(cmd.Context(), func(e *engine) error {
				hits, err := e.service.Documents().Lookup(cmd.Context(), a.scope(), strings.Join(args, " "),
					&service.LookupOptions{MaxChunks: limit, ProjectAnchors: projects})
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(hits)
				}
				t := a.table("SCORE", "ANCHOR", "QUERY", "WHERE", "BY", "TEXT")
				for _, h := range hits {
					by := make([]string, len(h.Anchors))
					for i := range by {
						by[i] = h.Anchors[i] + " (" + h.Ways[i] + ")"
					}
					where := h.Origin
					if h.Path != "" {
						where = fmt.Sprintf("%s:%d", h.Path, h.StartLine)
					}
					t.row(h.Score, h.AnchorScore, h.QueryScore, where, oneLine(strings.Join(by, ", "), 40), oneLine(h.Content, 60))
				}
				return t.printOr(a.nothing("nothing that anchors bring to this question", "hippo anchors status says what there is. "+
					"If there are no anchors yet: hippo index FOLDER --rebuild, and once for the embedding model hippo anchors calibrate --write."))
			})
		},
	}
	cmd.Flags().IntVar(&limit, "limit", 30, "the greatest number of hits")
	cmd.Flags().StringArrayVar(&projects, "project", nil, "a name of what is being talked about; may be given again")
	return cmd
}

func (a *app) anchorsRebuild() *cobra.Command {
	return &cobra.Command{
		Use:   "rebuild",
		Short: "Rebuild the anchor index now, as the worker does every night",
		Long: `Rebuilds the anchor index of --user and --app beside the one that serves, and lets it serve
at the end. It needs the vectors of the chunks: a worker, or "hippo index", makes them. Cut off
at any moment it leaves the old index serving, and the next rebuild may begin at once.`,
		Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withEngine(cmd.Context(), func(e *engine) error {
				made, err := a.rebuildAnchors(cmd.Context(), e)
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(made)
				}
				t := a.table("ANCHORS", "NEW VECTORS", "ROWS READ", "SECONDS READ", "EMBED", "FILL")
				t.row(made.Anchors, made.Embedded, made.Rows, made.Read, made.Embed, made.Fill)
				return t.print()
			})
		},
	}
}

func (a *app) rebuildAnchors(ctx context.Context, e *engine) (*worker.AnchorResult, error) {
	w, err := worker.New(e.pool, &worker.Config{Counter: e.counter, Logger: a.warner(slog.LevelInfo), Models: e.models})
	if err != nil {
		return nil, err
	}
	made, err := w.RebuildAnchors(ctx, a.scope())
	if err == nil {
		err = w.IndexVectors(ctx, false) // many anchors have one
	}
	return made, err
}

func (a *app) anchorsDeny() *cobra.Command {
	return &cobra.Command{
		Use:   "deny [TERM…]",
		Short: "Set the anchors that never bring anything, in place of those before",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withEngine(cmd.Context(), func(e *engine) error {
				return e.service.Documents().SetDenylist(cmd.Context(), a.scope(), args)
			})
		},
	}
}

func (a *app) anchorsSources() *cobra.Command {
	return &cobra.Command{
		Use:   "sources [SOURCE…]",
		Short: "Set the sources that may reach a result, in place of those before; none allows all",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withEngine(cmd.Context(), func(e *engine) error {
				return e.service.Documents().SetSources(cmd.Context(), a.scope(), args)
			})
		},
	}
}

func (a *app) anchorsStatus() *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Count documents and anchors, and say what may not come up",
		Args:  command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withEngine(cmd.Context(), func(e *engine) error {
				s, err := e.service.Documents().Stats(cmd.Context(), a.scope())
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(s)
				}
				built, sources := "never", "all"
				if s.BuiltAt != nil {
					built = s.BuiltAt.UTC().Format(time.RFC3339)
				}
				if s.Rebuilding {
					built += ", a rebuild is under way"
				}
				if s.Sources != nil {
					sources = strings.Join(s.Sources, ", ")
				}
				t := a.table("WHAT", "")
				t.row("documents", s.Documents)
				t.row("  chunks", s.Chunks)
				t.row("  tokens", s.Tokens)
				t.row("  chunks without vector", s.WithoutVector)
				t.row("anchors", s.Anchors)
				t.row("  chunks and memories listed", s.Entries)
				t.row("  since the last rebuild", s.EntriesSince)
				t.row("last rebuild", built)
				t.row("anchors denied", strings.TrimSuffix(fmt.Sprintf("%d: %s", len(s.Denied), strings.Join(s.Denied, ", ")), ": "))
				t.row("sources allowed", sources)
				return t.print()
			})
		},
	}
}
