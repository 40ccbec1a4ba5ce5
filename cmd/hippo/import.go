package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/hippocampus-memory/hippocampus/internal/command"
	"github.com/hippocampus-memory/hippocampus/internal/conversation"
	"github.com/hippocampus-memory/hippocampus/service"
	"github.com/hippocampus-memory/hippocampus/worker"
)

// importReport is the shape of --json.
type importReport struct {
	User string `json:"user"`
	App  string `json:"app"`
	conversation.Logged
	// Consolidated are the consolidations that had something to do; 0 without a worker.
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
		Long: `Logs conversations from files, session by session, and consolidates each. A file may be
compressed by gzip (.gz); - is standard input. The format is told from the content:

  events       an event a line, or a JSON array of them, UTF-8:
               {"session_id": "s1", "author": "user", "text": "Hello!", "created_at": "2026-05-01T09:00:00Z"}
  messages     the same of OpenAI, Anthropic or Gemini:
               {"role": "user", "content": "Hello!"}
  LoCoMo       the data set's JSON
  LongMemEval  the data set's JSON, or its questions as lines beside sessions.jsonl(.gz)
  MemoryBank   the data set's JSON, or its exchanges as lines

An event needs author and text, or content. What has a role, or as an item of OpenAI's
Responses a type, is a message, and is read as it is, with its tool calls: assistant and
model are the author agent, and id is its event_id. Both may have session_id, created_at
(RFC 3339; default: now), event_type, category, event_id, tags and metadata. Events without
session_id are one session, named after the file ("stdin" for -).

Importing again adds only what is new: the log has an event already if its session has
one of the same event_id; such events are counted as KNOWN. An event without event_id
gets one that is made of its content: sha256: and 32 digits of the SHA-256 of session_id,
author, created_at, content, text, and its place among those that are the same in all of
these. So lines may be added anywhere, and an import that was interrupted is simply
started again; a line that was changed is a new event.

The user is --user where it is given, or where there is one conversation only; else each
conversation gets a user of its own, named after it: the file's name without its ending,
or what the data set calls it.

A worker runs in this process until all is consolidated; with --no-worker that is left to
workers that run elsewhere. CONSOLIDATED counts the sessions that had something new.`,
		Args: command.SomeArgs("files of conversations"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if timeout <= 0 {
				return command.Usagef("--timeout is %s, but must be more than 0", timeout)
			}
			conversations, err := a.readConversations(args)
			if err != nil {
				return err
			}
			i := &importer{app: a, conversations: conversations, oneUser: len(conversations) == 1 || cmd.Flags().Changed("user"), wait: !noWorker}
			if err := i.check(); err != nil {
				return err
			}
			return within(cmd.Context(), timeout, "--timeout", func(ctx context.Context) error {
				return a.withEngine(ctx, func(e *engine) error {
					if noWorker {
						return i.run(ctx, e)
					}
					return a.withWorker(ctx, e, func(*worker.Worker) error { return i.run(ctx, e) })
				})
			})
		},
	}
	cmd.Flags().BoolVar(&noWorker, "no-worker", false, "leave the consolidation to workers that run elsewhere")
	cmd.Flags().DurationVar(&timeout, "timeout", time.Hour, "how long it may take in all")
	return cmd
}

func (a *app) readConversations(paths []string) ([]*conversation.Conversation, error) {
	var all []*conversation.Conversation
	for _, path := range paths {
		var (
			read []*conversation.Conversation
			err  error
		)
		if path == "-" {
			if read, err = conversation.Read(a.stdin, "stdin"); err != nil {
				err = fmt.Errorf("standard input: %w", err)
			}
		} else {
			read, err = conversation.ReadFile(path)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, read...)
	}
	return all, nil
}

// importer logs conversations and has them consolidated.
type importer struct {
	app           *app
	conversations []*conversation.Conversation
	oneUser       bool // --user's, all of them
	wait          bool // for the consolidation
}

func (i *importer) scope(c *conversation.Conversation) service.Scope {
	if i.oneUser {
		return i.app.scope()
	}
	return service.Scope{AppName: i.app.appName, UserID: c.ID}
}

// check refuses different events of the same id, of which the log would take only the first.
func (i *importer) check() error {
	type place struct{ user, session, event string }
	type seen struct {
		conversation string
		sum          [sha256.Size]byte
	}
	at := map[place]seen{}
	for _, c := range i.conversations {
		for _, s := range c.Sessions {
			for n := range s.Events {
				event := &s.Events[n]
				if event.EventID == "" {
					continue
				}
				p := place{i.scope(c).UserID, s.ID, event.EventID}
				now := seen{c.ID, sha256.Sum256(fmt.Appendf(nil, "%q %q %s", event.Author, event.Text, event.Content))}
				before, ok := at[p]
				if ok && before.sum != now.sum {
					return fmt.Errorf("%s and %s have different events of the event_id %q in the session %q, of which only the first "+
						"would be logged for the user %s; give them ids of their own, or import the files one by one with another --user",
						before.conversation, c.ID, event.EventID, s.ID, p.user)
				}
				at[p] = now
			}
		}
	}
	return nil
}

func (i *importer) run(ctx context.Context, e *engine) error {
	events := 0
	for _, c := range i.conversations {
		events += c.Events()
	}
	logBar := i.app.progress(events, "logging")
	logged, err := conversation.Log(ctx, e.service, i.conversations, i.scope, service.ConsolidationFull,
		func(n int) { _ = logBar.Add(n) })
	if err != nil {
		return err
	}
	reports := make([]*importReport, len(logged))
	jobs := 0
	for n, done := range logged {
		scope := i.scope(i.conversations[n])
		reports[n] = &importReport{App: scope.AppName, User: scope.UserID, Logged: *done}
		jobs += len(done.Jobs)
	}
	_ = logBar.Finish()
	if i.wait {
		if err := i.consolidate(ctx, e, reports, jobs); err != nil {
			return err
		}
	}
	if i.app.json {
		return i.app.printJSON(reports)
	}
	t := i.app.table("USER", "SESSIONS", "EVENTS", "KNOWN", "CONSOLIDATED")
	for _, r := range reports {
		t.row(r.User, r.Sessions, r.Events, r.Known, r.Consolidated)
	}
	return t.print()
}

func (i *importer) consolidate(ctx context.Context, e *engine, reports []*importReport, jobs int) error {
	bar := i.app.progress(jobs, "consolidating")
	for _, report := range reports {
		scope := service.Scope{AppName: report.App, UserID: report.User}
		ended, err := e.waitJobs(ctx, scope, report.Jobs, func() { _ = bar.Add(1) })
		if err != nil {
			return err
		}
		report.Consolidated = consolidated(ended)
	}
	_ = bar.Finish()
	return nil
}
