package assembler

import (
	"fmt"
	"strings"

	"github.com/google/uuid"

	"github.com/hippocampus-memory/hippocampus/db"
)

// The sections of a window, in the order of its text.
const (
	SectionSystem      = "system"
	SectionInstruction = "instruction"
	SectionBlock       = "block"
	SectionFact        = "fact"
	SectionMemory      = "memory"
	SectionHistory     = "history"
)

// Window is what an agent should see, and the ledger of its budget.
type Window struct {
	// Text is the window as one text for a prompt.
	Text string `json:"text"`
	// Tokens is the exact count of Text.
	Tokens int `json:"tokens"`
	// TokenEstimate is what the entries cost together, headings included: at least Tokens, and
	// at most MaxTokens.
	TokenEstimate int `json:"token_estimate"`
	// MaxTokens is the budget that was asked for.
	MaxTokens int `json:"max_tokens"`
	// Language is that of the headings.
	Language string `json:"language"`
	// Sections is the ledger: every section, used or not, in the order of Text.
	Sections []Section `json:"sections"`
	// Items are the entries of Text, in its order.
	Items []Item `json:"items"`
	// Omitted is what could have stood in the window and does not, best first.
	Omitted []Item `json:"omitted"`
}

// Section is a line of the ledger.
type Section struct {
	// Name is one of the constants Section….
	Name string `json:"name"`
	// Budget is its share of MaxTokens; what a section leaves, the next may use, so Used may be
	// more. Instructions and blocks have no share of their own.
	Budget int `json:"budget"`
	// Used is what its entries cost, its heading included.
	Used int `json:"used"`
	// Items is the number of its entries.
	Items int `json:"items"`
	// Omitted is the number of entries left out.
	Omitted int `json:"omitted"`
}

// Item is an entry of a window, or one that was left out.
type Item struct {
	// ContextType is its section, one of the constants Section….
	ContextType string `json:"context_type"`
	// Content is the entry as it is printed.
	Content string `json:"content"`
	// RelevanceScore orders entries within a section.
	RelevanceScore float64 `json:"relevance_score"`
	// TokenEstimate is what it costs at most; a section's first entry pays the heading too.
	TokenEstimate int `json:"token_estimate"`
	// OmittedReason is why it was left out; empty for an entry of the window.
	OmittedReason string `json:"omitted_reason,omitempty"`
	// SourceID is the event, memory or fact that it shows; nil for others.
	SourceID *uuid.UUID `json:"source_id,omitempty"`
	// SourceSeq is the event's number in its thread, the first that a memory tells, or the
	// version of an instruction or block.
	SourceSeq *int64 `json:"source_seq,omitempty"`
	// SourceThreadID is the thread that it comes from.
	SourceThreadID *uuid.UUID `json:"source_thread_id,omitempty"`
}

func newWindow(rows []*db.ContextAssembleRow, params *db.ContextAssembleParams, counter *Counter) (*Window, error) {
	window := &Window{
		Items:     []Item{},
		Language:  params.Language,
		MaxTokens: int(params.MaxTokens),
		Omitted:   []Item{},
	}
	shares, err := budgets(rows[0].Budgets)
	if err != nil {
		return nil, err
	}
	at := map[string]int{}
	for i, name := range []string{SectionSystem, SectionInstruction, SectionBlock, SectionFact, SectionMemory, SectionHistory} {
		at[name] = i
		window.Sections = append(window.Sections, Section{Budget: shares[name], Name: name})
	}
	for _, row := range rows {
		if row.Position == 0 { // a window without entries
			continue
		}
		if row.Position == 1 {
			window.Text = row.Text
		}
		item := Item{
			Content:        row.Content,
			ContextType:    row.ContextType,
			OmittedReason:  row.OmittedReason,
			RelevanceScore: row.RelevanceScore,
			SourceID:       row.SourceID,
			SourceSeq:      row.SourceSeq,
			SourceThreadID: row.SourceThreadID,
			TokenEstimate:  int(row.TokenEstimate),
		}
		section := &window.Sections[at[row.ContextType]]
		if !row.Included {
			section.Omitted++
			window.Omitted = append(window.Omitted, item)
			continue
		}
		section.Items++
		section.Used += item.TokenEstimate
		window.TokenEstimate += item.TokenEstimate
		window.Items = append(window.Items, item)
	}
	window.Tokens = counter.Count(window.Text)
	return window, nil
}

// letters mark the sections in a budget bar.
var letters = map[string]rune{
	SectionSystem: 'S', SectionInstruction: 'I', SectionBlock: 'B',
	SectionFact: 'F', SectionMemory: 'M', SectionHistory: 'H',
}

// BudgetBar draws the budget in width characters, for people:
//
//	[SSBFFFMMMMMMMMMMHHHHHHHHHHHH····] 6,912 of 8,000 tokens
//
// A section that is used at all has one letter at least (system, instruction, block, fact, memory,
// history), as far as the width allows.
func (w *Window) BudgetBar(width int) string {
	width = max(0, width)
	var bar strings.Builder
	drawn, used := 0, 0
	for _, section := range w.Sections {
		if section.Used == 0 {
			continue
		}
		used += section.Used
		end := drawn + 1
		if w.MaxTokens > 0 {
			end = max(end, used*width/w.MaxTokens)
		}
		end = min(end, width)
		bar.WriteString(strings.Repeat(string(letters[section.Name]), end-drawn))
		drawn = end
	}
	bar.WriteString(strings.Repeat("·", width-drawn))
	return fmt.Sprintf("[%s] %s of %s tokens", bar.String(), thousands(w.Tokens), thousands(w.MaxTokens))
}

// thousands writes a number with commas.
func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}
