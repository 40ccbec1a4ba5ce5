package service_test

import (
	"context"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/service"
)

// TestNothingGiven calls every verb with nil for all that may be: options, parameters, lists, and what stands in a list.
// It answers or refuses; none panics.
func TestNothingGiven(t *testing.T) {
	t.Parallel()
	b := setup(t, &service.Config{Embedder: newEmbedder(t), Reflector: &scripted{}})
	thread := b.thread(t, ada, "The kettle is broken.")
	persona, err := b.svc.Persona(t.Context(), ada, "")
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	gone, cancelled := context.WithCancel(t.Context())
	cancelled()

	argument := func(of reflect.Type, tx pgx.Tx, listed bool) reflect.Value {
		v := reflect.New(of).Elem()
		switch {
		case of == reflect.TypeFor[context.Context]():
			v.Set(reflect.ValueOf(ctx))
		case of == reflect.TypeFor[pgx.Tx]():
			v.Set(reflect.ValueOf(tx))
		case of == reflect.TypeFor[service.Scope]():
			v.Set(reflect.ValueOf(ada))
		case of == reflect.TypeFor[uuid.UUID]():
			v.Set(reflect.ValueOf(thread))
		case of.Kind() == reflect.String:
			v.SetString("x")
		case of.Kind() == reflect.Slice && listed: // with one thing that is nothing
			v.Set(reflect.MakeSlice(of, 1, 1))
		}
		return v
	}
	called := 0
	call := func(on any, name string, verb reflect.Value, listed bool) {
		err := pgx.BeginFunc(ctx, b.pool, func(tx pgx.Tx) error {
			in := make([]reflect.Value, verb.Type().NumIn())
			for i := range in {
				in[i] = argument(verb.Type().In(i), tx, listed)
			}
			if slices.Contains([]string{"IndexMemory", "WaitJob"}, name) { // they wait for a worker
				in[0] = reflect.ValueOf(gone)
			}
			require.NotPanics(t, func() {
				if verb.Type().IsVariadic() {
					verb.CallSlice(in)
				} else {
					verb.Call(in)
				}
			}, "%T.%s", on, name)
			return errRollback
		})
		require.ErrorIs(t, err, errRollback)
		called++
	}
	for _, on := range []any{
		b.svc, b.svc.Documents(), b.svc.Graph(ada), persona, &service.EpisodicMemoryProvider{Service: b.svc, Scope: ada},
	} {
		of := reflect.ValueOf(on)
		for i := range of.NumMethod() {
			name := of.Type().Method(i).Name
			if name == "Begin" || name == "ForgetUser" { // a transaction to end, and all that the others find
				continue
			}
			for _, listed := range []bool{false, true} {
				call(on, name, of.Method(i), listed)
			}
		}
	}
	require.Greater(t, called, 200)

	for name, give := range map[string]func() error{
		"Documents.Put":    func() error { _, err := b.svc.Documents().Put(ctx, ada, nil); return err },
		"Documents.Cut":    func() error { return b.svc.Documents().Cut(ctx, nil) },
		"AppendEvent":      func() error { _, err := b.svc.AppendEvent(ctx, ada, thread, nil, nil); return err },
		"Enqueue":          func() error { _, err := persona.Enqueue(ctx, nil); return err },
		"RecordExperience": func() error { _, err := b.svc.RecordExperience(ctx, ada, nil); return err },
		"RememberFactsTx": func() error {
			return b.begin(t, func(tx pgx.Tx) error {
				_, err := b.svc.RememberFactsTx(ctx, tx, ada, []*service.StatedFact{nil}, nil)
				return err
			})
		},
	} {
		require.ErrorIs(t, give(), db.ErrInvalidArgument, name)
	}
}

// TestAModelIsGivenBack: what a verb refuses before it asks the database leaves a transaction that is still good, as it was.
func TestAModelIsGivenBack(t *testing.T) {
	t.Parallel()
	b := setup(t, &service.Config{Embedder: newEmbedder(t)})
	ctx := t.Context()
	require.NoError(t, b.begin(t, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "SELECT set_config('hippocampus.embedding_model', 'mine', true)")
		require.NoError(t, err)
		_, err = b.svc.ForgetMemoryTx(ctx, tx, ada, "tea", &service.ForgetMemoryOptions{Limit: -1})
		require.ErrorIs(t, err, db.ErrInvalidArgument)
		_, err = b.svc.StoreBatchTx(ctx, tx, ada, []*service.StoreOp{{Put: &service.StorePutOp{Key: "k"}}})
		require.ErrorIs(t, err, db.ErrInvalidArgument)
		var model string
		require.NoError(t, tx.QueryRow(ctx, "SELECT current_setting('hippocampus.embedding_model')").Scan(&model))
		require.Equal(t, "mine", model)
		return nil
	}))
}
