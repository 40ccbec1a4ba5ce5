package service_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/service"
	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

func Example() {
	ctx, svc := context.Background(), newService()
	ada := service.Scope{AppName: "shop", UserID: "ada"}

	thread, err := svc.CreateThread(ctx, ada, &service.CreateThreadOptions{SessionID: "monday"})
	check(err)
	_, err = svc.AppendEvents(ctx, ada, thread, []*service.EventParams{
		{Author: "user", Text: "I'd like something to drink."},
		{Author: "agent", Text: "The usual?"},
	}, nil)
	check(err)
	_, err = svc.UpsertFact(ctx, ada, "preference", "favourite_drink", "green tea", nil)
	check(err)

	window, err := svc.GetContextWindow(ctx, ada, "What does she drink?", &service.ContextOptions{
		MaxTokens:    new(200),
		SystemPrompt: "You work in a tea shop.",
		ThreadID:     &thread,
	})
	check(err)
	fmt.Println(window.Text)

	// Output:
	// You work in a tea shop.
	//
	// ## What is known of the user
	// <recalled_memories>
	// - favourite drink: green tea
	// </recalled_memories>
	//
	// ## Conversation history
	// user: I'd like something to drink.
	// agent: The usual?
}

func ExampleOpenMemoryService_AddSessionToMemory() {
	ctx, svc := context.Background(), newService()
	ada := service.Scope{AppName: "example-add", UserID: "ada"}

	thread, err := svc.CreateThread(ctx, ada, &service.CreateThreadOptions{SessionID: "monday"})
	check(err)
	_, err = svc.AppendEvent(ctx, ada, thread, &service.EventParams{Author: "user", Text: "I moved to Paris."}, nil)
	check(err)
	id, err := svc.AddSessionToMemory(ctx, ada, "monday", service.ConsolidationFull)
	check(err)

	// A worker does the job. Here none runs, so the wait ends with its deadline.
	ctx, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	job, err := svc.WaitJob(ctx, ada, id)
	fmt.Println(job.JobType, job.Status, errors.Is(err, context.DeadlineExceeded))

	// Output: full_consolidation pending true
}

func ExampleOpenMemoryService_AppendEvents() {
	ctx, svc := context.Background(), newService()
	ada := service.Scope{AppName: "example-append", UserID: "ada"}

	thread, err := svc.CreateThread(ctx, ada, nil)
	check(err)
	events, err := svc.AppendEvents(ctx, ada, thread, []*service.EventParams{
		{Author: "user", EventID: "m-1", Text: "我喜欢绿茶。"},
		{Author: "agent", Content: json.RawMessage(`{"parts": [{"text": "Noted."}]}`)},
		{Author: "user", EventID: "m-1", Text: "我喜欢绿茶。"}, // sent again
	}, nil)
	check(err)
	for _, event := range events {
		fmt.Println(event.SequenceNum, event.Author, event.Text, event.Importance)
	}

	// Output:
	// 1 user 我喜欢绿茶。 0.6
	// 2 agent Noted. 0.6
}

func ExampleOpenMemoryService_CleanupMemories() {
	ctx, svc := context.Background(), newService()
	ada := service.Scope{AppName: "example-cleanup", UserID: "ada"}

	_, err := svc.Remember(ctx, ada, "The lift was slow today.", &service.RememberOptions{InitialScore: new(0.1)})
	check(err)
	_, err = svc.Remember(ctx, ada, "Ada is allergic to nuts.", &service.RememberOptions{InitialScore: new(1.0)})
	check(err)
	dry, err := svc.CleanupMemories(ctx, ada, &service.CleanupOptions{DryRun: true, MinAgeDays: new(0), Threshold: new(0.3)})
	check(err)
	done, err := svc.CleanupMemories(ctx, ada, &service.CleanupOptions{MinAgeDays: new(0), Threshold: new(0.3)})
	check(err)
	fmt.Println(dry.CleanedCount, dry.TotalMemories, done.CleanedCount, done.TotalMemories)

	// Output: 1 2 1 1
}

