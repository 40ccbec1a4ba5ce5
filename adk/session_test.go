package adk_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/adk/v2/platform"
	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"

	"github.com/hippocampus-memory/hippocampus/adk"
	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/service"
	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

func stateOf(s session.Session) map[string]any { return maps.Collect(s.State().All()) }

func delta(pairs map[string]any) *session.Event {
	event := said("user", "hello")
	event.Actions.StateDelta = pairs
	return event
}

// afterQuery is told of each statement that has ended.
type afterQuery func(sql string)

type sqlKey struct{}

func (afterQuery) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	return context.WithValue(ctx, sqlKey{}, data.SQL)
}

func (f afterQuery) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryEndData) {
	if sql, ok := ctx.Value(sqlKey{}).(string); ok {
		f(sql)
	}
}

func TestSessions(t *testing.T) {
	t.Parallel()

	t.Run("AreListedNewestFirst", func(t *testing.T) {
		t.Parallel()
		svc, _ := engine(t)
		sessions := adk.NewSessionService(svc, nil)
		first := create(t, sessions, map[string]any{"k": "first", "user:u": 1.0, "app:a": true})
		second := create(t, sessions, nil)
		other, err := sessions.Create(t.Context(), &session.CreateRequest{AppName: "shop", UserID: "bob", State: map[string]any{"user:u": 2.0}})
		require.NoError(t, err)
		require.NoError(t, sessions.AppendEvent(t.Context(), first, said("user", "hello")))
		ids := func(userID string) (ids []string, states []map[string]any) {
			listed, err := sessions.List(t.Context(), &session.ListRequest{AppName: "shop", UserID: userID})
			require.NoError(t, err)
			for _, s := range listed.Sessions {
				require.Zero(t, s.Events().Len())
				require.NotZero(t, s.LastUpdateTime())
				ids, states = append(ids, s.ID()), append(states, stateOf(s))
			}
			return ids, states
		}
		got, states := ids("ada")
		require.Equal(t, []string{first.ID(), second.ID()}, got)
		require.Equal(t, []map[string]any{{"k": "first", "user:u": 1.0, "app:a": true}, {"user:u": 1.0, "app:a": true}}, states)
		got, states = ids("")
		require.Equal(t, []string{first.ID(), other.Session.ID(), second.ID()}, got)
		require.Equal(t, map[string]any{"user:u": 2.0, "app:a": true}, states[1])
		_, err = sessions.List(t.Context(), &session.ListRequest{})
		require.ErrorIs(t, err, db.ErrInvalidScope)
	})

	// A session that changes between two pages of a long list is in it once, and takes no other's place.
	t.Run("AreListedAsTheyAreAtOneMoment", func(t *testing.T) {
		t.Parallel()
		svc, pool := engine(t)
		sessions := adk.NewSessionService(svc, nil)
		create(t, sessions, nil)
		_, err := pool.Exec(t.Context(), `SELECT hippocampus.create_thread('ada', 'shop', 's' || n) FROM generate_series(1, 1010) n`)
		require.NoError(t, err)
		config := dbtest.As(t, pool, "hippocampus_service", nil).Config().Copy()
		changed := 0
		config.ConnConfig.Tracer = afterQuery(func(sql string) {
			if !strings.Contains(sql, "name: ThreadList") || changed > 0 {
				return
			}
			changed++
			_, err := pool.Exec(t.Context(), `UPDATE hippocampus.threads SET updated_at = clock_timestamp() + interval '1 second'
				WHERE session_id = (SELECT session_id FROM hippocampus.threads ORDER BY updated_at, session_id DESC LIMIT 1)`)
			require.NoError(t, err)
		})
		traced, err := pgxpool.NewWithConfig(t.Context(), config)
		require.NoError(t, err)
		t.Cleanup(traced.Close)
		svc, err = service.New(traced, nil)
		require.NoError(t, err)
		for _, userID := range []string{"ada", ""} {
			changed = 0
			listed, err := adk.NewSessionService(svc, nil).List(t.Context(), &session.ListRequest{AppName: "shop", UserID: userID})
			require.NoError(t, err)
			require.Equal(t, 1, changed)
			seen := map[string]bool{}
			for _, s := range listed.Sessions {
				require.False(t, seen[s.ID()], s.ID())
				seen[s.ID()] = true
			}
			require.Len(t, seen, 1011)
		}
	})

	t.Run("KeepTheDigitsOfIDs", func(t *testing.T) {
		t.Parallel()
		svc, pool := engine(t)
		sessions, memories := adk.NewSessionService(svc, nil), adk.NewMemoryService(svc, nil)
		const id = 1182345678901234567
		held := map[string]any{"id": int64(id), "price": 2.5, "n": 3.0, "list": []any{map[string]any{"id": int64(-id)}}, "more": json.Number("118234567890123456789012")}
		current := create(t, sessions, map[string]any{"held": held, "user:held": held, "app:held": held})
		event := delta(map[string]any{"k": held})
		event.CustomMetadata = held
		event.Content.Parts = append(event.Content.Parts,
			&genai.Part{FunctionCall: &genai.FunctionCall{Name: "order", Args: held}}, nil,
			&genai.Part{FunctionResponse: &genai.FunctionResponse{Name: "order", Response: held}})
		require.NoError(t, sessions.AppendEvent(t.Context(), current, event))
		require.NoError(t, memories.AddSessionToMemory(t.Context(), current))
		_, err := svc.Remember(t.Context(), ada, "an umbrella", &service.RememberOptions{Metadata: json.RawMessage(stringOf(held))})
		require.NoError(t, err)
		got := read(t, sessions, current.ID())
		require.Equal(t, map[string]any{"held": held, "user:held": held, "app:held": held, "k": held}, stateOf(got))
		stored := got.Events().At(0)
		require.Equal(t, held, stored.Actions.StateDelta["k"])
		require.Equal(t, held, stored.CustomMetadata)
		require.Equal(t, held, stored.Content.Parts[1].FunctionCall.Args)
		require.Equal(t, held, stored.Content.Parts[3].FunctionResponse.Response)
		require.Equal(t, held, search(t, memories, "umbrella")[0].CustomMetadata)
		require.Equal(t, 1, count(t, pool, "SELECT count(*) FROM hippocampus.threads"))
	})

	t.Run("AreForgottenWithTheirMemories", func(t *testing.T) {
		t.Parallel()
		svc, pool := engine(t)
		sessions, memories := adk.NewSessionService(svc, nil), adk.NewMemoryService(svc, nil)
		current := create(t, sessions, nil)
		require.NoError(t, sessions.AppendEvent(t.Context(), current, said("user", "I like green tea")))
		require.NoError(t, memories.AddSessionToMemory(t.Context(), current))
		require.Len(t, search(t, memories, "tea"), 1)
		require.NoError(t, sessions.Delete(t.Context(), &session.DeleteRequest{AppName: "shop", UserID: "ada", SessionID: current.ID()}))
		require.Empty(t, search(t, memories, "tea"))
		require.Zero(t, count(t, pool, "SELECT (SELECT count(*) FROM hippocampus.events) + (SELECT count(*) FROM hippocampus.memories) + (SELECT count(*) FROM hippocampus.postings)"))
		require.NoError(t, sessions.Delete(t.Context(), &session.DeleteRequest{AppName: "shop", UserID: "ada", SessionID: current.ID()}))
		require.Error(t, sessions.AppendEvent(t.Context(), current, said("user", "hello?")))
	})

	t.Run("ForgetAnEventThatWasErased", func(t *testing.T) {
		t.Parallel()
		svc, pool := engine(t)
		sessions, memories := adk.NewSessionService(svc, nil), adk.NewMemoryService(svc, nil)
		current := create(t, sessions, nil)
		for _, text := range []string{"my number is 4711", "a NUL\x00 and 4711"} {
			require.NoError(t, sessions.AppendEvent(t.Context(), current, said("user", text)))
		}
		require.NoError(t, memories.AddSessionToMemory(t.Context(), current))
		_, err := pool.Exec(t.Context(), "SELECT hippocampus.forget('ada', 'shop', ARRAY(SELECT id FROM hippocampus.memories), 'erase')")
		require.NoError(t, err)
		require.NoError(t, memories.AddSessionToMemory(t.Context(), current))
		require.Empty(t, search(t, memories, "4711"))
		got := read(t, sessions, current.ID())
		require.Equal(t, 2, got.Events().Len())
		for i := range 2 {
			require.Equal(t, current.Events().At(i).ID, got.Events().At(i).ID)
			require.Nil(t, got.Events().At(i).Content)
		}
	})

	t.Run("HaveTheIDThatTheContextGives", func(t *testing.T) {
		t.Parallel()
		svc, _ := engine(t)
		ctx := platform.WithUUIDProvider(t.Context(), func() string { return "given" })
		created, err := adk.NewSessionService(svc, nil).Create(ctx, &session.CreateRequest{AppName: "shop", UserID: "ada"})
		require.NoError(t, err)
		require.Equal(t, "given", created.Session.ID())
	})

	t.Run("MayBeHeldByAnother", func(t *testing.T) {
		t.Parallel()
		svc, _ := engine(t)
		sessions := adk.NewSessionService(svc, nil)
		created := create(t, sessions, nil)
		require.NoError(t, sessions.AppendEvent(t.Context(), &plainSession{appName: "shop", userID: "ada", id: created.ID()}, said("user", "hello")))
		require.Equal(t, 1, read(t, sessions, created.ID()).Events().Len())
	})

	t.Run("OfManyWriters", func(t *testing.T) {
		t.Parallel()
		svc, _ := engine(t)
		sessions := adk.NewSessionService(svc, nil)
		created := create(t, sessions, nil)
		var group errgroup.Group
		for i := range 24 {
			group.Go(func() error {
				got, err := sessions.Get(t.Context(), &session.GetRequest{AppName: "shop", UserID: "ada", SessionID: created.ID()})
				if err != nil {
					return err
				}
				return sessions.AppendEvent(t.Context(), got.Session, delta(map[string]any{
					fmt.Sprint("k", i): "v", fmt.Sprint("user:k", i): "v", fmt.Sprint("app:k", i): "v",
				}))
			})
		}
		require.NoError(t, group.Wait())
		got := read(t, sessions, created.ID())
		require.Equal(t, 24, got.Events().Len())
		require.Len(t, stateOf(got), 3*24)
	})

	t.Run("OfOneHolderWithManyWriters", func(t *testing.T) {
		t.Parallel()
		svc, _ := engine(t)
		sessions := adk.NewSessionService(svc, nil)
		held := create(t, sessions, nil)
		var group errgroup.Group
		for i := range 12 {
			group.Go(func() error {
				for range held.State().All() {
					_ = held.State().Set("mine", i)
					_, _ = held.State().Get("mine")
				}
				for range held.Events().All() {
					_ = held.LastUpdateTime()
				}
				return sessions.AppendEvent(t.Context(), held, delta(map[string]any{fmt.Sprint("k", i): "v"}))
			})
		}
		require.NoError(t, group.Wait())
		require.Equal(t, 12, held.Events().Len())
	})

	t.Run("ReadInPart", func(t *testing.T) {
		t.Parallel()
		svc, _ := engine(t)
		sessions := adk.NewSessionService(svc, nil)
		created := create(t, sessions, nil)
		at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		for i := range 5 {
			event := said("user", fmt.Sprint(i))
			event.Timestamp = at.Add(time.Duration(i) * time.Second)
			require.NoError(t, sessions.AppendEvent(t.Context(), created, event))
		}
		for want, req := range map[string]*session.GetRequest{
			"01234": {}, "34": {NumRecentEvents: 2}, "234": {After: at.Add(2 * time.Second)}, "4": {After: at.Add(2 * time.Second), NumRecentEvents: 1},
			"": {After: at.Add(time.Hour)}, "1234": {After: at.Add(time.Second), NumRecentEvents: 9},
		} {
			req.AppName, req.UserID, req.SessionID = "shop", "ada", created.ID()
			got, err := sessions.Get(t.Context(), req)
			require.NoError(t, err)
			texts := ""
			for event := range got.Session.Events().All() {
				texts += event.Content.Parts[0].Text
			}
			require.Equal(t, want, texts)
		}
	})

	t.Run("RefuseWhatCannotBe", func(t *testing.T) {
		t.Parallel()
		svc, _ := engine(t)
		sessions := adk.NewSessionService(svc, nil)
		_, err := sessions.Create(t.Context(), &session.CreateRequest{AppName: "shop"})
		require.ErrorIs(t, err, db.ErrInvalidScope)
		_, err = sessions.Get(t.Context(), &session.GetRequest{AppName: "shop", UserID: "ada"})
		require.ErrorIs(t, err, db.ErrInvalidArgument)
		_, err = sessions.Get(t.Context(), &session.GetRequest{AppName: "shop", UserID: "ada", SessionID: "none"})
		require.ErrorIs(t, err, db.ErrThreadNotFound)
		require.ErrorIs(t, sessions.Delete(t.Context(), &session.DeleteRequest{AppName: "shop", UserID: "ada"}), db.ErrInvalidArgument)
		require.ErrorIs(t, sessions.AppendEvent(t.Context(), nil, said("user", "x")), db.ErrInvalidArgument)
		created := create(t, sessions, nil)
		require.ErrorIs(t, sessions.AppendEvent(t.Context(), created, nil), db.ErrInvalidArgument)
		_, err = sessions.Create(t.Context(), &session.CreateRequest{AppName: "shop", UserID: "ada", SessionID: created.ID(), State: map[string]any{"user:leak": 1}})
		require.ErrorIs(t, err, db.ErrConflict)
		require.Empty(t, stateOf(read(t, sessions, created.ID())), "what failed has written nothing")
		require.Error(t, sessions.AppendEvent(t.Context(), created, delta(map[string]any{"app:x": "y", "k": make(chan int)})))
		require.Empty(t, stateOf(read(t, sessions, created.ID())))
		require.Zero(t, created.Events().Len())
	})

	t.Run("Stale", func(t *testing.T) {
		t.Parallel()
		svc, _ := engine(t)
		sessions := adk.NewSessionService(svc, &adk.SessionConfig{RefuseStale: true})
		first := create(t, sessions, nil)
		second := read(t, sessions, first.ID())
		before := first.LastUpdateTime()
		require.NoError(t, sessions.AppendEvent(t.Context(), first, delta(map[string]any{"k": 1, "user:k": 2})))
		require.True(t, first.LastUpdateTime().After(before))
		require.NoError(t, sessions.AppendEvent(t.Context(), first, said("user", "and again")))
		require.True(t, read(t, sessions, first.ID()).LastUpdateTime().Equal(first.LastUpdateTime()))
		err := sessions.AppendEvent(t.Context(), second, said("user", "too late"))
		require.ErrorIs(t, err, adk.ErrStaleSession)
		require.Zero(t, second.Events().Len())
		require.NoError(t, sessions.AppendEvent(t.Context(), read(t, sessions, first.ID()), said("user", "in time")))
	})
}

