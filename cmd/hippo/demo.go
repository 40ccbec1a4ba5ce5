package main

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/internal/command"
	"github.com/hippocampus-memory/hippocampus/internal/conversation"
	"github.com/hippocampus-memory/hippocampus/service"
	"github.com/hippocampus-memory/hippocampus/worker"
)

//go:embed demo/*.jsonl
var demoFiles embed.FS

const (
	// demoApp keeps the demo's memory apart from any other.
	demoApp = "demo"
	// demoTokens is the budget of the demo's windows.
	demoTokens = 700
	// demoTimeout is how long the demo may take.
	demoTimeout = 5 * time.Minute
)

// demoTalk is a bundled conversation.
type demoTalk struct{ file, user, language, question, system string }

var demoTalks = []demoTalk{
	{"demo/en.jsonl", "maya", "en", "Where does Maya live, and what must I keep in mind for dinner?", "You are Maya's assistant."},
	{"demo/zh.jsonl", "林晓", "zh", "林晓住在哪里？她的猫叫什么名字？", "你是林晓的助手。"},
}

// demoReport is what came of a conversation; a list of them is the shape of --json.
type demoReport struct {
	User      string                 `json:"user"`
	Summaries []*service.MemoryHit   `json:"summaries"`
	Facts     []*service.Fact        `json:"facts"`
	Memories  []*service.MemoryHit   `json:"memories"`
	Window    *service.ContextWindow `json:"window"`

	conversation *conversation.Conversation
	found        *service.SearchResponse
	models       string
	stored       *conversation.Logged
	jobs         []*service.Job
	logged, took time.Duration
}

func (a *app) demo() *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "See a conversation become memory, and a context window",
		Long: `Brings the database to the schema, logs two bundled conversations of several
sessions (in English and in Chinese), consolidates them with a worker in this process, and
shows what came of it: summary, facts, the memories that answer a question, and the context
window with its budget. Run again, it logs nothing new and shows the same.

Its memory is that of the users maya and 林晓 of the app demo, so it takes neither --app nor
--user.`,
		Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("app") || cmd.Flags().Changed("user") {
				return command.Usagef("demo has an app and users of its own, and takes neither --app nor --user")
			}
			a.appName = demoApp
			return within(cmd.Context(), demoTimeout, "the demo's limit", func(ctx context.Context) error {
				if err := a.migrate(ctx); err != nil {
					return err
				}
				return a.withEngine(ctx, func(e *engine) error {
					return a.withWorker(ctx, e, func(*worker.Worker) error { return a.demonstrate(ctx, e) })
				})
			})
		},
	}
}

func (a *app) migrate(ctx context.Context) (err error) {
	m, err := db.NewMigrator(ctx, a.url(), &db.MigratorConfig{Logger: a.logger()})
	if err != nil {
		return command.Argument(err)
	}
	defer func() {
		if closeErr := m.Close(); err == nil {
			err = closeErr
		}
	}()
	_, err = m.Up(ctx)
	return err
}

// demonstrate takes the conversations from the log to the window.
func (a *app) demonstrate(ctx context.Context, e *engine) error {
	reports := make([]*demoReport, 0, len(demoTalks))
	for i := range demoTalks {
		talk := &demoTalks[i]
		report, err := e.demonstrate(ctx, talk)
		if err != nil {
			return err
		}
		reports = append(reports, report)
		if a.json {
			continue
		}
		if err := a.printDemo(talk, report); err != nil {
			return err
		}
	}
	if a.json {
		return a.printJSON(reports)
	}
	return nil
}

