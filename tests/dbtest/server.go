package dbtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
)

// startTimeout is long, as the first start fetches the server's programs.
const startTimeout = 10 * time.Minute

// URL is the server's database URL: DATABASE_URL, or the private server's, which it starts once.
// Its database is used to manage others, and nothing is made in it.
func URL(t testing.TB) string {
	t.Helper()
	serverURL, err := serverURL()
	require.NoError(t, err)
	return serverURL
}

var serverURL = sync.OnceValues(func() (string, error) {
	if fromEnv := os.Getenv("DATABASE_URL"); fromEnv != "" {
		return fromEnv, nil
	}
	root, err := Root()
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(root, "scripts", "postgres"), "start")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("scripts/postgres start: %w\n%s", err, stderr.String())
	}
	return strings.TrimSpace(string(out)), nil
})

// Root is the module's root folder, found upwards from the test's folder.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the module's root: %w", err)
	}
	for {
		// A nested module (adk/) has a go.mod too, but no sql/embed.go.
		if _, err := os.Stat(filepath.Join(dir, "sql", "embed.go")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("find the module's root: no folder above has sql/embed.go")
		}
		dir = parent
	}
}

// admin is the pool that manages databases and roles, one a process.
var admin = sync.OnceValues(func() (*pgxpool.Pool, error) {
	serverURL, err := serverURL()
	if err != nil {
		return nil, err
	}
	config, err := pgxpool.ParseConfig(serverURL)
	if err != nil {
		return nil, fmt.Errorf("read the server's URL: %w", err)
	}
	config.MaxConns = 4
	config.ConnConfig.RuntimeParams["application_name"] = "hippocampus dbtest"
	return pgxpool.NewWithConfig(context.Background(), config)
})

// WithDatabase is a database URL, or libpq's keywords and values, with another database.
func WithDatabase(t testing.TB, databaseURL, database string) string {
	t.Helper()
	changed, err := withDatabase(databaseURL, database)
	require.NoError(t, err)
	return changed
}

func withDatabase(databaseURL, database string) (string, error) {
	if !strings.Contains(databaseURL, "://") {
		return databaseURL + " dbname=" + database, nil
	}
	u, err := url.Parse(databaseURL)
	if err != nil {
		return "", fmt.Errorf("read the database URL: %w", err)
	}
	u.Path = "/" + database
	return u.String(), nil
}
