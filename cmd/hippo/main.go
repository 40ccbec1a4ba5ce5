// Command hippo is Hippocampus for people: demo, import, remember, recall, search, context, stats, mcp, bench,
// sql-api. See `hippo help`.
package main

import (
	"os"

	"github.com/hippocampus-memory/hippocampus/internal/interrupt"
)

func main() {
	os.Exit(run(interrupt.Context(), os.Args[1:], os.Stdout, os.Stderr, os.Getenv))
}