func ExampleOpenMemoryService_Facts() {
	ctx, svc := context.Background(), newService()
	ada := service.Scope{AppName: "example-facts", UserID: "ada"}

	spring := time.Date(2026, time.March, 1, 0, 0, 0, 0, time.UTC)
	autumn := time.Date(2026, time.September, 1, 0, 0, 0, 0, time.UTC)
	_, err := svc.UpsertFact(ctx, ada, "profile", "city", "London", &service.UpsertFactOptions{ValidFrom: &spring})
	check(err)
	_, err = svc.UpsertFact(ctx, ada, "profile", "city", "Paris", &service.UpsertFactOptions{ValidFrom: &autumn})
	check(err)

	for _, at := range []time.Time{spring.AddDate(0, 1, 0), autumn.AddDate(0, 1, 0)} {
		facts, err := svc.Facts(ctx, ada, &service.FactsOptions{AsOf: &at})
		check(err)
		fmt.Println(at.Month(), string(facts[0].Value))
	}

	// Output:
	// April "London"
	// October "Paris"
}

func ExampleOpenMemoryService_Forget() {
	ctx, svc := context.Background(), newService()
	ada := service.Scope{AppName: "example-forget", UserID: "ada"}

	id, err := svc.Remember(ctx, ada, "Ada's door code is 1234.", nil)
	check(err)
	forgotten, err := svc.Forget(ctx, ada, id)
	check(err)
	found, err := svc.SearchMemory(ctx, ada, "door code", nil)
	check(err)
	fmt.Println(forgotten, found.TotalCount)

	// Output: 1 0
}

func ExampleOpenMemoryService_GetContextWindow() {
	ctx, svc := context.Background(), newService()
	ada := service.Scope{AppName: "example-window", UserID: "ada"}

	_, err := svc.Remember(ctx, ada, "阿达喜欢喝绿茶。", &service.RememberOptions{
		OccurredFrom: new(time.Date(2026, time.January, 5, 12, 0, 0, 0, time.UTC)),
	})
	check(err)
	window, err := svc.GetContextWindow(ctx, ada, "绿茶", &service.ContextOptions{Language: "zh", MaxTokens: new(100)})
	check(err)
	fmt.Println(window.Text)
	fmt.Println(window.Tokens <= window.TokenEstimate, window.TokenEstimate <= window.MaxTokens)

	_, err = svc.GetContextWindow(ctx, ada, "绿茶", &service.ContextOptions{MaxTokens: new(-1)})
	fmt.Println(errors.Is(err, db.ErrInvalidBudget))

	// Output:
	// ## 相关记忆
	// <recalled_memories>
	// - [2026-01-05] 阿达喜欢喝绿茶。
	// </recalled_memories>
	// true true
	// true
}

func ExampleOpenMemoryService_Persona() {
	ctx, svc := context.Background(), newService()

	helper, err := svc.Persona(ctx, service.Scope{AppName: "example-persona", UserID: "helper"}, "")
	check(err)
	_, err = helper.Enqueue(ctx,
		&service.Experience{Author: "user", Content: "Could you look at room 42?", Context: map[string]any{"room": "42", "mentionedMe": true}},
		&service.Experience{Content: "The disk of room 42 is full.", Context: map[string]any{"room": "42"}, Tags: []string{"ops"}, Type: "error"},
		&service.Experience{Content: "Somebody had lunch.", Type: "observation"},
	)
	check(err)
	found, err := helper.RecallRelated(ctx, map[string]any{"room": "42"})
	check(err)
	for _, r := range found {
		fmt.Println(r.Tier, r.Category, r.Importance, r.Content)
	}
	urgent, err := helper.Recall(ctx, &service.RecollectOptions{MinImportance: 0.85, Tags: []string{"ops"}})
	check(err)
	fmt.Println(len(urgent), urgent[0].AccessCount)

	// Output:
	// short error 0.9 The disk of room 42 is full.
	// short chat 0.8 Could you look at room 42?
	// 1 1
}

