package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hippocampus-memory/hippocampus/internal/command"
	"github.com/hippocampus-memory/hippocampus/model/provider"
	"github.com/hippocampus-memory/hippocampus/worker"
)

const help = `Works on the jobs of a Hippocampus database: consolidates conversations into
memories and facts, embeds them, counts tokens, and lets fade what is not used.
Any number of workers may run on one database.

The database is named by --database-url, else by DATABASE_URL, else by libpq's
variables PGHOST, PGPORT, PGUSER, PGPASSWORD, PGDATABASE, ... The login must be a
member of hippocampus_worker (GRANT hippocampus_worker TO ...), and needs nothing
else. Behind a pooler in transaction mode give --poll-only.

The models are named by flags, else by variables:
  --provider             HIPPOCAMPUS_MODEL_PROVIDER      gemini, openai or offline (the default)
  --embedding-provider   HIPPOCAMPUS_EMBEDDING_PROVIDER  the same, for vectors; default: the provider
  --chat-model           HIPPOCAMPUS_CHAT_MODEL          e.g. gemini-3.5-flash-lite, llama3.2
  --embed-model          HIPPOCAMPUS_EMBED_MODEL         e.g. gemini-embedding-001
  --dimension            HIPPOCAMPUS_DIMENSION           default: the database's
  --max-embed-tokens     HIPPOCAMPUS_MAX_EMBED_TOKENS    tokens of a text that its vector stands for; default 2000
  (by no flag)           HIPPOCAMPUS_MAX_INPUT_CHARS     how much text one call of a model reads
                         HIPPOCAMPUS_MAX_OUTPUT_TOKENS   how much it writes
                         HIPPOCAMPUS_CHAT_TIMEOUT        of one request, e.g. 3m; default 1m
                         HIPPOCAMPUS_EMBED_TIMEOUT       the same, for vectors; default 30s
  (never by a flag)      GEMINI_API_KEY, OPENAI_API_KEY
                         OPENAI_BASE_URL                 e.g. http://localhost:11434/v1
Text leaves the machine only where gemini or openai was asked for.

Every other flag can be given as a variable, too: --http as
HIPPOCAMPUS_WORKER_HTTP, and so on.

With --http, /healthz answers while the process lives, /readyz while it
works and the database fits, and /metrics has metrics for Prometheus.

SIGTERM and SIGINT let running jobs end for --stop-timeout; what is cut off then
is done by another worker. A second signal ends the process at once. Nothing is
lost or doubled by that, nor by kill -9.

` + command.ExitCodes

// app is one run of the command.
type app struct {
	config worker.Config
	getenv func(string) string
	stderr io.Writer
	stdout io.Writer

	anchors     string
	chatModel   string // its name, once it is open
	databaseURL string
	flags       *pflag.FlagSet
	httpAddress string
	logFormat   string
	logLevel    string
	maxConns    int
	models      map[string]*string // by environment variable
	once        bool
	retention   string
	timeZone    string
}

// run runs the command and gives its exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer, getenv func(string) string) int {
	a := &app{getenv: getenv, stderr: stderr, stdout: stdout}
	return command.Run(ctx, a.command(), args, stdout, stderr)
}

func (a *app) command() *cobra.Command {
	root := command.Root(&cobra.Command{
		Use:   "worker",
		Short: "Work on the jobs of a Hippocampus database",
		Long:  help,
		Args:  command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			a.flags = cmd.Flags()
			if err := a.fromEnv(); err != nil {
				return err
			}
			return a.work(cmd.Context())
		},
	})
	a.addFlags(root.Flags())
	return root
}

