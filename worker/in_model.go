package worker

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/hippocampus-memory/hippocampus/db"
)

// inModel runs statements that read vectors in a transaction: they are compared with those of this
// worker's model, which may not be the one that serves.
func (w *Worker) inModel(ctx context.Context, do func(tx pgx.Tx) error) error {
	return pgx.BeginTxFunc(ctx, w.pool, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		if err := db.NameModel(ctx, tx, w.config.Models.Embedder.Name()); err != nil {
			return err
		}
		return do(tx)
	})
}
