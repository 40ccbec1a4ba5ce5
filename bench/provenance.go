package bench

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/hippocampus-memory/hippocampus/bench/dataset"
	"github.com/hippocampus-memory/hippocampus/service"
)

// provenance knows which turns of the dataset a user's memories come from.
type provenance struct {
	dataset *dataset.Dataset
	threads map[uuid.UUID]*sourceThread
}

type sourceThread struct {
	session string           // the dataset's id of it
	turns   map[int64]string // sequence number → the dataset's id of the turn
}

// readProvenance reads it from the log, where the events have the dataset's ids.
func readProvenance(ctx context.Context, e *Engine, d *dataset.Dataset, scope service.Scope) (*provenance, error) {
	rows, err := e.Pool.Query(ctx, `
		SELECT t.id, t.session_id, e.sequence_num, coalesce(e.event_id, '')
		FROM hippocampus.threads t
		JOIN hippocampus.events e ON e.thread_id = t.id AND e.user_id = t.user_id AND e.app_name = t.app_name
		WHERE t.app_name = $1 AND t.user_id = $2`, scope.AppName, scope.UserID)
	if err != nil {
		return nil, fmt.Errorf("read the log: %w", err)
	}
	defer rows.Close()
	p := &provenance{dataset: d, threads: map[uuid.UUID]*sourceThread{}}
	for rows.Next() {
		var (
			event, session string
			id             uuid.UUID
			seq            int64
		)
		if err := rows.Scan(&id, &session, &seq, &event); err != nil {
			return nil, fmt.Errorf("read the log: %w", err)
		}
		t := p.threads[id]
		if t == nil {
			t = &sourceThread{session: d.Session(session), turns: map[int64]string{}}
			p.threads[id] = t
		}
		t.turns[seq] = d.Turn(event)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read the log: %w", err)
	}
	return p, nil
}

// ranking is what a search found, in the dataset's own ids, best first.
type ranking struct {
	// turns are turns, a place for each that a hit tells. What tells none takes its place under an id that is
	// no turn's, and what was told before takes another: a reader reads past it all the same.
	turns []string
	// sessions are in the order in which one of their turns, or a summary, came first; each once.
	sessions []string
}

// rankThreads is the sessions of conversations that were found, each once.
func (p *provenance) rankThreads(hits []*service.ThreadHit) []string {
	var sessions []string
	for _, hit := range hits {
		if t := p.threads[hit.ThreadID]; t != nil && !slices.Contains(sessions, t.session) {
			sessions = append(sessions, t.session)
		}
	}
	return sessions
}

// rank makes a ranking of hits. A memory of several turns ranks them one after the other; a summary or
// an insight ranks none, since that a turn was read does not mean that the summary tells it.
// episodesOnly ranks the hits as if the others had not been found.
func (p *provenance) rank(hits []*service.MemoryHit, episodesOnly bool) *ranking {
	r := &ranking{}
	for _, hit := range hits {
		episode := hit.MemoryType == "episodic"
		if episodesOnly && !episode {
			continue
		}
		var source *sourceThread
		if hit.ThreadID != nil && hit.FromSeq != nil && hit.ToSeq != nil {
			source = p.threads[*hit.ThreadID]
		}
		if source == nil { // of no one place, or of none in the dataset
			r.turns = append(r.turns, "memory "+hit.MemoryID.String())
			continue
		}
		if !slices.Contains(r.sessions, source.session) {
			r.sessions = append(r.sessions, source.session)
		}
		if !episode {
			r.turns = append(r.turns, p.dataset.Summary(source.session))
			continue
		}
		for seq := *hit.FromSeq; seq <= *hit.ToSeq; seq++ {
			turn, ok := source.turns[seq]
			if !ok { // an event that is no turn of the dataset's
				turn = "memory " + hit.MemoryID.String()
			}
			r.turns = append(r.turns, turn)
		}
	}
	return r
}