func (a *app) addFlags(flags *pflag.FlagSet) {
	d := (&worker.Config{}).WithDefaults()
	c := &a.config
	flags.StringVar(&a.anchors, "anchor-schedule", "15 4 * * *", `when anchor indexes are rebuilt, as cron has it, or "never"`)
	flags.StringVar(&a.databaseURL, "database-url", "", "the database, as postgres://user:password@host:port/name")
	flags.StringVar(&a.httpAddress, "http", "", "where to answer health checks and scrapes, e.g. :8081")
	flags.StringVar(&a.logFormat, "log-format", "text", "text or json")
	flags.StringVar(&a.logLevel, "log-level", "info", "debug, info, warn or error")
	flags.IntVar(&a.maxConns, "max-connections", 12, "greatest number of connections to the database")
	flags.BoolVar(&a.once, "once", false, "work until nothing is left to do, print what was done, then exit: with 1 if a consolidation failed")
	flags.StringVar(&a.retention, "retention-schedule", "0 3 * * *", `when retention runs, as cron has it, or "never"`)
	flags.StringVar(&a.timeZone, "time-zone", "UTC", "time zone of the schedules, e.g. Europe/Berlin")

	flags.IntVar(&c.ConsolidationWorkers, "consolidation-workers", d.ConsolidationWorkers, "consolidations at once")
	flags.DurationVar(&c.ConsolidateTimeout, "consolidate-timeout", d.ConsolidateTimeout, "time limit of one attempt at a consolidation")
	flags.IntVar(&c.EmbedBatch, "embed-batch", d.EmbedBatch, "rows that are embedded at once")
	flags.DurationVar(&c.EmbedTimeout, "embed-timeout", d.EmbedTimeout, "time limit of one embedding job, which embeds what the model manages in it")
	flags.DurationVar(&c.FetchCooldown, "fetch-cooldown", d.FetchCooldown, "least time between two fetches of jobs")
	flags.DurationVar(&c.FetchPollInterval, "poll-interval", d.FetchPollInterval, "how often to look for jobs without a notification")
	flags.DurationVar(&c.HarvestInterval, "harvest-interval", d.HarvestInterval, "how often to look for conversations to draw lessons from")
	flags.DurationVar(&c.HarvestQuiet, "harvest-quiet", d.HarvestQuiet, "how long a conversation must have been quiet before")
	flags.DurationVar(&c.IndexInterval, "index-interval", d.IndexInterval, "how often to look for tenants that need a vector index")
	flags.StringVar(&c.IndexMemory, "index-memory", d.IndexMemory, "maintenance_work_mem while a vector index is built")
	flags.DurationVar(&c.IndexTimeout, "index-timeout", d.IndexTimeout, "time limit of building vector indexes")
	flags.IntVar(&c.MaxConversationChars, "max-conversation-chars", d.MaxConversationChars, "characters of a conversation that one call of a model reads, at most 3/4 of HIPPOCAMPUS_MAX_INPUT_CHARS")
	flags.IntVar(&c.MaxConversationTokens, "max-conversation-tokens", d.MaxConversationTokens, "tokens that one call of a model reads")
	flags.IntVar(&c.MaxEmbedTokens, "max-embed-tokens", 0, "tokens of a text that its vector stands for (default: HIPPOCAMPUS_MAX_EMBED_TOKENS, else 2000)")
	flags.BoolVar(&c.PollOnly, "poll-only", false, "don't listen for jobs: for poolers in transaction mode")
	flags.DurationVar(&c.RescueAfter, "rescue-after", 0, "when the job of a worker that died is started again (default: a minute after the longest time limit)")
	flags.DurationVar(&c.StopTimeout, "stop-timeout", d.StopTimeout, "how long running jobs may go on at the end")
	flags.DurationVar(&c.PolicyInterval, "policy-interval", d.PolicyInterval, "how often to look for consolidations that are due by policy")
	flags.DurationVar(&c.SweepInterval, "sweep-interval", d.SweepInterval, "how often to look for rows that nobody announced")
	flags.IntVar(&c.SweepWorkers, "sweep-workers", d.SweepWorkers, "jobs at once that embed or count tokens")

	a.models = map[string]*string{
		provider.EnvChatModel:  flags.String("chat-model", "", "the language model"),
		provider.EnvDimension:  flags.String("dimension", "", "dimension of vectors (default: the database's)"),
		provider.EnvEmbedModel: flags.String("embed-model", "", "the embedding model"),
		provider.EnvEmbedder:   flags.String("embedding-provider", "", "who makes vectors (default: the provider)"),
		provider.EnvProvider:   flags.String("provider", "", "gemini, openai or offline (default: offline)"),
	}
}

// fromEnv takes flags that were not given from the environment.
func (a *app) fromEnv() error {
	var err error
	a.flags.VisitAll(func(f *pflag.Flag) {
		name := "HIPPOCAMPUS_WORKER_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		value := a.getenv(name)
		if f.Changed || value == "" || f.Name == "help" || err != nil {
			return
		}
		if setErr := a.flags.Set(f.Name, value); setErr != nil {
			err = command.Usagef("%s: %w", name, setErr)
		}
	})
	if a.databaseURL == "" {
		a.databaseURL = a.getenv("DATABASE_URL")
	}
	return err
}

// modelEnv looks up what names the models: flags first.
func (a *app) modelEnv(name string) string {
	if flag := a.models[name]; flag != nil && *flag != "" {
		return *flag
	}
	return a.getenv(name)
}

// complete fills in what is not a flag of the worker's own.
func (a *app) complete(ctx context.Context) error {
	var level slog.Level
	if err := level.UnmarshalText([]byte(a.logLevel)); err != nil {
		return command.Usagef("--log-level: %q is none of debug, info, warn, error", a.logLevel)
	}
	options := &slog.HandlerOptions{Level: level}
	switch a.logFormat {
	case "json":
		a.config.Logger = slog.New(slog.NewJSONHandler(a.stderr, options))
	case "text":
		a.config.Logger = slog.New(slog.NewTextHandler(a.stderr, options))
	default:
		return command.Usagef("--log-format: %q is neither text nor json", a.logFormat)
	}
	if a.maxConns < 0 {
		return command.Usagef("--max-connections is %d, but must be 0 or more", a.maxConns)
	}
	if a.httpAddress != "" {
		_, port, err := net.SplitHostPort(a.httpAddress)
		if err == nil {
			_, err = net.DefaultResolver.LookupPort(ctx, "tcp", port)
		}
		if err != nil {
			return command.Usagef("--http: %q is no address such as :8081: %w", a.httpAddress, err)
		}
	}
	zone, err := time.LoadLocation(a.timeZone)
	if err != nil {
		return command.Usagef("--time-zone: %w", err)
	}
	if a.config.AnchorSchedule, err = worker.Cron(a.anchors, zone); err != nil {
		return command.Usagef("--anchor-schedule: %w", err)
	}
	if a.config.RetentionSchedule, err = worker.Cron(a.retention, zone); err != nil {
		return command.Usagef("--retention-schedule: %w", err)
	}
	return nil
}

// A field of the worker's configuration, as its errors name it, and what begins each of its words.
var (
	field   = regexp.MustCompile(`\b(?:[A-Z][a-z]+){2,}\b`)
	capital = regexp.MustCompile(`[A-Z]`)
)

// inFlags names the flags where an error names the fields that they set: --rescue-after for RescueAfter.
func (a *app) inFlags(err error) error {
	return errors.New(field.ReplaceAllStringFunc(err.Error(), func(name string) string {
		dashed := strings.ToLower(capital.ReplaceAllString(name, "-$0"))
		for _, flag := range []string{dashed, strings.TrimPrefix(dashed, "-fetch")} {
			if a.flags.Lookup(flag[1:]) != nil {
				return "-" + flag
			}
		}
		return name
	}))
}

// hostname is for pg_stat_activity.
func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return "unknown host"
	}
	return name
}
