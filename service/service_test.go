package service_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/assembler"
	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/model"
	"github.com/hippocampus-memory/hippocampus/model/offline"
	"github.com/hippocampus-memory/hippocampus/service"
	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

var ada = service.Scope{AppName: "shop", UserID: "ada"}

// testBundle is a service on a database of the test's own, whose login is the one that a
// deployment should have: a member of hippocampus_service, and no superuser.
type testBundle struct {
	admin *pgxpool.Pool
	pool  *pgxpool.Pool
	svc   *service.OpenMemoryService
}

func setup(t *testing.T, config *service.Config, opts ...dbtest.Option) *testBundle {
	t.Helper()
	admin := dbtest.DB(t, opts...)
	pool := dbtest.As(t, admin, "hippocampus_service", nil)
	svc, err := service.New(pool, config)
	require.NoError(t, err)
	return &testBundle{admin: admin, pool: pool, svc: svc}
}

func newEmbedder(t *testing.T) model.Embedder {
	t.Helper()
	models, err := offline.Open(t.Context(), &offline.Config{Dimension: dbtest.DefaultDimension})
	require.NoError(t, err)
	return models.Embedder
}

// fakeEmbedder is what a provider does on a bad day.
type fakeEmbedder struct {
	dimension int
	embed     func(ctx context.Context) ([][]float32, error)
	name      string
}

func (f *fakeEmbedder) Dimension() int { return f.dimension }
func (f *fakeEmbedder) Name() string   { return f.name }

func (f *fakeEmbedder) Embed(ctx context.Context, _ []string, _ model.Task) ([][]float32, error) {
	return f.embed(ctx)
}

func (b *testBundle) thread(t *testing.T, scope service.Scope, texts ...string) uuid.UUID {
	t.Helper()
	id, err := b.svc.CreateThread(t.Context(), scope, nil)
	require.NoError(t, err)
	events := make([]*service.EventParams, len(texts))
	for i, text := range texts {
		events[i] = &service.EventParams{Author: "user", Text: text}
	}
	_, err = b.svc.AppendEvents(t.Context(), scope, id, events, nil)
	require.NoError(t, err)
	return id
}

func TestNew(t *testing.T) {
	t.Parallel()

	t.Run("CountsAsTheSettingSays", func(t *testing.T) {
		t.Parallel()
		admin := dbtest.DB(t)
		_, err := admin.Exec(t.Context(), `UPDATE hippocampus.settings SET value = '"cl100k_base"' WHERE key = 'token_encoding'`)
		require.NoError(t, err)
		svc, err := service.New(admin, nil)
		require.NoError(t, err)
		require.Equal(t, "cl100k_base", svc.Counter().Encoding())

		_, err = admin.Exec(t.Context(), `UPDATE hippocampus.settings SET value = '"runes"' WHERE key = 'token_encoding'`)
		require.NoError(t, err)
		_, err = service.New(admin, nil)
		require.ErrorIs(t, err, db.ErrInvalidArgument)
		require.ErrorContains(t, err, `token_encoding: invalid argument: token encoding "runes"`)

		counter, err := assembler.NewCounter("")
		require.NoError(t, err)
		svc, err = service.New(admin, &service.Config{Counter: counter})
		require.NoError(t, err)
		require.Same(t, counter, svc.Counter())
	})

	t.Run("RefusesALoginWithoutARole", func(t *testing.T) {
		t.Parallel()
		_, err := service.New(dbtest.As(t, dbtest.DB(t), "", nil), nil)
		require.ErrorIs(t, err, db.ErrPermission)
	})

	t.Run("RefusesAnotherEmbedder", func(t *testing.T) {
		t.Parallel()
		admin := dbtest.DB(t)
		_, err := service.New(admin, &service.Config{Embedder: &fakeEmbedder{dimension: 3, name: "fake"}})
		require.ErrorIs(t, err, db.ErrDimension)
		require.ErrorContains(t, err, "the database has vectors of 64 dimensions, fake makes 3")

		_, err = admin.Exec(t.Context(), "UPDATE hippocampus.embedding_models SET model = 'gemini/x'")
		require.NoError(t, err)
		_, err = service.New(admin, &service.Config{Embedder: newEmbedder(t)})
		require.ErrorIs(t, err, db.ErrEmbeddingModel)
	})

	t.Run("RefusesAnOlderDatabase", func(t *testing.T) {
		t.Parallel()
		admin := dbtest.DB(t)
		_, err := admin.Exec(t.Context(), "DELETE FROM hippocampus.goose_db_version WHERE version_id > 3")
		require.NoError(t, err)
		_, err = service.New(admin, nil)
		require.ErrorIs(t, err, db.ErrNotMigrated)
	})

	t.Run("RefusesAnInvalidConfig", func(t *testing.T) {
		t.Parallel()
		_, err := service.New(nil, &service.Config{MaxSearchResults: -1})
		require.ErrorIs(t, err, db.ErrInvalidArgument)
	})
}

