package service

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/hippocampus-memory/hippocampus/db"
)

// indexPoll is how often IndexMemory looks how far the worker came.
const indexPoll = 200 * time.Millisecond

// IndexProgress is how far a reindex came.
type IndexProgress struct {
	// Done and Total are vector indexes. A user whose memory is small enough to be searched exactly
	// has none.
	Done  int `json:"done"`
	Total int `json:"total"`
}

// IndexMemory has a worker build the vector indexes anew, of all users, while searches and writes go
// on: call it after a bulk import. It waits until that is done, and tells of progress, where a
// function is given for it. Where ctx ends first, the worker goes on. It runs as the pool's login,
// which must be a member of hippocampus_service.
//
// Errors: [db.ErrPermission]; the context's, as when no worker runs; [db.ErrNotFound] for whoever slept for more
// than an hour after it was completed.
func (s *OpenMemoryService) IndexMemory(ctx context.Context, progress func(IndexProgress)) (*IndexProgress, error) {
	job, err := s.queries.IndexMemory(ctx, s.pool)
	if err != nil {
		return nil, fmt.Errorf("index memory: %w", db.WrapGo(err))
	}
	var last IndexProgress
	for told := false; ; {
		raw, err := s.queries.IndexProgress(ctx, s.pool, job)
		if err != nil {
			return nil, fmt.Errorf("index memory: %w", db.WrapGo(err))
		}
		var now struct {
			IndexProgress
			State string `json:"state"`
			Error string `json:"error"`
		}
		if err := json.Unmarshal(raw, &now); err != nil {
			return nil, fmt.Errorf("index memory: read how far it came: %w", err)
		}
		if progress != nil && (now.IndexProgress != last || !told) {
			progress(now.IndexProgress)
			told = true
		}
		last = now.IndexProgress
		switch now.State {
		case "completed":
			return &last, nil
		case "cancelled", "discarded":
			return nil, fmt.Errorf("index memory: the worker gave up: %s", now.Error)
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("index memory: no worker has done it yet: %w", ctx.Err())
		case <-time.After(indexPoll):
		}
	}
}
