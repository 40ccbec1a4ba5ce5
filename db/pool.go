package db

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
	pgvector "github.com/pgvector/pgvector-go/pgx"
)

// Config is the configuration of [NewPool].
type Config struct {
	// AfterConnect is called for every new connection, once it knows pgvector's types.
	//
	// Defaults to nothing.
	AfterConnect func(ctx context.Context, conn *pgx.Conn) error

	// ApplicationName is what pg_stat_activity shows.
	//
	// Defaults to the URL's or PGAPPNAME, and else to "hippocampus".
	ApplicationName string

	// DatabaseURL names the database, as a URL or as libpq's keywords and values. What it leaves
	// out comes from libpq's PG* environment.
	//
	// Defaults to that environment alone.
	DatabaseURL string

	// Logger gets a warning where the database has no pgvector yet.
	//
	// Defaults to no log.
	Logger *slog.Logger

	// MaxConns is the greatest number of connections.
	//
	// Defaults to the URL's pool_max_conns, and else to 4 or the number of CPUs, whichever is
	// greater.
	MaxConns int
}

// NewPool makes a pool of connections that know pgvector's types vector and halfvec, in whichever
// schema and whatever the search_path, and makes sure that the database answers. A nil config
// holds the defaults.
//
// Errors: [ErrInvalidArgument] for a URL that can't be read or a negative MaxConns; [ErrConnect].
func NewPool(ctx context.Context, config *Config) (*pgxpool.Pool, error) {
	if config == nil {
		config = &Config{}
	}
	logger := config.Logger
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	poolConfig, err := pgxpool.ParseConfig(config.DatabaseURL)
	if err != nil {
		return nil, parseError(err)
	}
	if config.MaxConns < 0 || config.MaxConns > 1<<20 {
		return nil, fmt.Errorf("%w: MaxConns is %d", ErrInvalidArgument, config.MaxConns)
	}
	if config.MaxConns > 0 {
		poolConfig.MaxConns = int32(config.MaxConns)
	}
	if poolConfig.ConnConfig.ConnectTimeout == 0 {
		poolConfig.ConnConfig.ConnectTimeout = connectTimeout
	}
	params := poolConfig.ConnConfig.RuntimeParams
	params[plainStrings] = "on"
	if config.ApplicationName != "" {
		params["application_name"] = config.ApplicationName
	} else if params["application_name"] == "" {
		params["application_name"] = "hippocampus"
	}
	poolConfig.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		found, err := RegisterTypes(ctx, conn)
		if err != nil {
			return err
		}
		if !found {
			logger.WarnContext(ctx, "the database has no pgvector: run migrate up, then connect anew")
		}
		if config.AfterConnect != nil {
			return config.AfterConnect(ctx, conn)
		}
		return nil
	}
	pool, err := pgxpool.NewWithConfig(ctx, poolConfig)
	if err != nil {
		return nil, fmt.Errorf("make a pool: %w", err)
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return nil, connectError(poolConfig.ConnConfig, err)
	}
	return pool, nil
}

// plainStrings is the setting without which a backslash in a string is no backslash: the patterns of our functions,
// which are read in the session that calls them, would match something else.
const plainStrings = "standard_conforming_strings"

// RegisterTypes makes a connection know the types vector and halfvec and their arrays, for the Go
// types of pgvector-go. It looks them up in the schema of the extension, and not on the
// search_path, which may be empty. It reports whether the database has the extension.
func RegisterTypes(ctx context.Context, conn *pgx.Conn) (bool, error) {
	rows, err := conn.Query(ctx, `
		SELECT t.typname::text, t.oid, t.typarray
		FROM pg_catalog.pg_extension e
		JOIN pg_catalog.pg_type t ON t.typnamespace = e.extnamespace
		WHERE e.extname = 'vector' AND t.typname IN ('halfvec', 'vector')`)
	if err != nil {
		return false, fmt.Errorf("look up pgvector's types: %w", err)
	}
	var (
		name       string
		oid, array uint32
	)
	found := false
	types := conn.TypeMap()
	// Where the server describes no statement (default_query_exec_mode exec or simple_protocol, for poolers), the Go type says what it is.
	types.RegisterDefaultPgType([]uuid.UUID{}, "_uuid")
	_, err = pgx.ForEachRow(rows, []any{&name, &oid, &array}, func() error {
		found = true
		element := &pgtype.Type{Codec: &pgvector.VectorCodec{}, Name: name, OID: oid}
		if name == "halfvec" {
			element.Codec = &pgvector.HalfVectorCodec{}
		}
		types.RegisterType(element)
		types.RegisterType(&pgtype.Type{Codec: &pgtype.ArrayCodec{ElementType: element}, Name: "_" + name, OID: array})
		return nil
	})
	if err != nil {
		return false, fmt.Errorf("look up pgvector's types: %w", err)
	}
	return found, nil
}
