package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/hippocampus-memory/hippocampus/cmd/hippo/conversation"
	"github.com/hippocampus-memory/hippocampus/service"
)

// importReport is the shape of --json.
type importReport struct {
	User string `json:"user"`
	App  string `json:"app"`
	ingested
	// Consolidated are the consolidations that were completed; 0 without a worker.
	Consolidated int `json:"consolidated"`
}

func (a *app) importing() *cobra.Command {
	var (
		noWorker bool
		timeout  time.Duration
	)
	cmd := &cobra.Command{
		Use:   "import FILE…",
		Short: "Log conversations from files and consolidate them",
		Long: `Logs conversations from files, session by session, and consolidates each.

A file holds JSON lines of events,

    {"session_id": "s1", "author": "user", "text": "Hello!", "created_at": "2026-05-01T09:00:00Z"}

(also content, event_type, category, event_id, tags, metadata), or LoCoMo's JSON.
A file of several conversations gives each a user of its own, named after it; else
the user is --user. What the log has already, by session_id and event_id, is not
logged again, so an import that was interrupted is simply started anew.

A worker runs in this process until all is consolidated; with --no-worker that is
left to workers that run elsewhere.`,
		Args: someArgs("files of conversations"),
		RunE: func(cmd *cobra.Command, args []string) error {
			conversations, err := readConversations(args)
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), timeout)
			defer cancel()
			return a.withEngine(ctx, func(e *engine) error {
				if noWorker {
					return a.importAll(ctx, e, conversations, false)
				}
				return a.withWorker(ctx, e, func() error { return a.importAll(ctx, e, conversations, true) })
			})
		},
	}
	cmd.Flags().BoolVar(&noWorker, "no-worker", false, "leave the consolidation to workers that run elsewhere")
	cmd.Flags().DurationVar(&timeout, "timeout", time.Hour, "how long it may take in all")
	return cmd
}

func readConversations(paths []string) ([]*conversation.Conversation, error) {
	var all []*conversation.Conversation
	for _, path := range paths {
		read, err := conversation.ReadFile(path)
		if err != nil {
			return nil, err
		}
		all = append(all, read...)
	}
	return all, nil
}

func (a *app) importAll(ctx context.Context, e *engine, conversations []*conversation.Conversation, wait bool) error {
	events := 0
	for _, c := range conversations {
		events += c.Events()
	}
	logBar := a.progress(events, "logging")
	reports := make([]*importReport, len(conversations))
	jobs := 0
	for i, c := range conversations {
		scope := service.Scope{AppName: a.appName, UserID: a.userID}
		if len(conversations) > 1 {
			scope.UserID = c.ID
		}
		done, err := e.ingest(ctx, scope, c, func(n int) { _ = logBar.Add(n) })
		if err != nil {
			return fmt.Errorf("conversation %s: %w", c.ID, err)
		}
		reports[i] = &importReport{App: scope.AppName, User: scope.UserID, ingested: *done}
		jobs += len(done.Jobs)
	}
	_ = logBar.Finish()
	if wait {
		jobBar := a.progress(jobs, "consolidating")
		for _, report := range reports {
			ended, err := e.waitJobs(ctx, service.Scope{AppName: report.App, UserID: report.User}, report.Jobs, func() { _ = jobBar.Add(1) })
			if err != nil {
				return err
			}
			report.Consolidated = len(ended)
		}
		_ = jobBar.Finish()
	}
	if a.json {
		return a.printJSON(reports)
	}
	t := a.table("USER", "SESSIONS", "EVENTS", "KNOWN", "CONSOLIDATED")
	for _, r := range reports {
		t.row(r.User, r.Sessions, r.Events, r.Known, r.Consolidated)
	}
	return t.print()
}
