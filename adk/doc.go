// Package adk gives agents written for Google's Agent Development Kit for Go a session service and
// a memory service in Postgres. The agents don't change:
//
//	svc, err := service.New(pool, nil)
//	…
//	r, err := runner.New(runner.Config{
//		AppName: "shop", Agent: agent,
//		SessionService: adk.NewSessionService(svc, nil),
//		MemoryService:  adk.NewMemoryService(svc, nil),
//	})
//
// A session is a thread of the engine, its events are the thread's log, and the keys of its state
// that begin with app: and user: are the state that the engine's other clients see too. So what ADK
// writes is consolidated, recalled and forgotten as what others write, and the other way round.
//
// # Differences from ADK's in-memory services
//
//   - Values of the state are JSON: a number that was an int is a float64 when it's read again. A key
//     that is set to nil is gone.
//   - An event without an ID gets one. The same ID twice in a session is stored once, with its state.
//   - An event may have 1 MiB as JSON; larger data belongs in ADK's artifact service.
//   - Deleting a session forgets what was remembered of it alone.
//   - A memory may be what the engine drew from a session, not only an event of it: see
//     [NewMemoryService].
package adk
