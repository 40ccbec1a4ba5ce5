package db

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	sqlfiles "github.com/hippocampus-memory/hippocampus/sql"
)

const (
	minServerVersion = 160000 // as server_version_num has it
	minVectorVersion = "0.8"
)

// serverFacts is what can be known of a database before anything is made in it.
type serverFacts struct {
	version         int // as server_version_num has it: 170002 is 17.2
	versionText     string
	standby         bool
	login           string
	database        string
	vectorInstalled *string // pgvector's version in this database
	vectorAvailable *string // the version that CREATE EXTENSION would install
	schemaOwner     *string // of the schema hippocampus
	ownerExists     bool    // the role hippocampus_owner
	ownerGranted    bool    // the login may SET ROLE to it
	versionsOwner   *string // of goose's table, where it is there
}

func (m *Migrator) facts(ctx context.Context) (*serverFacts, error) {
	const query = `
		SELECT current_setting('server_version_num')::integer, current_setting('server_version'),
		       pg_is_in_recovery(), current_user::text, current_database()::text,
		       (SELECT e.extversion FROM pg_catalog.pg_extension e WHERE e.extname = 'vector'),
		       (SELECT a.default_version FROM pg_catalog.pg_available_extensions a WHERE a.name = 'vector'),
		       (SELECT pg_get_userbyid(n.nspowner)::text FROM pg_catalog.pg_namespace n WHERE n.nspname = $1),
		       EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.rolname = $2),
		       (SELECT pg_get_userbyid(c.relowner)::text FROM pg_catalog.pg_class c
		        JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
		        WHERE n.nspname = $1 AND c.relname = 'goose_db_version')`
	f := &serverFacts{}
	err := m.conn.QueryRow(ctx, query, schemaName, ownerRole).Scan(
		&f.version, &f.versionText, &f.standby, &f.login, &f.database, &f.vectorInstalled, &f.vectorAvailable,
		&f.schemaOwner, &f.ownerExists, &f.versionsOwner)
	if err != nil {
		return nil, fmt.Errorf("look at the server: %w", err)
	}
	// Before Postgres 16 there is no privilege SET to ask for.
	if f.ownerExists && f.version >= minServerVersion {
		err = m.conn.QueryRow(ctx, "SELECT pg_has_role($1, 'SET')", ownerRole).Scan(&f.ownerGranted)
		if err != nil {
			return nil, fmt.Errorf("look at the login's roles: %w", err)
		}
	}
	return f, nil
}

// checkServer refuses a server on which Hippocampus can't work.
func (m *Migrator) checkServer(ctx context.Context) error {
	f, err := m.facts(ctx)
	if err != nil {
		return err
	}
	return f.check()
}

func (f *serverFacts) check() error {
	major := f.version / 10000
	switch {
	case f.version < minServerVersion:
		return fmt.Errorf("%w: this is Postgres %s, but Hippocampus needs Postgres 16 or newer: "+
			"upgrade the server, or name another", ErrServer, f.versionText)
	case f.standby:
		return fmt.Errorf("%w: this is a standby, which can't be written: name the primary server", ErrServer)
	case f.vectorInstalled != nil && VersionLess(*f.vectorInstalled, minVectorVersion):
		if f.vectorAvailable != nil && !VersionLess(*f.vectorAvailable, minVectorVersion) {
			return fmt.Errorf("%w: the database %s has pgvector %s, but Hippocampus needs %s or newer, and the server "+
				"has %s: run ALTER EXTENSION vector UPDATE in it as an administrator",
				ErrServer, f.database, *f.vectorInstalled, minVectorVersion, *f.vectorAvailable)
		}
		return fmt.Errorf("%w: the database %s has pgvector %s, but Hippocampus needs %s or newer: install it on "+
			"the server (%s), then run ALTER EXTENSION vector UPDATE",
			ErrServer, f.database, *f.vectorInstalled, minVectorVersion, vectorPackage(major))
	case f.vectorInstalled != nil: // and new enough
	case f.vectorAvailable == nil:
		return fmt.Errorf("%w: the server has no pgvector, but Hippocampus needs %s or newer: install it there (%s)",
			ErrServer, minVectorVersion, vectorPackage(major))
	case VersionLess(*f.vectorAvailable, minVectorVersion):
		return fmt.Errorf("%w: the server has pgvector %s, but Hippocampus needs %s or newer: install it there (%s)",
			ErrServer, *f.vectorAvailable, minVectorVersion, vectorPackage(major))
	}
	if f.restored() {
		return f.notItsOwners()
	}
	if f.schemaOwner != nil && *f.schemaOwner != ownerRole {
		return fmt.Errorf("%w: the schema %s belongs to %s: rename or drop it, or run ALTER SCHEMA %s OWNER TO %s",
			ErrBootstrap, schemaName, *f.schemaOwner, schemaName, ownerRole)
	}
	return nil
}

