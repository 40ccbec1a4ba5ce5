package worker

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/hippocampus-memory/hippocampus/db"
)

// anchorGrace is how long a job that rebuilds anchors has for its sign of life. One that is late is
// given to another worker too, and one of them finds the other at work.
const anchorGrace = 5 * time.Second

// anchorLife is the sign of life of rebuilds: a session of their own that holds an advisory lock for
// each, and for the job. Postgres ends it with the process, so that whoever comes next sees at once
// that nobody works. Through a pooler there is none (conn is nil), and leases and time limits decide.
type anchorLife struct {
	*Worker
	conn *pgx.Conn
}

func (w *Worker) openAnchorLife(ctx context.Context) (*anchorLife, error) {
	l := &anchorLife{Worker: w}
	if w.config.PollOnly {
		return l, nil
	}
	conn, err := pgx.ConnectConfig(ctx, w.pool.Config().ConnConfig.Copy())
	if err != nil {
		return nil, fmt.Errorf("connect to show a sign of life: %w", db.Wrap(err))
	}
	l.conn = conn
	if _, err := conn.Exec(ctx, "SET idle_session_timeout = 0"); err != nil {
		l.close(ctx)
		return nil, fmt.Errorf("prepare to show a sign of life: %w", db.Wrap(err))
	}
	return l, nil
}

func (l *anchorLife) close(ctx context.Context) {
	if l.conn != nil {
		_ = l.conn.Close(context.WithoutCancel(ctx)) // the locks go with it
	}
}

// holdAnchorJob opens the sign of life of a job, unless another attempt of the same job shows one.
func (w *Worker) holdAnchorJob(ctx context.Context, id int64) (*anchorLife, error) {
	l, err := w.openAnchorLife(ctx)
	if err != nil || l.conn == nil {
		return l, err
	}
	_, err = l.conn.Exec(ctx, "SELECT pg_try_advisory_lock(hashtextextended('hippocampus.rebuild_anchors ' || $1::bigint, 0))", id)
	if err != nil {
		l.close(ctx)
		return nil, fmt.Errorf("show a sign of life: %w", db.Wrap(err))
	}
	return l, nil
}

// claim begins a rebuild, and gives the token by which it is known.
func (l *anchorLife) claim(ctx context.Context, scope db.Scope) (uuid.UUID, error) {
	on := db.DBTX(l.pool)
	if l.conn != nil {
		on = l.conn
	}
	token, err := l.queries.AnchorClaimBuild(ctx, on, &db.AnchorClaimBuildParams{
		AppName: scope.AppName, Held: l.conn != nil, LeaseSeconds: anchorLease.Seconds(), UserID: scope.UserID,
	})
	if err != nil {
		return uuid.Nil, db.Wrap(err)
	}
	if token == uuid.Nil {
		return uuid.Nil, ErrAnchorsBusy
	}
	return token, nil
}

// leave lets go of the lock of a rebuild that has ended: a job may have thousands of them.
func (l *anchorLife) leave(ctx context.Context, token uuid.UUID) {
	if l.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	_, err := l.conn.Exec(ctx, "SELECT pg_advisory_unlock(hashtextextended('hippocampus.anchors ' || $1::uuid, 0))", token)
	if err != nil { // the token is of no rebuild any more, so the lock keeps nobody from anything
		l.logger.WarnContext(ctx, "the lock of an ended rebuild was not let go", "error", db.Wrap(err))
	}
}

// anchorRescue makes jobs available again that say that they run, and whose session is gone. River
// itself would wait for their time limit. One that has used up its attempts is left to River, which ends it.
const anchorRescue = `UPDATE hippocampus.river_job r SET state = 'available', scheduled_at = now(), errors = array_append(r.errors,
	jsonb_build_object('at', now(), 'attempt', r.attempt, 'error', 'its worker is gone', 'trace', ''))
	WHERE r.kind = $1 AND r.queue = $2 AND r.state = 'running' AND r.attempt < r.max_attempts
		AND r.attempted_at < now() - make_interval(secs => $3) AND NOT hippocampus._is_held('hippocampus.rebuild_anchors ' || r.id)`

// rescueAnchors has a rebuild that was killed taken up again: by the clock.
func (w *Worker) rescueAnchors() {
	ctx, cancel := context.WithTimeout(w.ctx, 5*time.Second)
	defer cancel()
	tag, err := w.pool.Exec(ctx, anchorRescue, AnchorArgs{}.Kind(), queueMaintenance, anchorGrace.Seconds())
	switch {
	case err != nil && w.ctx.Err() == nil:
		w.logger.WarnContext(ctx, "can't look for rebuilds that were killed; will try again", "error", db.Wrap(err))
	case err == nil && tag.RowsAffected() > 0:
		w.logger.WarnContext(ctx, "the rebuild of anchor indexes was cut off by its worker's end, and is taken up again")
	}
}
