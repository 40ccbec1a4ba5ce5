package bench

import (
	"context"
	"strings"
	"time"
	"unicode"

	"github.com/hippocampus-memory/hippocampus/bench/dataset"
	"github.com/hippocampus-memory/hippocampus/bench/metric"
	"github.com/hippocampus-memory/hippocampus/service"
)

// BudgetOptions are the options of [Budget].
type BudgetOptions struct {
	// App is the app whose memory it is.
	App string
	// Budgets are the sizes of the windows, in tokens.
	Budgets []int
	// Clients is how many ask at once.
	Clients int
}

// BudgetResult is what windows of a size held.
type BudgetResult struct {
	// Shares is which shares of the budget the sections had.
	Shares string `json:"shares"`
	Tokens int    `json:"tokens"`
	// Rows are the groups of questions. Their scores are recall, the share of the gold turns whose
	// text stands in the window, and all, 1 if that of all of them does.
	Rows []*Row `json:"rows"`
	// Used is the mean of the tokens that the windows had, and Over how many were over the budget.
	Used   float64 `json:"used"`
	Over   int     `json:"over"`
	Window Latency `json:"window"`
}

// The two ways of sharing a budget that are measured: the service's own, in which most of it is
// history, which only by chance holds an answer; and all of it for the memories.
const (
	SharesDefault = "default shares"
	SharesMemory  = "memories alone"
)

// Budget has windows of several sizes assembled for each of the dataset's questions, and looks which
// of the evidence stands in them, word for word. If the context ends, the sizes that were done are
// returned with the error.
func Budget(ctx context.Context, e *Engine, d *dataset.Dataset, vectors Vectors, opts *BudgetOptions) ([]*BudgetResult, error) {
	var results []*BudgetResult
	evidence := newEvidence(d)
	for _, shares := range []string{SharesDefault, SharesMemory} {
		for _, tokens := range opts.Budgets {
			b := &budget{dataset: d, evidence: evidence, opts: opts, shares: shares, tokens: tokens, vectors: vectors}
			b.windows = make([]*window, len(d.Questions))
			if err := askAll(ctx, e, d, opts.Clients, shares, b.assemble); err != nil {
				return results, err
			}
			results = append(results, b.result())
		}
	}
	return results, nil
}

type budget struct {
	dataset  *dataset.Dataset
	evidence evidence
	opts     *BudgetOptions
	shares   string
	tokens   int
	vectors  Vectors
	windows  []*window // by question
}

type window struct {
	elapsed time.Duration
	recall  float64
	used    int
}

func (b *budget) assemble(ctx context.Context, s *searcher, i int) error {
	q := b.dataset.Questions[i]
	if len(q.Gold) == 0 {
		return nil
	}
	opts := &service.ContextOptions{MaxTokens: &b.tokens, QueryEmbedding: b.vectors[q.ID], SkipOmitted: true}
	if b.shares == SharesMemory {
		opts.FactRatio, opts.HistoryRatio, opts.MemoryRatio, opts.SystemRatio = new(0.0), new(0.0), new(1.0), new(0.0)
	}
	start := time.Now()
	w, err := s.service.GetContextWindow(ctx, service.Scope{AppName: b.opts.App, UserID: q.Conversation}, q.Text, opts)
	if err != nil {
		return err
	}
	b.windows[i] = &window{elapsed: time.Since(start), recall: b.evidence.share(q, w.Text), used: w.Tokens}
	return nil
}

func (b *budget) result() *BudgetResult {
	r := &BudgetResult{Shares: b.shares, Tokens: b.tokens}
	var (
		times []time.Duration
		used  int
	)
	for _, w := range b.windows {
		if w != nil {
			times = append(times, w.elapsed)
			used += w.used
			if w.used > b.tokens {
				r.Over++
			}
		}
	}
	r.Window = latency(times)
	if len(times) > 0 {
		r.Used = float64(used) / float64(len(times))
	}
	r.Rows = rowsOf(b.dataset, func(i int) metric.Scores {
		w := b.windows[i]
		if w == nil {
			return nil
		}
		all := 0.0
		if w.recall == 1 {
			all = 1
		}
		return metric.Scores{"recall": w.recall, "all": all}
	})
	return r
}

// evidence are the texts of turns, by conversation and turn, in the form in which they are looked for.
type evidence map[string]map[string][]string

func newEvidence(d *dataset.Dataset) evidence {
	all := evidence{}
	for _, c := range d.Conversations {
		turns := map[string][]string{}
		for _, s := range c.Sessions {
			for i := range s.Events {
				turn := d.Turn(s.Events[i].EventID)
				turns[turn] = append(turns[turn], letters(s.Events[i].Author+s.Events[i].Text))
			}
		}
		all[c.ID] = turns
	}
	return all
}

// share is the share of a question's gold turns that stand in a text. An exchange of two texts stands
// there by half if one of them does.
func (e evidence) share(q *dataset.Question, text string) float64 {
	text = letters(text)
	sum := 0.0
	for _, turn := range q.Gold {
		said := e[q.Conversation][turn]
		found := 0
		for _, words := range said {
			if strings.Contains(text, words) {
				found++
			}
		}
		sum += float64(found) / float64(max(1, len(said)))
	}
	return sum / float64(len(q.Gold))
}

// letters are the letters and digits of a text: a window breaks lines and escapes marks of its own.
func letters(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, text)
}
