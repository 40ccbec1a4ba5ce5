package adk_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/adk/v2/memory"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"

	"github.com/hippocampus-memory/hippocampus/adk"
	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/service"
)

func search(t *testing.T, s memory.Service, query string) []memory.Entry {
	t.Helper()
	found, err := s.SearchMemory(t.Context(), &memory.SearchRequest{AppName: "shop", UserID: "ada", Query: query})
	require.NoError(t, err)
	require.NotNil(t, found)
	return found.Memories
}

func texts(entries []memory.Entry) []string {
	all := []string{}
	for _, entry := range entries {
		all = append(all, entry.Content.Parts[0].Text)
	}
	slices.Sort(all)
	return all
}

// A model reads an author beside each memory: it says where a tool's words stand, whoever passed them on.
func TestMemoryTellsTheTrust(t *testing.T) {
	t.Parallel()
	svc, _ := engine(t)
	for trust, author := range map[string]string{"tool": "researcher", "agent": "researcher", "user": ""} {
		_, err := svc.Remember(t.Context(), ada, "the umbrella of the "+trust, &service.RememberOptions{Author: author, Trust: trust})
		require.NoError(t, err)
	}
	authors := map[string]string{}
	for _, entry := range search(t, adk.NewMemoryService(svc, nil), "umbrella") {
		authors[entry.Content.Parts[0].Text] = entry.Author
	}
	require.Equal(t, map[string]string{
		"the umbrella of the tool": "researcher (tool)", "the umbrella of the agent": "researcher", "the umbrella of the user": "user",
	}, authors)
}

func TestMemorySuite(t *testing.T) {
	t.Parallel()
	// The cases hold for ADK's own service, which is the reference, and for ours.
	for name, open := range map[string]func(t *testing.T) memory.Service{
		"Reference": func(*testing.T) memory.Service { return memory.InMemoryService() },
		"Ours": func(t *testing.T) memory.Service {
			t.Helper()
			svc, _ := engine(t)
			return adk.NewMemoryService(svc, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			memorySuite(t, open)
		})
	}
}

func memorySuite(t *testing.T, open func(t *testing.T) memory.Service) {
	t.Helper()
	monday := time.Date(2023, 10, 1, 10, 0, 0, 0, time.UTC)
	fox := &session.Event{
		ID: "event1", Author: "ada", Timestamp: monday,
		LLMResponse: model.LLMResponse{Content: genai.NewContentFromText("The Quick brown fox", genai.RoleUser), CustomMetadata: map[string]any{"key": "value"}},
	}
	hello := &session.Event{
		ID: "event2", Author: "test-bot", Timestamp: monday.Add(24 * time.Hour),
		LLMResponse: model.LLMResponse{Content: genai.NewContentFromText("hello world", genai.RoleModel)},
	}
	sessionsOf := func(userID string) []session.Session {
		return []session.Session{
			&plainSession{"shop", userID, "sess1", []*session.Event{fox, {LLMResponse: model.LLMResponse{Content: genai.NewContentFromText("jumps over the lazy dog", genai.RoleModel)}}}},
			&plainSession{"shop", userID, "sess2", []*session.Event{hello}},
			&plainSession{"shop", userID, "sess3", []*session.Event{{LLMResponse: model.LLMResponse{Content: genai.NewContentFromText("test text", genai.RoleUser)}}}},
			&plainSession{"shop", userID, "sess4", []*session.Event{{LLMResponse: model.LLMResponse{}}, {LLMResponse: model.LLMResponse{Content: &genai.Content{}}}}},
		}
	}
	added := func(t *testing.T, userID string) memory.Service {
		t.Helper()
		s := open(t)
		for _, one := range sessionsOf(userID) {
			require.NoError(t, s.AddSessionToMemory(t.Context(), one))
		}
		return s
	}

	t.Run("AddedAgainAndGrown", func(t *testing.T) {
		t.Parallel()
		s := added(t, "ada")
		grown := sessionsOf("ada")[2].(*plainSession)
		grown.events = append(grown.events, said("ada", "more text"))
		require.NoError(t, s.AddSessionToMemory(t.Context(), grown))
		require.NoError(t, s.AddSessionToMemory(t.Context(), grown))
		require.Equal(t, []string{"more text", "test text"}, texts(search(t, s, "text")))
	})

	t.Run("AtOnce", func(t *testing.T) {
		t.Parallel()
		s := open(t)
		var group errgroup.Group
		for i := range 8 {
			group.Go(func() error {
				return s.AddSessionToMemory(t.Context(), &plainSession{"shop", "ada", fmt.Sprint("s", i%4), []*session.Event{said("ada", fmt.Sprint("tea ", i%4))}})
			})
			group.Go(func() error {
				_, err := s.SearchMemory(t.Context(), &memory.SearchRequest{AppName: "shop", UserID: "ada", Query: "tea"})
				return err
			})
		}
		require.NoError(t, group.Wait())
		require.Equal(t, []string{"tea 0", "tea 1", "tea 2", "tea 3"}, texts(search(t, s, "tea")))
	})

	t.Run("EmptyStore", func(t *testing.T) {
		t.Parallel()
		require.Empty(t, search(t, open(t), "something different"))
	})

	t.Run("FindsEvents", func(t *testing.T) {
		t.Parallel()
		found := search(t, added(t, "ada"), "quick hello")
		// Ours goes on with the neighbours of what it found, since an answer doesn't repeat its question.
		require.GreaterOrEqual(t, len(found), 2)
		found = found[:2]
		slices.SortFunc(found, func(a, b memory.Entry) int { return a.Timestamp.Compare(b.Timestamp) })
		require.Empty(t, cmp.Diff([]memory.Entry{
			{ID: "event1", Author: "ada", Content: fox.Content, CustomMetadata: fox.CustomMetadata, Timestamp: fox.Timestamp},
			{ID: "event2", Author: "test-bot", Content: hello.Content, Timestamp: hello.Timestamp},
		}, found))
	})

	t.Run("FindsNothingForNothing", func(t *testing.T) {
		t.Parallel()
		s := added(t, "ada")
		for _, query := range []string{"", " ", "something different"} {
			require.Empty(t, search(t, s, query))
		}
	})

	t.Run("KeepsAppsApart", func(t *testing.T) {
		t.Parallel()
		found, err := added(t, "ada").SearchMemory(t.Context(), &memory.SearchRequest{AppName: "other", UserID: "ada", Query: "test text"})
		require.NoError(t, err)
		require.Empty(t, found.Memories)
	})

	t.Run("KeepsUsersApart", func(t *testing.T) {
		t.Parallel()
		require.Empty(t, search(t, added(t, "bob"), "test text"))
	})
}

