// Package worker turns a session log into long-term memory, by jobs on River in the same
// database:
//
//   - [ConsolidateArgs] replays a thread's new events into a summary and episodes, and reflects on
//     them for facts and insights. Asked for by hippocampus.enqueue_consolidation from any client,
//     or by [EnqueueConsolidationTx] or River's own InsertTx from Go.
//   - [EmbedArgs] gives vectors to rows that have none.
//   - [CountTokensArgs] replaces estimated token counts by exact ones.
//   - [FoldTermsArgs] asks for taking rows that are gone out of the index of words.
//   - [PolicyArgs] asks for the consolidations that are due by the policies of apps.
//   - [RetentionArgs] forgets what has faded.
//   - [HarvestArgs] reads corrections and tasks for lessons and experiences.
//   - [SleepArgs] puts a user's memories in order: links, tags, merges, clusters, insights.
//   - [IndexArgs] gives large tenants a vector index of their own.
//   - [AnchorArgs] makes the anchor indexes of documents anew.
//
// Any number of processes may run a [Worker] on one database. A worker may be killed at any moment:
// what a job learned is stored in the transaction that ends it, so that nothing is lost or doubled.
// No connection is held while a model works.
//
// Logs and metrics hold ids, counts and errors, and never what users said.
package worker
