package db_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

func TestCheckEmbedder(t *testing.T) {
	t.Parallel()
	tx := dbtest.Tx(t)
	err := db.CheckEmbedder(t.Context(), tx, "a/v1", 3)
	require.ErrorIs(t, err, db.ErrDimension)
	require.ErrorContains(t, err, "the database has vectors of 64 dimensions, a/v1 makes 3: set the embedder's dimension to 64")
	serving, err := db.New().EmbeddingModelServing(t.Context(), tx)
	require.NoError(t, err)
	require.Nil(t, serving.Model, "one that does not fit names nothing")

	require.NoError(t, db.CheckEmbedder(t.Context(), tx, "a/v1", dbtest.DefaultDimension))
	require.NoError(t, db.CheckEmbedder(t.Context(), tx, "a/v1", dbtest.DefaultDimension))
	err = db.CheckEmbedder(t.Context(), tx, "b/v1", dbtest.DefaultDimension)
	require.ErrorIs(t, err, db.ErrEmbeddingModel)
	require.ErrorContains(t, err, "the database has vectors of a/v1, not of b/v1: use the embedder a/v1, or change the model")
	require.ErrorContains(t, db.CheckEmbedder(t.Context(), tx, "b/v1", 3), "64 dimensions of a/v1")
}

// A bound login that comes first decides nothing, and is told who must.
func TestCheckEmbedderOfABoundLogin(t *testing.T) {
	t.Parallel()
	pool := dbtest.DB(t)
	bound := dbtest.As(t, pool, "hippocampus_tenant", nil)
	err := db.CheckEmbedder(t.Context(), bound, "a/v1", dbtest.DefaultDimension)
	require.ErrorIs(t, err, db.ErrPermission)
	require.ErrorContains(t, err, "start a worker once, or this as a member of hippocampus_service, with the embedder a/v1")
	require.NoError(t, db.CheckEmbedder(t.Context(), dbtest.As(t, pool, "hippocampus_service", nil), "a/v1", dbtest.DefaultDimension))
	require.NoError(t, db.CheckEmbedder(t.Context(), bound, "a/v1", dbtest.DefaultDimension))
}
