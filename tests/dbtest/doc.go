// Package dbtest gives tests a database with the whole schema of Hippocampus, on a real Postgres.
//
//   - [Tx] is a transaction that is rolled back when the test ends: the quickest, and the default.
//   - [DB] is a database of the test's own, for what commits, notifies, or runs in parallel.
//   - [As] connects to it as a login that has only one of Hippocampus's roles.
//
// The server is the one of DATABASE_URL, whose login must be a superuser, or the private one
// that scripts/postgres starts.
//
// Databases are cloned from a template that is migrated once for each state of sql/, under a lock,
// so that any number of test processes may run at once. The tests' connections have an empty
// search_path: a name that is not qualified fails.
package dbtest
