package report

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Environment is where a run took place.
type Environment struct {
	CPU    string `json:"cpu"`
	Cores  int    `json:"cores"`
	RAMMiB int    `json:"ram_mib"`
	OS     string `json:"os"`
	Go     string `json:"go"`
	Commit string `json:"commit"`
	// Load is the machine's load average of the last minute before the run: figures of a machine that
	// had other work are not comparable.
	Load     string `json:"load"`
	Postgres string `json:"postgres"`
	PGVector string `json:"pgvector"`
	// Settings are those of Postgres on which speed depends.
	Settings []Fact `json:"settings"`
}

// serverSettings are those that a reader needs to compare figures.
var serverSettings = []string{
	"shared_buffers", "work_mem", "maintenance_work_mem", "effective_cache_size", "max_parallel_workers_per_gather", "jit",
	"synchronous_commit", "fsync",
}

// ReadEnvironment describes this machine, this program and the database. What can't be found out is
// left unknown.
func ReadEnvironment(ctx context.Context, pool *pgxpool.Pool) *Environment {
	e := &Environment{Commit: commit(ctx), Cores: runtime.NumCPU(), Go: runtime.Version(), OS: runtime.GOOS + "/" + runtime.GOARCH}
	if file, err := os.Open("/proc/cpuinfo"); err == nil {
		e.CPU = lookUp(file, "model name", ":")
		_ = file.Close()
	}
	if file, err := os.Open("/proc/meminfo"); err == nil {
		kib, _ := strconv.Atoi(strings.TrimSuffix(lookUp(file, "MemTotal", ":"), " kB"))
		e.RAMMiB = kib / 1024
		_ = file.Close()
	}
	if file, err := os.Open("/etc/os-release"); err == nil {
		if name := strings.Trim(lookUp(file, "PRETTY_NAME", "="), `"`); name != "" {
			e.OS += ", " + name
		}
		_ = file.Close()
	}
	if raw, err := os.ReadFile("/proc/loadavg"); err == nil {
		e.Load, _, _ = strings.Cut(string(raw), " ")
	}
	const versions = `SELECT current_setting('server_version'), coalesce((SELECT extversion FROM pg_extension WHERE extname = 'vector'), '')`
	if err := pool.QueryRow(ctx, versions).Scan(&e.Postgres, &e.PGVector); err != nil {
		return e
	}
	for _, name := range serverSettings {
		var value string
		if err := pool.QueryRow(ctx, "SELECT current_setting($1)", name).Scan(&value); err == nil {
			e.Settings = append(e.Settings, Fact{Name: name, Value: value})
		}
	}
	return e
}

// lookUp finds the first line that begins with a name, and gives what follows the separator.
func lookUp(r io.Reader, name, separator string) string {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		key, value, ok := strings.Cut(lines.Text(), separator)
		if ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// commit is the commit that the program was built from, as the go tool recorded it, or as git has it
// where the program runs (go run records none). Unknown is empty.
func commit(ctx context.Context) string {
	revision, changed := "", false
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				revision = s.Value
			case "vcs.modified":
				changed = s.Value == "true"
			}
		}
	}
	if revision == "" {
		head, err := exec.CommandContext(ctx, "git", "rev-parse", "HEAD").Output()
		if err != nil {
			return ""
		}
		status, err := exec.CommandContext(ctx, "git", "status", "--porcelain").Output()
		revision, changed = strings.TrimSpace(string(head)), err == nil && len(status) > 0
	}
	revision = revision[:min(12, len(revision))]
	if changed {
		revision += ", with changes"
	}
	return revision
}

func (e *Environment) facts() []Fact {
	settings := make([]string, len(e.Settings))
	for i, s := range e.Settings {
		settings[i] = s.Name + " " + s.Value
	}
	facts := []Fact{
		{"Machine", fmt.Sprintf("%s, %d cores, %.1f GiB RAM, %s", e.CPU, e.Cores, float64(e.RAMMiB)/1024, e.OS)},
		{"Postgres", fmt.Sprintf("%s, pgvector %s", e.Postgres, e.PGVector)},
		{"Settings of Postgres", strings.Join(settings, ", ")},
		{"Go", e.Go},
	}
	if e.Load != "" {
		facts = append(facts, Fact{"Load average before", e.Load})
	}
	if e.Commit != "" {
		facts = append(facts, Fact{"Commit", e.Commit})
	}
	return facts
}
