package service_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/model"
	"github.com/hippocampus-memory/hippocampus/service"
	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

const crowd = 64

// together runs fn as a crowd, each with its number, and gives their errors.
func together(fn func(i int) error) []error {
	errs := make([]error, crowd)
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range crowd {
		wg.Go(func() {
			<-start
			errs[i] = fn(i)
		})
	}
	close(start)
	wg.Wait()
	return errs
}

func requireNoErrors(t *testing.T, errs []error) {
	t.Helper()
	for i, err := range errs {
		require.NoError(t, err, "%d", i)
	}
}

func TestConcurrency(t *testing.T) {
	t.Parallel()

	t.Run("AppendersOfOneBlockLoseNoLine", func(t *testing.T) {
		t.Parallel()
		b := setup(t, nil, dbtest.MaxConns(16))
		requireNoErrors(t, together(func(i int) error {
			_, err := b.svc.AppendBlock(t.Context(), ada, "notes", fmt.Sprintf("line %02d", i), nil)
			return err
		}))
		block, err := b.svc.Block(t.Context(), ada, "notes")
		require.NoError(t, err)
		require.EqualValues(t, crowd, block.Version)
		require.Equal(t, b.svc.Counter().Count(block.Value), block.TokenCount)
		for i := range crowd {
			require.Contains(t, block.Value, fmt.Sprintf("line %02d", i))
		}
	})

	t.Run("PoolOfOneConnectionIsEnough", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &service.Config{Embedder: newEmbedder(t)}, dbtest.MaxConns(1))
		thread := b.thread(t, ada, "Good morning!")
		requireNoErrors(t, together(func(i int) error {
			if _, err := b.svc.Remember(t.Context(), ada, fmt.Sprintf("tea number %d", i%8), nil); err != nil {
				return err
			}
			if _, err := b.svc.SearchMemory(t.Context(), ada, "tea", nil); err != nil {
				return err
			}
			if _, err := b.svc.AppendBlock(t.Context(), ada, "notes", "a line", nil); err != nil {
				return err
			}
			if _, err := b.svc.CleanupMemories(t.Context(), ada, &service.CleanupOptions{DryRun: true}); err != nil {
				return err
			}
			_, err := b.svc.GetContextWindow(t.Context(), ada, "tea", &service.ContextOptions{ThreadID: &thread})
			return err
		}))
		require.Zero(t, b.pool.Stat().AcquiredConns())
	})

	t.Run("ReadersOfOverlappingSetsDoNotDeadlock", func(t *testing.T) {
		t.Parallel()
		b := setup(t, nil, dbtest.MaxConns(16))
		ids := make([]uuid.UUID, 16)
		for i := range ids {
			var err error
			ids[i], err = b.svc.Remember(t.Context(), ada, fmt.Sprintf("tea of kind %d with word%d and word%d", i, i%4, i%5), nil)
			require.NoError(t, err)
		}
		requireNoErrors(t, together(func(i int) error {
			// Half by searches in many orders, half by ids in many orders.
			if i%2 == 0 {
				found, err := b.svc.SearchMemory(t.Context(), ada, fmt.Sprintf("tea word%d", i%5), &service.SearchOptions{Limit: 16})
				if err == nil && !found.AccessRecorded {
					err = fmt.Errorf("%w: not recorded", db.ErrConflict)
				}
				return err
			}
			turned := append(append([]uuid.UUID{}, ids[i%16:]...), ids[:i%16]...)
			found, err := b.svc.RecordAccess(t.Context(), ada, turned...)
			if err == nil && found != len(ids) {
				err = fmt.Errorf("%w: found %d", db.ErrConflict, found)
			}
			return err
		}))
		memories, err := b.svc.ListMemories(t.Context(), ada, nil)
		require.NoError(t, err)
		for _, memory := range memories {
			require.Equal(t, crowd, memory.AccessCount)
		}
	})

	t.Run("WritersOfOneFactLeaveOneValue", func(t *testing.T) {
		t.Parallel()
		b := setup(t, nil, dbtest.MaxConns(16))
		requireNoErrors(t, together(func(i int) error {
			_, err := b.svc.UpsertFact(t.Context(), ada, "preference", "drink", i, nil)
			return err
		}))
		facts, err := b.svc.Facts(t.Context(), ada, nil)
		require.NoError(t, err)
		require.Len(t, facts, 1)
		var rows, current int
		require.NoError(t, b.admin.QueryRow(t.Context(),
			"SELECT count(*), count(*) FILTER (WHERE valid_until IS NULL) FROM hippocampus.facts").Scan(&rows, &current))
		require.Equal(t, crowd, rows)
		require.Equal(t, 1, current)
	})

	// Half of them put it in other words: what a classifier has compared must hold for what came up meanwhile, too.
	t.Run("WritersOfOneFactThroughThePipelineLeaveOneRow", func(t *testing.T) {
		t.Parallel()
		for relation, want := range map[model.Relation][2]int{model.RelationDuplicate: {1, crowd}, model.RelationSupersedes: {0, crowd}} {
			s := &scripted{relation: relation, facts: map[string][]model.Fact{
				"0": {fact("about_redux", "strongly dislikes Redux", 0.8)}, "1": {fact("redux", "avoids Redux", 0.8)},
			}}
			b := setup(t, &service.Config{Classifier: s, Embedder: s, Reflector: s}, dbtest.MaxConns(16))
			requireNoErrors(t, together(func(i int) error {
				_, err := b.svc.RememberFacts(t.Context(), ada, fmt.Sprint(i%2), nil)
				return err
			}))
			facts, err := b.svc.Facts(t.Context(), ada, nil)
			require.NoError(t, err)
			require.Len(t, facts, 1, relation)
			var rows, told int
			require.NoError(t, b.admin.QueryRow(t.Context(), "SELECT count(*), sum(encounter_count) FROM hippocampus.facts").Scan(&rows, &told))
			require.Equal(t, want[1], told, "nobody's word is lost")
			if want[0] > 0 {
				require.Equal(t, want[0], rows)
			}
		}
	})

	t.Run("WritersOfOneThreadLeaveNoGap", func(t *testing.T) {
		t.Parallel()
		b := setup(t, nil, dbtest.MaxConns(16))
		thread := b.thread(t, ada)
		requireNoErrors(t, together(func(i int) error {
			_, err := b.svc.AppendEvents(t.Context(), ada, thread, []*service.EventParams{
				{Author: "user", EventID: fmt.Sprint("q", i/2), Text: "question"}, {Author: "agent", Text: "answer"},
			}, nil)
			return err
		}))
		events, err := b.svc.RecentEvents(t.Context(), ada, &service.RecentEventsOptions{Limit: 1000, ThreadID: &thread})
		require.NoError(t, err)
		require.Len(t, events, crowd+crowd/2) // each question was sent twice
		for i, event := range events {
			require.EqualValues(t, i+1, event.SequenceNum)
		}
	})
}

