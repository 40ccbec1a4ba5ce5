package main

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hippocampus-memory/hippocampus/bench"
	"github.com/hippocampus-memory/hippocampus/bench/dataset"
	"github.com/hippocampus-memory/hippocampus/service"
)

// dataFlags say what data a run is on.
type dataFlags struct {
	deep      bool
	format    string
	fresh     bool
	language  string
	limit     int
	questions string
	together  bool
}

func (f *dataFlags) add(flags *pflag.FlagSet) {
	flags.BoolVar(&f.deep, "deep", false, "draw facts and insights too, as a full consolidation does")
	flags.StringVar(&f.format, "format", "", "locomo, longmemeval or memorybank (default: told from the files)")
	flags.BoolVar(&f.fresh, "fresh", false, "forget what is there of the dataset, and log it anew")
	flags.StringVar(&f.language, "lang", "en", "which language of a folder with several")
	flags.IntVar(&f.limit, "limit", 0, "ask only the first so many questions")
	flags.BoolVar(&f.together, "together", false, "make all conversations those of one user, and ask each question among them")
	flags.StringVar(&f.questions, "questions", "", "the file of the questions, where it isn't the obvious one")
}

func (f *dataFlags) read(paths []string) (*dataset.Dataset, error) {
	d, err := dataset.Read(paths, &dataset.Options{Format: f.format, Language: f.language, Questions: f.questions})
	if err != nil {
		return nil, err
	}
	d.Limit(f.limit)
	if f.together {
		d.Together()
	}
	return d, nil
}

// app is the app under which the data is: --app if given, else one of its own.
func (f *dataFlags) app(cmd *cobra.Command, a *app, d *dataset.Dataset) string {
	if cmd.Flags().Changed("app") {
		return a.appName
	}
	return "bench-" + d.Name
}

// prepare logs and consolidates what is not there yet, and embeds the questions.
func (f *dataFlags) prepare(ctx context.Context, e *bench.Engine, d *dataset.Dataset, app string) (*bench.Ingested, bench.Vectors, error) {
	opts := &bench.IngestOptions{App: app, Consolidation: service.ConsolidationFast, Fresh: f.fresh}
	if f.deep {
		opts.Consolidation = service.ConsolidationFull
	}
	done, err := bench.Ingest(ctx, e, d, opts)
	if err != nil {
		return nil, nil, err
	}
	vectors, err := bench.EmbedQuestions(ctx, e, d)
	return done, vectors, err
}
