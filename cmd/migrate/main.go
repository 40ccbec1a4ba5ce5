// Command migrate brings a Postgres database to the schema of Hippocampus. See `migrate help`.
package main

import (
	"os"

	"github.com/hippocampus-memory/hippocampus/internal/interrupt"
)

func main() {
	os.Exit(run(interrupt.Context(), os.Args[1:], os.Stdout, os.Stderr, os.Getenv))
}
