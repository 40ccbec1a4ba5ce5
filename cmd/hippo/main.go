// Command hippo is Hippocampus for people: demo, import, remember, recall, search, context, stats, mcp, bench,
// sql-api. See `hippo help`.
package main

import "github.com/hippocampus-memory/hippocampus/internal/command"

func main() { command.Main(run) }
