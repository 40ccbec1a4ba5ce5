package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hippocampus-memory/hippocampus/bench"
	"github.com/hippocampus-memory/hippocampus/bench/report"
)

// reportFlags say where a report goes.
type reportFlags struct {
	json     string
	markdown string
	timeout  time.Duration
}

func (f *reportFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.json, "json", "", "write the report as JSON to this file, or to - for standard output")
	flags.StringVar(&f.markdown, "markdown", "", "write the report as Markdown to this file, and its plots beside it")
	flags.DurationVar(&f.timeout, "timeout", time.Hour, "how long it may take in all; what there is then is printed")
}

// measurement is a benchmark: it adds to the report what it measures as it goes.
type measurement func(ctx context.Context, e *bench.Engine, r *report.Report) error

// measure runs a benchmark and prints its report, even that of a run that was stopped.
func (a *app) measure(cmd *cobra.Command, args []string, f *reportFlags, vectors bool, run measurement) error {
	ctx, cancel := context.WithTimeoutCause(cmd.Context(), f.timeout, fmt.Errorf("the run took longer than --timeout %s", f.timeout))
	defer cancel()
	return a.withBench(ctx, vectors, func(e *bench.Engine) error {
		r := &report.Report{
			Command: commandLine(cmd, args), Environment: report.ReadEnvironment(ctx, e.Pool), Started: time.Now(),
			Title: "Hippocampus: " + cmd.Name(),
		}
		err := run(ctx, e, r)
		r.Seconds = time.Since(r.Started).Seconds()
		if err != nil {
			if ctx.Err() != nil {
				err = cmp.Or(context.Cause(ctx), err)
			}
			r.Stopped = err.Error()
		}
		return errors.Join(err, a.publish(f, r))
	})
}

// commandLine is the command as it was given, without the database, whose URL may hold a password.
func commandLine(cmd *cobra.Command, args []string) string {
	words := []string{cmd.CommandPath()}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch values, many := f.Value.(pflag.SliceValue); {
		case f.Name == "database-url":
		case many:
			for _, value := range values.GetSlice() {
				words = append(words, "--"+f.Name, quote(value))
			}
		case f.Value.Type() == "bool":
			words = append(words, "--"+f.Name)
		default:
			words = append(words, "--"+f.Name, quote(f.Value.String()))
		}
	})
	for _, arg := range args {
		words = append(words, quote(arg))
	}
	return strings.Join(words, " ")
}

// quote quotes a word for a shell, if it needs to be.
func quote(word string) string {
	if word != "" && !strings.ContainsAny(word, " \t\n'\"$&;|<>(){}[]*?!#~`\\") {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// publish prints a report and writes its files.
func (a *app) publish(f *reportFlags, r *report.Report) error {
	if f.json != "-" {
		if err := a.printReport(r); err != nil {
			return err
		}
	}
	switch f.json {
	case "":
	case "-":
		if err := r.WriteJSON(a.stdout); err != nil {
			return err
		}
	default:
		if err := writeFile(f.json, r.WriteJSON); err != nil {
			return err
		}
	}
	if f.markdown == "" {
		return nil
	}
	base := strings.TrimSuffix(f.markdown, filepath.Ext(f.markdown))
	name := func(p *report.Plot) string { return base + "-" + p.Name + ".svg" }
	for _, p := range r.Plots {
		if err := writeFile(name(p), p.WriteSVG); err != nil {
			return err
		}
	}
	return writeFile(f.markdown, func(w io.Writer) error {
		return r.WriteMarkdown(w, func(p *report.Plot) string { return filepath.Base(name(p)) })
	})
}

func (a *app) printReport(r *report.Report) error {
	for _, fact := range r.Facts {
		fmt.Fprintf(a.stdout, "%s: %s\n", fact.Name, fact.Value)
	}
	for _, t := range r.Tables {
		a.heading("%s", t.Title)
		out := a.table(slices.Clone(t.Heads)...)
		for i, head := range t.Heads {
			out.cells[0][i] = strings.ToUpper(head)
		}
		for _, row := range t.Rows {
			cells := make([]any, len(row))
			for i, c := range row {
				cells[i] = c
			}
			out.row(cells...)
		}
		if err := out.print(); err != nil {
			return err
		}
		if t.Notes != "" {
			fmt.Fprintf(a.stdout, "%s\n", t.Notes)
		}
	}
	return nil
}

func writeFile(path string, write func(io.Writer) error) (err error) {
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("write the results: %w", err)
	}
	defer func() {
		if closeErr := file.Close(); err == nil && closeErr != nil {
			err = fmt.Errorf("write the results: %w", closeErr)
		}
	}()
	return write(file)
}
