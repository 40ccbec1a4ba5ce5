package service_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/service"
	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

func TestAppendEvents(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	thread := b.thread(t, ada)

	t.Run("CountsWhatAWindowPrints", func(t *testing.T) {
		t.Parallel()
		event, err := b.svc.AppendEvent(t.Context(), ada, thread, &service.EventParams{
			Author: "user", Category: "error", Importance: new(0.25), Metadata: json.RawMessage(`{"k": 1}`), Tags: []string{"x"},
			Text: "我们今天去北京 👩‍👩‍👧",
		}, nil)
		require.NoError(t, err)
		require.True(t, event.TokensExact)
		require.Equal(t, b.svc.Counter().Count("user: 我们今天去北京 👩‍👩‍👧"), event.TokenCount)
		require.JSONEq(t, `{"text": "我们今天去北京 👩‍👩‍👧"}`, string(event.Content))
		require.Equal(t, 0.25, event.Importance)
		require.Equal(t, []string{"x"}, event.Tags)
	})

	t.Run("LeavesContentToBeCounted", func(t *testing.T) {
		t.Parallel()
		event, err := b.svc.AppendEvent(t.Context(), ada, thread, &service.EventParams{
			Author: "agent", Content: json.RawMessage(`{"parts": [{"text": "Hello."}, {"text": "How are you?"}]}`),
			Signals: []string{"userDirectMessage"},
		}, nil)
		require.NoError(t, err)
		require.Equal(t, "Hello.\nHow are you?", event.Text)
		require.False(t, event.TokensExact)
		require.Equal(t, 0.75, event.Importance)
	})

	t.Run("StoresAnEventIDOnce", func(t *testing.T) {
		t.Parallel()
		params := &service.EventParams{Author: "user", EventID: "e1", Text: "once"}
		first, err := b.svc.AppendEvent(t.Context(), ada, thread, params, nil)
		require.NoError(t, err)
		second, err := b.svc.AppendEvent(t.Context(), ada, thread, params, nil)
		require.NoError(t, err)
		require.Equal(t, first, second)
		stored, err := b.svc.AppendEvents(t.Context(), ada, thread, []*service.EventParams{params}, nil)
		require.NoError(t, err)
		require.Empty(t, stored)
	})

	t.Run("TakesNone", func(t *testing.T) {
		t.Parallel()
		stored, err := b.svc.AppendEvents(t.Context(), ada, thread, nil, nil)
		require.NoError(t, err)
		require.Empty(t, stored)
	})

	t.Run("TakesAnEscapedBackslash", func(t *testing.T) {
		t.Parallel()
		event, err := b.svc.AppendEvent(t.Context(), ada, thread, &service.EventParams{
			Author: "user", Content: json.RawMessage(`{"text": "\\u0000 \ud83d\ude00 \n"}`),
		}, nil)
		require.NoError(t, err)
		require.Equal(t, `\u0000 😀`+" \n", event.Text)
	})
}

func TestBlocks(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	block, err := b.svc.Block(t.Context(), ada, "persona")
	require.NoError(t, err)
	require.Nil(t, block)
	_, err = b.svc.SetBlock(t.Context(), ada, "persona", "A gardener.", &service.BlockOptions{ExpectedVersion: new(int64(0)), TokenLimit: new(50)})
	require.NoError(t, err)
	_, err = b.svc.AppendBlock(t.Context(), ada, "persona", "Tall, very tall.", nil)
	require.NoError(t, err)
	block, err = b.svc.ReplaceInBlock(t.Context(), ada, "persona", "tall", "small", &service.BlockOptions{ExpectedVersion: new(int64(2))})
	require.NoError(t, err)
	require.Equal(t, "A gardener.\nTall, very small.", block.Value)
	require.EqualValues(t, 3, block.Version)
	require.Equal(t, 50, block.TokenLimit)
	read, err := b.svc.Block(t.Context(), ada, "persona")
	require.NoError(t, err)
	require.Equal(t, block, read)
	all, err := b.svc.Blocks(t.Context(), ada)
	require.NoError(t, err)
	require.Equal(t, []*service.Block{block}, all)
}

