package service_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/service"
	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

var errRollback = errors.New("roll back")

// begin runs fn in a transaction of the service's login.
func (b *testBundle) begin(t *testing.T, fn func(tx pgx.Tx) error) error {
	t.Helper()
	return pgx.BeginFunc(t.Context(), b.pool, fn)
}

func TestTx(t *testing.T) {
	t.Parallel()

	// Tx variants in one transaction, with what one wrote seen by the next, and then rolled back.
	t.Run("RollsBackWhole", func(t *testing.T) {
		t.Parallel()
		b := setup(t, nil)
		kept := b.thread(t, ada, "Good morning!")
		memory, err := b.svc.Remember(t.Context(), ada, "Ada likes green tea.", nil)
		require.NoError(t, err)
		before := b.snapshot(t)
		err = b.begin(t, func(tx pgx.Tx) error {
			b.writeAll(t, tx, kept, memory)
			return errRollback
		})
		require.ErrorIs(t, err, errRollback)
		require.JSONEq(t, before, b.snapshot(t))

		require.NoError(t, b.begin(t, func(tx pgx.Tx) error {
			b.writeAll(t, tx, kept, memory)
			return nil
		}))
		stats, err := b.svc.Stats(t.Context(), ada)
		require.NoError(t, err)
		require.EqualValues(t, 2, stats.Threads)
		require.EqualValues(t, 1, stats.JobsPending)
	})

	t.Run("CommitsWithTheCallersData", func(t *testing.T) {
		t.Parallel()
		b := setup(t, nil)
		_, err := b.admin.Exec(t.Context(), "CREATE TABLE public.orders (id integer); GRANT ALL ON public.orders TO hippocampus_service; GRANT USAGE ON SCHEMA public TO hippocampus_service")
		require.NoError(t, err)
		order := func(tx pgx.Tx, id int) error {
			// The caller's own rights, before and after.
			if _, err := tx.Exec(t.Context(), "INSERT INTO public.orders VALUES ($1)", id); err != nil {
				return err
			}
			if _, err := b.svc.RememberTx(t.Context(), tx, ada, "Ada ordered green tea.", nil); err != nil {
				return err
			}
			_, err := tx.Exec(t.Context(), "UPDATE public.orders SET id = id")
			return err
		}
		require.ErrorIs(t, b.begin(t, func(tx pgx.Tx) error { return errors.Join(order(tx, 1), errRollback) }), errRollback)
		require.NoError(t, b.begin(t, func(tx pgx.Tx) error { return order(tx, 2) }))
		var ids []int
		require.NoError(t, b.admin.QueryRow(t.Context(), "SELECT array_agg(id) FROM public.orders").Scan(&ids))
		require.Equal(t, []int{2}, ids)
		memories, err := b.svc.ListMemories(t.Context(), ada, nil)
		require.NoError(t, err)
		require.Len(t, memories, 1)
	})

	t.Run("GivesBackRoleAndScope", func(t *testing.T) {
		t.Parallel()
		b := setup(t, nil)
		state := func(tx pgx.Tx) (state [3]string) {
			require.NoError(t, tx.QueryRow(t.Context(), `SELECT current_setting('role'), coalesce(current_setting('hippocampus.user_id', true), ''),
				coalesce(current_setting('hippocampus.app_name', true), '')`).Scan(&state[0], &state[1], &state[2]))
			return state
		}
		require.NoError(t, b.begin(t, func(tx pgx.Tx) error {
			before := state(tx)
			_, err := b.svc.RememberTx(t.Context(), tx, ada, "x", nil)
			require.NoError(t, err)
			require.Equal(t, before, state(tx))
			// A refusal that Postgres never saw leaves the transaction as it was, and usable.
			_, err = b.svc.RememberTx(t.Context(), tx, ada, "", nil)
			require.ErrorIs(t, err, db.ErrInvalidArgument)
			_, err = b.svc.ThreadTx(t.Context(), tx, ada, "nowhere")
			require.ErrorIs(t, err, db.ErrThreadNotFound)
			require.Equal(t, before, state(tx))
			// Two tenants in one transaction, one after the other.
			_, err = b.svc.RememberTx(t.Context(), tx, service.Scope{AppName: "shop", UserID: "bob"}, "x", nil)
			require.NoError(t, err)
			require.Equal(t, before, state(tx))
			return nil
		}))
		err := db.WithScope(t.Context(), b.pool, ada, func(tx pgx.Tx) error {
			_, err := b.svc.RememberTx(t.Context(), tx, ada, "y", nil)
			require.NoError(t, err)
			require.Equal(t, [3]string{"hippocampus_tenant", "ada", "shop"}, state(tx))
			// One that is bound stays with its tenant.
			_, err = b.svc.ListMemoriesTx(t.Context(), tx, service.Scope{AppName: "shop", UserID: "bob"}, nil)
			require.ErrorIs(t, err, db.ErrInvalidScope)
			require.Equal(t, [3]string{"hippocampus_tenant", "ada", "shop"}, state(tx))
			return nil
		})
		require.NoError(t, err)
	})

	t.Run("KeepsSavepointsUsable", func(t *testing.T) {
		t.Parallel()
		b := setup(t, nil)
		require.NoError(t, b.begin(t, func(tx pgx.Tx) error {
			err := pgx.BeginFunc(t.Context(), tx, func(tx pgx.Tx) error {
				_, err := b.svc.AppendEventTx(t.Context(), tx, ada, uuid.New(), &service.EventParams{Author: "user", Text: "x"}, nil)
				return err
			})
			require.ErrorIs(t, err, db.ErrThreadNotFound)
			// A block over its limit is taken back, and what was there stays.
			_, err = b.svc.SetBlockTx(t.Context(), tx, ada, "k", "one", &service.BlockOptions{TokenLimit: new(3)})
			require.NoError(t, err)
			_, err = b.svc.AppendBlockTx(t.Context(), tx, ada, "k", "two three four five", nil)
			require.ErrorIs(t, err, db.ErrTooLarge)
			block, err := b.svc.BlockTx(t.Context(), tx, ada, "k")
			require.NoError(t, err)
			require.Equal(t, "one", block.Value)
			return nil
		}))
	})

	t.Run("RefusesALoginThatMayNotBind", func(t *testing.T) {
		t.Parallel()
		b := setup(t, nil)
		reader := dbtest.As(t, b.admin, "hippocampus_reader", nil)
		svc, err := service.New(reader, nil)
		require.NoError(t, err)
		_, err = svc.Remember(t.Context(), ada, "x", nil)
		require.ErrorIs(t, err, db.ErrPermission)
		err = pgx.BeginFunc(t.Context(), reader, func(tx pgx.Tx) error {
			_, err := svc.RememberTx(t.Context(), tx, ada, "x", nil)
			return err
		})
		require.ErrorIs(t, err, db.ErrPermission)
	})
}

