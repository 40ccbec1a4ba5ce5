package service

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hippocampus-memory/hippocampus/assembler"
	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/model"
)

// Scope is a tenant: a user of an app. Every memory belongs to one.
type Scope = db.Scope

// startTimeout bounds what [New] asks the database.
const startTimeout = 15 * time.Second

// Config is the configuration of [New].
type Config struct {
	// Classifier reads two facts that are alike and says whether one repeats or replaces the other.
	//
	// Defaults to none: another value of a key replaces the one that is there, and a fact under
	// another key stands beside it.
	Classifier model.Classifier

	// Counter counts tokens.
	//
	// Defaults to one for the deployment's setting token_encoding.
	Counter *assembler.Counter

	// Embedder turns queries into vectors, and must be the model that embeds the deployment's
	// memories: vectors of two models can't be compared.
	//
	// Defaults to none: memories are found by their words alone.
	Embedder model.Embedder

	// Logger is told what was worked around: an embedder that failed, an access that could not
	// be counted.
	//
	// Defaults to no log.
	Logger *slog.Logger

	// MaxEmbedChars is what one text to embed may have, in characters: the MaxEmbedChars of the embedder's
	// [model.Models].
	//
	// Defaults to no bound beside that of MaxEmbedTokens.
	MaxEmbedChars int

	// MaxEmbedTokens is how much of a query or a fact is embedded: a longer one is cut, as the worker cuts
	// what is stored. Give both the same.
	//
	// Defaults to 2,000.
	MaxEmbedTokens int

	// MaxSearchResults is how many memories a search gives that asks for no number of its own.
	//
	// Defaults to 10.
	MaxSearchResults int

	// Now is the clock by which memories fade and facts begin to hold.
	//
	// Defaults to the database's own clock, which all clients share.
	Now func() time.Time

	// Reflector draws facts from a text.
	//
	// Defaults to none: RememberFacts is refused.
	Reflector model.Reflector

	// RequireEmbedding makes a search fail where the embedder does. Otherwise it is made by words
	// alone, and says so in its response's Degraded.
	//
	// Defaults to false.
	RequireEmbedding bool
}

// WithDefaults returns a copy with every unset field filled, but for those that the database fills.
func (c *Config) WithDefaults() *Config {
	filled := *c
	if filled.Logger == nil {
		filled.Logger = slog.New(slog.DiscardHandler)
	}
	filled.MaxEmbedTokens = cmp.Or(filled.MaxEmbedTokens, model.DefaultEmbedTokens)
	if filled.MaxSearchResults == 0 {
		filled.MaxSearchResults = 10
	}
	return &filled
}

func (c *Config) validate() error {
	if c.MaxEmbedChars < 0 {
		return fmt.Errorf("%w: MaxEmbedChars is %d, but must be 0 or more", db.ErrInvalidArgument, c.MaxEmbedChars)
	}
	if c.MaxEmbedTokens < 0 || c.MaxEmbedTokens > maxText {
		return fmt.Errorf("%w: MaxEmbedTokens is %d, but must be 1 to %d", db.ErrInvalidArgument, c.MaxEmbedTokens, maxText)
	}
	if c.MaxSearchResults < 0 || c.MaxSearchResults > maxLimit {
		return fmt.Errorf("%w: MaxSearchResults is %d, but must be 1 to %d", db.ErrInvalidArgument, c.MaxSearchResults, maxLimit)
	}
	return nil
}

// OpenMemoryService remembers, recalls and forgets. It is safe for concurrent use. It holds no
// connection between calls, and none while it waits for an embedder.
type OpenMemoryService struct {
	config  *Config
	counter *assembler.Counter
	pool    *pgxpool.Pool
	queries *db.Queries
}

// New makes a service on a pool of [db.NewPool]. It asks the database whether it has the schema of
// this binary, which token encoding it counts in, and whether the embedder is the one of its
// vectors. A nil config holds the defaults.
//
// Errors: [db.ErrInvalidArgument] for a config that can't be; those of [db.CheckCompatible];
// [db.ErrDimension] and [db.ErrEmbeddingModel] where the embedder is not the deployment's;
// [db.ErrPermission] where the deployment's has no name yet and the login may not give it one.
func New(pool *pgxpool.Pool, config *Config) (*OpenMemoryService, error) {
	if config == nil {
		config = &Config{}
	}
	config = config.WithDefaults()
	if err := config.validate(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	if err := db.CheckCompatible(ctx, pool); err != nil {
		return nil, fmt.Errorf("start the service: %w", err)
	}
	s := &OpenMemoryService{config: config, counter: config.Counter, pool: pool, queries: db.New()}
	if s.counter == nil {
		var err error
		if s.counter, err = assembler.CounterOf(ctx, pool); err != nil {
			return nil, fmt.Errorf("start the service: %w", err)
		}
	}
	if config.Embedder != nil {
		if err := db.CheckEmbedder(ctx, pool, config.Embedder.Name(), config.Embedder.Dimension()); err != nil {
			return nil, fmt.Errorf("start the service: %w", err)
		}
	}
	return s, nil
}

// Counter is what counts the service's tokens.
func (s *OpenMemoryService) Counter() *assembler.Counter { return s.counter }

// now is the configured clock's time, or nil for the database's.
func (s *OpenMemoryService) now() *time.Time {
	if s.config.Now == nil {
		return nil
	}
	return new(s.config.Now())
}