func TestFacts(t *testing.T) {
	t.Parallel()
	clock := &dbtest.Clock{}
	b := setup(t, &service.Config{Now: clock.Now})
	upsert := func(value any, opts *service.UpsertFactOptions) uuid.UUID {
		id, err := b.svc.UpsertFact(t.Context(), ada, "preference", "favourite_drink", value, opts)
		require.NoError(t, err)
		return id
	}
	first := upsert("tea", nil)
	clock.Advance(24 * time.Hour)
	second := upsert(map[string]any{"name": "coffee", "sugar": 2}, nil)
	require.NotEqual(t, first, second)
	upsert("water", &service.UpsertFactOptions{Confidence: new(0.3)}) // a guess

	facts, err := b.svc.Facts(t.Context(), ada, nil)
	require.NoError(t, err)
	require.Len(t, facts, 1)
	require.Equal(t, second, facts[0].ID)
	require.JSONEq(t, `{"name": "coffee", "sugar": 2}`, string(facts[0].Value))
	require.Equal(t, b.svc.Counter().Count(`favourite drink: {"name": "coffee", "sugar": 2}`), facts[0].TokenCount)

	then, err := b.svc.Facts(t.Context(), ada, &service.FactsOptions{AsOf: new(dbtest.Epoch.Add(time.Hour)), Key: "favourite_drink"})
	require.NoError(t, err)
	require.Len(t, then, 1)
	require.Equal(t, first, then[0].ID)
	require.Equal(t, &second, then[0].SupersededBy)
	known, err := b.svc.Facts(t.Context(), ada, &service.FactsOptions{KnownAt: new(dbtest.Epoch.Add(time.Hour))})
	require.NoError(t, err)
	require.Equal(t, first, known[0].ID)
	none, err := b.svc.Facts(t.Context(), ada, &service.FactsOptions{FactType: "rule"})
	require.NoError(t, err)
	require.Empty(t, none)
}

func TestForget(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	memory, err := b.svc.Remember(t.Context(), ada, "Ada likes tea.", nil)
	require.NoError(t, err)
	fact, err := b.svc.UpsertFact(t.Context(), ada, "custom", "k", 1, nil)
	require.NoError(t, err)
	forgotten, err := b.svc.Forget(t.Context(), ada, memory, fact, uuid.New())
	require.NoError(t, err)
	require.Equal(t, 2, forgotten)

	thread := b.thread(t, ada, "one", "two")
	job, err := b.svc.AddSessionToMemory(t.Context(), ada, thread.String(), "")
	require.NoError(t, err)
	_, err = b.svc.ForgetThread(t.Context(), ada, thread)
	require.NoError(t, err)
	_, err = b.svc.Job(t.Context(), ada, job)
	require.ErrorIs(t, err, db.ErrNotFound)
	stats, err := b.svc.Stats(t.Context(), ada)
	require.NoError(t, err)
	require.Zero(t, *stats)
}

func TestJobs(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	thread, err := b.svc.CreateThread(t.Context(), ada, &service.CreateThreadOptions{SessionID: "monday", State: json.RawMessage(`{"a": 1}`)})
	require.NoError(t, err)
	same, err := b.svc.CreateThread(t.Context(), ada, &service.CreateThreadOptions{IfNotExists: true, SessionID: "monday"})
	require.NoError(t, err)
	require.Equal(t, thread, same)
	_, err = b.svc.CreateThread(t.Context(), ada, &service.CreateThreadOptions{SessionID: "monday"})
	require.ErrorIs(t, err, db.ErrConflict)
	require.ErrorContains(t, err, "IfNotExists")
	require.NotContains(t, err.Error(), "p_if")

	id, err := b.svc.AddSessionToMemory(t.Context(), ada, "monday", service.ConsolidationDeep)
	require.NoError(t, err)
	again, err := b.svc.AddSessionToMemory(t.Context(), ada, thread.String(), service.ConsolidationDeep)
	require.NoError(t, err)
	require.Equal(t, id, again)

	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	job, err := b.svc.WaitJob(ctx, ada, id)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Equal(t, service.JobPending, job.Status)
	require.False(t, job.Done())

	for _, status := range []string{"running", "completed"} {
		_, err = b.admin.Exec(t.Context(), `UPDATE hippocampus.consolidation_jobs SET status = $1::text, result = '{"facts": 1}',
			completed_at = CASE WHEN $1::text = 'completed' THEN now() END`, status)
		require.NoError(t, err)
	}
	job, err = b.svc.WaitJob(t.Context(), ada, id)
	require.NoError(t, err)
	require.Equal(t, service.JobCompleted, job.Status)
	require.Equal(t, "deep_reflection", job.JobType)
	require.JSONEq(t, `{"facts": 1}`, string(job.Result))

	read, err := b.svc.Thread(t.Context(), ada, "monday")
	require.NoError(t, err)
	require.Equal(t, thread, read.ID)
	require.JSONEq(t, `{"a": 1}`, string(read.State))
	_, err = b.svc.AppendEvent(t.Context(), ada, thread, &service.EventParams{Author: "user", Text: "x"},
		&service.AppendOptions{ExpectedVersion: &read.Version})
	require.NoError(t, err)
}

