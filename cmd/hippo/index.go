package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/hippocampus-memory/hippocampus/document"
	"github.com/hippocampus-memory/hippocampus/internal/command"
	"github.com/hippocampus-memory/hippocampus/service"
	"github.com/hippocampus-memory/hippocampus/worker"
)

// indexFlags are those of the command index.
type indexFlags struct {
	as       string
	noWorker bool
	rebuild  bool
	source   string
}

// indexReport is the shape of --json.
type indexReport struct {
	Path      string `json:"path"`
	Files     int64  `json:"files"`
	Unchanged int64  `json:"files_unchanged"`
	Deleted   int64  `json:"files_deleted"`
	Skipped   int64  `json:"files_skipped"`
	Added     int64  `json:"chunks_added"`
	Kept      int64  `json:"chunks_kept"`
	Gone      int64  `json:"chunks_deleted"`
}

func (a *app) index() *cobra.Command {
	var f indexFlags
	cmd := &cobra.Command{
		Use:   "index PATH…",
		Short: "Store documents, to be searched beside memories",
		Long: `Stores the Markdown and plain text files (.md, .markdown, .mdx, .txt) of folders, cut into
chunks by their headings of the first two levels. Files that .gitignore leaves out are left
out, and so is what begins with a dot; symbolic links are not followed.

A document's path begins with the name of its folder, or --as. Indexing again stores what
has changed: of a changed file its changed sections, and documents whose file is gone are
deleted. So two folders need two names: another folder's name is refused.

A document in a folder entities or projects is about one of these, and its title is an
anchor. A worker runs in this process until all chunks have vectors; with --no-worker that
is left to workers that run elsewhere. Anchors wait for the nightly rebuild, or --rebuild.`,
		Args: command.SomeArgs("files or folders"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.as != "" && len(args) > 1 {
				return command.Usagef("--as names one folder, but there are several")
			}
			if f.noWorker && f.rebuild {
				return command.Usagef("--rebuild needs the vectors that --no-worker leaves to others")
			}
			return a.withEngine(cmd.Context(), func(e *engine) error { return a.indexAll(cmd.Context(), e, args, &f) })
		},
	}
	cmd.Flags().StringVar(&f.as, "as", "", "what paths begin with (default: the folder's name)")
	cmd.Flags().BoolVar(&f.noWorker, "no-worker", false, "leave the vectors to workers that run elsewhere")
	cmd.Flags().BoolVar(&f.rebuild, "rebuild", false, "rebuild the anchor index afterwards")
	cmd.Flags().StringVar(&f.source, "source", "docs", "where they come from, as a label that an allowlist may name")
	return cmd
}

func (a *app) indexAll(ctx context.Context, e *engine, paths []string, f *indexFlags) error {
	var reports []*indexReport
	store := func() error {
		for _, path := range paths {
			x := &indexer{app: a, documents: e.service.Documents(), report: &indexReport{Path: path}, scope: a.scope(), source: f.source}
			reports = append(reports, x.report)
			if err := x.run(ctx, path, f.as); err != nil {
				return err
			}
		}
		return nil
	}
	err := store()
	if err == nil && !f.noWorker {
		err = a.embedAll(ctx, e)
	}
	if err == nil && f.rebuild {
		_, err = a.rebuildAnchors(ctx, e)
	}
	if err != nil { // what was stored before is told where there is anything to tell
		reports = slices.DeleteFunc(reports, func(r *indexReport) bool { return *r == (indexReport{Path: r.Path}) })
		if len(reports) == 0 {
			return err
		}
	}
	if a.json {
		return errors.Join(err, a.printJSON(reports))
	}
	t := a.table("PATH", "FILES", "UNCHANGED", "DELETED", "SKIPPED", "CHUNKS ADDED", "KEPT", "DELETED")
	for _, r := range reports {
		t.row(r.Path, r.Files, r.Unchanged, r.Deleted, r.Skipped, r.Added, r.Kept, r.Gone)
	}
	return errors.Join(err, t.print())
}

// indexer stores the files of one path.
type indexer struct {
	app       *app
	documents *service.Documents
	report    *indexReport
	root      string
	scope     service.Scope
	source    string
}

