package adk_test

import (
	"encoding/json"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"google.golang.org/adk/v2/session"

	"github.com/hippocampus-memory/hippocampus/service"
	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

// engine is a service on a database of the test's own, whose login is the one that a deployment
// should have.
func engine(t *testing.T) (*service.OpenMemoryService, *pgxpool.Pool) {
	t.Helper()
	admin := dbtest.DB(t)
	svc, err := service.New(dbtest.As(t, admin, "hippocampus_service", nil), nil)
	require.NoError(t, err)
	return svc, admin
}

// count is the number that a query gives.
func count(t *testing.T, pool *pgxpool.Pool, sql string) int {
	t.Helper()
	var n int
	require.NoError(t, pool.QueryRow(t.Context(), sql).Scan(&n))
	return n
}

// plainSession is a session of some other session service.
type plainSession struct {
	appName, userID, id string
	events              []*session.Event
}

func (s *plainSession) ID() string                    { return s.id }
func (s *plainSession) AppName() string               { return s.appName }
func (s *plainSession) UserID() string                { return s.userID }
func (s *plainSession) State() session.State          { return nil }
func (s *plainSession) LastUpdateTime() time.Time     { return time.Time{} }
func (s *plainSession) Events() session.Events        { return s }
func (s *plainSession) All() iter.Seq[*session.Event] { return slices.Values(s.events) }
func (s *plainSession) Len() int                      { return len(s.events) }
func (s *plainSession) At(i int) *session.Event       { return s.events[i] }

// stringOf is a value as JSON.
func stringOf(value any) string {
	raw, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}
