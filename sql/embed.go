// Package sqlfiles embeds the SQL that makes a Hippocampus database: bootstrap.sql, the
// migrations of schema/ and the functions of functions/. It sits here because go:embed
// cannot climb out of its folder, and is named so that it does not shadow database/sql.
package sqlfiles

import "embed"

// Bootstrap creates the roles, the schema and the extension; it needs an administrator.
//
//go:embed bootstrap.sql
var Bootstrap string

// Schema holds schema/, the versioned goose migrations.
//
//go:embed schema/*.sql
var Schema embed.FS

// Functions holds functions/, one SQL function a file: the only source of each.
//
//go:embed functions/*.sql
var Functions embed.FS
