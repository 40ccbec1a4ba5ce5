package worker_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/assembler"
	"github.com/hippocampus-memory/hippocampus/model/offline"
	"github.com/hippocampus-memory/hippocampus/service"
	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
	"github.com/hippocampus-memory/hippocampus/worker"
)

// TestPersona is the life of a persona over a restart of everything but the database.
func TestPersona(t *testing.T) {
	t.Parallel()
	models, err := offline.Open(t.Context(), &offline.Config{Dimension: dbtest.DefaultDimension})
	require.NoError(t, err)
	counter, err := assembler.NewCounter("")
	require.NoError(t, err)
	pool := dbtest.DB(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	// awake gives the persona to fn, with a worker and connections of their own, which end with it.
	awake := func(user string, fn func(p *service.Persona, w *worker.Worker)) {
		t.Helper()
		w, err := worker.New(dbtest.As(t, pool, "hippocampus_worker", nil), &worker.Config{Counter: counter, Models: models})
		require.NoError(t, err)
		require.NoError(t, w.Start(ctx))
		svc, err := service.New(dbtest.As(t, pool, "hippocampus_service", nil), &service.Config{Counter: counter, Embedder: models.Embedder})
		require.NoError(t, err)
		p, err := svc.Persona(ctx, service.Scope{AppName: "town", UserID: user}, "")
		require.NoError(t, err)
		fn(p, w)
		require.NoError(t, w.Stop(ctx))
	}
	tell := func(found []*service.Recollection, err error) (all []string) {
		t.Helper()
		require.NoError(t, err)
		for _, r := range found {
			all = append(all, r.Tier+" "+r.Content)
		}
		return all
	}
	_, err = pool.Exec(ctx, `SELECT hippocampus.put_consolidation_policy('town', '{"enabled": true}')`)
	require.NoError(t, err)
	awake("helper", func(p *service.Persona, w *worker.Worker) {
		experiences := make([]*service.Experience, 150)
		for i := range experiences {
			experiences[i] = &service.Experience{Content: fmt.Sprintf("we saw cloud %d", i), Type: "observation"}
		}
		experiences[149] = &service.Experience{Content: "we decided to use Postgres", Tags: []string{"db"}, Type: "decision"}
		_, err := p.Enqueue(ctx, experiences...)
		require.NoError(t, err)
		require.NoError(t, w.Drain(ctx)) // an urgent event came: nobody had to ask
		_, err = p.Enqueue(ctx, &service.Experience{Author: "user", Content: "is the decision final?"})
		require.NoError(t, err)
	})
	awake("helper", func(p *service.Persona, _ *worker.Worker) {
		window, err := p.ShortTerm(ctx)
		require.NoError(t, err)
		require.Len(t, window, 100, "short-term memory outlives the process")
		require.Equal(t, "we saw cloud 51", window[0].Text)
		require.Equal(t, "is the decision final?", window[99].Text)
		require.Equal(t, []string{"short is the decision final?", "long agent: we decided to use Postgres"},
			tell(p.Recall(ctx, &service.RecollectOptions{MinImportance: 0.6, MemoryTypes: []string{"episodic"}})), "both tiers, each event once")
		require.Equal(t, []string{"long agent: we decided to use Postgres"}, tell(p.Recall(ctx, &service.RecollectOptions{
			MemoryTypes: []string{"episodic"}, Tags: []string{"db"},
		})))
		require.Contains(t, tell(p.RecallSimilar(ctx, "Postgres", 3)), "long agent: we decided to use Postgres")
	})
	awake("other", func(p *service.Persona, _ *worker.Worker) {
		require.Empty(t, tell(p.Recall(ctx, nil)))
		require.Empty(t, tell(p.RecallSimilar(ctx, "Postgres decision", 10)))
		window, err := p.ShortTerm(ctx)
		require.NoError(t, err)
		require.Empty(t, window)
	})
}
