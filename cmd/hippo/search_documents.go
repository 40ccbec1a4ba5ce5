package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/hippocampus-memory/hippocampus/internal/command"
	"github.com/hippocampus-memory/hippocampus/service"
)

// checkDocuments refuses what only memories have with --documents, and what only documents have without.
func (f *searchFlags) checkDocuments(flags *pflag.FlagSet) error {
	if !f.documents && flags.Changed("source") {
		return command.Usagef("--source wants --documents: it is where a document comes from")
	}
	for _, name := range []string{"count", "explain", "min-relevance", "profile", "since", "tag", "type", "until"} {
		if f.documents && flags.Changed(name) {
			return command.Usagef("--%s is of memories, and --documents searches documents; leave one out", name)
		}
	}
	return notEmpty("source", f.sources)
}

func (a *app) searchDocuments(ctx context.Context, e *engine, query string, f *searchFlags) error {
	hits, err := e.service.Documents().Search(ctx, a.scope(), query, &service.ChunkSearchOptions{Limit: f.limit, Sources: f.sources})
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(hits)
	}
	t := a.table("SCORE", "WORDS", "MEANING", "WHERE", "HEADING", "TEXT")
	for _, h := range hits {
		t.row(h.Score, h.TextScore, nearness(h.VectorScore, h.TextScore), fmt.Sprintf("%s:%d", h.Path, h.StartLine), oneLine(h.Heading, 40),
			oneLine(strings.TrimSpace(h.Content), 80))
	}
	return t.printOr(a.nothing("no document that answers this", "hippo anchors status counts what there is. Documents come by hippo index FOLDER; "+
		"search them where they are, with --user and --app."))
}
