package service_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/service"
)

func TestState(t *testing.T) {
	t.Parallel()
	delta := func(text string) json.RawMessage { return json.RawMessage(text) }
	bob := service.Scope{AppName: ada.AppName, UserID: "bob"}

	t.Run("IsKeptByThreadUserAndApp", func(t *testing.T) {
		t.Parallel()
		b := setup(t, nil)
		empty, err := b.svc.UserState(t.Context(), ada)
		require.NoError(t, err)
		require.Equal(t, &service.State{Values: delta(`{}`)}, empty)

		user, err := b.svc.MergeUserState(t.Context(), ada, delta(`{"likes": "绿茶", "gone": null}`), &service.StateOptions{ExpectedVersion: new(int64(0))})
		require.NoError(t, err)
		read, err := b.svc.UserState(t.Context(), ada)
		require.NoError(t, err)
		require.Equal(t, user, read)
		require.JSONEq(t, `{"likes": "绿茶"}`, string(read.Values))

		app, err := b.svc.MergeAppState(t.Context(), ada.AppName, delta(`{"open": true}`), nil)
		require.NoError(t, err)
		for _, scope := range []service.Scope{ada, bob} {
			read, err = b.svc.AppState(t.Context(), scope)
			require.NoError(t, err)
			require.Equal(t, app, read)
		}
		read, err = b.svc.UserState(t.Context(), bob)
		require.NoError(t, err)
		require.Zero(t, read.Version)

		thread := b.thread(t, ada)
		state, err := b.svc.MergeThreadState(t.Context(), ada, thread, delta(`{"step": 2}`), nil)
		require.NoError(t, err)
		require.JSONEq(t, `{"step": 2}`, string(state.Values))
	})

	t.Run("JoinsATransaction", func(t *testing.T) {
		t.Parallel()
		b := setup(t, nil)
		thread := b.thread(t, ada)
		merge := func(tx pgx.Tx) error {
			_, userErr := b.svc.MergeUserStateTx(t.Context(), tx, ada, delta(`{"a": 1}`), nil)
			_, threadErr := b.svc.MergeThreadStateTx(t.Context(), tx, ada, thread, delta(`{"a": 1}`), nil)
			_, appErr := b.svc.MergeAppStateTx(t.Context(), tx, ada.AppName, delta(`{"a": 1}`), nil)
			user, readErr := b.svc.UserStateTx(t.Context(), tx, ada)
			require.Equal(t, int64(1), user.Version)
			app, appReadErr := b.svc.AppStateTx(t.Context(), tx, ada)
			require.Equal(t, int64(1), app.Version)
			return errors.Join(userErr, threadErr, appErr, readErr, appReadErr)
		}
		require.ErrorIs(t, b.begin(t, func(tx pgx.Tx) error { return errors.Join(merge(tx), errRollback) }), errRollback)
		require.NoError(t, b.begin(t, merge)) // version 1 again: nothing was left
	})

	t.Run("RefusesWhatCannotBe", func(t *testing.T) {
		t.Parallel()
		b := setup(t, nil)
		_, err := b.svc.MergeUserState(t.Context(), ada, delta(`{}`), &service.StateOptions{ExpectedVersion: new(int64(7))})
		require.ErrorIs(t, err, db.ErrVersionConflict)
		_, err = b.svc.MergeUserState(t.Context(), ada, delta(`[1]`), nil)
		require.ErrorIs(t, err, db.ErrInvalidArgument)
		_, err = b.svc.MergeUserState(t.Context(), ada, delta(`{"a": "\u0000"}`), nil)
		require.ErrorIs(t, err, db.ErrInvalidText)
		_, err = b.svc.MergeUserState(t.Context(), service.Scope{AppName: "shop"}, nil, nil)
		require.ErrorIs(t, err, db.ErrInvalidScope)
		_, err = b.svc.MergeThreadState(t.Context(), ada, uuid.New(), nil, nil)
		require.ErrorIs(t, err, db.ErrThreadNotFound)
		require.ErrorIs(t, db.WithScope(t.Context(), b.pool, ada, func(tx pgx.Tx) error {
			_, err := b.svc.MergeAppStateTx(t.Context(), tx, ada.AppName, delta(`{"a": 1}`), nil)
			return err
		}), db.ErrPermission)
	})
}
