package service_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/service"
)

func TestPersona(t *testing.T) {
	t.Parallel()
	wake := func(t *testing.T, b *testBundle, user string) *service.Persona {
		t.Helper()
		p, err := b.svc.Persona(t.Context(), service.Scope{UserID: user, AppName: "town"}, "")
		require.NoError(t, err)
		return p
	}
	tell := func(found []*service.Recollection) []string {
		all := []string{}
		for _, r := range found {
			all = append(all, r.Tier+" "+r.Content)
		}
		return all
	}

	t.Run("HoldsTheLastHundredAndSurvivesARestart", func(t *testing.T) {
		t.Parallel()
		b := setup(t, nil)
		p := wake(t, b, "helper")
		experiences := make([]*service.Experience, 150)
		for i := range experiences {
			experiences[i] = &service.Experience{Content: fmt.Sprintf("event %d", i), Type: "observation", ID: fmt.Sprint(i)}
		}
		stored, err := p.Enqueue(t.Context(), experiences...)
		require.NoError(t, err)
		require.Len(t, stored, 150)
		again, err := wake(t, b, "helper").Enqueue(t.Context(), experiences[149])
		require.NoError(t, err)
		require.Empty(t, again, "the same experience is stored once")

		svc, err := service.New(b.pool, nil) // another process
		require.NoError(t, err)
		p, err = svc.Persona(t.Context(), service.Scope{UserID: "helper", AppName: "town"}, "")
		require.NoError(t, err)
		window, err := p.ShortTerm(t.Context())
		require.NoError(t, err)
		require.Len(t, window, 100)
		require.Equal(t, "event 50", window[0].Text)
		require.Equal(t, "event 149", window[99].Text)
	})

	t.Run("ScoresAndRecallsByContext", func(t *testing.T) {
		t.Parallel()
		b := setup(t, nil)
		p := wake(t, b, "helper")
		stored, err := p.Enqueue(t.Context(),
			&service.Experience{Author: "user", Content: "can you help?", Context: map[string]any{"room": "7", "mentionedMe": true}, Source: "chat/send", Tags: []string{"help"}},
			&service.Experience{Content: "构建失败了", Type: "error", Context: map[string]any{"room": "8"}})
		require.NoError(t, err)
		require.InDelta(t, 0.8, stored[0].Importance, 1e-6)
		require.InDelta(t, 0.9, stored[1].Importance, 1e-6)
		related, err := p.RecallRelated(t.Context(), map[string]any{"room": "7"})
		require.NoError(t, err)
		require.Equal(t, []string{"short can you help?"}, tell(related))
		tagged, err := p.Recall(t.Context(), &service.RecollectOptions{Tags: []string{"help"}, Types: []string{"chat"}})
		require.NoError(t, err)
		require.Equal(t, []string{"short can you help?"}, tell(tagged))
		similar, err := p.RecallSimilar(t.Context(), "失败", 5)
		require.NoError(t, err)
		require.Equal(t, []string{"short 构建失败了"}, tell(similar))
	})

	t.Run("RecordsUseAndForgets", func(t *testing.T) {
		t.Parallel()
		b := setup(t, nil)
		scope := service.Scope{UserID: "helper", AppName: "town"}
		p := wake(t, b, "helper")
		id, err := b.svc.Remember(t.Context(), scope, "snapshots restore fast", &service.RememberOptions{Category: "insight"})
		require.NoError(t, err)
		for want := range 3 {
			found, err := p.Recall(t.Context(), &service.RecollectOptions{Types: []string{"insight"}})
			require.NoError(t, err)
			require.Equal(t, want, found[0].AccessCount)
		}
		found, err := b.svc.Recall(t.Context(), scope, nil)
		require.NoError(t, err)
		require.Equal(t, 3, found[0].AccessCount, "and only by the persona")
		n, err := p.Forget(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, 1, n)
		found, err = p.Recall(t.Context(), nil)
		require.NoError(t, err)
		require.Empty(t, found)
	})

	t.Run("ForgetsWhatIsNoMemoryYet", func(t *testing.T) {
		t.Parallel()
		b := setup(t, nil)
		p := wake(t, b, "helper")
		stored := must(p.Enqueue(t.Context(), &service.Experience{Content: "the code is 4711"}, &service.Experience{Content: "lunch"}))
		require.Equal(t, 1, must(p.Forget(t.Context(), stored[0].ID)))
		require.Equal(t, []string{"short lunch"}, tell(must(p.Recall(t.Context(), nil))))
		require.Empty(t, must(p.RecallSimilar(t.Context(), "4711", 5)))
		require.Len(t, must(p.ShortTerm(t.Context())), 1)
	})

	t.Run("NeverMixes", func(t *testing.T) {
		t.Parallel()
		b := setup(t, nil)
		one, other := wake(t, b, "one"), wake(t, b, "other")
		_, err := one.Enqueue(t.Context(), &service.Experience{Content: "my secret", Context: map[string]any{"room": "1"}})
		require.NoError(t, err)
		for _, found := range [][]*service.Recollection{
			must(other.Recall(t.Context(), nil)), must(other.RecallSimilar(t.Context(), "secret", 5)), must(other.RecallRelated(t.Context(), map[string]any{"room": "1"})),
		} {
			require.Empty(t, found)
		}
		require.Empty(t, must(other.ShortTerm(t.Context())))
	})

	t.Run("SharesWithAttribution", func(t *testing.T) {
		t.Parallel()
		b := setup(t, nil)
		one, other := wake(t, b, "one"), wake(t, b, "other")
		id := must(b.svc.Remember(t.Context(), service.Scope{UserID: "one", AppName: "town"}, "the door code changed", nil))
		require.ErrorIs(t, one.Share(t.Context(), id), db.ErrInvalidArgument, "off by default")
		_, err := b.admin.Exec(t.Context(), `SELECT hippocampus.put_consolidation_policy('town', '{"sharing": true}')`)
		require.NoError(t, err)
		require.NoError(t, one.Share(t.Context(), id))
		found := must(other.Recall(t.Context(), &service.RecollectOptions{IncludeShared: true}))
		require.Equal(t, []string{"shared the door code changed"}, tell(found))
		require.Equal(t, "one", found[0].SharedBy)
		require.ErrorIs(t, other.Share(t.Context(), id), db.ErrNotFound)
		require.False(t, must(other.Unshare(t.Context(), id)))
		require.True(t, must(one.Unshare(t.Context(), id)))
		require.Empty(t, must(other.Recall(t.Context(), &service.RecollectOptions{IncludeShared: true})))
	})

	t.Run("LinksAndClusters", func(t *testing.T) {
		t.Parallel()
		b := setup(t, nil)
		scope := service.Scope{UserID: "helper", AppName: "town"}
		p := wake(t, b, "helper")
		full := must(b.svc.Remember(t.Context(), scope, "the disk was full", nil))
		logs := must(b.svc.Remember(t.Context(), scope, "the logs were not rotated", nil))
		require.NoError(t, p.Link(t.Context(), full, logs, &service.LinkOptions{Type: service.LinkCausedBy, Weight: new(0.5)}))
		found := must(p.Linked(t.Context(), logs, nil))
		require.Equal(t, []string{"long the disk was full"}, tell(found))
		require.InDelta(t, 0.5, found[0].Score, 1e-6)
		require.Empty(t, must(p.Linked(t.Context(), logs, &service.LinkedOptions{Types: []string{service.LinkSupports}})))
		require.Equal(t, 1, must(p.Unlink(t.Context(), full, logs, "")))
		require.Empty(t, must(p.Linked(t.Context(), logs, nil)))
		require.ErrorIs(t, p.Link(t.Context(), full, uuid.New(), nil), db.ErrNotFound)
		require.ErrorIs(t, p.Link(t.Context(), full, full, nil), db.ErrInvalidArgument)
		_, err := p.Linked(t.Context(), full, &service.LinkedOptions{Depth: 6})
		require.ErrorIs(t, err, db.ErrInvalidArgument)

		name := must(b.svc.Remember(t.Context(), scope, "The night of the full disk", &service.RememberOptions{MemoryType: "summary"}))
		_, err = b.admin.Exec(t.Context(), `WITH c AS (INSERT INTO hippocampus.memory_clusters (started_at, ended_at, id, user_id, app_name)
				VALUES (now() - interval '1 day', now(), $1, 'helper', 'town') RETURNING id)
			INSERT INTO hippocampus.memory_cluster_members SELECT c.id, m, 'helper', 'town' FROM c, unnest(ARRAY[$2::uuid, $3]) m`, name, full, logs)
		require.NoError(t, err)
		clusters := must(p.Clusters(t.Context(), nil))
		require.Len(t, clusters, 1)
		require.Equal(t, "The night of the full disk", clusters[0].Name)
		require.Equal(t, 2, clusters[0].Members)
		require.Equal(t, []string{"long the disk was full", "long the logs were not rotated"}, tell(must(p.ClusterMemories(t.Context(), name, 0))))
		require.Empty(t, must(p.Clusters(t.Context(), &service.ClustersOptions{Until: new(time.Now().Add(-48 * time.Hour))})))
		require.Empty(t, must(wake(t, b, "other").Clusters(t.Context(), nil)))
		require.Empty(t, must(wake(t, b, "other").ClusterMemories(t.Context(), name, 0)))
		require.Equal(t, 2, must(p.Forget(t.Context(), logs)), "with its cluster")
		require.Empty(t, must(p.Clusters(t.Context(), nil)), "its name may tell of what is forgotten")

		id := must(p.Sleep(t.Context()))
		require.Equal(t, id, must(p.Sleep(t.Context())), "one waits at a time")
		reports := must(b.svc.SleepReports(t.Context(), scope, 0))
		require.Len(t, reports, 1)
		require.Equal(t, "pending", reports[0].Status)
	})

	t.Run("LinksInTheCallersTransaction", func(t *testing.T) {
		t.Parallel()
		b := setup(t, nil)
		scope := service.Scope{UserID: "helper", AppName: "town"}
		tx, err := b.pool.Begin(t.Context())
		require.NoError(t, err)
		one := must(b.svc.RememberTx(t.Context(), tx, scope, "one", nil))
		two := must(b.svc.RememberTx(t.Context(), tx, scope, "two", nil))
		require.NoError(t, b.svc.LinkMemoriesTx(t.Context(), tx, scope, one, two, nil))
		require.Equal(t, []string{"long two"}, tell(must(b.svc.LinkedMemoriesTx(t.Context(), tx, scope, one, nil))))
		require.Empty(t, must(b.svc.ClustersTx(t.Context(), tx, scope, nil)))
		require.Empty(t, must(b.svc.ClusterMemoriesTx(t.Context(), tx, scope, one, 0)))
		require.Equal(t, 1, must(b.svc.UnlinkMemoriesTx(t.Context(), tx, scope, one, two, service.LinkRelatedTo)))
		require.NoError(t, tx.Rollback(t.Context()))
		require.Empty(t, must(b.svc.ListMemories(t.Context(), scope, nil)))
	})

	t.Run("CountsTheUseOfShortTermMemory", func(t *testing.T) {
		t.Parallel()
		b := setup(t, nil)
		p := wake(t, b, "helper")
		_, err := p.Enqueue(t.Context(), &service.Experience{Content: "the spare key hangs in the shed"})
		require.NoError(t, err)
		for want := range 3 {
			found := must(p.Recall(t.Context(), nil))
			require.Equal(t, want, found[0].AccessCount)
		}
		require.Greater(t, must(p.RecallSimilar(t.Context(), "key", 5))[0].Importance, 0.6)
	})

	t.Run("RefusesWhatCannotBe", func(t *testing.T) {
		t.Parallel()
		b := setup(t, nil)
		p := wake(t, b, "helper")
		_, err := p.Enqueue(t.Context(), &service.Experience{})
		require.ErrorIs(t, err, db.ErrInvalidArgument)
		_, err = p.Enqueue(t.Context(), &service.Experience{Content: "x", Type: "gossip", Timestamp: time.Now()})
		require.ErrorIs(t, err, db.ErrInvalidArgument)
		_, err = p.RecallRelated(t.Context(), nil)
		require.ErrorIs(t, err, db.ErrInvalidArgument)
		_, err = b.svc.Persona(t.Context(), service.Scope{}, "")
		require.ErrorIs(t, err, db.ErrInvalidScope)
		missing := uuid.New()
		_, err = b.svc.ShortTermMemory(t.Context(), service.Scope{UserID: "helper", AppName: "town"}, &missing, false)
		require.ErrorIs(t, err, db.ErrThreadNotFound)
	})
}

// must is a value that comes without an error.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
