package dbtest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/hippocampus-memory/hippocampus/db"
	sqlfiles "github.com/hippocampus-memory/hippocampus/sql"
)

const (
	templatePrefix = "hippocampus_template_"
	clonePrefix    = "hippocampus_test_"

	// The names of templates change with this number, when the way of making them does.
	templateFormat = 1

	// makeLock is the advisory lock, in lockDatabase, of making and dropping templates.
	makeLock = "hippocampus template"

	// A clone without connections was left by a process that was killed, after this time; one
	// that was kept because its test failed, after the longer.
	leftAfter = 15 * time.Minute
	keptFor   = 24 * time.Hour
	keptMark  = "kept: its test failed"
)

// templates has the template of each dimension that this process uses. Each entry's connection
// holds a lock that keeps others from dropping it, as long as the process lives.
var templates struct {
	sync.Mutex
	byDimension map[int]*template
}

type template struct {
	name string
	use  *pgx.Conn
}

// templateFor gives the name of the template of a dimension, which it makes if need be.
func templateFor(ctx context.Context, dimension int) (string, error) {
	templates.Lock()
	defer templates.Unlock()
	if t := templates.byDimension[dimension]; t != nil {
		return t.name, nil
	}
	serverURL, err := serverURL()
	if err != nil {
		return "", err
	}
	// Lives as long as the process: not of the first test's context.
	conn, err := connectForLocks(context.WithoutCancel(ctx), serverURL)
	if err != nil {
		return "", fmt.Errorf("connect to the server: %w", err)
	}
	t := &template{name: templateName(dimension), use: conn}
	if err := t.prepare(ctx, serverURL, dimension); err != nil {
		return "", errors.Join(fmt.Errorf("prepare the template database: %w", err), conn.Close(context.WithoutCancel(ctx)))
	}
	if templates.byDimension == nil {
		templates.byDimension = map[int]*template{}
	}
	templates.byDimension[dimension] = t
	return t.name, nil
}

// lockDatabase is the database that every server has, and in which all processes lock: an advisory lock
// is its database's, and those whose URLs name different databases of a server would not see each
// other's.
const lockDatabase = "postgres"

// connectForLocks connects to lockDatabase, and to the URL's own where a server has none.
func connectForLocks(ctx context.Context, serverURL string) (*pgx.Conn, error) {
	lockURL, err := withDatabase(serverURL, lockDatabase)
	if err != nil {
		return nil, err
	}
	conn, err := pgx.Connect(ctx, lockURL)
	var pgErr *pgconn.PgError
	if errors.As(err, &pgErr) && pgErr.Code == "3D000" { // invalid_catalog_name
		return pgx.Connect(ctx, serverURL)
	}
	return conn, err
}

// templateName is different for every state of sql/, of River and of the dimension.
func templateName(dimension int) string {
	return fmt.Sprintf("%s%s_%d", templatePrefix, sqlHash(), dimension)
}

var sqlHash = sync.OnceValue(func() string {
	hash := sha256.New()
	fmt.Fprintf(hash, "%d %s\n%s\n", templateFormat, moduleVersion("github.com/riverqueue/river"), sqlfiles.Bootstrap)
	for _, fsys := range []fs.FS{sqlfiles.Schema, sqlfiles.Functions} {
		_ = fs.WalkDir(fsys, ".", func(path string, d fs.DirEntry, _ error) error {
			if !d.IsDir() {
				body, _ := fs.ReadFile(fsys, path) // embedded: can't fail
				fmt.Fprintf(hash, "%s %d\n%s", path, len(body), body)
			}
			return nil
		})
	}
	return hex.EncodeToString(hash.Sum(nil))[:12]
})

func moduleVersion(path string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, m := range info.Deps {
		if m.Path == path {
			return m.Version
		}
	}
	return ""
}

// prepare makes the template, if it isn't there, and takes the lock of its use.
func (t *template) prepare(ctx context.Context, serverURL string, dimension int) (err error) {
	if _, err := t.use.Exec(ctx, "SELECT pg_advisory_lock(hashtextextended($1, 0))", makeLock); err != nil {
		return err
	}
	defer func() {
		_, unlockErr := t.use.Exec(ctx, "SELECT pg_advisory_unlock(hashtextextended($1, 0))", makeLock)
		err = errors.Join(err, unlockErr)
	}()
	if _, err := t.use.Exec(ctx, "SELECT pg_advisory_lock_shared(hashtextextended($1, 0))", t.name); err != nil {
		return err
	}
	var exists bool
	err = t.use.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_catalog.pg_database d WHERE d.datname = $1)", t.name).Scan(&exists)
	if err != nil {
		return err
	}
	if !exists {
		if err := t.make(ctx, serverURL, dimension); err != nil {
			return err
		}
	}
	return t.collectGarbage(ctx)
}

