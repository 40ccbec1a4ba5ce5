package modeltest

import (
	"bytes"
	"log/slog"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/model"
)

// Log is a logger and what it wrote.
type Log struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

// Logger writes everything to the Log.
func (l *Log) Logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// Write implements io.Writer.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buffer.Write(p)
}

// String is what was logged so far.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buffer.String()
}

// RequireKind asserts that err is a *model.Error of the kind, and returns it.
func RequireKind(t *testing.T, err error, kind model.ErrorKind) *model.Error {
	t.Helper()
	var failure *model.Error
	require.ErrorAs(t, err, &failure)
	require.Equal(t, kind, failure.Kind, "%v", err)
	return failure
}
