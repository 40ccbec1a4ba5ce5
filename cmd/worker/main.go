// Command worker works on the jobs of a Hippocampus database. See `worker --help`.
package main

import "github.com/hippocampus-memory/hippocampus/internal/command"

func main() { command.Main(run) }
