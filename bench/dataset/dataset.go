// Package dataset reads conversations together with questions on them, and with what answers each:
// LoCoMo, LongMemEval and MemoryBank. It follows the rules by which others score them.
package dataset

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hippocampus-memory/hippocampus/internal/conversation"
)

// The formats.
const (
	LoCoMo      = "locomo"
	LongMemEval = "longmemeval"
	MemoryBank  = "memorybank"
)

// Dataset is conversations and questions.
type Dataset struct {
	// Format is LoCoMo, LongMemEval or MemoryBank.
	Format string
	// Name tells it from others, in a report and as the name of its app.
	Name string
	// Conversations have a user each, named after it.
	Conversations []*conversation.Conversation
	// Questions are those that can be scored.
	Questions []*Question
	// Excluded counts those that can't be, by category.
	Excluded map[string]int
	// Rows are the groups of questions of which a report has a line each, in its order.
	Rows []string
	// Headline is the row that stands for all.
	Headline string

	// Turn is the id of a turn, as its evidence has it, of an event's id.
	Turn func(eventID string) string
	// Session is the id of a session, as its evidence has it, of a thread's session id.
	Session func(sessionID string) string
	// Summary is the id that a ranking has for a session as a whole. It is no turn's, but of the
	// form of one, so that others that score the ranking find the session in it.
	Summary func(session string) string
}

// Question is a question on a conversation.
type Question struct {
	ID           string
	Conversation string
	Text         string
	Category     string
	// Rows are those of the dataset's rows that it belongs to.
	Rows []string
	// Asked is when it is asked; zero where the dataset doesn't say.
	Asked time.Time
	// Gold are the turns that answer it. Without any it is not scored by turns.
	Gold []string
	// GoldSessions are the sessions that answer it. Without any it is not scored by sessions.
	GoldSessions []string
	// Groups are alternatives: one turn of each is enough. Nil where the dataset has none.
	Groups [][]string
}

// In tells whether the question belongs to a row.
func (q *Question) In(row string) bool { return slices.Contains(q.Rows, row) }

// Conversation finds a conversation by its id.
func (d *Dataset) Conversation(id string) *conversation.Conversation {
	for _, c := range d.Conversations {
		if c.ID == id {
			return c
		}
	}
	return nil
}

// Events counts the events of all conversations.
func (d *Dataset) Events() int {
	n := 0
	for _, c := range d.Conversations {
		n += c.Events()
	}
	return n
}

// Ends are the times at which the conversations ended, by id.
func (d *Dataset) Ends() map[string]time.Time {
	ends := map[string]time.Time{}
	for _, c := range d.Conversations {
		for _, s := range c.Sessions {
			for i := range s.Events {
				if at := s.Events[i].CreatedAt; at != nil && at.After(ends[c.ID]) {
					ends[c.ID] = *at
				}
			}
		}
	}
	return ends
}

// Limit keeps the first n questions, and the conversations that they are on.
func (d *Dataset) Limit(n int) {
	if n <= 0 || n >= len(d.Questions) {
		return
	}
	d.Questions = d.Questions[:n]
	asked := map[string]bool{}
	for _, q := range d.Questions {
		asked[q.Conversation] = true
	}
	var kept []*conversation.Conversation
	for _, c := range d.Conversations {
		if asked[c.ID] {
			kept = append(kept, c)
		}
	}
	d.Conversations = kept
}

// check makes sure that each question is on a conversation that is there.
func (d *Dataset) check() error {
	known := map[string]bool{}
	for _, c := range d.Conversations {
		if known[c.ID] {
			return fmt.Errorf("the conversation %s is there twice", c.ID)
		}
		known[c.ID] = true
	}
	for _, q := range d.Questions {
		if !known[q.Conversation] {
			return fmt.Errorf("question %s is on the conversation %s, which is not there", q.ID, q.Conversation)
		}
	}
	return nil
}

// unique is the ids without repetition, in order of first sight.
func unique(ids []string) []string {
	var out []string
	seen := map[string]bool{}
	for _, id := range ids {
		if !seen[id] {
			seen[id] = true
			out = append(out, id)
		}
	}
	return out
}

func same(id string) string { return id }

func before(separator string) func(string) string {
	return func(id string) string {
		head, _, _ := strings.Cut(id, separator)
		return head
	}
}
