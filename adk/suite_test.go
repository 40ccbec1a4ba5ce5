package adk_test

import (
	"testing"

	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/session/sessiontestsuite"

	"github.com/hippocampus-memory/hippocampus/adk"
)

// TestSessionSuite is ADK's own.
func TestSessionSuite(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]*adk.SessionConfig{"Default": nil, "RefuseStale": {RefuseStale: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sessiontestsuite.RunServiceTests(t, sessiontestsuite.SuiteOptions{SupportsUserProvidedSessionID: true},
				func(t *testing.T) session.Service {
					svc, _ := engine(t)
					return adk.NewSessionService(svc, config)
				})
		})
	}
}
