package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hippocampus-memory/hippocampus/internal/command"
	"github.com/hippocampus-memory/hippocampus/service"
)

const (
	// meaning explains a column of search, recall and forget.
	meaning = `MEANING is relative: what is near differs from one embedding model to the next, so compare
it within one list. The offline model's is seldom above 0.5, since it knows shared words only.`
	// withoutVector explains it further, where what has no vector is not marked.
	withoutVector = `
Where a row or the query has no vector, it is the share of the words instead.`
	// otherScope is what to do where nothing was found.
	otherScope = "hippo stats counts what there is; import a conversation, or name another with --user and --app."
)

// searchFlags are those of the command search.
type searchFlags struct {
	count        bool
	documents    bool
	explain      bool
	limit        int
	minRelevance float64
	profile      string
	since, until string
	sources      []string
	tags, types  []string
}

func (a *app) search() *cobra.Command {
	var f searchFlags
	cmd := &cobra.Command{
		Use:   "search QUERY…",
		Short: "Search a user's memories",
		Long: `Searches a user's memories by words and by meaning, and shows each part of a hit's
SCORE, which --profile makes of them:

  WORDS      BM25 of the memory, of its neighbours in the conversation and of the
             conversation itself, as a share of the query's best: not to be compared
             from one query to another
  MEANING    cosine similarity of the memory's vector and the query's; "words" where
             one of them has no vector, so that what is found by words counts for it
  RETENTION  how much of the memory is kept: it fades, and is strengthened by use

` + meaning + `

An empty query ("") lists the strongest and newest. A search does not count as a use of
the memories; --count makes it one. --explain says where a score comes from: how many memories
hold a word of the query and what it weighs; and of each hit

  TEXT … TRUTH  what each part gave to its SCORE. SPREAD is what it lost to better hits of its
                conversation; TRUTH what it was lent to stand before a hit that told the same
                fact otherwise, before it changed
  BM25          its words and those beside it, as a share of the query's best; WORDS is
                made of it, of AUTHOR and of TIME
  WORTH         what a short turn, or one that only asks, is worth: a factor of WORDS
  AUTHOR, TIME  it is by whom the question names, or of the time that it names

--documents searches the chunks of indexed documents instead; --source names those wanted.`,
		Args: command.SomeArgs("a query"),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts, err := f.options()
			if err == nil {
				err = f.checkDocuments(cmd.Flags())
			}
			if err != nil {
				return err
			}
			return a.withEngine(cmd.Context(), func(e *engine) error {
				if f.documents {
					return a.searchDocuments(cmd.Context(), e, strings.Join(args, " "), &f)
				}
				if f.explain {
					why, err := e.service.ExplainSearch(cmd.Context(), a.scope(), strings.Join(args, " "), opts)
					if err != nil {
						return err
					}
					return a.printExplained(why)
				}
				found, err := e.service.SearchMemory(cmd.Context(), a.scope(), strings.Join(args, " "), opts)
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(found)
				}
				if found.Degraded {
					fmt.Fprintln(a.stderr, "hippo: the embedder failed, so that memories were found by words alone; -v logs why")
				}
				return a.printHits(found)
			})
		},
	}
	f.add(cmd.Flags())
	return cmd
}

func (f *searchFlags) add(flags *pflag.FlagSet) {
	flags.BoolVar(&f.count, "count", false, "count as a use of the memories found")
	flags.BoolVar(&f.documents, "documents", false, "search indexed documents, see hippo index")
	flags.BoolVar(&f.explain, "explain", false, "say why: what each word weighs, the weights, and what each part gave to a score")
	flags.IntVar(&f.limit, "limit", 10, "the greatest number of memories, or of chunks")
	flags.Float64Var(&f.minRelevance, "min-relevance", 0, "the least relevance, which is WORDS and MEANING weighed, 0 to 1")
	flags.StringVar(&f.profile, "profile", "default", "how hits are ranked: default, strength or retention")
	flags.StringVar(&f.since, "since", "", "leave out what had ended before: 2026-05-01, or 2026-05-01T09:00:00Z")
	flags.StringArrayVar(&f.sources, "source", nil, "with --documents: a source that they may have; may be given again")
	flags.StringArrayVar(&f.tags, "tag", nil, "a tag that they must have; may be given again")
	flags.StringSliceVar(&f.types, "type", nil, "episodic, semantic or summary; may be given again")
	flags.StringVar(&f.until, "until", "", "leave out what began after: as --since; a date is that day's end")
}

func (f *searchFlags) options() (*service.SearchOptions, error) {
	if err := inRange("limit", f.limit, 1, 10_000); err != nil {
		return nil, err
	}
	if err := inRange("min-relevance", f.minRelevance, 0, 1); err != nil {
		return nil, err
	}
	if err := oneOf("profile", []string{f.profile}, "default", "strength", "retention"); err != nil {
		return nil, err
	}
	if f.types != nil && len(f.types) == 0 { // no memory is of no type
		return nil, command.Usagef("--type is empty; leave it out, or give episodic, semantic or summary")
	}
	if err := errors.Join(oneOf("type", f.types, "episodic", "semantic", "summary"), notEmpty("tag", f.tags)); err != nil {
		return nil, err
	}
	since, err := readTime("since", f.since, 0)
	if err != nil {
		return nil, err
	}
	until, err := readTime("until", f.until, 24*time.Hour-time.Microsecond)
	if err != nil {
		return nil, err
	}
	if since != nil && until != nil && until.Before(*since) {
		return nil, command.Usagef("--until %s is before --since %s", f.until, f.since)
	}
	return &service.SearchOptions{
		Limit: f.limit, MemoryTypes: f.types, MinRelevance: f.minRelevance, Profile: f.profile, Since: since,
		SkipAccess: !f.count, Tags: f.tags, Until: until,
	}, nil
}

// readTime reads a flag that is a time, or a date in UTC, to which ofDay is added.
func readTime(flag, value string, ofDay time.Duration) (*time.Time, error) {
	if value == "" {
		return nil, nil
	}
	if at, err := time.Parse(time.RFC3339, value); err == nil {
		return &at, nil
	}
	day, err := time.Parse(time.DateOnly, value)
	if err != nil {
		return nil, command.Usagef("--%s is %q, but must be as 2026-05-01 or 2026-05-01T09:00:00Z", flag, value)
	}
	return new(day.Add(ofDay)), nil
}

func (a *app) scope() service.Scope { return service.Scope{AppName: a.appName, UserID: a.userID} }

func (a *app) printHits(found *service.SearchResponse) error {
	t := a.table("SCORE", "WORDS", "MEANING", "RETENTION", "TYPE", "DATE", "MEMORY")
	for _, m := range found.Memories {
		t.row(m.Score, m.TextScore, nearness(m.VectorScore, m.WordScore), m.RetentionScore, m.MemoryType, m.OccurredFrom.UTC().Format(time.DateOnly),
			oneLine(m.Content, 100))
	}
	return t.printOr(a.nothing("no memory that answers this", otherScope))
}

// nearness is a cosine to be printed. Where a row or the query has no vector, what it has is the share of the words.
func nearness(similarity, words float64) any {
	if similarity > 0 && similarity == words {
		return "words"
	}
	return similarity
}