func vectorPackage(major int) string {
	return fmt.Sprintf("on Debian and Ubuntu the package postgresql-%d-pgvector; "+
		"a managed Postgres offers it as the extension vector", major)
}

// checkInstalled refuses a database in which no migration ever ran, or whose owner the login
// can't become.
func (m *Migrator) checkInstalled(ctx context.Context) error {
	f, err := m.facts(ctx)
	switch {
	case err != nil:
		return err
	case f.restored():
		return f.notItsOwners()
	case f.versionsOwner == nil || !f.ownerExists:
		return fmt.Errorf("%w: the database %s has no Hippocampus: run migrate up", ErrNotMigrated, f.database)
	case !f.ownerGranted:
		return notOwner(f.login)
	}
	return nil
}

// restored says whether the schema came from a dump without its owner.
func (f *serverFacts) restored() bool {
	return f.versionsOwner != nil && *f.versionsOwner != ownerRole
}

func (f *serverFacts) notItsOwners() error {
	return fmt.Errorf("%w: what the schema %s of the database %s holds does not belong to %s, as after a restore that left "+
		"owners and rights out: drop the schema, run what `migrate bootstrap` prints, and restore them too "+
		"(without --no-owner and --no-acl)", ErrBootstrap, schemaName, f.database, ownerRole)
}

func notOwner(login string) error {
	return fmt.Errorf("%w: the login %s may not act as the schema's owner: an administrator must run GRANT %s TO %q",
		ErrBootstrap, login, ownerRole, login)
}

// bootstrap runs sql/bootstrap.sql as the login. Where all is there it changes nothing, and
// needs no rights but to act as the owner.
func (m *Migrator) bootstrap(ctx context.Context) error {
	_, err := m.conn.PgConn().Exec(ctx, sqlfiles.Bootstrap).ReadAll()
	if err != nil {
		var pgErr *pgconn.PgError
		if errors.As(err, &pgErr) && pgErr.Code == "42501" {
			return fmt.Errorf("%w: the login %s may not make the roles, the schema or the extension (%s): "+
				"an administrator must once run the script that `migrate bootstrap` prints, in this database, "+
				"then GRANT %s TO %q", ErrBootstrap, m.conn.Config().User, pgErr.Message, ownerRole, m.conn.Config().User)
		}
		return fmt.Errorf("run sql/bootstrap.sql: %w", err)
	}
	f, err := m.facts(ctx)
	if err != nil {
		return err
	}
	if !f.ownerGranted {
		return notOwner(f.login)
	}
	return nil
}

// VersionLess compares dotted versions by their numbers; what follows a number in a part is
// ignored.
func VersionLess(a, b string) bool {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range max(len(as), len(bs)) {
		if x, y := versionPart(as, i), versionPart(bs, i); x != y {
			return x < y
		}
	}
	return false
}

func versionPart(parts []string, i int) int {
	if i >= len(parts) {
		return 0
	}
	digits := strings.TrimRight(parts[i], "abcdefghijklmnopqrstuvwxyz-+_")
	n, _ := strconv.Atoi(digits)
	return n
}
