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

// ranking is what a search found, in the dataset's own ids, best first, each once.
type ranking struct {
	// turns are turns; a summary of a session takes a place under an id that is no turn's.
	turns []string
	// sessions are in the order in which one of their turns, or a summary, came first.
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

// rank makes a ranking of hits. A memory of several turns ranks them one after the other; a summary
// ranks none, since that a turn was summarised does not mean that the summary tells it.
func (p *provenance) rank(hits []*service.MemoryHit, withSummaries bool) *ranking {
	r := &ranking{}
	seen := map[string]bool{}
	add := func(list *[]string, id string) {
		if !seen[id] {
			seen[id] = true
			*list = append(*list, id)
		}
	}
	for _, hit := range hits {
		if hit.ThreadID == nil || hit.FromSeq == nil || hit.ToSeq == nil {
			continue
		}
		t := p.threads[*hit.ThreadID]
		if t == nil {
			continue
		}
		if hit.MemoryType != "episodic" {
			if !withSummaries {
				continue
			}
			add(&r.turns, p.dataset.Summary(t.session))
		} else {
			for seq := *hit.FromSeq; seq <= *hit.ToSeq; seq++ {
				if turn, ok := t.turns[seq]; ok {
					add(&r.turns, turn)
				}
			}
		}
		add(&r.sessions, t.session)
	}
	return r
}
