package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/hippocampus-memory/hippocampus/internal/command"
	"github.com/hippocampus-memory/hippocampus/service"
	"github.com/hippocampus-memory/hippocampus/service/tools"
)

// waitsForWorker is said before what would otherwise be silence.
const waitsForWorker = "hippo: waiting for a worker to build the vector indexes. If none runs, start one in another shell: " +
	"bin/worker (make build makes it). Ctrl-C ends the waiting; a worker builds them all the same."

// learn calls one of the tools of an agent that learns from what it does.
func (a *app) learn() *cobra.Command {
	var skills string
	cmd := &cobra.Command{
		Use:   "learn [VERB [JSON]]",
		Short: "Save, search, load skills, record experiences, as an agent does",
		Long: `Calls one of the verbs with which an agent learns from what it does; without one, lists them:

  hippo learn save_memory '{"content": "Tag before you push", "metadata": {"domain": "git"}}'
  hippo learn search_memory '{"query": "git tags"}'
  hippo learn record_experience '{"task": "Release", "trajectory": ["test", "tag"], "insight": "Tag last."}'
  hippo learn load_skill '{"skill_name": "git"}' --skills ./skills

index_memory waits until a worker has built the vector indexes, so one must run (see worker --help).`,
		Args: command.AtMost(2, "a verb and its JSON"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withEngine(cmd.Context(), func(e *engine) error {
				verbs := tools.Experience(e.service, skills)
				if len(args) == 0 {
					t := a.table("VERB", "WHAT IT DOES")
					for _, v := range verbs {
						t.row(v.Name, oneLine(v.Description, 100))
					}
					return t.print()
				}
				arguments := json.RawMessage(`{}`)
				if len(args) == 2 {
					arguments = json.RawMessage(args[1])
				}
				for _, v := range verbs {
					if v.Name == args[0] {
						if v.Name == "index_memory" {
							fmt.Fprintln(a.stderr, waitsForWorker)
						}
						return a.callTool(cmd, v, arguments)
					}
				}
				return command.Usagef("there is no verb %q; load_skill needs --skills", args[0])
			})
		},
	}
	cmd.Flags().StringVar(&skills, "skills", "", "the folder of skills: NAME/SKILL.md or NAME.md")
	return cmd
}

func (a *app) callTool(cmd *cobra.Command, tool *tools.Tool, arguments json.RawMessage) error {
	ctx := cmd.Context()
	if tool.Name == "index_memory" {
		ctx = tools.WithProgress(ctx, func(done, total int) {
			if total > 0 {
				fmt.Fprintf(a.stderr, "hippo: %d of %d vector indexes built\n", done, total)
			}
		})
	}
	result, err := tool.Call(ctx, a.scope(), arguments)
	var told *tools.Error
	if errors.As(err, &told) && told.Code == tools.CodeMalformed {
		return command.Usage(err)
	}
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(result.Structured)
	}
	if _, err := fmt.Fprintln(a.stdout, result.Text); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return nil
}

// lessons lists what was learned from corrections.
func (a *app) lessons() *cobra.Command {
	return &cobra.Command{
		Use:   "lessons [DOMAIN]",
		Short: "List a user's lessons, the surest first",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withEngine(cmd.Context(), func(e *engine) error {
				lessons, err := e.service.Lessons(cmd.Context(), a.scope(), strings.Join(args, " "))
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(lessons)
				}
				t := a.table("CONFIDENCE", "DOMAIN", "SOURCE", "RULE")
				for _, l := range lessons {
					t.row(l.Confidence, l.Domain, l.Source, oneLine(l.Rule, 100))
				}
				return t.printOr(a.nothing("no lessons", "A worker draws them from corrections, a minute after a conversation has fallen "+
					"silent; SQL's record_lesson states one."))
			})
		},
	}
}

// promote makes an experience an instruction.
func (a *app) promote() *cobra.Command {
	var key, content string
	cmd := &cobra.Command{
		Use:   "promote MEMORY",
		Short: "Make an experience an instruction that all users of the app see",
		Args:  command.OneArg("the id of an experience"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := uuid.Parse(args[0])
			if err != nil {
				return command.Usagef("%q is no id of a memory", args[0])
			}
			return a.withEngine(cmd.Context(), func(e *engine) error {
				instruction, err := e.service.PromoteExperience(cmd.Context(), a.scope(), id, key, content)
				if err != nil {
					return err
				}
				return a.printInstruction(instruction)
			})
		},
	}
	cmd.Flags().StringVar(&key, "key", "", "the instruction's key (default: made of the task)")
	cmd.Flags().StringVar(&content, "content", "", "what to do, in your own words (default: the experience's)")
	return cmd
}

// rollback brings back a version of an instruction.
func (a *app) rollback() *cobra.Command {
	version := -1
	cmd := &cobra.Command{
		Use:   "rollback KEY",
		Short: "Bring back an earlier version of an instruction, by default the one before",
		Args:  command.OneArg("the key of an instruction"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withEngine(cmd.Context(), func(e *engine) error {
				var to *int
				if version >= 0 {
					to = &version
				}
				instruction, err := e.service.RollbackInstruction(cmd.Context(), a.appName, args[0], to)
				if err != nil {
					return err
				}
				return a.printInstruction(instruction)
			})
		},
	}
	cmd.Flags().IntVar(&version, "version", -1, "the version; 0 withdraws the instruction (default: the one before)")
	return cmd
}

func (a *app) printInstruction(i *service.Instruction) error {
	if a.json {
		return a.printJSON(i)
	}
	if _, err := fmt.Fprintf(a.stdout, "%s version %d: %s\n", i.Key, i.Version, i.Content); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return nil
}
