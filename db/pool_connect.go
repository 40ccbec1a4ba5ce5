package db

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// connectTimeout is how long a server may take to answer where the URL has no connect_timeout.
const connectTimeout = 15 * time.Second

// parseError says why a database URL can't be read, without the URL: a password may be in any
// part of one that is malformed.
func parseError(err error) error {
	reason := err.Error()
	var parseErr *pgconn.ParseConfigError
	if errors.As(err, &parseErr) {
		// The text is "cannot parse `URL`: reason".
		reason = reason[strings.LastIndex(reason, "`: ")+len("`: "):]
	}
	return fmt.Errorf("%w: the database URL can't be read: %s; it must look like "+
		"postgres://user:password@host:5432/database", ErrInvalidArgument, reason)
}

// connectError says in one line why there is no connection.
func connectError(config *pgx.ConnConfig, err error) error {
	where := net.JoinHostPort(config.Host, strconv.Itoa(int(config.Port)))
	if strings.HasPrefix(config.Host, "/") {
		where = fmt.Sprintf("%s/.s.PGSQL.%d", config.Host, config.Port)
	}
	var (
		pgErr *pgconn.PgError
		dns   *net.DNSError
		opErr *net.OpError
	)
	switch {
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("%w: %w", ErrConnect, context.Canceled)
	case errors.As(err, &pgErr):
		return fmt.Errorf("%w: %s", ErrConnect, refusal(config, where, pgErr))
	case errors.As(err, &dns):
		return fmt.Errorf("%w: the host %s is not known (%s)", ErrConnect, config.Host, dns.Err)
	case errors.Is(err, context.DeadlineExceeded), os.IsTimeout(err):
		return fmt.Errorf("%w: the server at %s does not answer: %w", ErrConnect, where, context.DeadlineExceeded)
	case errors.As(err, &opErr):
		reason := opErr.Err
		var sysErr *os.SyscallError
		if errors.As(reason, &sysErr) {
			reason = sysErr.Err
		}
		if config.ConnString() == "" && os.Getenv("PGHOST") == "" {
			return fmt.Errorf("%w: no database is named, and at %s is no Postgres (%w): set DATABASE_URL or PGHOST", ErrConnect, where, reason)
		}
		return fmt.Errorf("%w: no Postgres at %s (%w): is it started, and are host and port right?", ErrConnect, where, reason)
	}
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		err = inner
	}
	return fmt.Errorf("%w to %s: %w", ErrConnect, where, err)
}

// refusal is what a server says that does answer.
func refusal(config *pgx.ConnConfig, where string, pgErr *pgconn.PgError) string {
	switch pgErr.Code {
	case "28P01": // invalid_password
		return fmt.Sprintf("the server at %s refuses the password of user %s: "+
			"give the right one in the URL, PGPASSWORD or ~/.pgpass", where, config.User)
	case "28000": // invalid_authorization_specification
		return fmt.Sprintf("the server at %s refuses user %s: %s", where, config.User, pgErr.Message)
	case "3D000": // invalid_catalog_name
		return fmt.Sprintf("the server at %s has no database %s: make it with CREATE DATABASE", where, config.Database)
	}
	return fmt.Sprintf("the server at %s says: %s (SQLSTATE %s)", where, pgErr.Message, pgErr.Code)
}
