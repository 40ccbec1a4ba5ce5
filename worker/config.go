package worker

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/riverqueue/river"

	"github.com/hippocampus-memory/hippocampus/model"
)

// Counter counts the tokens of a text, as the deployment's models do. It must be safe for
// concurrent use.
type Counter interface {
	Count(text string) int
}

// Config is the configuration of [New].
type Config struct {
	// AnchorSchedule is when the anchor indexes of all tenants are rebuilt; see [Cron].
	//
	// Defaults to every day at 04:15 UTC.
	AnchorSchedule river.PeriodicSchedule

	// AnchorTimeout bounds one attempt at these rebuilds, which goes on with the tenant where it was.
	//
	// Defaults to 4 hours.
	AnchorTimeout time.Duration

	// ConsolidateTimeout bounds one attempt at a consolidation. A long conversation is stored piece
	// by piece, and goes on in another attempt that counts as none; so this must be enough for one
	// piece, with all its calls of models.
	//
	// Defaults to 10 minutes.
	ConsolidateTimeout time.Duration

	// ConsolidationWorkers is how many consolidations this process works on at once. Each waits
	// mostly for a model.
	//
	// Defaults to 8.
	ConsolidationWorkers int

	// Counter counts tokens. Required.
	Counter Counter

	// CountTokensTimeout bounds one job that counts tokens.
	//
	// Defaults to 2 minutes.
	CountTokensTimeout time.Duration

	// EmbedBatch is how many rows an embedding job takes at once.
	//
	// Defaults to 100.
	EmbedBatch int

	// EmbedOnly makes the worker embed, and leave all other jobs to others: for one that fills a new
	// generation of embeddings beside the workers that serve. One whose model's vectors are still being
	// made leaves them to others by itself, until they are.
	EmbedOnly bool

	// EmbedTimeout bounds one embedding job. It is also how long its rows are kept from other
	// workers, should it die.
	//
	// Defaults to 2 minutes.
	EmbedTimeout time.Duration

	// FetchCooldown is the least time between two fetches of jobs. A job is started this long after
	// its commit, or at once where nothing else was fetched just before. River's own default, 100 ms,
	// would be felt by a person who waits.
	//
	// Defaults to 5 milliseconds.
	FetchCooldown time.Duration

	// FetchPollInterval is how often jobs are looked for that no notification announced.
	//
	// Defaults to 500 milliseconds.
	FetchPollInterval time.Duration

	// HarvestInterval is how often conversations are looked for that have corrections, or steps of a
	// task, which no harvest has read.
	//
	// Defaults to 30 seconds.
	HarvestInterval time.Duration

	// HarvestQuiet is how long a conversation must have been quiet before it is harvested, so that a
	// task is read whole. One that is never quiet waits ten times as long.
	//
	// Defaults to 1 minute.
	HarvestQuiet time.Duration

	// IndexInterval is how often tenants are looked for that need a vector index, or no longer do.
	//
	// Defaults to 1 hour.
	IndexInterval time.Duration

	// IndexMemory is maintenance_work_mem while a vector index is built, in Postgres's notation. An
	// index that does not fit is built many times slower.
	//
	// Defaults to "256MB".
	IndexMemory string

	// IndexTimeout bounds one job that builds vector indexes.
	//
	// Defaults to 6 hours.
	IndexTimeout time.Duration

	// Logger is told what happens, without content.
	//
	// Defaults to no log.
	Logger *slog.Logger

	// MaxConversationChars bounds what one call of a model is given to read, in characters. It is never
	// more than three quarters of what the models take (their MaxInputChars): the rest is for the
	// summary of what came before.
	//
	// Defaults to 150,000.
	MaxConversationChars int

	// MaxConversationTokens bounds what one call of a model is given to read, in tokens. A longer
	// conversation is read in pieces, which end between two events, each with a summary of what came
	// before it. Long pieces cost fewer calls, short ones make models overlook less.
	//
	// Defaults to 8,000.
	MaxConversationTokens int

	// MaxEmbedRate is how many rows a second this process's embedding jobs embed at most.
	//
	// Defaults to no bound but the provider's.
	MaxEmbedRate float64

	// MaxEmbedTokens is how much of a text its vector stands for: a longer one is cut, since
	// embedding models refuse it or cut it themselves.
	//
	// Defaults to the MaxEmbedTokens of the Models, and else to 2,000.
	MaxEmbedTokens int

	// Metrics is where the worker's metrics are registered.
	//
	// Defaults to nowhere.
	Metrics prometheus.Registerer

	// Models are what consolidates and embeds. Required, but for the Classifier and Close.
	Models *model.Models

	// PolicyInterval is how often threads are looked for whose consolidation is due by their app's
	// policy and was not enqueued when they were appended to: because they fell silent, or because
	// they were being consolidated.
	//
	// Defaults to 15 seconds.
	PolicyInterval time.Duration

	// PollOnly makes the worker look for jobs every FetchPollInterval instead of listening for
	// them, which takes a connection of its own. It is for poolers in transaction mode. Such a
	// worker does not see to vector indexes: that takes a session of its own, too.
	PollOnly bool

	// RescueAfter is when a job whose process died is started again. A kind whose own time limit is
	// longer waits for that instead.
	//
	// Defaults to a minute more than the longest of ConsolidateTimeout, CountTokensTimeout and
	// EmbedTimeout.
	RescueAfter time.Duration

	// RetentionBatch is how many memories a batch of the retention sweep looks at, in a transaction
	// of its own.
	//
	// Defaults to 5,000.
	RetentionBatch int

	// RetentionSchedule is when the retention sweep runs; see [Cron]. River's NeverSchedule leaves
	// it to pg_cron.
	//
	// Defaults to every day at 03:00 UTC.
	RetentionSchedule river.PeriodicSchedule

	// RetentionTimeout bounds one attempt at a retention sweep, which goes on where it was.
	//
	// Defaults to 1 hour.
	RetentionTimeout time.Duration

	// StopTimeout is how long Stop lets running jobs go on before it cancels them. A cancelled job
	// is started again by another worker, at once, and the attempt does not count.
	//
	// Defaults to 10 seconds.
	StopTimeout time.Duration

	// SweepInterval is how often rows without a vector or an exact token count are looked for that
	// no trigger announced.
	//
	// Defaults to 2 seconds.
	SweepInterval time.Duration

	// SweepWorkers is how many jobs this process works on at once that embed or count tokens.
	//
	// Defaults to 4.
	SweepWorkers int
}

