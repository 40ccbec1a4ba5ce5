// Command worker works on the jobs of a Hippocampus database. See `worker --help`.
package main

import (
	"os"

	"github.com/hippocampus-memory/hippocampus/internal/interrupt"
)

func main() {
	os.Exit(run(interrupt.Context(), os.Args[1:], os.Stdout, os.Stderr, os.Getenv))
}