func TestMemories(t *testing.T) {
	t.Parallel()
	clock := &dbtest.Clock{}
	b := setup(t, &service.Config{Now: clock.Now})
	for i := range 5 {
		_, err := b.svc.Remember(t.Context(), ada, fmt.Sprintf("day %d", i), &service.RememberOptions{
			Author: "user", Importance: new(0.9), InitialScore: new(float64(i) / 5), MemoryType: "episodic", Source: "diary",
			OccurredFrom: new(dbtest.Epoch.AddDate(0, 0, i)),
		})
		require.NoError(t, err)
	}
	page, err := b.svc.ListMemories(t.Context(), ada, &service.ListOptions{Limit: 2, MemoryType: "episodic", Offset: 1})
	require.NoError(t, err)
	require.Len(t, page, 2)
	require.Equal(t, "day 3", page[0].Content)
	require.Equal(t, 0.9, page[0].Importance)
	require.Equal(t, "diary", page[0].Source)
	slice, err := b.svc.MemoriesInTimeSlice(t.Context(), ada, dbtest.Epoch.AddDate(0, 0, 1), dbtest.Epoch.AddDate(0, 0, 2), nil)
	require.NoError(t, err)
	require.Len(t, slice, 2)
	require.Equal(t, "day 2", slice[0].Content)
	open, err := b.svc.MemoriesInTimeSlice(t.Context(), ada, time.Time{}, time.Time{}, &service.TimeSliceOptions{Limit: 4})
	require.NoError(t, err)
	require.Len(t, open, 4)
}

func TestRetention(t *testing.T) {
	t.Parallel()
	clock := &dbtest.Clock{}
	b := setup(t, &service.Config{Now: clock.Now})
	bob := service.Scope{AppName: "shop", UserID: "bob"}
	for _, scope := range []service.Scope{ada, bob} {
		for i, score := range []float64{0.2, 1} {
			_, err := b.svc.Remember(t.Context(), scope, fmt.Sprint("memory ", i), &service.RememberOptions{InitialScore: &score})
			require.NoError(t, err)
		}
	}
	bands, err := b.svc.RetentionDistribution(t.Context(), ada)
	require.NoError(t, err)
	require.InDelta(t, 0.6, bands.AverageScore, 1e-6)
	bands.AverageScore = 0
	require.Equal(t, &service.RetentionDistribution{High: 1, Low: 1, Total: 2}, bands)

	clock.Advance(10 * 24 * time.Hour) // 0.2 has faded to 0.07, 1.0 to 0.37
	for _, test := range []struct {
		opts *service.CleanupOptions
		want int
	}{
		{&service.CleanupOptions{Threshold: new(0.0)}, 0}, // 0 is 0, not a default
		{&service.CleanupOptions{MinAgeDays: new(30)}, 0},
		{&service.CleanupOptions{DryRun: true}, 1},
		{&service.CleanupOptions{DryRun: true, MinAgeDays: new(0), Threshold: new(1.0)}, 2},
		{nil, 1},
		{nil, 0},
	} {
		result, err := b.svc.CleanupMemories(t.Context(), ada, test.opts)
		require.NoError(t, err)
		require.Equal(t, test.want, result.CleanedCount, "%+v", test.opts)
	}
	result, err := b.svc.CleanupAllMemories(t.Context(), nil)
	require.NoError(t, err)
	require.Equal(t, 1, result.CleanedCount)
	require.EqualValues(t, 2, result.TotalMemories)
}

func TestInstructionsAndDoctor(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	for want := 1; want <= 2; want++ {
		version, err := b.svc.PutInstruction(t.Context(), "shop", "tone", fmt.Sprint("Be brief ", want), &service.InstructionOptions{Metadata: json.RawMessage(`{}`)})
		require.NoError(t, err)
		require.Equal(t, want, version)
	}
	window, err := b.svc.GetContextWindow(t.Context(), ada, "", nil)
	require.NoError(t, err)
	require.Equal(t, "## Instructions\nBe brief 2", window.Text)
	tenant, err := service.New(dbtest.As(t, b.admin, "hippocampus_tenant", nil), nil)
	require.NoError(t, err)
	_, err = tenant.PutInstruction(t.Context(), "shop", "tone", "Be rude", nil)
	require.ErrorIs(t, err, db.ErrPermission)

	findings, err := b.svc.Doctor(t.Context())
	require.NoError(t, err)
	require.NotEmpty(t, findings)
	for _, finding := range findings {
		if finding.Name == "row_level_security" {
			require.Equal(t, "ok", finding.Status)
		}
	}
}