// WithDefaults returns a copy with every unset field filled.
func (c *Config) WithDefaults() *Config {
	d := *c
	if d.AnchorSchedule == nil {
		d.AnchorSchedule, _ = Cron("15 4 * * *", time.UTC) // which can be read
	}
	d.AnchorTimeout = cmp.Or(d.AnchorTimeout, 4*time.Hour)
	d.ConsolidateTimeout = cmp.Or(d.ConsolidateTimeout, 10*time.Minute)
	d.ConsolidationWorkers = cmp.Or(d.ConsolidationWorkers, 8)
	d.CountTokensTimeout = cmp.Or(d.CountTokensTimeout, 2*time.Minute)
	d.EmbedBatch = cmp.Or(d.EmbedBatch, 100)
	d.EmbedTimeout = cmp.Or(d.EmbedTimeout, 2*time.Minute)
	d.FetchCooldown = cmp.Or(d.FetchCooldown, 5*time.Millisecond)
	d.FetchPollInterval = cmp.Or(d.FetchPollInterval, 500*time.Millisecond)
	d.HarvestInterval = cmp.Or(d.HarvestInterval, 30*time.Second)
	d.HarvestQuiet = cmp.Or(d.HarvestQuiet, time.Minute)
	d.IndexInterval = cmp.Or(d.IndexInterval, time.Hour)
	d.IndexMemory = cmp.Or(d.IndexMemory, "256MB")
	d.IndexTimeout = cmp.Or(d.IndexTimeout, 6*time.Hour)
	if d.Logger == nil {
		d.Logger = slog.New(slog.DiscardHandler)
	}
	d.MaxConversationChars = cmp.Or(d.MaxConversationChars, 150_000)
	if d.Models != nil && d.Models.MaxInputChars > 0 {
		d.MaxConversationChars = min(d.MaxConversationChars, max(1, d.Models.MaxInputChars*3/4))
	}
	d.MaxConversationTokens = cmp.Or(d.MaxConversationTokens, 8_000)
	if d.Models != nil {
		d.MaxEmbedTokens = cmp.Or(d.MaxEmbedTokens, d.Models.MaxEmbedTokens)
	}
	d.MaxEmbedTokens = cmp.Or(d.MaxEmbedTokens, model.DefaultEmbedTokens)
	d.RescueAfter = cmp.Or(d.RescueAfter, d.longest()+time.Minute)
	d.RetentionBatch = cmp.Or(d.RetentionBatch, 5_000)
	if d.RetentionSchedule == nil {
		d.RetentionSchedule, _ = Cron("0 3 * * *", time.UTC) // which can be read
	}
	d.PolicyInterval = cmp.Or(d.PolicyInterval, 15*time.Second)
	d.RetentionTimeout = cmp.Or(d.RetentionTimeout, time.Hour)
	d.StopTimeout = cmp.Or(d.StopTimeout, 10*time.Second)
	d.SweepInterval = cmp.Or(d.SweepInterval, 2*time.Second)
	d.SweepWorkers = cmp.Or(d.SweepWorkers, 4)
	return &d
}

