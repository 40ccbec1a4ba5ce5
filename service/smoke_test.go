package service_test

import (
	"context"
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/model/offline"
	"github.com/hippocampus-memory/hippocampus/service"
	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

func TestSmoke(t *testing.T) {
	pool := dbtest.DB(t)
	m, err := offline.Open(t.Context(), &offline.Config{Dimension: 64})
	require.NoError(t, err)
	svc, err := service.New(pool, &service.Config{Embedder: m.Embedder})
	require.NoError(t, err)
	scope := service.Scope{UserID: "ada", AppName: "shop"}
	id, err := svc.CreateThread(t.Context(), scope, &service.CreateThreadOptions{SessionID: "s1"})
	require.NoError(t, err)
	ev, err := svc.AppendEvents(t.Context(), scope, id, []*service.EventParams{{Author: "user", Text: "I like green tea."}, {Author: "agent", Content: json.RawMessage(`{"text":"Noted."}`)}}, nil)
	require.NoError(t, err)
	job, err := svc.AddSessionToMemory(t.Context(), scope, "s1", service.ConsolidationFast)
	require.NoError(t, err)
	j, err := svc.Job(t.Context(), scope, job)
	require.NoError(t, err)
	ctx, c := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer c()
	_, err = svc.WaitJob(ctx, scope, job)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	r, err := svc.SearchMemory(t.Context(), scope, "tea", nil)
	require.NoError(t, err)
	w, err := svc.GetContextWindow(t.Context(), scope, "tea", &service.ContextOptions{SystemPrompt: "Be kind."})
	require.NoError(t, err)
	f, err := svc.Facts(t.Context(), scope, nil)
	require.NoError(t, err)
	st, err := svc.Stats(t.Context(), scope)
	require.NoError(t, err)
	json.NewEncoder(os.Stdout).Encode([]any{ev, j, r, w, f, st})
	os.Stdout.WriteString(w.BudgetBar(40) + "\n" + w.Text + "\n")
}
