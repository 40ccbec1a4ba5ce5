package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/hippocampus-memory/hippocampus/internal/command"
	"github.com/hippocampus-memory/hippocampus/service"
)

func (a *app) remember() *cobra.Command {
	var (
		category string
		tags     []string
	)
	cmd := &cobra.Command{
		Use:   "remember TEXT…",
		Short: "Keep a text as a memory",
		Long:  "Keeps a text as a memory and prints its id. The same text again strengthens the memory that is there.",
		Args:  command.SomeArgs("a text"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if category != "" {
				if err := oneOf("category", []string{category}, "chat", "observation", "task", "decision", "tool-use", "error", "insight", "other"); err != nil {
					return err
				}
			}
			if err := notEmpty("tag", tags); err != nil {
				return err
			}
			return a.withEngine(cmd.Context(), func(e *engine) error {
				id, err := e.service.Remember(cmd.Context(), a.scope(), strings.Join(args, " "),
					&service.RememberOptions{Category: category, Source: "hippo", Tags: tags})
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(map[string]uuid.UUID{"memory_id": id})
				}
				_, err = fmt.Fprintln(a.stdout, id)
				return err
			})
		},
	}
	cmd.Flags().StringVar(&category, "category", "", "chat, observation, task, decision, tool-use, error, insight or other")
	cmd.Flags().StringArrayVar(&tags, "tag", nil, "a tag to find it by; may be given again")
	return cmd
}

func (a *app) recall() *cobra.Command {
	var (
		count bool
		limit int
	)
	cmd := &cobra.Command{
		Use:   "recall QUERY…",
		Short: "Recall a user's facts and memories",
		Long: `Recalls the facts that hold and the memories that answer a query, in one list. SCORE is
0.6 MEANING + 0.3 STRENGTH + 0.1 RECENCY; what is weaker than 0.05 is not recalled.
` + meaning + withoutVector + `

It does not count as a use of what is recalled; --count makes it one. An empty query ("")
lists the strongest.`,
		Args: command.SomeArgs("a query"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := inRange("limit", limit, 1, 10_000); err != nil {
				return err
			}
			return a.withEngine(cmd.Context(), func(e *engine) error {
				found, err := e.service.RecallMemories(cmd.Context(), a.scope(), strings.Join(args, " "),
					&service.RecallMemoriesOptions{Limit: limit, SkipAccess: !count})
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(found)
				}
				t := newTable(a.stdout, "SCORE", "MEANING", "STRENGTH", "RECENCY", "SOURCE", "DATE", "CONTENT")
				for _, h := range found.Hits {
					t.row(h.Score, h.Similarity, h.Strength, h.Recency, h.Source,
						h.OccurredAt.Format(time.DateOnly), oneLine(h.Content, 100))
				}
				return t.printOr(a.nothing("nothing to recall", otherScope))
			})
		},
	}
	cmd.Flags().BoolVar(&count, "count", false, "count as a use of what is recalled")
	cmd.Flags().IntVar(&limit, "limit", 10, "the greatest number of facts and memories")
	return cmd
}

