package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hippocampus-memory/hippocampus/assembler"
	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/internal/command"
	"github.com/hippocampus-memory/hippocampus/service"
)

// barWidth is the width of the budget bar.
const barWidth = 60

// contextFlags are those of the command context.
type contextFlags struct {
	fact, history, memory, system float64
	language                      string
	ledger                        bool
	maxTokens                     int
	overflow                      bool
	projects                      []string
	documents                     bool
	systemPrompt                  string
	thread                        string
}

func (a *app) context() *cobra.Command {
	var f contextFlags
	cmd := &cobra.Command{
		Use:   "context QUERY…",
		Short: "Assemble the context window for a query, within a token budget",
		Long: `Assembles what an agent should see for a query, within a budget of tokens, and prints
it to standard output. How the budget was spent goes to standard error, so that a pipe
gets the prompt alone; --json prints both as one object.

RESERVED is what a section's entries were counted for, headings included: never too
little, so the window's exact count is the same or less. SHARE is what a section may take
of the budget; what one leaves, the next may use. Shares are those of --system-ratio,
--fact-ratio, --memory-ratio and --history-ratio; the last three together may be 1 at most.`,
		Args: command.SomeArgs("a query"),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts, err := f.options()
			if err != nil {
				return err
			}
			return a.withEngine(cmd.Context(), func(e *engine) error {
				window, err := e.service.GetContextWindow(cmd.Context(), a.scope(), strings.Join(args, " "), opts)
				if err != nil {
					return overBudget(err)
				}
				if a.json {
					return a.printJSON(window)
				}
				if _, err := fmt.Fprintln(a.stdout, window.Text); err != nil {
					return fmt.Errorf("print: %w", err)
				}
				if _, err := fmt.Fprintln(a.stderr); err != nil {
					return fmt.Errorf("print: %w", err)
				}
				if len(window.Items) == 0 {
					fmt.Fprintln(a.stderr, a.nothing("nothing to fill a window with", otherScope))
				}
				return printLedger(a.stderr, &window.Window, f.ledger)
			})
		},
	}
	f.add(cmd.Flags())
	return cmd
}

func (f *contextFlags) add(flags *pflag.FlagSet) {
	flags.Float64Var(&f.fact, "fact-ratio", assembler.DefaultFactRatio, "the share of instructions, blocks and facts")
	flags.Float64Var(&f.history, "history-ratio", assembler.DefaultHistoryRatio, "the share of the newest events")
	flags.StringVar(&f.language, "language", "en", "the language of the headings: en or zh")
	flags.BoolVar(&f.ledger, "ledger", false, "list what was left out, and why")
	flags.IntVar(&f.maxTokens, "max-tokens", assembler.DefaultMaxTokens, "the budget, in tokens")
	flags.Float64Var(&f.memory, "memory-ratio", assembler.DefaultMemoryRatio, "the share of the memories that the query finds")
	flags.BoolVar(&f.documents, "documents", false, "find chunks of documents too, by the anchors of the query")
	flags.StringArrayVar(&f.projects, "project", nil, "with --documents: a name of what is being talked about; may be given again")
	flags.StringVar(&f.systemPrompt, "system", "", "a system prompt, which stands first")
	flags.BoolVar(&f.overflow, "system-overflow", false, "let a system prompt that is over its share take from the others")
	flags.Float64Var(&f.system, "system-ratio", assembler.DefaultSystemRatio, "the share of the system prompt")
	flags.StringVar(&f.thread, "thread", "", "the id of the thread whose history is shown (default the newest of all)")
}

