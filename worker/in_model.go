package worker

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/hippocampus-memory/hippocampus/db"
)

// inModel runs statements that read vectors in a transaction: they are compared with those of this
// worker's model, which may not be the one that serves.
func (w *Worker) inModel(ctx context.Context, do func(tx pgx.Tx) error) error {
	return pgx.BeginTxFunc(ctx, w.pool, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "SELECT set_config('hippocampus.embedding_model', $1, true)", w.config.Models.Embedder.Name())
		if err != nil {
			return fmt.Errorf("name the embedding model: %w", db.Wrap(err))
		}
		return do(tx)
	})
}
