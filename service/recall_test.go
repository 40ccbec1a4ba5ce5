package service_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/service"
)

// What is found is not lost where its use can't be counted, as on a replica: every verb that counts says so in the log.
func TestRecallWhereNothingCanBeCounted(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	persona, err := b.svc.Persona(t.Context(), ada, "")
	require.NoError(t, err)
	_, err = persona.Enqueue(t.Context(), &service.Experience{Content: "green tea", Context: map[string]any{"room": "7"}})
	require.NoError(t, err)
	_, err = b.svc.Remember(t.Context(), ada, "Ada likes green tea.", &service.RememberOptions{Metadata: json.RawMessage(`{"room": "7"}`)})
	require.NoError(t, err)

	config := b.pool.Config().Copy()
	config.ConnConfig.RuntimeParams["default_transaction_read_only"] = "on"
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	var log bytes.Buffer
	svc, err := service.New(pool, &service.Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	require.NoError(t, err)
	record := &service.RecollectOptions{Record: true}
	room := map[string]any{"room": "7"}
	for name, recall := range map[string]func(ctx context.Context) (int, error){
		"Recall": func(ctx context.Context) (int, error) {
			found, err := svc.Recall(ctx, ada, record)
			return len(found), err
		},
		"RecallRelated": func(ctx context.Context) (int, error) {
			found, err := svc.RecallRelated(ctx, ada, room, record)
			return len(found), err
		},
		"RecallSimilar": func(ctx context.Context) (int, error) {
			found, err := svc.RecallSimilar(ctx, ada, "tea", record)
			return len(found), err
		},
		"RecallMemories": func(ctx context.Context) (int, error) {
			found, err := svc.RecallMemories(ctx, ada, "tea", nil)
			if err != nil {
				return 0, err
			}
			return len(found.Hits), nil
		},
		"SearchMemory": func(ctx context.Context) (int, error) {
			found, err := svc.SearchMemory(ctx, ada, "tea", nil)
			if err != nil {
				return 0, err
			}
			require.False(t, found.AccessRecorded)
			return found.TotalCount, nil
		},
	} {
		log.Reset()
		found, err := recall(t.Context())
		require.NoError(t, err, name)
		require.Positive(t, found, name)
		require.Equal(t, 1, strings.Count(log.String(), "could not be counted"), name)
	}
	err = pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
		_, err := svc.RecallTx(t.Context(), tx, ada, record)
		return err
	})
	require.ErrorContains(t, err, "record access", "a caller's transaction is not to go on without it")
}

// Whoever reads a memory for a model is told whose words it holds, by whichever verb: a tool's look like a user's else.
func TestEveryReaderTellsTheTrust(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	ctx := t.Context()
	_, err := b.admin.Exec(ctx, `SELECT hippocampus.put_consolidation_policy('shop', '{"sharing": true}')`)
	require.NoError(t, err)
	want := map[string]string{"tea of a tool": "tool", "tea of a user": "user", "tea of an agent": "agent"}
	thread, err := b.svc.CreateThread(ctx, ada, nil)
	require.NoError(t, err)
	room := map[string]any{"room": "7"}
	hub, err := b.svc.Remember(ctx, ada, "hub", nil)
	require.NoError(t, err)
	for text, trust := range want {
		id, err := b.svc.Remember(ctx, ada, text, &service.RememberOptions{Trust: trust, Metadata: json.RawMessage(`{"room": "7"}`)})
		require.NoError(t, err)
		require.NoError(t, b.svc.LinkMemories(ctx, ada, hub, id, nil))
		require.NoError(t, b.svc.ShareMemory(ctx, ada, id, ""))
		_, err = b.svc.AppendEvent(ctx, ada, thread, &service.EventParams{
			Author: trust, Text: "said " + text, Metadata: json.RawMessage(`{"room": "7"}`),
		}, nil)
		require.NoError(t, err)
		_, err = b.svc.UpsertFact(ctx, ada, "custom", "of "+trust, text, &service.UpsertFactOptions{Trust: trust})
		require.NoError(t, err)
	}
	told := map[string]map[string]string{}
	tell := func(verb, text, trust string) {
		if told[verb] == nil {
			told[verb] = map[string]string{}
		}
		told[verb][text[strings.LastIndex(text, "tea of"):]] = trust
	}
	recollect := func(verb string, found []*service.Recollection, err error) {
		require.NoError(t, err, verb)
		for _, r := range found {
			if strings.Contains(r.Content, "tea of") {
				tell(verb+" "+r.Tier, r.Content, r.Trust)
			}
		}
	}
	found, err := b.svc.Recall(ctx, ada, nil)
	recollect("Recall", found, err)
	found, err = b.svc.RecallRelated(ctx, ada, room, nil)
	recollect("RecallRelated", found, err)
	found, err = b.svc.RecallSimilar(ctx, ada, "tea", nil)
	recollect("RecallSimilar", found, err)
	found, err = b.svc.LinkedMemories(ctx, ada, hub, nil)
	recollect("LinkedMemories", found, err)
	bea := service.Scope{AppName: "shop", UserID: "bea"}
	found, err = b.svc.Recall(ctx, bea, &service.RecollectOptions{IncludeShared: true})
	recollect("Recall", found, err)
	found, err = b.svc.RecallSimilar(ctx, bea, "tea", &service.RecollectOptions{IncludeShared: true})
	recollect("RecallSimilar", found, err)
	recalled, err := b.svc.RecallMemories(ctx, ada, "tea", &service.RecallMemoriesOptions{Limit: 20})
	require.NoError(t, err)
	for _, h := range recalled.Hits {
		tell("RecallMemories "+h.Source, h.Content, h.Trust)
	}
	hits, err := b.svc.RecallConversation(ctx, ada, "tea", nil)
	require.NoError(t, err)
	for _, h := range hits {
		tell("RecallConversation", h.Text, h.Trust)
	}
	for verb, trusts := range told {
		require.Equal(t, want, trusts, verb)
	}
	require.Len(t, told, 12, "%v", told)
}