// embedRows is how many rows an embedding job claims at once: no more than MaxEmbedRate lets all jobs of this
// process embed in half of their time.
func (c *Config) embedRows() int {
	if c.MaxEmbedRate == 0 {
		return c.EmbedBatch
	}
	return max(1, int(min(float64(c.EmbedBatch), c.MaxEmbedRate*c.EmbedTimeout.Seconds()/2/float64(c.SweepWorkers))))
}

// longest is the longest time limit that RescueAfter must exceed.
func (c *Config) longest() time.Duration {
	return max(c.ConsolidateTimeout, c.CountTokensTimeout, c.EmbedTimeout)
}

// validate refuses a configuration, with its defaults, that can't work.
func (c *Config) validate() error {
	for _, field := range []struct {
		name  string
		value int64
	}{
		{"ConsolidateTimeout", int64(c.ConsolidateTimeout)},
		{"ConsolidationWorkers", int64(c.ConsolidationWorkers)},
		{"CountTokensTimeout", int64(c.CountTokensTimeout)},
		{"EmbedBatch", int64(c.EmbedBatch)},
		{"EmbedTimeout", int64(c.EmbedTimeout)},
		{"FetchCooldown", int64(c.FetchCooldown)},
		{"FetchPollInterval", int64(c.FetchPollInterval)},
		{"HarvestInterval", int64(c.HarvestInterval)},
		{"HarvestQuiet", int64(c.HarvestQuiet)},
		{"IndexInterval", int64(c.IndexInterval)},
		{"IndexTimeout", int64(c.IndexTimeout)},
		{"MaxConversationChars", int64(c.MaxConversationChars)},
		{"MaxConversationTokens", int64(c.MaxConversationTokens)},
		{"MaxEmbedTokens", int64(c.MaxEmbedTokens)},
		{"RescueAfter", int64(c.RescueAfter)},
		{"PolicyInterval", int64(c.PolicyInterval)},
		{"RetentionBatch", int64(c.RetentionBatch)},
		{"RetentionTimeout", int64(c.RetentionTimeout)},
		{"StopTimeout", int64(c.StopTimeout)},
		{"SweepInterval", int64(c.SweepInterval)},
		{"SweepWorkers", int64(c.SweepWorkers)},
	} {
		if field.value < 0 {
			return fmt.Errorf("%s must not be negative", field.name)
		}
	}
	switch {
	case c.Counter == nil:
		return errors.New("the field Counter is required")
	case !(c.MaxEmbedRate >= 0): // nor NaN
		return errors.New("MaxEmbedRate must not be negative")
	case c.Models == nil || c.Models.Embedder == nil || c.Models.Reflector == nil || c.Models.Summarizer == nil:
		return errors.New("the field Models is required, with Embedder, Reflector and Summarizer")
	case c.FetchCooldown > c.FetchPollInterval:
		return fmt.Errorf("FetchCooldown %s must not exceed FetchPollInterval %s", c.FetchCooldown, c.FetchPollInterval)
	case c.RescueAfter <= c.longest():
		return fmt.Errorf("RescueAfter %s must exceed the longest time limit, %s, or jobs would be started again while they run",
			c.RescueAfter, c.longest())
	}
	return nil
}