func TestMemory(t *testing.T) {
	t.Parallel()

	t.Run("AddingTwiceAddsNothingTwice", func(t *testing.T) {
		t.Parallel()
		svc, pool := engine(t)
		sessions, memories := adk.NewSessionService(svc, nil), adk.NewMemoryService(svc, nil)
		held := create(t, sessions, nil)
		for range 2 { // «hello» twice is two events
			require.NoError(t, sessions.AppendEvent(t.Context(), held, said("user", "hello")))
		}
		foreign := &plainSession{"shop", "ada", "elsewhere", []*session.Event{said("user", "tea"), said("user", "tea"), {Author: "user"}}}
		counts := func() []int {
			return []int{
				count(t, pool, "SELECT count(*) FROM hippocampus.events"), count(t, pool, "SELECT count(*) FROM hippocampus.memories"),
				count(t, pool, "SELECT sum(encounter_count) FROM hippocampus.memories"), count(t, pool, "SELECT count(*) FROM hippocampus.consolidation_jobs"),
			}
		}
		add := func() {
			require.NoError(t, memories.AddSessionToMemory(t.Context(), held))
			require.NoError(t, memories.AddSessionToMemory(t.Context(), read(t, sessions, held.ID())))
			require.NoError(t, memories.AddSessionToMemory(t.Context(), foreign))
		}
		add()
		want := []int{5, 4, 4, 2}
		require.Equal(t, want, counts())
		add()
		require.Equal(t, want, counts())
		// A session of ours that another service hands over is the same session.
		require.NoError(t, memories.AddSessionToMemory(t.Context(), &plainSession{"shop", "ada", held.ID(), slices.Collect(held.Events().All())}))
		require.Equal(t, want, counts())
	})

	t.Run("FailsOpenIfAskedTo", func(t *testing.T) {
		t.Parallel()
		svc, pool := engine(t)
		_, err := pool.Exec(t.Context(), "ALTER FUNCTION hippocampus.search_memory RENAME TO search_memory_gone")
		require.NoError(t, err)
		req := &memory.SearchRequest{AppName: "shop", UserID: "ada", Query: "tea"}
		_, err = adk.NewMemoryService(svc, nil).SearchMemory(t.Context(), req)
		require.Error(t, err)
		found, err := adk.NewMemoryService(svc, &adk.MemoryConfig{FailOpen: true}).SearchMemory(t.Context(), req)
		require.NoError(t, err)
		require.Empty(t, found.Memories)
	})

	t.Run("GivesWhatTheEngineKnows", func(t *testing.T) {
		t.Parallel()
		svc, _ := engine(t)
		_, err := svc.Remember(t.Context(), ada, "Ada prefers green tea.", &service.RememberOptions{Metadata: []byte(`{"k": "v"}`)})
		require.NoError(t, err)
		found := search(t, adk.NewMemoryService(svc, nil), "tea")
		require.Len(t, found, 1)
		require.Equal(t, "Ada prefers green tea.", found[0].Content.Parts[0].Text)
		require.Equal(t, map[string]any{"k": "v"}, found[0].CustomMetadata)
		require.NotEmpty(t, found[0].ID)
		require.NotZero(t, found[0].Timestamp)
	})

	t.Run("IsCapped", func(t *testing.T) {
		t.Parallel()
		svc, _ := engine(t)
		many := &plainSession{"shop", "ada", "many", nil}
		for i := range 30 {
			many.events = append(many.events, said("user", fmt.Sprint("tea number ", i)))
		}
		memories := adk.NewMemoryService(svc, nil)
		require.NoError(t, memories.AddSessionToMemory(t.Context(), many))
		require.Len(t, search(t, memories, "tea"), 10)
		require.Len(t, search(t, adk.NewMemoryService(svc, &adk.MemoryConfig{Limit: 3}), "tea"), 3)
	})

	t.Run("RefusesWhatCannotBe", func(t *testing.T) {
		t.Parallel()
		svc, _ := engine(t)
		memories := adk.NewMemoryService(svc, nil)
		_, err := memories.SearchMemory(t.Context(), &memory.SearchRequest{AppName: "shop", Query: "tea"})
		require.ErrorIs(t, err, db.ErrInvalidScope)
		require.ErrorIs(t, memories.AddSessionToMemory(t.Context(), &plainSession{appName: "shop", id: "s"}), db.ErrInvalidScope)
	})
}
