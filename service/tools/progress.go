package tools

import "context"

type progressKey struct{}

// WithProgress lets a tool that takes long tell how far it came, as often as that changes: index_memory. total is 0
// while it is not known.
func WithProgress(ctx context.Context, tell func(done, total int)) context.Context {
	return context.WithValue(ctx, progressKey{}, tell)
}

// progressOf is whom a tool tells how far it came; nobody where nobody asked.
func progressOf(ctx context.Context) func(done, total int) {
	if tell, ok := ctx.Value(progressKey{}).(func(done, total int)); ok {
		return tell
	}
	return func(int, int) {}
}