func (x *indexer) run(ctx context.Context, path, as string) error {
	files, err := document.Walk(path)
	if err != nil {
		return err
	}
	defer files.Close() //nolint:errcheck // only read
	if x.root, err = filepath.Abs(path); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	prefix := ""
	if info.IsDir() {
		if as == "" {
			as = filepath.Base(x.root)
		}
		prefix = strings.Trim(filepath.ToSlash(as), "/") + "/"
	}
	known, err := x.known(ctx, prefix, files)
	if err != nil {
		return err
	}
	if err := x.put(ctx, prefix, files, known); err != nil {
		return err
	}
	if prefix == "" {
		return nil
	}
	for path := range known { // what the walk did not find
		if _, err := x.documents.Delete(ctx, x.scope, path); err != nil {
			return err
		}
		x.report.Deleted++
	}
	return nil
}

// known are the hashes of the documents that are there, of this folder and no other.
func (x *indexer) known(ctx context.Context, prefix string, files *document.Files) (map[string][sha256.Size]byte, error) {
	list := prefix
	if list == "" {
		list = files.Names[0]
	}
	documents, err := x.documents.List(ctx, x.scope, list)
	if err != nil {
		return nil, err
	}
	known := map[string][sha256.Size]byte{}
	for _, d := range documents {
		var metadata struct {
			Root string `json:"root"`
		}
		if err := json.Unmarshal(d.Metadata, &metadata); err != nil {
			return nil, fmt.Errorf("read the metadata of %s: %w", d.Path, err)
		}
		if prefix != "" && metadata.Root != x.root {
			return nil, fmt.Errorf("there are documents under %s that come from %s; give this folder another name with --as", prefix, metadata.Root)
		}
		if d.Source != x.source { // it is stored again, under its new source
			d.ContentHash = [sha256.Size]byte{}
		}
		known[d.Path] = d.ContentHash
	}
	return known, nil
}

// put stores the files that are new or changed, and takes all that there are off known.
func (x *indexer) put(ctx context.Context, prefix string, files *document.Files, known map[string][sha256.Size]byte) error {
	metadata, err := json.Marshal(map[string]string{"root": x.root})
	if err != nil {
		return fmt.Errorf("write metadata: %w", err)
	}
	bar := x.app.progress(len(files.Names), "indexing")
	leftOut := make(chan error, len(files.Names))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(4)
	for _, name := range files.Names {
		path := prefix + name
		hash, isKnown := known[path]
		delete(known, path)
		group.Go(func() error {
			defer bar.Add(1) //nolint:errcheck // nobody to tell
			if ctx.Err() != nil {
				return ctx.Err()
			}
			text, err := files.Read(name)
			if errors.Is(err, document.ErrNoText) {
				leftOut <- err
				return nil
			}
			if err != nil {
				return err
			}
			p := &service.DocumentParams{Kind: kindOf(path), Metadata: metadata, Path: path, Source: x.source, Text: text}
			if isKnown && p.Hash() == hash {
				atomic.AddInt64(&x.report.Unchanged, 1)
				return nil
			}
			change, err := x.documents.Put(ctx, x.scope, p)
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			atomic.AddInt64(&x.report.Files, 1)
			atomic.AddInt64(&x.report.Added, int64(change.Added))
			atomic.AddInt64(&x.report.Kept, int64(change.Kept))
			atomic.AddInt64(&x.report.Gone, int64(change.Deleted))
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	_ = bar.Finish()
	close(leftOut)
	for reason := range leftOut {
		x.report.Skipped++
		fmt.Fprintf(x.app.stderr, "hippo: left out: %v\n", reason)
	}
	return nil
}

// kindOf tells by its folders what a document is about.
func kindOf(path string) string {
	folders := strings.Split(path, "/")
	folders = folders[:len(folders)-1]
	switch {
	case slices.Contains(folders, "entities"):
		return document.KindEntity
	case slices.Contains(folders, "projects"):
		return document.KindProject
	}
	return "text"
}

// embedAll runs a worker until every row has its vector.
func (a *app) embedAll(ctx context.Context, e *engine) error {
	return a.withWorker(ctx, e, func(w *worker.Worker) error {
		if err := w.Drain(ctx); err != nil {
			return err
		}
		return w.IndexVectors(ctx, false) // a corpus is large at once
	})
}
