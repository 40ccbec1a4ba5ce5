package service_test

import (
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/service"
	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

const (
	invalid = "ab\xffcd"
	nul     = "ab\x00cd"
)

// TestInput checks that what can't be stored is refused by the right error, which names the value,
// and that nothing is written.
func TestInput(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	thread := b.thread(t, ada, "Good morning!")
	block, err := b.svc.SetBlock(t.Context(), ada, "persona", "A gardener.", nil)
	require.NoError(t, err)
	before := b.snapshot(t)

	svc := b.svc
	big := strings.Repeat("a", 10<<20)
	event := func(change func(*service.EventParams)) func(context.Context) error {
		return func(ctx context.Context) error {
			bad := &service.EventParams{Author: "user", Text: "hello"}
			change(bad)
			_, err := svc.AppendEvents(ctx, ada, thread, []*service.EventParams{{Author: "user", Text: "fine"}, bad}, nil)
			return err
		}
	}
	remember := func(content string, change func(*service.RememberOptions)) func(context.Context) error {
		return func(ctx context.Context) error {
			opts := &service.RememberOptions{}
			if change != nil {
				change(opts)
			}
			_, err := svc.Remember(ctx, ada, content, opts)
			return err
		}
	}
	fact := func(factType, key string, value any, change func(*service.UpsertFactOptions)) func(context.Context) error {
		return func(ctx context.Context) error {
			opts := &service.UpsertFactOptions{}
			if change != nil {
				change(opts)
			}
			_, err := svc.UpsertFact(ctx, ada, factType, key, value, opts)
			return err
		}
	}
	search := func(query string, opts *service.SearchOptions) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := svc.SearchMemory(ctx, ada, query, opts)
			return err
		}
	}
	window := func(query string, opts *service.ContextOptions) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := svc.GetContextWindow(ctx, ada, query, opts)
			return err
		}
	}
	session := func(opts *service.CreateThreadOptions) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := svc.CreateThread(ctx, ada, opts)
			return err
		}
	}
	setBlock := func(key, value string, opts *service.BlockOptions) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := svc.SetBlock(ctx, ada, key, value, opts)
			return err
		}
	}
	nan := make([]float32, dbtest.DefaultDimension)
	nan[3] = float32(math.NaN())

	for name, test := range map[string]struct {
		err   error
		text  string // in the error's
		write func(context.Context) error
	}{
		"add session of another type": {db.ErrInvalidJobType, `"slow"`, func(ctx context.Context) error {
			_, err := svc.AddSessionToMemory(ctx, ada, thread.String(), "slow")
			return err
		}},
		"add unknown session": {db.ErrThreadNotFound, `"nowhere"`, func(ctx context.Context) error {
			_, err := svc.AddSessionToMemory(ctx, ada, "nowhere", "")
			return err
		}},
		"append to unknown thread": {db.ErrThreadNotFound, "", func(ctx context.Context) error {
			_, err := svc.AppendEvent(ctx, ada, uuid.New(), &service.EventParams{Author: "user", Text: "x"}, nil)
			return err
		}},
		"append to another version": {db.ErrVersionConflict, "", func(ctx context.Context) error {
			_, err := svc.AppendEvent(ctx, ada, thread, &service.EventParams{Author: "user", Text: "x"},
				&service.AppendOptions{ExpectedVersion: new(int64(1))})
			return err
		}},
		"block append invalid": {db.ErrInvalidText, "text is not UTF-8 from byte 2", func(ctx context.Context) error {
			_, err := svc.AppendBlock(ctx, ada, "persona", invalid, nil)
			return err
		}},
		"block append over limit": {db.ErrTooLarge, `block "persona" would hold`, func(ctx context.Context) error {
			_, err := svc.AppendBlock(ctx, ada, "persona", strings.Repeat("one two ", 1500), nil)
			return err
		}},
		"block limit":        {db.ErrInvalidArgument, "TokenLimit is 0", setBlock("k", "v", &service.BlockOptions{TokenLimit: new(0)})},
		"block over limit":   {db.ErrTooLarge, "", setBlock("persona", strings.Repeat("one two ", 1500), nil)},
		"block key":          {db.ErrInvalidArgument, "key is empty", setBlock("", "v", nil)},
		"block NUL":          {db.ErrInvalidText, "value has a NUL at byte 2", setBlock("k", nul, nil)},
		"block of a version": {db.ErrVersionConflict, "", setBlock("persona", "v", &service.BlockOptions{ExpectedVersion: new(block.Version + 1)})},
		"block replace unknown": {db.ErrNotFound, "", func(ctx context.Context) error {
			_, err := svc.ReplaceInBlock(ctx, ada, "nowhere", "a", "b", nil)
			return err
		}},
		"block replace unknown text": {db.ErrTextNotFound, "", func(ctx context.Context) error {
			_, err := svc.ReplaceInBlock(ctx, ada, "persona", "a sailor", "b", nil)
			return err
		}},
		"cleanup age": {db.ErrInvalidArgument, "MinAgeDays is -1", func(ctx context.Context) error {
			_, err := svc.CleanupMemories(ctx, ada, &service.CleanupOptions{MinAgeDays: new(-1)})
			return err
		}},
		"cleanup threshold": {db.ErrInvalidArgument, "Threshold", func(ctx context.Context) error {
			_, err := svc.CleanupMemories(ctx, ada, &service.CleanupOptions{Threshold: new(math.NaN())})
			return err
		}},
		"event branch":     {db.ErrTooLarge, "events[1].Branch has 1025 bytes, but may have 1024", event(func(e *service.EventParams) { e.Branch = big[:1025] })},
		"event invocation": {db.ErrTooLarge, "events[1].InvocationID has 256 bytes, but may have 255", event(func(e *service.EventParams) { e.InvocationID = big[:256] })},
		"event of 10 MB":   {db.ErrTooLarge, "events[1].Text has 10485760 bytes", event(func(e *service.EventParams) { e.Text = big })},
		"event content of 10 MB": {db.ErrTooLarge, "", event(func(e *service.EventParams) {
			e.Text, e.Content = "", json.RawMessage(`{"data":"`+big+`"}`)
		})},
		"event content of 20 MB": {db.ErrTooLarge, "events[1].Content", event(func(e *service.EventParams) {
			e.Text, e.Content = "", json.RawMessage(`{"data":"`+big+big+`"}`)
		})},
		"event author":       {db.ErrInvalidArgument, "events[1].Author is empty", event(func(e *service.EventParams) { e.Author = "" })},
		"event category":     {db.ErrInvalidArgument, "category", event(func(e *service.EventParams) { e.Category = "gossip" })},
		"event empty":        {db.ErrInvalidArgument, "events[1] has neither Text nor Content", event(func(e *service.EventParams) { e.Text = "" })},
		"event importance":   {db.ErrInvalidArgument, "events[1].Importance is NaN", event(func(e *service.EventParams) { e.Importance = new(math.NaN()) })},
		"event invalid":      {db.ErrInvalidText, "events[1].Text is not UTF-8 from byte 2", event(func(e *service.EventParams) { e.Text = invalid })},
		"event JSON":         {db.ErrInvalidArgument, "events[1].Content is no JSON", event(func(e *service.EventParams) { e.Content = json.RawMessage("{") })},
		"event JSON NUL":     {db.ErrInvalidText, `events[1].Content has a NUL (\u0000)`, event(func(e *service.EventParams) { e.Content = json.RawMessage(`"\\\u0000"`) })},
		"event surrogate":    {db.ErrInvalidText, `half a surrogate pair (\ud83d)`, event(func(e *service.EventParams) { e.Content = json.RawMessage(`"\ud83dx"`) })},
		"event low half":     {db.ErrInvalidText, `half a surrogate pair (\ude00)`, event(func(e *service.EventParams) { e.Content = json.RawMessage(`"\ude00"`) })},
		"event metadata":     {db.ErrInvalidArgument, "events[1].Metadata is no JSON object", event(func(e *service.EventParams) { e.Metadata = json.RawMessage(" [1]") })},
		"event NUL":          {db.ErrInvalidText, "events[1].Text has a NUL at byte 2", event(func(e *service.EventParams) { e.Text = nul })},
		"event signal":       {db.ErrInvalidArgument, "events[1].Signals", event(func(e *service.EventParams) { e.Signals = []string{"shouted"} })},
		"event tag NUL":      {db.ErrInvalidText, "events[1].Tags[1]", event(func(e *service.EventParams) { e.Tags = []string{"a", nul} })},
		"event tags":         {db.ErrInvalidArgument, "65 tags", event(func(e *service.EventParams) { e.Tags = make([]string, 65) })},
		"event time":         {db.ErrInvalidArgument, "CreatedAt", event(func(e *service.EventParams) { e.CreatedAt = time.Date(123456, 1, 1, 0, 0, 0, 0, time.UTC) })},
		"fact confidence":    {db.ErrInvalidArgument, "Confidence is 2", fact("custom", "k", 1, func(o *service.UpsertFactOptions) { o.Confidence = new(2.0) })},
		"fact key":           {db.ErrTooLarge, "key has 256 bytes", fact("custom", strings.Repeat("k", 256), 1, nil)},
		"fact of a channel":  {db.ErrInvalidArgument, "value makes no JSON", fact("custom", "k", make(chan int), nil)},
		"fact of a thread":   {db.ErrThreadNotFound, "", fact("custom", "k", 1, func(o *service.UpsertFactOptions) { o.ThreadID = new(uuid.New()) })},
		"fact of another":    {db.ErrInvalidArgument, "FactType", fact("rumour", "k", 1, nil)},
		"fact value":         {db.ErrTooLarge, "", fact("custom", "k", big[:1<<20], nil)},
		"fact value invalid": {db.ErrInvalidText, "value is not UTF-8", fact("custom", "k", invalid, nil)},
		"fact vector":        {db.ErrDimension, "", fact("custom", "k", 1, func(o *service.UpsertFactOptions) { o.Embedding = []float32{1} })},
		"forget thread": {db.ErrThreadNotFound, "", func(ctx context.Context) error {
			_, err := svc.ForgetThread(ctx, ada, uuid.New())
			return err
		}},
		"experience retries": {db.ErrInvalidArgument, "Retries is 4294967298", func(ctx context.Context) error {
			_, err := svc.RecordExperience(ctx, ada, &service.TaskExperience{Retries: 1<<32 + 2, Task: "t"})
			return err
		}},
		"experience steps": {db.ErrInvalidArgument, "Steps is 4294967298", func(ctx context.Context) error {
			_, err := svc.RecordExperience(ctx, ada, &service.TaskExperience{Steps: new(1<<32 + 2), Task: "t"})
			return err
		}},
		"rollback": {db.ErrInvalidArgument, "version is 4294967298", func(ctx context.Context) error {
			_, err := svc.RollbackInstruction(ctx, "shop", "tea", new(1<<32+2))
			return err
		}},
		"instruction": {db.ErrInvalidArgument, "content is empty", func(ctx context.Context) error {
			_, err := svc.PutInstruction(ctx, "shop", "tone", "", nil)
			return err
		}},
		"instruction of every app": {db.ErrInvalidScope, "", func(ctx context.Context) error {
			_, err := svc.PutInstruction(ctx, "*", "tone", "Be brief.", nil)
			return err
		}},
		"job": {db.ErrNotFound, "", func(ctx context.Context) error {
			_, err := svc.WaitJob(ctx, ada, uuid.New())
			return err
		}},
		"list offset": {db.ErrInvalidArgument, "Offset is -1", func(ctx context.Context) error {
			_, err := svc.ListMemories(ctx, ada, &service.ListOptions{Offset: -1})
			return err
		}},
		"memory category":  {db.ErrInvalidArgument, "Category", remember("x", func(o *service.RememberOptions) { o.Category = "gossip" })},
		"memory dimension": {db.ErrDimension, "", remember("x", func(o *service.RememberOptions) { o.Embedding = []float32{1, 2} })},
		"memory direction": {db.ErrInvalidEmbedding, "", remember("x", func(o *service.RememberOptions) { o.Embedding = make([]float32, 64) })},
		"memory empty":     {db.ErrInvalidArgument, "content is empty", remember("", nil)},
		"memory invalid":   {db.ErrInvalidText, "content is not UTF-8 from byte 2", remember(invalid, nil)},
		"memory NaN":       {db.ErrInvalidEmbedding, "Embedding[3] is NaN", remember("x", func(o *service.RememberOptions) { o.Embedding = nan })},
		"memory no values": {db.ErrInvalidEmbedding, "Embedding has no values", remember("x", func(o *service.RememberOptions) { o.Embedding = []float32{} })},
		"memory NUL":       {db.ErrInvalidText, "content has a NUL", remember(nul, nil)},
		"memory of 10 MB":  {db.ErrTooLarge, "content has 10485760 bytes", remember(big, nil)},
		"memory thread":    {db.ErrThreadNotFound, "", remember("x", func(o *service.RememberOptions) { o.ThreadID = new(uuid.New()) })},
		"memory time": {db.ErrInvalidArgument, "Occurred", remember("x", func(o *service.RememberOptions) {
			o.OccurredFrom, o.OccurredUntil = new(dbtest.Epoch.Add(time.Hour)), new(dbtest.Epoch)
		})},
		"recall limit": {db.ErrInvalidArgument, "Limit is -1", func(ctx context.Context) error {
			_, err := svc.RecallConversation(ctx, ada, "x", &service.RecallOptions{Limit: -1})
			return err
		}},
		"search dimension": {db.ErrDimension, "", search("x", &service.SearchOptions{QueryEmbedding: []float32{1}})},
		"search limit":     {db.ErrInvalidArgument, "Limit is 10001", search("x", &service.SearchOptions{Limit: 10_001})},
		"search NaN":       {db.ErrInvalidEmbedding, "QueryEmbedding[3]", search("x", &service.SearchOptions{QueryEmbedding: nan})},
		"search NUL":       {db.ErrInvalidText, "query has a NUL", search(nul, nil)},
		"search profile":   {db.ErrInvalidArgument, "Profile is", search("x", &service.SearchOptions{Profile: "best"})},
		"search relevance": {db.ErrInvalidArgument, "MinRelevance", search("x", &service.SearchOptions{MinRelevance: -1})},
		"session taken":    {db.ErrConflict, "", session(&service.CreateThreadOptions{SessionID: "taken"})},
		"session NUL":      {db.ErrInvalidText, "SessionID", session(&service.CreateThreadOptions{SessionID: nul})},
		"session state":    {db.ErrInvalidArgument, "State", session(&service.CreateThreadOptions{State: json.RawMessage("[]")})},
		"slice": {db.ErrInvalidArgument, "Start", func(ctx context.Context) error {
			_, err := svc.MemoriesInTimeSlice(ctx, ada, dbtest.Epoch.Add(1), dbtest.Epoch, nil)
			if err == nil { // a nanosecond is less than Postgres tells apart
				_, err = svc.MemoriesInTimeSlice(ctx, ada, dbtest.Epoch.Add(time.Hour), dbtest.Epoch, nil)
			}
			return err
		}},
		"unknown session": {db.ErrThreadNotFound, `"nowhere"`, func(ctx context.Context) error {
			_, err := svc.Thread(ctx, ada, "nowhere")
			return err
		}},
		"window budget":   {db.ErrInvalidBudget, "", window("x", &service.ContextOptions{MaxTokens: new(-1)})},
		"window language": {db.ErrInvalidArgument, "", window("x", &service.ContextOptions{Language: "fr"})},
		"window prompt": {db.ErrSystemPromptOverBudget, "", window("x", &service.ContextOptions{
			MaxTokens: new(10), SystemPrompt: "You are a gardener.",
		})},
		"window prompt NUL": {db.ErrInvalidText, "SystemPrompt", window("x", &service.ContextOptions{SystemPrompt: nul})},
		"window ratio":      {db.ErrInvalidBudget, "", window("x", &service.ContextOptions{MemoryRatio: new(1.1)})},
	} {
		if name == "session taken" {
			_, err := b.svc.CreateThread(t.Context(), service.Scope{AppName: "shop", UserID: "bob"}, &service.CreateThreadOptions{SessionID: "taken"})
			require.NoError(t, err)
			_, err = b.svc.CreateThread(t.Context(), service.Scope{AppName: "shop", UserID: "bob"}, &service.CreateThreadOptions{SessionID: "taken"})
			require.ErrorIs(t, err, test.err)
			continue
		}
		err := test.write(t.Context())
		require.ErrorIs(t, err, test.err, name)
		require.ErrorContains(t, err, test.text, name)
	}
	require.JSONEq(t, before, b.snapshot(t))
}

