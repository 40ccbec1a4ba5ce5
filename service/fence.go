package service

import (
	"context"
	"fmt"

	"github.com/hippocampus-memory/hippocampus/db"
)

// Fence gives recalled texts as a context window has them, in the same order: none can close the fence
// or open another, has a mark of a chat template, or unseen characters that change the direction. It is for
// a client that puts what it read itself, of a search, into a prompt. Line breaks stay.
//
// Errors: [db.ErrInvalidText].
func (s *OpenMemoryService) Fence(ctx context.Context, texts []string) ([]string, error) {
	for _, text := range texts {
		if err := checkText("a text", text, 1<<30); err != nil {
			return nil, err
		}
	}
	fenced, err := s.queries.ContextFence(ctx, s.pool, texts)
	if err != nil {
		return nil, fmt.Errorf("fence %d texts: %w", len(texts), db.WrapGo(err))
	}
	return fenced, nil
}
