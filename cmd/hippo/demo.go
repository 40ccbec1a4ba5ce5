package main

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hippocampus-memory/hippocampus/cmd/hippo/conversation"
	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/service"
)

//go:embed demo/*.jsonl
var demoFiles embed.FS

// demoApp keeps the demo's memory apart from any other.
const demoApp = "demo"

// demoTalks are the bundled conversations.
var demoTalks = []struct{ file, user, language, question, system string }{
	{"demo/en.jsonl", "maya", "en", "Where does Maya live, and what must I keep in mind for dinner?", "You are Maya's assistant."},
	{"demo/zh.jsonl", "林晓", "zh", "林晓住在哪里？她的猫叫什么名字？", "你是林晓的助手。"},
}

func (a *app) demo() *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "See a conversation become memory, and a context window",
		Long: `Brings the database to the schema, logs two bundled conversations of several
sessions (in English and in Chinese), consolidates them with a worker in this process, and
shows what came of it: summary, facts, the memories that answer a question, and the context
window with its budget. Run again, it logs nothing new and shows the same.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), 5*time.Minute)
			defer cancel()
			if err := a.migrate(ctx); err != nil {
				return err
			}
			a.appName = demoApp
			return a.withEngine(ctx, func(e *engine) error {
				return a.withWorker(ctx, e, func() error {
					for _, talk := range demoTalks {
						raw, err := demoFiles.ReadFile(talk.file)
						if err != nil {
							return fmt.Errorf("read the demo: %w", err)
						}
						read, err := conversation.Read(bytes.NewReader(raw), talk.user)
						if err != nil {
							return fmt.Errorf("read the demo: %w", err)
						}
						a.userID = talk.user
						if err := a.demonstrate(ctx, e, read[0], talk.language, talk.question, talk.system); err != nil {
							return err
						}
					}
					return nil
				})
			})
		},
	}
}

func (a *app) migrate(ctx context.Context) (err error) {
	m, err := db.NewMigrator(ctx, a.url(), &db.MigratorConfig{Logger: a.logger()})
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := m.Close(); err == nil {
			err = closeErr
		}
	}()
	_, err = m.Up(ctx)
	return err
}

// demonstrate takes one conversation from the log to the window.
func (a *app) demonstrate(
	ctx context.Context, e *engine, c *conversation.Conversation, language, question, system string,
) error {
	scope := a.scope()
	a.heading("%s: %d sessions, %d events", a.userID, len(c.Sessions), c.Events())
	start := time.Now()
	done, err := e.ingest(ctx, scope, c, func(int) {})
	if err != nil {
		return err
	}
	logged := time.Since(start)
	jobs, err := e.waitJobs(ctx, scope, done.Jobs, func() {})
	if err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "Logged %d events (%d were there already) in %d ms; %d consolidations by %s, done after %d ms.\n",
		done.Events, done.Known, logged.Milliseconds(), len(jobs), e.models.Embedder.Name(), time.Since(start).Milliseconds())

	a.heading("Summaries")
	summaries, err := e.service.SearchMemory(ctx, scope, "", &service.SearchOptions{MemoryTypes: []string{"summary"}, SkipAccess: true})
	if err != nil {
		return err
	}
	for _, m := range summaries.Memories {
		fmt.Fprintf(a.stdout, "%s  %s\n", m.OccurredFrom.UTC().Format("2006-01-02"), oneLine(m.Content, 400))
	}

	a.heading("Facts that hold")
	facts, err := e.service.Facts(ctx, scope, nil)
	if err != nil {
		return err
	}
	t := a.table("TYPE", "KEY", "VALUE", "SINCE")
	for _, f := range facts {
		t.row(f.FactType, f.Key, strings.Trim(string(f.Value), `"`), f.ValidFrom.UTC().Format("2006-01-02"))
	}
	if err := t.print(); err != nil {
		return err
	}

	a.heading("Memories for: %s", question)
	found, err := e.service.SearchMemory(ctx, scope, question, &service.SearchOptions{Limit: 5, SkipAccess: true})
	if err != nil {
		return err
	}
	if err := a.printHits(found); err != nil {
		return err
	}

	a.heading("Context window of 700 tokens")
	budget := 700
	window, err := e.service.GetContextWindow(ctx, scope, question, &service.ContextOptions{
		Language: language, MaxTokens: &budget, SystemPrompt: system,
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "%s\n\n", window.Text)
	return a.printLedger(&window.Window, false)
}

func (a *app) heading(format string, args ...any) {
	fmt.Fprintf(a.stdout, "\n— %s\n\n", fmt.Sprintf(format, args...))
}
