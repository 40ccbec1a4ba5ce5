package service_test

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/service"
)

func TestDocuments(t *testing.T) {
	t.Parallel()
	b := setup(t, &service.Config{Embedder: newEmbedder(t)})
	documents := b.svc.Documents()
	probes := &service.DocumentParams{Path: "probes.md", Text: "# Liveness probe\n\nThe kubelet restarts a container.\n\n## 探针\n\n存活探针重启容器\n"}
	change, err := documents.Put(t.Context(), ada, probes)
	require.NoError(t, err)
	require.Positive(t, change.Added)
	again, err := documents.Put(t.Context(), ada, probes)
	require.NoError(t, err)
	require.True(t, again.Unchanged)
	require.Equal(t, change.DocumentID, again.DocumentID)

	for _, query := range []string{"restart a container", "存活探针"} {
		hits, err := documents.Search(t.Context(), ada, query, nil)
		require.NoError(t, err)
		require.NotEmpty(t, hits, query)
		require.Equal(t, "probes.md", hits[0].Path)
		hits, err = documents.Search(t.Context(), service.Scope{AppName: "shop", UserID: "bea"}, query, nil)
		require.NoError(t, err)
		require.Empty(t, hits)
	}
	listed, err := documents.List(t.Context(), ada, "pro")
	require.NoError(t, err)
	require.Len(t, listed, 1)
	require.Equal(t, "Liveness probe", listed[0].Title)
	require.Equal(t, probes.Hash(), listed[0].ContentHash)
	hits, err := documents.Lookup(t.Context(), ada, "liveness probe", nil)
	require.NoError(t, err)
	require.Empty(t, hits, "before the first rebuild")

	undone := errors.New("undone")
	err = pgx.BeginFunc(t.Context(), b.pool, func(tx pgx.Tx) error {
		deleted, err := documents.DeleteTx(t.Context(), tx, ada, "probes.md")
		require.NoError(t, err)
		require.True(t, deleted)
		_, err = documents.PutTx(t.Context(), tx, ada, &service.DocumentParams{Path: "new.txt", Text: "new"})
		require.NoError(t, err)
		return undone
	})
	require.ErrorIs(t, err, undone)
	listed, err = documents.List(t.Context(), ada, "")
	require.NoError(t, err)
	require.Len(t, listed, 1)

	// What was cut before a transaction is stored by it, unless it has become another text since.
	late := &service.DocumentParams{Path: "late.md", Text: "# Late\n\nThe old text.\n"}
	require.NoError(t, documents.Cut(t.Context(), late))
	for _, text := range []string{late.Text, "# Late\n\nThe umbrella.\n"} {
		late.Text = text
		require.NoError(t, pgx.BeginFunc(t.Context(), b.pool, func(tx pgx.Tx) error {
			_, err := documents.PutTx(t.Context(), tx, ada, late)
			return err
		}))
	}
	found, err := documents.Search(t.Context(), ada, "umbrella", &service.ChunkSearchOptions{Limit: 1})
	require.NoError(t, err)
	require.Equal(t, "# Late\n\nThe umbrella.", found[0].Content)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, documents.Cut(gone, &service.DocumentParams{Path: "a.md", Text: "a"}), context.Canceled)
	_, err = documents.Delete(t.Context(), ada, "late.md")
	require.NoError(t, err)

	_, err = documents.Put(t.Context(), ada, nil)
	require.ErrorIs(t, err, db.ErrInvalidArgument)
	_, err = documents.Put(t.Context(), ada, &service.DocumentParams{Text: "x"})
	require.ErrorIs(t, err, db.ErrInvalidArgument)
	_, err = documents.Put(t.Context(), ada, &service.DocumentParams{Path: "a.md", Text: "a\x00"})
	require.ErrorIs(t, err, db.ErrInvalidText)
	_, err = documents.Lookup(t.Context(), ada, "x", &service.LookupOptions{MaxChunks: 101})
	require.ErrorIs(t, err, db.ErrInvalidArgument)
	require.NoError(t, documents.SetSources(t.Context(), ada, []string{"wiki"}))
	hidden, err := documents.Search(t.Context(), ada, "restart a container", nil)
	require.NoError(t, err)
	require.Empty(t, hidden)
	_, err = documents.Put(t.Context(), ada, &service.DocumentParams{Path: "b.md", Text: "b"})
	require.ErrorIs(t, err, db.ErrInvalidArgument)
	deleted, err := documents.Delete(t.Context(), ada, "probes.md")
	require.NoError(t, err)
	require.True(t, deleted)
}
