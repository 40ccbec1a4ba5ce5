package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// restoreTimeout bounds how long setting a setting back may take, once the run's context has ended.
const restoreTimeout = 10 * time.Second

// withSetting runs fn while a setting of an app has a value, and then gives it back the one that it
// had.
func withSetting(ctx context.Context, pool *pgxpool.Pool, app, key string, value json.RawMessage, fn func() error) (err error) {
	const put = `INSERT INTO hippocampus.settings (app_name, key, value) VALUES ($1, $2, $3)
		ON CONFLICT (app_name, key) DO UPDATE SET value = excluded.value, updated_at = now()`
	var before json.RawMessage
	err = pool.QueryRow(ctx, "SELECT s.value FROM hippocampus.settings s WHERE s.app_name = $1 AND s.key = $2", app, key).Scan(&before)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return fmt.Errorf("read the setting %s: %w", key, err)
	}
	if _, err := pool.Exec(ctx, put, app, key, value); err != nil {
		return fmt.Errorf("set the setting %s: %w", key, err)
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), restoreTimeout)
		defer cancel()
		restore, args := "DELETE FROM hippocampus.settings s WHERE s.app_name = $1 AND s.key = $2", []any{app, key}
		if before != nil {
			restore, args = put, append(args, before)
		}
		if _, restoreErr := pool.Exec(ctx, restore, args...); restoreErr != nil {
			err = errors.Join(err, fmt.Errorf("set the setting %s back to %s: %w", key, before, restoreErr))
		}
	}()
	return fn()
}

// rankingSetting is the key and the value of the setting that ranks an app's memories: it is one for the
// embedding model that serves.
func rankingSetting(ctx context.Context, pool *pgxpool.Pool, app string) (key string, weights json.RawMessage, err error) {
	err = pool.QueryRow(ctx, `SELECT 'ranking' || coalesce('/' || g.model, ''), hippocampus._ranking($1, 'default', g.model)
		FROM hippocampus.embedding_models g WHERE g.status = 'serving'`, app).Scan(&key, &weights)
	if err != nil {
		return "", nil, fmt.Errorf("read the ranking: %w", err)
	}
	return key, weights, nil
}

// evidenceSetting is the setting of what makes a text score.
func evidenceSetting(ctx context.Context, pool *pgxpool.Pool, app string) (weights json.RawMessage, err error) {
	if err := pool.QueryRow(ctx, "SELECT coalesce(hippocampus._setting($1, 'evidence'), '{}')", app).Scan(&weights); err != nil {
		return nil, fmt.Errorf("read the setting evidence: %w", err)
	}
	return weights, nil
}