func (f *contextFlags) options() (*service.ContextOptions, error) {
	if err := errors.Join(oneOf("language", []string{f.language}, "en", "zh"), notEmpty("project", f.projects)); err != nil {
		return nil, err
	}
	if err := inRange("max-tokens", f.maxTokens, 0, 10_000_000); err != nil {
		return nil, err
	}
	for _, ratio := range []struct {
		flag  string
		value float64
	}{{"fact-ratio", f.fact}, {"history-ratio", f.history}, {"memory-ratio", f.memory}, {"system-ratio", f.system}} {
		if err := inRange(ratio.flag, ratio.value, 0, 1); err != nil {
			return nil, err
		}
	}
	if sum := f.memory + f.history + f.fact; sum > 1+1e-9 {
		return nil, command.Usagef("--memory-ratio, --history-ratio and --fact-ratio add up to %.3g, but may be 1 at most; "+
			"lower one of them", sum)
	}
	opts := &service.ContextOptions{
		FactRatio: &f.fact, HistoryRatio: &f.history, Language: f.language, MaxTokens: &f.maxTokens, MemoryRatio: &f.memory,
		SkipOmitted: false, SystemOverflow: f.overflow, SystemPrompt: f.systemPrompt, SystemRatio: &f.system,
	}
	if f.documents {
		opts.ProjectAnchors = append([]string{}, f.projects...)
	} else if len(f.projects) > 0 {
		return nil, command.Usagef("--project wants --documents")
	}
	if f.thread != "" {
		id, err := uuid.Parse(f.thread)
		if err != nil {
			return nil, command.Usagef("--thread is %q, which is no thread's id", f.thread)
		}
		opts.ThreadID = &id
	}
	return opts, nil
}

// overBudget says of a system prompt that is over its share what flags can do about it: the
// database's own hint names its function's arguments.
func overBudget(err error) error {
	var pgErr *pgconn.PgError
	if !errors.Is(err, db.ErrSystemPromptOverBudget) || !errors.As(err, &pgErr) {
		return err
	}
	return fmt.Errorf("%w: %s: shorten it, raise --max-tokens or --system-ratio, or let it take from the other sections with "+
		"--system-overflow", db.ErrSystemPromptOverBudget, pgErr.Message)
}

// sectionNames are the letters of a budget bar.
var sectionNames = []struct{ section, letter string }{
	{assembler.SectionSystem, "S"},
	{assembler.SectionInstruction, "I"},
	{assembler.SectionBlock, "B"},
	{assembler.SectionFact, "F"},
	{assembler.SectionMemory, "M"},
	{assembler.SectionHistory, "H"},
}

// printLedger prints the budget: a bar, a line a section, and, if asked for, what was left out.
func printLedger(out io.Writer, w *assembler.Window, omitted bool) error {
	bar, _, _ := strings.Cut(w.BudgetBar(barWidth), "]")
	legend := make([]string, 0, len(sectionNames)+1)
	for _, name := range sectionNames {
		if strings.Contains(bar, name.letter) {
			legend = append(legend, name.letter+" "+name.section)
		}
	}
	legend = append(legend, "· free")
	_, err := fmt.Fprintf(out, "%s] %s tokens (%s reserved) of %s\n%s\n\n", bar, thousands(int64(w.Tokens)),
		thousands(int64(w.TokenEstimate)), thousands(int64(w.MaxTokens)), strings.Join(legend, "  "))
	if err != nil {
		return fmt.Errorf("print: %w", err)
	}
	t := newTable(out, "SECTION", "SHARE", "RESERVED", "ENTRIES", "LEFT OUT")
	var all assembler.Section
	for _, s := range w.Sections {
		if s.Budget > 0 || s.Items > 0 || s.Omitted > 0 {
			t.row(s.Name, s.Budget, s.Used, s.Items, s.Omitted)
		}
		all.Budget, all.Items, all.Omitted, all.Used = all.Budget+s.Budget, all.Items+s.Items, all.Omitted+s.Omitted, all.Used+s.Used
	}
	t.row("all", all.Budget, all.Used, all.Items, all.Omitted)
	if err := t.print(); err != nil || !omitted || len(w.Omitted) == 0 {
		return err
	}
	if _, err := fmt.Fprintln(out); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	t = newTable(out, "SECTION", "TOKENS", "WHY", "LEFT OUT")
	for _, item := range w.Omitted {
		t.row(item.ContextType, item.TokenEstimate, item.OmittedReason, oneLine(item.Content, 80))
	}
	return t.print()
}
