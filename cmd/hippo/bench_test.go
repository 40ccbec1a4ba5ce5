package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/bench/report"
	"github.com/hippocampus-memory/hippocampus/internal/command"
)

func TestBench(t *testing.T) {
	t.Parallel()

	t.Run("CommandLineHidesTheDatabase", func(t *testing.T) {
		t.Parallel()
		var line string
		root := (&app{getenv: os.Getenv}).command()
		cmd, _, err := root.Find([]string{"bench", "recall"})
		require.NoError(t, err)
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			line = commandLine(cmd, args)
			return nil
		}
		root.SetArgs([]string{
			"bench", "recall", "it's.json", "--database-url", "postgres://me:secret@db/x", "--ablate", `{"text":1}`, "--fresh",
			"--type", "episodic,summary", "--k=50",
		})
		require.NoError(t, root.Execute())
		require.Equal(t, `hippo bench recall --ablate '{"text":1}' --fresh --k 50 --type episodic --type summary 'it'\''s.json'`, line)
	})

	t.Run("PublishesFiles", func(t *testing.T) {
		t.Parallel()
		folder := t.TempDir()
		var out bytes.Buffer
		a := &app{stderr: &out, stdout: &out}
		r := &report.Report{
			Plots: []*report.Plot{{Name: "recall", Title: "Recall"}}, Stopped: "too late",
			Tables: []*report.Table{{Heads: []string{"questions", "n"}, Rows: [][]string{{"all", "2"}}, Title: "By turn"}}, Title: "Recall",
		}
		r.Fact("Data", "2 questions")
		flags := &reportFlags{json: filepath.Join(folder, "r.json"), markdown: filepath.Join(folder, "r.md")}
		require.NoError(t, a.publish(flags, r))
		require.Equal(t, "Data: 2 questions\n\n— By turn\n\nQUESTIONS  N\nall        2\n", out.String())
		for name, want := range map[string]string{"r.json": `"stopped": "too late"`, "r.md": "![Recall](r-recall.svg)", "r-recall.svg": "<svg"} {
			raw, err := os.ReadFile(filepath.Join(folder, name))
			require.NoError(t, err)
			require.Contains(t, string(raw), want)
		}
		out.Reset()
		require.NoError(t, a.publish(&reportFlags{json: "-"}, r))
		require.JSONEq(t, `{"title":"Recall","command":"","started":"0001-01-01T00:00:00Z","seconds":0,"stopped":"too late","environment":null,
			"facts":[{"name":"Data","value":"2 questions"}],"results":null}`, out.String())
	})

	t.Run("RefusesWrongArguments", func(t *testing.T) {
		t.Parallel()
		for _, args := range [][]string{
			{"bench"}, {"bench", "recall"}, {"bench", "scale", "x"}, {"bench", "load", "--readers", "-1"}, {"bench", "recall", "x.json", "--k", "many"},
		} {
			var out bytes.Buffer
			require.Equal(t, command.ExitUsage, run(t.Context(), args, &out, &out, func(string) string { return "" }), args)
		}
	})
}
