// Package service is the Go API of Hippocampus: the memory of an agent inside one Postgres.
//
//	pool, err := db.NewPool(ctx, &db.Config{DatabaseURL: "postgres://…"})
//	…
//	svc, err := service.New(pool, &service.Config{Embedder: models.Embedder})
//	…
//	ada := service.Scope{AppName: "shop", UserID: "ada"}
//	thread, err := svc.CreateThread(ctx, ada, nil)
//	…
//	_, err = svc.AppendEvents(ctx, ada, thread, []*service.EventParams{
//		{Author: "user", Text: "I like green tea."},
//	}, nil)
//	…
//	window, err := svc.GetContextWindow(ctx, ada, "What shall I drink?", nil)
//	…
//	prompt := window.Text
//
// # What it remembers
//
// A conversation is a thread of events, the session log: [OpenMemoryService.CreateThread],
// [OpenMemoryService.AppendEvents]. [OpenMemoryService.AddSessionToMemory] asks a worker to turn
// it into long-term memory: a summary and episodes, facts and insights. An agent may also remember
// by itself: [OpenMemoryService.Remember], [OpenMemoryService.UpsertFact], and the named texts of
// [OpenMemoryService.SetBlock] that it always sees. An app's own [OpenMemoryService.PutInstruction]
// stands before them.
//
// Beside all this stands state, a JSON object by key: a thread's, a user's ([OpenMemoryService.MergeUserState])
// and an app's ([OpenMemoryService.MergeAppState]).
//
// What is remembered is found by [OpenMemoryService.SearchMemory] at once, by its words, and by its
// meaning as soon as it has a vector. [OpenMemoryService.RecallConversation] searches the log
// itself, [OpenMemoryService.Facts] tells what was true at a time, and
// [OpenMemoryService.GetContextWindow] puts all of it together within a budget of tokens that it
// never exceeds.
//
// Memories fade, and are strengthened by use: [OpenMemoryService.RecordAccess],
// [OpenMemoryService.CleanupMemories]. Forgetting is real: [OpenMemoryService.Forget] and
// [OpenMemoryService.ForgetThread] delete rows, vectors, words and provenance.
//
// # Tenants
//
// Every verb takes a [Scope], a user of an app, and runs bound to it: as the role
// hippocampus_tenant, to which row-level security shows the rows of this scope only. A wrong query
// shows nothing rather than a neighbour. The pool's login needs to be a member of
// hippocampus_service, and should be no superuser; [OpenMemoryService.Doctor] tells. What concerns
// an app or a deployment as a whole runs as the login itself: PutInstruction, MergeAppState,
// CleanupAllMemories, Doctor.
//
// # Transactions
//
// Verbs that write or read memory come in pairs. One without Tx is a transaction of its own, in one
// round trip where it can be. Its Tx variant joins the caller's: what is remembered commits or rolls
// back with the application's own data, which is what Zero-ETL means here.
//
//	err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
//		if _, err := tx.Exec(ctx, "INSERT INTO orders …"); err != nil {
//			return err
//		}
//		_, err := svc.RememberTx(ctx, tx, ada, "Ada ordered green tea.", nil)
//		return err
//	})
//
// A Tx variant runs bound too, and gives the transaction back the role and the scope that it had. A
// transaction that is bound already (see [db.WithScope]) stays with its tenant: another scope is
// [db.ErrInvalidScope]. As ever in Postgres, an error that came from the database leaves the
// transaction to be rolled back, to a savepoint if there is one.
//
// What writes has one, but for IndexMemory and WaitJob, which wait for a worker that sees nothing of a transaction
// that has not committed, and CleanupAllMemories, which holds what it deletes of all tenants until it ends. Of
// what reads, lists and counts for people and dashboards (Blocks, Stats, SleepReports, Doctor and the like) and
// searches that explain or look elsewhere (ExplainSearch, SearchThreads, Documents) have none.
//
// # Models
//
// An embedder may take a minute. It's called before a connection is taken, never while one is held,
// so a slow model does not exhaust the pool; and Tx variants, which hold one, don't call it. Where
// it fails, or the deployment has dropped the vectors of its model, every verb that embeds a query finds
// by words alone, logs why, and says Degraded where its answer has room for that, unless the config's
// RequireEmbedding is set.
//
// # Errors
//
// Errors are told apart by [errors.Is] and the sentinels of package [db], which each method lists;
// their text names the value and says what to do. What can't be stored (NUL, half a surrogate pair,
// bytes that are no UTF-8, NaN) is refused before anything is sent. Any method may also return the
// context's error, and errors of the connection.
package service
