package tools

import "context"

type progressKey struct{}

// WithProgress lets a tool that takes long tell how far it came, whenever it has come further: index_memory. total is 0
// while it is not known. A tool that has to begin again tells nothing until it is further than before.
func WithProgress(ctx context.Context, tell func(done, total int)) context.Context {
	last := -1
	return context.WithValue(ctx, progressKey{}, func(done, total int) {
		if done > last {
			last = done
			tell(done, total)
		}
	})
}

// Progress is whom a tool tells how far it came; nobody where nobody asked.
func Progress(ctx context.Context) func(done, total int) {
	if tell, ok := ctx.Value(progressKey{}).(func(done, total int)); ok {
		return tell
	}
	return func(int, int) {}
}
