// Command migrate brings a Postgres database to the schema of Hippocampus. See `migrate help`.
package main

import "github.com/hippocampus-memory/hippocampus/internal/command"

func main() { command.Main(run) }