func TestState(t *testing.T) {
	t.Parallel()
	svc, _ := engine(t)
	sessions := adk.NewSessionService(svc, nil)
	created := create(t, sessions, map[string]any{"s": 1, "user:u": 2, "app:a": 3, "temp:t": 4, "nil": nil})
	require.Equal(t, map[string]any{"s": 1.0, "user:u": 2.0, "app:a": 3.0}, stateOf(created))

	event := delta(map[string]any{"s": "one", "more": []any{"x"}, "temp:t": "now", "user:u": nil, "app:b": map[string]any{"deep": 1.5}})
	require.NoError(t, sessions.AppendEvent(t.Context(), created, event))
	require.Equal(t, "now", event.Actions.StateDelta["temp:t"], "the caller's event stays as it is")
	require.NotContains(t, created.Events().At(0).Actions.StateDelta, "temp:t")
	want := map[string]any{"s": "one", "more": []any{"x"}, "app:a": 3.0, "app:b": map[string]any{"deep": 1.5}}
	held := stateOf(created)
	require.Equal(t, "now", held["temp:t"], "a temp: key lives with the invocation")
	delete(held, "temp:t")
	require.Equal(t, want, held)
	require.Equal(t, want, stateOf(read(t, sessions, created.ID())))
	require.Equal(t, map[string]any{"app:a": 3.0, "app:b": map[string]any{"deep": 1.5}}, stateOf(create(t, sessions, nil)))

	// The engine's other clients see it as well.
	app, err := svc.AppState(t.Context(), ada)
	require.NoError(t, err)
	require.JSONEq(t, `{"a": 3, "b": {"deep": 1.5}}`, string(app.Values))
	_, err = created.State().Get("missing")
	require.ErrorIs(t, err, session.ErrStateKeyNotExist)
}
