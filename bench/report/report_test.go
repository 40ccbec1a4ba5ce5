package report_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/bench/report"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares with a file of testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, got, 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got), "go test ./bench/report -update writes it anew")
}

func sample() *report.Report {
	r := &report.Report{
		Command: "hippo bench recall --limit 2 talk.json",
		Environment: &report.Environment{
			CPU: "Abacus 9", Commit: "0123456789ab", Cores: 2, Go: "go1.26", Load: "0.10", OS: "linux/amd64", PGVector: "0.8.0", Postgres: "17.1",
			RAMMiB: 2048, Settings: []report.Fact{{Name: "work_mem", Value: "4MB"}},
		},
		Plots: []*report.Plot{{
			LogX: true, Name: "recall", Series: []report.Series{
				{Name: "turn", Points: [][2]float64{{1, 40}, {5, 70.5}, {10, 80}}},
				{Name: "a < b", Points: [][2]float64{{1, 60}, {5, 90}, {10, 100}}},
			}, Title: "Recall & rank", X: "k", Y: "recall, %",
		}},
		Results: map[string]any{"recall": 0.705},
		Seconds: 1.25,
		Started: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC),
		Title:   "Recall",
	}
	r.Fact("Data", "%d questions | two lines\nof it", 2)
	table := &report.Table{Heads: []string{"questions", "n", "R@5"}, Notes: "In percent.", Title: "By turn"}
	table.Row("1 multi-hop", 2, 70.5)
	table.Row("all", 2, 100.0/3)
	r.Tables = append(r.Tables, table)
	return r
}

func TestPlot(t *testing.T) {
	t.Parallel()

	t.Run("Golden", func(t *testing.T) {
		t.Parallel()
		var out bytes.Buffer
		require.NoError(t, sample().Plots[0].WriteSVG(&out))
		golden(t, "plot.svg", out.Bytes())
	})

	t.Run("IsWellFormed", func(t *testing.T) {
		t.Parallel()
		for name, p := range map[string]*report.Plot{
			"empty":           {Title: "nothing"},
			"log":             {LogX: true, LogY: true, Series: []report.Series{{Points: [][2]float64{{100, 0.3}, {50_000, 42}}}}},
			"log of nothing":  {LogY: true, Series: []report.Series{{Points: [][2]float64{{1, 0}}}}},
			"negative":        {Series: []report.Series{{Points: [][2]float64{{-1, -2}, {3, 4e6}}}}},
			"one point":       {LogX: true, Series: []report.Series{{Points: [][2]float64{{5, 5}}}}},
			"series of none":  {Series: []report.Series{{Name: "none"}, {Points: [][2]float64{{0, 1}}}}},
			"many log points": {LogX: true, Series: []report.Series{{Points: make([][2]float64, 20)}}},
		} {
			var out bytes.Buffer
			require.NoError(t, p.WriteSVG(&out), name)
			require.NotContains(t, out.String(), "NaN", name)
			require.NotContains(t, out.String(), "Inf", name)
			decoder := xml.NewDecoder(&out)
			for {
				_, err := decoder.Token()
				if errors.Is(err, io.EOF) {
					break
				}
				require.NoError(t, err, name)
			}
		}
	})
}

func TestReport(t *testing.T) {
	t.Parallel()
	image := func(p *report.Plot) string { return "talk-" + p.Name + ".svg" }

	t.Run("JSON", func(t *testing.T) {
		t.Parallel()
		var out bytes.Buffer
		require.NoError(t, sample().WriteJSON(&out))
		golden(t, "report.json", out.Bytes())
	})

	t.Run("Markdown", func(t *testing.T) {
		t.Parallel()
		var out bytes.Buffer
		require.NoError(t, sample().WriteMarkdown(&out, image))
		golden(t, "report.md", out.Bytes())
	})

	t.Run("Stopped", func(t *testing.T) {
		t.Parallel()
		r := &report.Report{Command: "hippo bench scale", Started: time.Unix(0, 0), Stopped: "context canceled", Title: "Scale"}
		var out bytes.Buffer
		require.NoError(t, r.WriteMarkdown(&out, image))
		golden(t, "stopped.md", out.Bytes())
	})
}