func TestSearchMemory(t *testing.T) {
	t.Parallel()

	t.Run("CountsAnAccess", func(t *testing.T) {
		t.Parallel()
		b := setup(t, nil)
		_, err := b.svc.Remember(t.Context(), ada, "Ada likes green tea.", nil)
		require.NoError(t, err)
		for range 2 {
			found, err := b.svc.SearchMemory(t.Context(), ada, "tea", &service.SearchOptions{SkipAccess: true})
			require.NoError(t, err)
			require.False(t, found.AccessRecorded)
			require.Zero(t, found.Memories[0].AccessCount)
		}
		found, err := b.svc.SearchMemory(t.Context(), ada, "tea", nil)
		require.NoError(t, err)
		require.True(t, found.AccessRecorded)
		memories, err := b.svc.ListMemories(t.Context(), ada, nil)
		require.NoError(t, err)
		require.Equal(t, 1, memories[0].AccessCount)
	})

	t.Run("DoesNotHoldAConnectionWhileTheEmbedderWorks", func(t *testing.T) {
		t.Parallel()
		vectors, err := newEmbedder(t).Embed(t.Context(), []string{"tea"}, model.TaskQuery)
		require.NoError(t, err)
		started, release := make(chan struct{}), make(chan struct{})
		embedder := &fakeEmbedder{dimension: dbtest.DefaultDimension, name: "slow", embed: func(context.Context) ([][]float32, error) {
			close(started)
			<-release
			return vectors, nil
		}}
		b := setup(t, &service.Config{Embedder: embedder}, dbtest.MaxConns(1))
		done := make(chan error)
		go func() {
			_, err := b.svc.SearchMemory(context.WithoutCancel(t.Context()), ada, "tea", nil)
			done <- err
		}()
		<-started
		require.Zero(t, b.pool.Stat().AcquiredConns())
		_, err = b.svc.Remember(t.Context(), ada, "Ada likes green tea.", nil)
		require.NoError(t, err)
		close(release)
		require.NoError(t, <-done)
	})

	t.Run("Filters", func(t *testing.T) {
		t.Parallel()
		b := setup(t, nil)
		for _, memory := range []struct {
			content string
			opts    service.RememberOptions
		}{
			{"tea one", service.RememberOptions{MemoryType: "episodic", Tags: []string{"a", "b"}}},
			{"tea two", service.RememberOptions{Category: "decision", Tags: []string{"a"}}},
			{"tea three", service.RememberOptions{OccurredFrom: new(dbtest.Epoch)}},
		} {
			_, err := b.svc.Remember(t.Context(), ada, memory.content, &memory.opts)
			require.NoError(t, err)
		}
		for name, test := range map[string]struct {
			opts service.SearchOptions
			want []string
		}{
			"category": {service.SearchOptions{Categories: []string{"decision"}}, []string{"tea two"}},
			"limit":    {service.SearchOptions{Limit: 1, Tags: []string{"b"}}, []string{"tea one"}},
			"relevant": {service.SearchOptions{MinRelevance: 1, Tags: []string{"x"}}, []string{}},
			"since":    {service.SearchOptions{Since: new(dbtest.Epoch.Add(time.Hour)), MemoryTypes: []string{"episodic"}}, []string{"tea one"}},
			"tags":     {service.SearchOptions{Tags: []string{"a", "b"}}, []string{"tea one"}},
			"type":     {service.SearchOptions{MemoryTypes: []string{"episodic", "summary"}}, []string{"tea one"}},
			"until":    {service.SearchOptions{Until: new(dbtest.Epoch)}, []string{"tea three"}},
		} {
			found, err := b.svc.SearchMemory(t.Context(), ada, "tea", &test.opts)
			require.NoError(t, err)
			contents := []string{}
			for _, memory := range found.Memories {
				contents = append(contents, memory.Content)
			}
			require.Equal(t, test.want, contents, name)
			require.Equal(t, len(test.want), found.TotalCount)
		}
	})

	t.Run("FallsBackToWords", func(t *testing.T) {
		t.Parallel()
		broken := &model.Error{Err: errors.New("no network"), Kind: model.KindUnavailable, Operation: "embed", Provider: "fake"}
		var vectors atomic.Pointer[[][]float32]
		embedder := &fakeEmbedder{dimension: dbtest.DefaultDimension, name: "fake", embed: func(ctx context.Context) ([][]float32, error) {
			if v := vectors.Load(); v != nil {
				return *v, nil
			}
			return nil, errors.Join(broken, ctx.Err())
		}}
		var log bytes.Buffer
		b := setup(t, &service.Config{Embedder: embedder, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		_, err := b.svc.Remember(t.Context(), ada, "Ada likes green tea.", nil)
		require.NoError(t, err)

		found, err := b.svc.SearchMemory(t.Context(), ada, "tea", nil)
		require.NoError(t, err)
		require.True(t, found.Degraded)
		require.Len(t, found.Memories, 1)
		require.Contains(t, log.String(), "no network")
		window, err := b.svc.GetContextWindow(t.Context(), ada, "tea", nil)
		require.NoError(t, err)
		require.True(t, window.Degraded)

		// What no embedder should give is no better than nothing.
		vectors.Store(&[][]float32{})
		found, err = b.svc.SearchMemory(t.Context(), ada, "tea", nil)
		require.NoError(t, err)
		require.True(t, found.Degraded)
		vectors.Store(nil)

		// Nothing is asked for a blank query, and a cancelled one is no failure of the embedder.
		found, err = b.svc.SearchMemory(t.Context(), ada, " ", nil)
		require.NoError(t, err)
		require.False(t, found.Degraded)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = b.svc.SearchMemory(ctx, ada, "tea", nil)
		require.ErrorIs(t, err, context.Canceled)

		strict, err := service.New(b.pool, &service.Config{Embedder: embedder, RequireEmbedding: true})
		require.NoError(t, err)
		_, err = strict.SearchMemory(t.Context(), ada, "tea", nil)
		require.ErrorIs(t, err, broken)
		_, err = strict.GetContextWindow(t.Context(), ada, "tea", nil)
		require.ErrorIs(t, err, broken)
	})

	t.Run("FindsByMeaning", func(t *testing.T) {
		t.Parallel()
		embedder := newEmbedder(t)
		b := setup(t, &service.Config{Embedder: embedder})
		contents := []string{"The engine of the car broke down.", "Ada planted roses in the garden."}
		vectors, err := embedder.Embed(t.Context(), contents, model.TaskDocument)
		require.NoError(t, err)
		for i, content := range contents {
			_, err := b.svc.Remember(t.Context(), ada, content, &service.RememberOptions{Embedding: vectors[i]})
			require.NoError(t, err)
		}
		found, err := b.svc.SearchMemory(t.Context(), ada, "gardening with roses", nil)
		require.NoError(t, err)
		require.Equal(t, contents[1], found.Memories[0].Content)
		require.Positive(t, found.Memories[0].VectorScore)
	})

	t.Run("ReadsItsWrites", func(t *testing.T) {
		t.Parallel()
		b := setup(t, nil)
		id, err := b.svc.Remember(t.Context(), ada, "阿达喜欢喝绿茶。", &service.RememberOptions{Metadata: json.RawMessage(`{"a":1}`)})
		require.NoError(t, err)
		found, err := b.svc.SearchMemory(t.Context(), ada, "绿茶", nil)
		require.NoError(t, err)
		require.Equal(t, id, found.Memories[0].MemoryID)
		require.JSONEq(t, `{"a":1}`, string(found.Memories[0].Metadata))
		require.Equal(t, b.svc.Counter().Count("阿达喜欢喝绿茶。"), found.Memories[0].TokenCount)

		thread := b.thread(t, ada, "Where is my umbrella?", "In the hall.")
		hits, err := b.svc.RecallConversation(t.Context(), ada, "umbrella", nil)
		require.NoError(t, err)
		require.Equal(t, thread, hits[0].ThreadID)
		require.Len(t, hits, 2)
	})
}