func TestInput_Scope(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	ctx := t.Context()
	for name, scope := range map[string]service.Scope{
		"empty":    {},
		"every":    {AppName: "*", UserID: "ada"},
		"invalid":  {AppName: "shop", UserID: invalid},
		"long":     {AppName: "shop", UserID: strings.Repeat("a", 256)},
		"no user":  {AppName: "shop"},
		"with NUL": {AppName: nul, UserID: "ada"},
	} {
		for verb, call := range map[string]func() error{
			"Blocks":                func() error { _, err := b.svc.Blocks(ctx, scope); return err },
			"AppendBlock":           func() error { _, err := b.svc.AppendBlock(ctx, scope, "k", "v", nil); return err },
			"CleanupMemories":       func() error { _, err := b.svc.CleanupMemories(ctx, scope, nil); return err },
			"CreateThread":          func() error { _, err := b.svc.CreateThread(ctx, scope, nil); return err },
			"Facts":                 func() error { _, err := b.svc.Facts(ctx, scope, nil); return err },
			"Forget":                func() error { _, err := b.svc.Forget(ctx, scope); return err },
			"GetContextWindow":      func() error { _, err := b.svc.GetContextWindow(ctx, scope, "x", nil); return err },
			"Job":                   func() error { _, err := b.svc.Job(ctx, scope, uuid.New()); return err },
			"ListMemories":          func() error { _, err := b.svc.ListMemories(ctx, scope, nil); return err },
			"Remember":              func() error { _, err := b.svc.Remember(ctx, scope, "x", nil); return err },
			"RetentionDistribution": func() error { _, err := b.svc.RetentionDistribution(ctx, scope); return err },
			"SearchMemory":          func() error { _, err := b.svc.SearchMemory(ctx, scope, "x", nil); return err },
			"Stats":                 func() error { _, err := b.svc.Stats(ctx, scope); return err },
			"UpsertFact":            func() error { _, err := b.svc.UpsertFact(ctx, scope, "custom", "k", 1, nil); return err },
		} {
			require.ErrorIs(t, call(), db.ErrInvalidScope, "%s %s", verb, name)
		}
	}
}

