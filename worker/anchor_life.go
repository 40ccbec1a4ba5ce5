package worker

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/hippocampus-memory/hippocampus/db"
)

// anchorLife is the sign of life of rebuilds: a session of their own that holds an advisory lock for
// each, and for the job. Postgres ends it with the process, so that whoever comes next sees at once
// that nobody works. Through a pooler there is none (conn is nil), and leases and time limits decide.
type anchorLife struct {
	*Worker
	conn *pgx.Conn
}

func (w *Worker) openAnchorLife(ctx context.Context) (*anchorLife, error) {
	// Anchors are listed by vectors of this worker's model, all of which must be there.
	if err := db.CheckEmbedder(ctx, w.pool, w.config.Models.Embedder.Name(), w.config.Models.Embedder.Dimension()); err != nil {
		return nil, err
	}
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

// holdAnchorJob opens the sign of life of a job, unless another attempt of the same job shows one: nil then.
func (w *Worker) holdAnchorJob(ctx context.Context, id int64) (*anchorLife, error) {
	l, err := w.openAnchorLife(ctx)
	if err != nil || l.conn == nil {
		return l, err
	}
	held, err := showLife(ctx, l.conn, AnchorArgs{}.Kind(), id)
	if err != nil || !held {
		l.close(ctx)
		return nil, err
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
