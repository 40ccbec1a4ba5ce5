package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/hippocampus-memory/hippocampus/internal/command"
)

const help = `Hippocampus for people: the memory of AI agents, whole, inside one Postgres.

The database is named by --database-url, else by DATABASE_URL, else by libpq's
variables PGHOST, PGPORT, PGUSER, PGPASSWORD, PGDATABASE, ... Bring it to the
schema with "migrate up" first; "hippo demo" does so by itself.

The models are named by the environment:
  HIPPOCAMPUS_MODEL_PROVIDER      offline (the default; no key, no network), gemini, openai
  HIPPOCAMPUS_EMBEDDING_PROVIDER  the same, for vectors; default: the provider
  HIPPOCAMPUS_CHAT_MODEL          e.g. gemini-3.5-flash-lite, llama3.2
  HIPPOCAMPUS_EMBED_MODEL         e.g. gemini-embedding-001; that of the database's vectors; see "hippo reembed"
  HIPPOCAMPUS_DIMENSION           of the vectors; default: the database's
  HIPPOCAMPUS_MAX_EMBED_TOKENS    tokens of a text that its vector stands for; default 2000; give the worker the same
  HIPPOCAMPUS_MAX_INPUT_CHARS     how much text one call of a model reads
  HIPPOCAMPUS_MAX_OUTPUT_TOKENS   how much it writes
  HIPPOCAMPUS_CHAT_TIMEOUT        of one request, e.g. 3m; default 1m
  HIPPOCAMPUS_EMBED_TIMEOUT       the same, for vectors; default 30s
  GEMINI_API_KEY, GOOGLE_API_KEY  either, for gemini
  OPENAI_API_KEY                  for openai
  OPENAI_BASE_URL                 any compatible server, e.g. http://localhost:11434/v1
Text leaves the machine only where gemini or openai was asked for.

` + command.ExitCodes

// app is one run of the command.
type app struct {
	appName     string
	databaseURL string
	exact       io.Writer // standard output itself, for a protocol
	getenv      func(string) string
	json        bool
	stdin       io.Reader
	stderr      io.Writer
	stdout      io.Writer
	terminal    io.Writer // standard error itself, on which the bar is drawn
	userID      string
	verbose     bool

	bar *progressbar.ProgressBar // that is drawn now
}

func newApp(stdin io.Reader, stdout, stderr io.Writer, getenv func(string) string) *app {
	a := &app{exact: stdout, getenv: getenv, stdin: stdin, terminal: stderr}
	a.stderr = &harmless{exact: &a.json, out: stderr}
	a.stdout = &harmless{exact: &a.json, out: stdout}
	return a
}

// run runs the command and gives its exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer, getenv func(string) string) int {
	return newApp(os.Stdin, stdout, stderr, getenv).run(ctx, args)
}

func (a *app) run(ctx context.Context, args []string) int {
	return command.Run(ctx, a.command(), args, a.stdout, a.stderr)
}

// within gives fn so much time, and says which limit it was when that is over.
func within(ctx context.Context, limit time.Duration, what string, fn func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := fn(ctx)
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		// Not wrapped: the connection that it ended is not why.
		return fmt.Errorf("it took longer than %s (%s); start it again to go on: %s", what, limit, err.Error())
	}
	return err
}

// oneOf refuses a flag's value that is none of those there are.
func oneOf(flag string, values []string, known ...string) error {
	for _, value := range values {
		if !slices.Contains(known, value) {
			return command.Usagef("--%s is %q, but must be one of %s", flag, value, strings.Join(known, ", "))
		}
	}
	return nil
}

// notEmpty refuses an empty value of a flag that may be given again.
func notEmpty(flag string, values []string) error {
	if slices.Contains(values, "") {
		return command.Usagef("--%s is empty; leave it out, or give a text", flag)
	}
	return nil
}

// inRange refuses a flag's value that is too small or too great.
func inRange[N int | float64](flag string, value, least, greatest N) error {
	if value >= least && value <= greatest { // not so for NaN
		return nil
	}
	return command.Usagef("--%s is %v, but must be %v to %v", flag, value, least, greatest)
}

func (a *app) command() *cobra.Command {
	root := command.Root(command.Group(
		&cobra.Command{Use: "hippo", Short: "Remember, recall and inspect the memory of agents", Long: help},
		a.anchors(), a.bench(), a.blocks(), a.calibrateModel(), a.context(), a.demo(), a.doctor(), a.facts(), a.forget(), a.history(), a.importing(),
		a.index(), a.learn(), a.lessons(), a.mcp(), a.promote(), a.recall(), a.reembed(), a.remember(), a.rollback(), a.search(),
		a.sqlAPI(), a.stats()))
	flags := root.PersistentFlags()
	flags.StringVar(&a.appName, "app", "hippo", "the app whose memory it is")
	flags.StringVar(&a.databaseURL, "database-url", "", "the database, as postgres://user:password@host:port/name")
	flags.BoolVar(&a.json, "json", false, "print JSON")
	flags.StringVar(&a.userID, "user", "me", "the user whose memory it is")
	flags.BoolVarP(&a.verbose, "verbose", "v", false, "log to standard error")
	return root
}

func (a *app) printJSON(v any) error {
	enc := json.NewEncoder(a.stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return nil
}
