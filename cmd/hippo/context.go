package main

import (
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/hippocampus-memory/hippocampus/assembler"
	"github.com/hippocampus-memory/hippocampus/service"
)

// barWidth is the width of the budget bar.
const barWidth = 60

func (a *app) context() *cobra.Command {
	var (
		language  string
		ledger    bool
		maxTokens int
		system    string
		thread    string
	)
	cmd := &cobra.Command{
		Use:   "context QUERY…",
		Short: "Assemble the context window for a query, within a token budget",
		Args:  someArgs("a query"),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts := &service.ContextOptions{Language: language, MaxTokens: &maxTokens, SystemPrompt: system}
			if thread != "" {
				id, err := uuid.Parse(thread)
				if err != nil {
					return usageError{fmt.Errorf("--thread is %q, which is no thread's id", thread)}
				}
				opts.ThreadID = &id
			}
			return a.withEngine(cmd.Context(), func(e *engine) error {
				window, err := e.service.GetContextWindow(cmd.Context(), a.scope(), strings.Join(args, " "), opts)
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(window)
				}
				if _, err := fmt.Fprintf(a.stdout, "%s\n\n", window.Text); err != nil {
					return fmt.Errorf("print: %w", err)
				}
				return a.printLedger(&window.Window, ledger)
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&language, "language", "en", "the language of the headings: en or zh")
	flags.BoolVar(&ledger, "ledger", false, "list what was left out, and why")
	flags.IntVar(&maxTokens, "max-tokens", assembler.DefaultMaxTokens, "the budget, in tokens")
	flags.StringVar(&system, "system", "", "a system prompt, which stands first")
	flags.StringVar(&thread, "thread", "", "the thread whose history is shown (default the newest of all)")
	return cmd
}

// printLedger prints the budget: a bar, a line a section, and, if asked for, what was left out.
func (a *app) printLedger(w *assembler.Window, omitted bool) error {
	if _, err := fmt.Fprintf(a.stdout, "%s\n\n", w.BudgetBar(barWidth)); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	t := a.table("SECTION", "SHARE", "USED", "ENTRIES", "LEFT OUT")
	for _, s := range w.Sections {
		if s.Budget > 0 || s.Items > 0 || s.Omitted > 0 {
			t.row(s.Name, s.Budget, s.Used, s.Items, s.Omitted)
		}
	}
	if err := t.print(); err != nil || !omitted || len(w.Omitted) == 0 {
		return err
	}
	if _, err := fmt.Fprintln(a.stdout); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	t = a.table("SECTION", "TOKENS", "WHY", "LEFT OUT")
	for _, item := range w.Omitted {
		t.row(item.ContextType, item.TokenEstimate, item.OmittedReason, oneLine(item.Content, 80))
	}
	return t.print()
}