// writeAll calls the Tx variants of the log, of memories and of blocks; the others are those of [TestTwins].
func (b *testBundle) writeAll(t *testing.T, tx pgx.Tx, kept, memory uuid.UUID) {
	t.Helper()
	ctx, svc := t.Context(), b.svc
	thread, err := svc.CreateThreadTx(ctx, tx, ada, &service.CreateThreadOptions{SessionID: "tx"})
	require.NoError(t, err)
	_, err = svc.AppendEventTx(ctx, tx, ada, thread, &service.EventParams{Author: "user", Text: "Where is my umbrella?"}, nil)
	require.NoError(t, err)
	_, err = svc.AppendEventsTx(ctx, tx, ada, kept, []*service.EventParams{{Author: "agent", Text: "Good morning!"}}, nil)
	require.NoError(t, err)
	_, err = svc.AddSessionToMemoryTx(ctx, tx, ada, "tx", service.ConsolidationFast)
	require.NoError(t, err)
	_, err = svc.RememberTx(ctx, tx, ada, "Ada has an umbrella.", nil)
	require.NoError(t, err)
	_, err = svc.UpsertFactTx(ctx, tx, ada, "preference", "drink", "tea", nil)
	require.NoError(t, err)
	_, err = svc.SetBlockTx(ctx, tx, ada, "persona", "A gardener.", nil)
	require.NoError(t, err)
	_, err = svc.AppendBlockTx(ctx, tx, ada, "persona", "Tall.", nil)
	require.NoError(t, err)
	block, err := svc.ReplaceInBlockTx(ctx, tx, ada, "persona", "Tall", "Small", nil)
	require.NoError(t, err)
	require.Equal(t, "A gardener.\nSmall.", block.Value)
	require.Equal(t, svc.Counter().Count(block.Value), block.TokenCount)
	_, err = svc.PutInstructionTx(ctx, tx, "shop", "tone", "Be brief.", nil)
	require.NoError(t, err)
	_, err = svc.RecordAccessTx(ctx, tx, ada, memory)
	require.NoError(t, err)

	// What is written so far is seen before its commit.
	found, err := svc.SearchMemoryTx(ctx, tx, ada, "umbrella", nil)
	require.NoError(t, err)
	require.Len(t, found.Memories, 1)
	recalled, err := svc.RecallMemoriesTx(ctx, tx, ada, "umbrella", nil)
	require.NoError(t, err)
	require.Len(t, recalled.Hits, 1)
	similar, err := svc.RecallSimilarTx(ctx, tx, ada, "umbrella", &service.RecollectOptions{Record: true})
	require.NoError(t, err)
	require.NotEmpty(t, similar)
	related, err := svc.RecallRelatedTx(ctx, tx, ada, map[string]any{"room": "42"}, &service.RecollectOptions{Record: true})
	require.NoError(t, err)
	require.Empty(t, related)
	hits, err := svc.RecallConversationTx(ctx, tx, ada, "umbrella", nil)
	require.NoError(t, err)
	require.Len(t, hits, 1)
	window, err := svc.GetContextWindowTx(ctx, tx, ada, "umbrella", nil)
	require.NoError(t, err)
	require.Contains(t, window.Text, "- drink: tea")
	require.Contains(t, window.Text, "Be brief.")
	facts, err := svc.FactsTx(ctx, tx, ada, nil)
	require.NoError(t, err)
	require.Len(t, facts, 1)
	events, err := svc.RecentEventsTx(ctx, tx, ada, nil)
	require.NoError(t, err)
	require.Len(t, events, 3)
	read, err := svc.ThreadTx(ctx, tx, ada, "tx")
	require.NoError(t, err)
	require.Equal(t, thread, read.ID)
	slice, err := svc.MemoriesInTimeSliceTx(ctx, tx, ada, time.Time{}, time.Time{}, nil)
	require.NoError(t, err)
	list, err := svc.ListMemoriesTx(ctx, tx, ada, nil)
	require.NoError(t, err)
	require.Len(t, slice, len(list))

	cleaned, err := svc.CleanupMemoriesTx(ctx, tx, ada, &service.CleanupOptions{MinAgeDays: new(0), Threshold: new(0.0)})
	require.NoError(t, err)
	require.Zero(t, cleaned.CleanedCount)
	_, err = svc.ForgetTx(ctx, tx, ada, memory)
	require.NoError(t, err)
	other, err := svc.CreateThreadTx(ctx, tx, ada, nil)
	require.NoError(t, err)
	_, err = svc.ForgetThreadTx(ctx, tx, ada, other)
	require.NoError(t, err)
}
