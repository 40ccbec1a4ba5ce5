package service_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/service"
)

func TestThreads(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	bob := service.Scope{AppName: ada.AppName, UserID: "bob"}
	first, second, other := b.thread(t, ada), b.thread(t, ada), b.thread(t, bob)
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i, text := range []string{"one tea", "two", "three tea"} {
		_, err := b.svc.AppendEvent(t.Context(), ada, first, &service.EventParams{Author: "user", CreatedAt: at.Add(time.Duration(i) * time.Hour), Text: text}, nil)
		require.NoError(t, err)
	}
	_, err := b.svc.MergeUserState(t.Context(), bob, []byte(`{"k": 1}`), nil)
	require.NoError(t, err)

	t.Run("AreListed", func(t *testing.T) {
		t.Parallel()
		threads, err := b.svc.Threads(t.Context(), ada, nil)
		require.NoError(t, err)
		require.Equal(t, []uuid.UUID{first, second}, []uuid.UUID{threads[0].ID, threads[1].ID})
		require.Equal(t, int64(3), threads[0].Events)
		threads, err = b.svc.Threads(t.Context(), ada, &service.ThreadsOptions{Limit: 1, Offset: 1})
		require.NoError(t, err)
		require.Len(t, threads, 1)
		require.Equal(t, second, threads[0].ID)
		_, err = b.svc.Threads(t.Context(), ada, &service.ThreadsOptions{Offset: -1})
		require.ErrorIs(t, err, db.ErrInvalidArgument)
	})

	t.Run("OfAllUsersAreListed", func(t *testing.T) {
		t.Parallel()
		threads, err := b.svc.AppThreads(t.Context(), ada.AppName, nil)
		require.NoError(t, err)
		require.Len(t, threads, 3)
		for _, thread := range threads {
			if thread.ID == other {
				require.Equal(t, "bob", thread.UserID)
				require.JSONEq(t, `{"k": 1}`, string(thread.UserState))
			} else {
				require.JSONEq(t, `{}`, string(thread.UserState))
			}
		}
		require.NoError(t, b.begin(t, func(tx pgx.Tx) error { // with what the transaction wrote
			_, err := b.svc.CreateThreadTx(t.Context(), tx, ada, nil)
			require.NoError(t, err)
			own, err := b.svc.ThreadsTx(t.Context(), tx, ada, nil)
			require.NoError(t, err)
			ofAll, err := b.svc.AppThreadsTx(t.Context(), tx, ada.AppName, nil)
			require.NoError(t, err)
			require.Len(t, ofAll, len(threads)+1)
			require.Less(t, len(own), len(ofAll))
			return nil
		}))
		_, err = b.svc.AppThreads(t.Context(), "", nil)
		require.ErrorIs(t, err, db.ErrInvalidArgument)
	})

	t.Run("CountWhatThePolicysKindHasConsolidated", func(t *testing.T) {
		t.Parallel()
		b := setup(t, nil)
		thread := b.thread(t, ada, "one", "two")
		counted := func() []int64 {
			all, err := b.svc.Threads(t.Context(), ada, nil)
			require.NoError(t, err)
			one, err := b.svc.Thread(t.Context(), ada, all[0].SessionID)
			require.NoError(t, err)
			ofApp, err := b.svc.AppThreads(t.Context(), ada.AppName, nil)
			require.NoError(t, err)
			return []int64{all[0].EventsConsolidated, one.EventsConsolidated, ofApp[0].EventsConsolidated}
		}
		_, err := b.admin.Exec(t.Context(), "UPDATE hippocampus.threads SET replayed_seq = 2 WHERE id = $1", thread)
		require.NoError(t, err)
		require.Equal(t, []int64{0, 0, 0}, counted())
		_, err = b.admin.Exec(t.Context(), `SELECT hippocampus.put_consolidation_policy($1, '{"job_type": "fast_replay"}')`, ada.AppName)
		require.NoError(t, err)
		require.Equal(t, []int64{2, 2, 2}, counted())
	})

	t.Run("TellTheirEvents", func(t *testing.T) {
		t.Parallel()
		texts := func(scope service.Scope, thread uuid.UUID, opts *service.ThreadEventsOptions) (texts []string) {
			events, err := b.svc.ThreadEvents(t.Context(), scope, thread, opts)
			require.NoError(t, err)
			for _, event := range events {
				texts = append(texts, event.Text)
			}
			return texts
		}
		require.Equal(t, []string{"one tea", "two", "three tea"}, texts(ada, first, nil))
		require.Equal(t, []string{"two", "three tea"}, texts(ada, first, &service.ThreadEventsOptions{Limit: 2}))
		require.Equal(t, []string{"two", "three tea"}, texts(ada, first, &service.ThreadEventsOptions{Since: at.Add(time.Hour)}))
		require.Equal(t, []string{"three tea"}, texts(ada, first, &service.ThreadEventsOptions{Limit: 1, Since: at.Add(time.Hour)}))
		require.Empty(t, texts(bob, first, nil))
		require.Empty(t, texts(ada, second, nil))
		_, err := b.svc.ThreadEvents(t.Context(), ada, first, &service.ThreadEventsOptions{Limit: -1})
		require.ErrorIs(t, err, db.ErrInvalidArgument)
	})

	t.Run("TellWhatStandsWhere", func(t *testing.T) {
		t.Parallel()
		here, gone := service.Place{SequenceNum: 2, ThreadID: first}, service.Place{SequenceNum: 9, ThreadID: first}
		events, err := b.svc.EventsAt(t.Context(), ada, here, gone)
		require.NoError(t, err)
		require.Len(t, events, 1)
		require.Equal(t, "two", events[here].Text)
		events, err = b.svc.EventsAt(t.Context(), bob, here)
		require.NoError(t, err)
		require.Empty(t, events)
		events, err = b.svc.EventsAt(t.Context(), ada)
		require.NoError(t, err)
		require.Empty(t, events)
	})

	// What a client remembered in its own words stands for an event that was forgotten, and does not show it.
	t.Run("TellNothingForgotten", func(t *testing.T) {
		t.Parallel()
		eve := service.Scope{AppName: "other " + ada.AppName, UserID: "eve"} // the other tests list what they have
		thread := b.thread(t, eve)
		event, err := b.svc.AppendEvent(t.Context(), eve, thread, &service.EventParams{Author: "user", Text: "my secret"}, nil)
		require.NoError(t, err)
		place := service.Place{SequenceNum: event.SequenceNum, ThreadID: thread}
		events, err := b.svc.EventsAt(t.Context(), eve, place)
		require.NoError(t, err)
		require.Equal(t, "my secret", events[place].Text)
		_, err = b.svc.Forget(t.Context(), eve, event.ID)
		require.NoError(t, err)
		events, err = b.svc.EventsAt(t.Context(), eve, place)
		require.NoError(t, err)
		require.Empty(t, events)
		log, err := b.svc.ThreadEvents(t.Context(), eve, thread, nil)
		require.NoError(t, err)
		require.Equal(t, "my secret", log[0].Text)
	})
}

func TestRememberEvents(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	thread := b.thread(t, ada)
	_, err := b.svc.AppendEvent(t.Context(), ada, thread, &service.EventParams{Author: "user", Text: "I like green tea"}, nil)
	require.NoError(t, err)
	err = pgx.BeginFunc(t.Context(), b.svc, func(tx pgx.Tx) error {
		remembered, err := b.svc.RememberEventsTx(t.Context(), tx, ada, thread, "mine")
		require.Equal(t, 1, remembered)
		return err
	})
	require.NoError(t, err)
	remembered, err := b.svc.RememberEvents(t.Context(), ada, thread, "")
	require.NoError(t, err)
	require.Zero(t, remembered)
	found, err := b.svc.SearchMemory(t.Context(), ada, "tea", nil)
	require.NoError(t, err)
	require.Len(t, found.Memories, 1)
	require.Equal(t, "user: I like green tea", found.Memories[0].Content)
	require.Equal(t, "mine", found.Memories[0].Source)
	_, err = b.svc.RememberEvents(t.Context(), ada, uuid.New(), "")
	require.ErrorIs(t, err, db.ErrThreadNotFound)
}