func (a *app) facts() *cobra.Command {
	var f factFlags
	cmd := &cobra.Command{
		Use:   "facts",
		Short: "List a user's facts, as of any time",
		Args:  command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			opts, err := f.options()
			if err != nil {
				return err
			}
			return a.withEngine(cmd.Context(), func(e *engine) error {
				facts, err := e.service.Facts(cmd.Context(), a.scope(), opts)
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(facts)
				}
				t := newTable(a.stdout, "TYPE", "KEY", "VALUE", "SINCE", "UNTIL", "LEARNED", "SURE")
				for _, fact := range facts {
					until := ""
					if fact.ValidUntil != nil {
						until = fact.ValidUntil.Format(time.DateOnly)
					}
					t.row(fact.FactType, fact.Key, oneLine(factValue(fact.Value), 60), fact.ValidFrom.Format(time.DateOnly), until,
						fact.RecordedAt.Format(time.DateOnly), fact.Confidence)
				}
				if opts.AsOf != nil || opts.KnownAt != nil || f.key != "" || f.kind != "" {
					return t.printOr(a.nothing("no such fact", "Leave out --as-of, --known-at, --key or --type to see more."))
				}
				return t.printOr(a.nothing("no facts", "A worker draws them from conversations: see hippo import. Or name another with --user and --app."))
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.asOf, "as-of", "", "the time at which they held: 2026-05-01, or 2026-05-01T09:00:00Z (default now)")
	flags.StringVar(&f.key, "key", "", "the key alone")
	flags.StringVar(&f.knownAt, "known-at", "", "the time at which they were known; a date is that day's end (default now)")
	flags.StringVar(&f.kind, "type", "", "preference, rule, profile or custom")
	return cmd
}

// factFlags are those of the command facts.
type factFlags struct{ asOf, key, kind, knownAt string }

func (f *factFlags) options() (*service.FactsOptions, error) {
	if f.kind != "" {
		if err := oneOf("type", []string{f.kind}, "preference", "rule", "profile", "custom"); err != nil {
			return nil, err
		}
	}
	asOf, err := readTime("as-of", f.asOf, 0)
	if err != nil {
		return nil, err
	}
	knownAt, err := readTime("known-at", f.knownAt, 24*time.Hour-time.Microsecond)
	if err != nil {
		return nil, err
	}
	return &service.FactsOptions{AsOf: asOf, FactType: f.kind, Key: f.key, KnownAt: knownAt}, nil
}

func (a *app) blocks() *cobra.Command {
	return &cobra.Command{
		Use:   "blocks",
		Short: "List a user's memory blocks",
		Args:  command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withEngine(cmd.Context(), func(e *engine) error {
				blocks, err := e.service.Blocks(cmd.Context(), a.scope())
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(blocks)
				}
				t := newTable(a.stdout, "KEY", "VERSION", "TOKENS", "LIMIT", "CHANGED", "VALUE")
				for _, b := range blocks {
					t.row(b.Key, b.Version, b.TokenCount, b.TokenLimit, b.UpdatedAt.Format(time.DateOnly), oneLine(b.Value, 80))
				}
				return t.printOr(a.nothing("no memory blocks", "An agent writes them: block_set in SQL, append_memory_block over hippo mcp."))
			})
		},
	}
}

func (a *app) history() *cobra.Command {
	var limit int
	cmd := &cobra.Command{
		Use:   "history [QUERY…]",
		Short: "Show the newest of what was said, or search it",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := inRange("limit", limit, 1, 10_000); err != nil {
				return err
			}
			return a.withEngine(cmd.Context(), func(e *engine) error {
				if query := strings.Join(args, " "); query != "" {
					hits, err := e.service.RecallConversation(cmd.Context(), a.scope(), query, &service.RecallOptions{Limit: limit})
					if err != nil {
						return err
					}
					if a.json {
						return a.printJSON(hits)
					}
					t := newTable(a.stdout, "SCORE", "TIME", "AUTHOR", "TEXT")
					for _, h := range hits {
						t.row(h.Score, h.CreatedAt.Format(time.DateTime), h.Author, oneLine(h.Text, 100))
					}
					return t.printOr(a.nothing("nothing in the log that answers this", "Without a query, hippo history shows the newest."))
				}
				events, err := e.service.RecentEvents(cmd.Context(), a.scope(), &service.RecentEventsOptions{Limit: limit})
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(events)
				}
				t := newTable(a.stdout, "TIME", "AUTHOR", "TEXT")
				for _, event := range events {
					t.row(event.CreatedAt.Format(time.DateTime), event.Author, oneLine(event.Text, 100))
				}
				return t.printOr(a.nothing("no events", otherScope))
			})
		},
	}
	cmd.Flags().IntVar(&limit, "limit", 20, "the greatest number of events")
	return cmd
}