// make migrates a database and gives it the template's name at the very end, so that a template
// is whole whenever it is there.
func (t *template) make(ctx context.Context, serverURL string, dimension int) error {
	unfinished := t.name + "_new"
	if _, err := t.use.Exec(ctx, "DROP DATABASE IF EXISTS "+unfinished+" WITH (FORCE)"); err != nil {
		return err
	}
	if _, err := t.use.Exec(ctx, "CREATE DATABASE "+unfinished); err != nil {
		return err
	}
	databaseURL, err := withDatabase(serverURL, unfinished)
	if err != nil {
		return err
	}
	if err := migrate(ctx, databaseURL, dimension); err != nil {
		_, dropErr := t.use.Exec(context.WithoutCancel(ctx), "DROP DATABASE "+unfinished+" WITH (FORCE)")
		return errors.Join(err, dropErr)
	}
	// Nobody may connect to it, as a database with connections can't be cloned.
	for _, query := range []string{
		"ALTER DATABASE " + unfinished + " WITH ALLOW_CONNECTIONS false IS_TEMPLATE true",
		"ALTER DATABASE " + unfinished + " RENAME TO " + t.name,
	} {
		if _, err := t.use.Exec(ctx, query); err != nil {
			return err
		}
	}
	return nil
}

func migrate(ctx context.Context, databaseURL string, dimension int) error {
	m, err := db.NewMigrator(ctx, databaseURL, &db.MigratorConfig{Dimension: dimension})
	if err != nil {
		return err
	}
	_, err = m.Up(ctx)
	return errors.Join(err, m.Close())
}

// collectGarbage drops the templates of other states of sql/ that no process uses, and the clones
// that killed processes left.
func (t *template) collectGarbage(ctx context.Context) error {
	rows, err := t.use.Query(ctx, `
		SELECT d.datname::text, coalesce(shobj_description(d.oid, 'pg_database'), '') = $3
		FROM pg_catalog.pg_database d
		WHERE (starts_with(d.datname, $1) OR starts_with(d.datname, $2))
		  AND NOT EXISTS (SELECT FROM pg_catalog.pg_stat_activity a WHERE a.datid = d.oid)`,
		templatePrefix, clonePrefix, keptMark)
	if err != nil {
		return err
	}
	var (
		kept bool
		name string
		old  []string
	)
	_, err = pgx.ForEachRow(rows, []any{&name, &kept}, func() error {
		switch {
		case strings.HasPrefix(name, templatePrefix):
			if !strings.HasPrefix(name, templatePrefix+sqlHash()) {
				old = append(old, name)
			}
		case time.Since(cloneTime(name)) > keptFor, !kept && time.Since(cloneTime(name)) > leftAfter:
			old = append(old, name)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, name := range old {
		if err := t.dropUnused(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// dropUnused drops a database, unless somebody uses it or was quicker.
func (t *template) dropUnused(ctx context.Context, name string) error {
	var free bool
	err := t.use.QueryRow(ctx, "SELECT pg_try_advisory_lock(hashtextextended($1, 0))", name).Scan(&free)
	if err != nil || !free {
		return err
	}
	quoted := pgx.Identifier{name}.Sanitize()
	if strings.HasPrefix(name, templatePrefix) {
		_, err = t.use.Exec(ctx, "ALTER DATABASE "+quoted+" IS_TEMPLATE false")
	}
	if err == nil {
		_, err = t.use.Exec(ctx, "DROP DATABASE IF EXISTS "+quoted)
	}
	_, unlockErr := t.use.Exec(ctx, "SELECT pg_advisory_unlock(hashtextextended($1, 0))", name)
	var pgErr *pgconn.PgError
	if errors.As(err, &pgErr) && (pgErr.Code == "55006" || pgErr.Code == "3D000") { // object_in_use, invalid_catalog_name
		err = nil
	}
	return errors.Join(err, unlockErr)
}
