// Package db is the way to the database: its migrations, its connections and its errors.
//
// # Migrations
//
// A [Migrator] brings a database to the schema of this binary, as `migrate up` does:
//
//	m, err := db.NewMigrator(ctx, databaseURL, nil)
//	…
//	defer m.Close()
//	report, err := m.Up(ctx)
//
// Up takes a lock, so that any number of processes may call it at once; checks the server; runs
// sql/bootstrap.sql (roles, schema, extension); applies the migrations of sql/schema, and
// River's as version 2; and last the functions of sql/functions, all of them in one transaction,
// if any has changed. Everything it makes belongs to the role hippocampus_owner.
//
// A worker or a service calls [CheckCompatible] when it starts.
//
// # Connections and scope
//
// [NewPool] makes a pool that knows pgvector's types. Rows belong to a tenant, a [Scope]: a user
// of an app. [WithScope] runs a function in a transaction that is bound to one, in which
// row-level security shows no other tenant's rows:
//
//	err := db.WithScope(ctx, pool, db.Scope{UserID: "ada", AppName: "shop"}, func(tx pgx.Tx) error {
//		…
//	})
//
// # Errors
//
// [Wrap] turns what Postgres reports into an error for [errors.Is]: the SQL functions raise
// errors of the private class HC, which errors.go lists.
//
// Queries of sql/queries become Go by sqlc, in this package too; those files say that they are
// generated.
package db