// snapshot is all that the tenant ada has, as JSON.
func (b *testBundle) snapshot(t *testing.T) string {
	t.Helper()
	var snapshot string
	err := b.admin.QueryRow(t.Context(), `SELECT jsonb_build_object(
		'threads', (SELECT jsonb_agg(t ORDER BY t.id) FROM hippocampus.threads t WHERE t.user_id = 'ada'),
		'events', (SELECT jsonb_agg(t ORDER BY t.id) FROM hippocampus.events t),
		'memories', (SELECT jsonb_agg(t ORDER BY t.id) FROM hippocampus.memories t),
		'facts', (SELECT jsonb_agg(t ORDER BY t.id) FROM hippocampus.facts t),
		'blocks', (SELECT jsonb_agg(t ORDER BY t.key) FROM hippocampus.memory_blocks t),
		'instructions', (SELECT jsonb_agg(t ORDER BY t.version) FROM hippocampus.instructions t),
		'jobs', (SELECT jsonb_agg(t ORDER BY t.id) FROM hippocampus.consolidation_jobs t),
		'river', (SELECT count(*) FROM hippocampus.river_job WHERE kind = 'consolidate'),
		'embeddings', (SELECT jsonb_agg(t.row_id ORDER BY t.row_id) FROM hippocampus.embeddings t),
		'queue', (SELECT jsonb_agg(t.row_id ORDER BY t.row_id) FROM hippocampus.embedding_queue t),
		'words', (SELECT count(*) FROM hippocampus.row_terms))`).Scan(&snapshot)
	require.NoError(t, err)
	return snapshot
}
