package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/hippocampus-memory/hippocampus/service"
)

func (a *app) search() *cobra.Command {
	var opts service.SearchOptions
	cmd := &cobra.Command{
		Use:   "search QUERY…",
		Short: "Search a user's memories",
		Long: `Searches a user's memories by words and by meaning, and shows each part of a
hit's score: TEXT (BM25), VECTOR (cosine similarity), KEPT (retention). It does not
count as a use of the memories; --count makes it one.`,
		Args: someArgs("a query"),
		RunE: func(cmd *cobra.Command, args []string) error {
			query := strings.Join(args, " ")
			return a.withEngine(cmd.Context(), func(e *engine) error {
				found, err := e.service.SearchMemory(cmd.Context(), a.scope(), query, &opts)
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(found)
				}
				return a.printHits(found)
			})
		},
	}
	count := false
	flags := cmd.Flags()
	flags.BoolVar(&count, "count", false, "count as a use of the memories found")
	flags.IntVar(&opts.Limit, "limit", 10, "the greatest number of memories")
	flags.StringVar(&opts.Profile, "profile", "default", "how hits are ranked: default, strength or retention")
	flags.StringSliceVar(&opts.Tags, "tag", nil, "a tag that they must have; may be given again")
	flags.StringSliceVar(&opts.MemoryTypes, "type", nil, "episodic, semantic or summary; may be given again")
	cmd.PreRun = func(*cobra.Command, []string) { opts.SkipAccess = !count }
	return cmd
}

func (a *app) scope() service.Scope { return service.Scope{AppName: a.appName, UserID: a.userID} }

func (a *app) printHits(found *service.SearchResponse) error {
	if len(found.Memories) == 0 {
		_, err := a.stdout.Write([]byte("Nothing was found.\n"))
		return err
	}
	t := a.table("SCORE", "TEXT", "VECTOR", "KEPT", "TYPE", "DATE", "MEMORY")
	for _, m := range found.Memories {
		t.row(m.Score, m.TextScore, m.VectorScore, m.RetentionScore, m.MemoryType, m.OccurredFrom.UTC().Format("2006-01-02"),
			oneLine(m.Content, 100))
	}
	return t.print()
}
