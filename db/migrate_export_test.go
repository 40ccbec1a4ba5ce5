package db

import (
	"context"
	"io/fs"
	"time"
)

// What the tests of this package need of its inside.

// SetFiles gives the Migrator other files than the binary's.
func (m *Migrator) SetFiles(schema, functions fs.FS) { m.schema, m.functions = schema, functions }

// SetPatience says how long the Migrator tries to lock the tables.
func (m *Migrator) SetPatience(patience time.Duration) { m.patience = patience }

// SchemaFiles is sql/schema.
func SchemaFiles() fs.FS { return schemaFiles() }

// CheckCompatibleWith is CheckCompatible for a binary of a version.
func CheckCompatibleWith(ctx context.Context, q Queryer, binary int64) error {
	return checkCompatible(ctx, q, binary)
}

// CheckServer is what Up says to a server with these versions; an empty one is not there.
func CheckServer(serverVersion int, vectorInstalled, vectorAvailable string) error {
	f := &serverFacts{database: "memory", version: serverVersion, versionText: "of the test"}
	if vectorInstalled != "" {
		f.vectorInstalled = &vectorInstalled
	}
	if vectorAvailable != "" {
		f.vectorAvailable = &vectorAvailable
	}
	return f.check()
}
