package worker

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hippocampus-memory/hippocampus/db"
)

// lifeGrace is how long a job that shows a sign of life has for it. One that is late is given to
// another worker too, and one of them finds the other at work.
const lifeGrace = 15 * time.Second

// rescue makes jobs of kinds that take hours available again where they say that they run, and no session
// holds their lock: hippocampus.<kind> <id>. River itself would wait for their time limit. One that has
// used up its attempts is left to River, which ends it.
const rescue = `UPDATE hippocampus.river_job r SET state = 'available', scheduled_at = now(), errors = array_append(r.errors,
	jsonb_build_object('at', now(), 'attempt', r.attempt, 'error', 'its worker is gone', 'trace', ''))
	WHERE r.kind = ANY ($1::text[]) AND r.queue = $2 AND r.state = 'running' AND r.attempt < r.max_attempts
		AND r.attempted_at < now() - make_interval(secs => $3) AND NOT hippocampus._is_held('hippocampus.' || r.kind || ' ' || r.id)`

// showLife takes the lock by which others know that a session works on a job, before anything that may take long. It
// says no where another one has it.
func showLife(ctx context.Context, conn *pgx.Conn, kind string, id int64) (shown bool, err error) {
	err = conn.QueryRow(ctx, "SELECT pg_try_advisory_lock(hashtextextended('hippocampus.' || $1::text || ' ' || $2::bigint, 0))", kind, id).Scan(&shown)
	if err != nil {
		return false, fmt.Errorf("show a sign of life: %w", db.Wrap(err))
	}
	return shown, nil
}

// rescueKilled has rebuilds of anchors and builds of vector indexes that were killed taken up again: by the clock.
func (w *Worker) rescueKilled() {
	ctx, cancel := context.WithTimeout(w.ctx, 5*time.Second)
	defer cancel()
	tag, err := w.pool.Exec(ctx, rescue, []string{AnchorArgs{}.Kind(), IndexArgs{}.Kind()}, queueMaintenance, lifeGrace.Seconds())
	switch {
	case err != nil && w.ctx.Err() == nil:
		w.logger.WarnContext(ctx, "can't look for rebuilds that were killed; will try again", "error", db.Wrap(err))
	case err == nil && tag.RowsAffected() > 0:
		w.logger.WarnContext(ctx, "the rebuild of indexes was cut off by its worker's end, and is taken up again", "jobs", tag.RowsAffected())
	}
}