func (e *engine) demonstrate(ctx context.Context, talk *demoTalk) (*demoReport, error) {
	raw, err := demoFiles.ReadFile(talk.file)
	if err != nil {
		return nil, fmt.Errorf("read the demo: %w", err)
	}
	read, err := conversation.Read(bytes.NewReader(raw), talk.user)
	if err != nil {
		return nil, fmt.Errorf("read the demo: %w", err)
	}
	r := &demoReport{User: talk.user, conversation: read[0]}
	scope := service.Scope{AppName: demoApp, UserID: talk.user}
	start := time.Now()
	logged, err := conversation.Log(ctx, e.service, read, func(*conversation.Conversation) service.Scope { return scope },
		service.ConsolidationFull, func(int) {})
	if err != nil {
		return nil, err
	}
	r.stored = logged[0]
	r.logged = time.Since(start)
	if r.jobs, err = e.waitJobs(ctx, scope, r.stored.Jobs, func() {}); err != nil {
		return nil, err
	}
	r.took = time.Since(start)
	if r.models, err = e.modelsLine(ctx, scope); err != nil {
		return nil, err
	}

	summaries, err := e.service.SearchMemory(ctx, scope, "", &service.SearchOptions{MemoryTypes: []string{"summary"}, SkipAccess: true})
	if err != nil {
		return nil, err
	}
	r.Summaries = summaries.Memories
	if r.Facts, err = e.service.Facts(ctx, scope, nil); err != nil {
		return nil, err
	}
	if r.found, err = e.service.SearchMemory(ctx, scope, talk.question, &service.SearchOptions{Limit: 5, SkipAccess: true}); err != nil {
		return nil, err
	}
	r.Memories = r.found.Memories
	r.Window, err = e.service.GetContextWindow(ctx, scope, talk.question, &service.ContextOptions{
		Language: talk.language, MaxTokens: new(demoTokens), SystemPrompt: talk.system,
	})
	return r, err
}

func (a *app) printDemo(talk *demoTalk, r *demoReport) error {
	a.heading("%s: %d sessions, %d events", r.User, len(r.conversation.Sessions), r.conversation.Events())
	fmt.Fprintf(a.stdout, "Logged %d events (%d were there already) in %d ms; %d sessions consolidated after %d ms.\n",
		r.stored.Events, r.stored.Known, r.logged.Milliseconds(), consolidated(r.jobs), r.took.Milliseconds())
	fmt.Fprintln(a.stdout, r.models)

	a.heading("Summaries")
	for _, m := range r.Summaries {
		fmt.Fprintf(a.stdout, "%s  %s\n", m.OccurredFrom.UTC().Format(time.DateOnly), oneLine(m.Content, 400))
	}

	a.heading("Facts, current")
	t := a.table("TYPE", "KEY", "VALUE", "SINCE")
	for _, f := range r.Facts {
		t.row(f.FactType, f.Key, factValue(f.Value), f.ValidFrom.UTC().Format(time.DateOnly))
	}
	if err := t.print(); err != nil {
		return err
	}

	a.heading("Memories for: %s", talk.question)
	if err := a.printHits(r.found); err != nil {
		return err
	}

	a.heading("Context window of %d tokens", demoTokens)
	fmt.Fprintf(a.stdout, "%s\n\n", r.Window.Text)
	return printLedger(a.stdout, &r.Window.Window, false)
}

// modelsLine says which models made the memories, by the record of the last consolidation that made any.
func (e *engine) modelsLine(ctx context.Context, scope service.Scope) (string, error) {
	var raw []byte
	err := e.pool.QueryRow(ctx, `SELECT coalesce((SELECT j.result -> 'models' FROM hippocampus.consolidation_jobs j
		WHERE j.user_id = $1 AND j.app_name = $2 AND j.result -> 'models' ->> 'summarizer' IS NOT NULL
		ORDER BY j.completed_at DESC LIMIT 1), '{}')`, scope.UserID, scope.AppName).Scan(&raw)
	if err != nil {
		return "", fmt.Errorf("read which models were asked: %w", db.WrapGo(err))
	}
	var names map[string]string
	if err := json.Unmarshal(raw, &names); err != nil {
		return "", fmt.Errorf("read which models were asked: %w", err)
	}
	const unknown = "a model that is not on record"
	return fmt.Sprintf("Models: summaries by %s, facts by %s, vectors by %s.", cmp.Or(names["summarizer"], unknown),
		cmp.Or(names["reflector"], unknown), cmp.Or(names["embedder"], e.models.Embedder.Name())), nil
}

// factValue is a fact's value as text.
func factValue(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(value)
}

func (a *app) heading(format string, args ...any) {
	fmt.Fprintf(a.stdout, "\n— %s\n\n", fmt.Sprintf(format, args...))
}