func ExampleOpenMemoryService_RecallConversation() {
	ctx, svc := context.Background(), newService()
	ada := service.Scope{AppName: "example-recall", UserID: "ada"}

	thread, err := svc.CreateThread(ctx, ada, nil)
	check(err)
	_, err = svc.AppendEvents(ctx, ada, thread, []*service.EventParams{
		{Author: "user", Text: "Where did I leave my umbrella?"},
		{Author: "agent", Text: "In the hall."},
	}, nil)
	check(err)
	hits, err := svc.RecallConversation(ctx, ada, "umbrella", nil)
	check(err)
	for _, hit := range hits {
		fmt.Println(hit.Author, hit.Text)
	}

	// Output:
	// user Where did I leave my umbrella?
	// agent In the hall.
}

func ExampleOpenMemoryService_RememberTx() {
	ctx, svc := context.Background(), newService()
	ada := service.Scope{AppName: "example-tx", UserID: "ada"}

	errNoStock := errors.New("out of stock")
	err := pgx.BeginFunc(ctx, examplePool(), func(tx pgx.Tx) error {
		if _, err := svc.RememberTx(ctx, tx, ada, "Ada ordered green tea.", nil); err != nil {
			return err
		}
		return errNoStock // the order fails, and with it the memory of it
	})
	memories, listErr := svc.ListMemories(ctx, ada, nil)
	check(listErr)
	fmt.Println(err, len(memories))

	// Output: out of stock 0
}

func ExampleOpenMemoryService_SearchMemory() {
	ctx, svc := context.Background(), newService()
	ada := service.Scope{AppName: "example-search", UserID: "ada"}

	for _, content := range []string{"Ada likes green tea.", "The shop closes at six.", "Tea is best at eighty degrees."} {
		_, err := svc.Remember(ctx, ada, content, &service.RememberOptions{Tags: []string{"notes"}})
		check(err)
	}
	found, err := svc.SearchMemory(ctx, ada, "what tea does ada like", &service.SearchOptions{Limit: 2, Tags: []string{"notes"}})
	check(err)
	for _, memory := range found.Memories {
		fmt.Println(memory.Content)
	}

	// Output:
	// Ada likes green tea.
	// Tea is best at eighty degrees.
}

func ExampleOpenMemoryService_SetBlock() {
	ctx, svc := context.Background(), newService()
	ada := service.Scope{AppName: "example-block", UserID: "ada"}

	_, err := svc.SetBlock(ctx, ada, "persona", "I work in a tea shop.", nil)
	check(err)
	block, err := svc.AppendBlock(ctx, ada, "persona", "I know Ada well.", nil)
	check(err)
	_, err = svc.SetBlock(ctx, ada, "persona", "I am new here.", &service.BlockOptions{ExpectedVersion: new(int64(1))})
	fmt.Printf("%q, version %d, conflict: %t\n", block.Value, block.Version, errors.Is(err, db.ErrVersionConflict))

	// Output: "I work in a tea shop.\nI know Ada well.", version 2, conflict: true
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func newService() *service.OpenMemoryService {
	svc, err := service.New(examplePool(), nil)
	check(err)
	return svc
}

// examplePool is the database of all examples, which have no T; each has an app of its own.
var examplePool = sync.OnceValue(func() *pgxpool.Pool { return dbtest.DB(exampleTB) })

// exampleTB is as much of a T as [dbtest.DB] needs.
var exampleTB = &fakeTB{}

type fakeTB struct {
	testing.TB
	cleanups []func()
	failed   bool
}

func (f *fakeTB) Cleanup(fn func())            { f.cleanups = append(f.cleanups, fn) }
func (f *fakeTB) Context() context.Context     { return context.Background() }
func (f *fakeTB) Errorf(text string, a ...any) { f.Logf(text, a...); f.failed = true }
func (f *fakeTB) FailNow()                     { panic("the examples' database") }
func (f *fakeTB) Failed() bool                 { return f.failed }
func (f *fakeTB) Helper()                      {}
func (f *fakeTB) Logf(text string, a ...any)   { fmt.Fprintf(os.Stderr, text+"\n", a...) }

func TestMain(m *testing.M) {
	code := m.Run()
	exampleTB.failed = exampleTB.failed || code != 0
	for _, cleanup := range slices.Backward(exampleTB.cleanups) {
		cleanup()
	}
	os.Exit(code)
}