// TestTenants checks that two tenants never see each other, whatever the query.
func TestTenants(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	scopes := []service.Scope{ada, {AppName: "shop", UserID: "bob"}, {AppName: "bank", UserID: "ada"}, {AppName: "shop", UserID: "a_a"}}
	threads := make([]uuid.UUID, len(scopes))
	memories := make([]uuid.UUID, len(scopes))
	for i, scope := range scopes {
		secret := fmt.Sprintf("the secret of %s at %s is swordfish", scope.UserID, scope.AppName)
		threads[i] = b.thread(t, scope, secret)
		var err error
		memories[i], err = b.svc.Remember(t.Context(), scope, secret, nil)
		require.NoError(t, err)
		_, err = b.svc.UpsertFact(t.Context(), scope, "profile", "secret", secret, nil)
		require.NoError(t, err)
		_, err = b.svc.SetBlock(t.Context(), scope, "secret", secret, nil)
		require.NoError(t, err)
	}
	for i, scope := range scopes {
		own := fmt.Sprintf("the secret of %s at %s is swordfish", scope.UserID, scope.AppName)
		for _, query := range []string{
			"swordfish", "", "' OR 1=1 --", "secret'); SELECT set_config('role', 'none', true); --", "%", "_", "user_id:bob OR *", "\\", "$1",
			"RESET ROLE; SELECT * FROM hippocampus.memories", "bob bank shop ada a_a",
		} {
			found, err := b.svc.SearchMemory(t.Context(), scope, query, &service.SearchOptions{Limit: 100})
			require.NoError(t, err)
			for _, memory := range found.Memories {
				require.Equal(t, own, memory.Content)
			}
			hits, err := b.svc.RecallConversation(t.Context(), scope, query, nil)
			require.NoError(t, err)
			for _, hit := range hits {
				require.Equal(t, threads[i], hit.ThreadID)
			}
			window, err := b.svc.GetContextWindow(t.Context(), scope, query, nil)
			require.NoError(t, err)
			for j, other := range scopes {
				if i != j {
					require.NotContains(t, window.Text, fmt.Sprintf("the secret of %s at %s ", other.UserID, other.AppName))
				}
			}
			require.Contains(t, window.Text, own)
		}
		// Ids of a neighbour's rows, which a client may have guessed.
		next := (i + 1) % len(scopes)
		_, err := b.svc.AppendEvent(t.Context(), scope, threads[next], &service.EventParams{Author: "user", Text: "x"}, nil)
		require.ErrorIs(t, err, db.ErrThreadNotFound)
		_, err = b.svc.AddSessionToMemory(t.Context(), scope, threads[next].String(), "")
		require.ErrorIs(t, err, db.ErrThreadNotFound)
		_, err = b.svc.ForgetThread(t.Context(), scope, threads[next])
		require.ErrorIs(t, err, db.ErrThreadNotFound)
		forgotten, err := b.svc.Forget(t.Context(), scope, memories[next])
		require.NoError(t, err)
		require.Zero(t, forgotten)
		accessed, err := b.svc.RecordAccess(t.Context(), scope, memories[next])
		require.NoError(t, err)
		require.Zero(t, accessed)
		_, err = b.svc.GetContextWindow(t.Context(), scope, "", &service.ContextOptions{ThreadID: &threads[next]})
		require.ErrorIs(t, err, db.ErrThreadNotFound)
		stats, err := b.svc.Stats(t.Context(), scope)
		require.NoError(t, err)
		require.EqualValues(t, 1, stats.Memories)
	}
}
