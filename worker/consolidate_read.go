package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/internal/truth"
	"github.com/hippocampus-memory/hippocampus/model"
)

// maxPieceEvents bounds the events of one piece, however short they are.
const maxPieceEvents = 500

type event = db.EventListForModelRow

// piece is a run of events that one call of a model can read, with what is needed to read it.
type piece struct {
	thread *db.Thread
	// events are all that were read; none when there is nothing new.
	events []*event
	// fast and deep are those of them that fast replay and deep reflection have not seen.
	fast, deep part
	// episodicTurns is how many events make an episode.
	episodicTurns int
	// minImportance is how much the most important event of an episode must matter.
	minImportance float32
}

// part is what one of the two sorts of consolidation reads.
type part struct {
	events []*event // with text
	// after is the watermark that it starts from, and to the one that it reaches; 0 when there is
	// nothing for it.
	after, to int64
	prior     string // a summary of what came before
}

func (p *piece) empty() bool { return len(p.events) == 0 }

func (p *piece) from() int64 { return p.events[0].SequenceNum }

func (p *piece) to() int64 { return p.events[len(p.events)-1].SequenceNum }

// read reads the next piece after the thread's watermarks. It holds no connection when it returns.
func (c *consolidation) read(ctx context.Context, thread *db.Thread) (*piece, error) {
	after := max(thread.ReplayedSeq, thread.ReflectedSeq)
	if c.fast {
		after = min(after, thread.ReplayedSeq)
	}
	if c.deep {
		after = min(after, thread.ReflectedSeq)
	}
	p := &piece{thread: thread}
	var err error
	p.events, err = c.queries.EventListForModel(ctx, c.pool, &db.EventListForModelParams{
		AfterSeq: after, MaxRows: maxPieceEvents, MaxTokens: int64(c.config.MaxConversationTokens), ThreadID: thread.ID,
	})
	if err != nil {
		return nil, fmt.Errorf("read events: %w", db.Wrap(err))
	}
	p.events = fitting(p.events, c.config.MaxConversationChars, func(e *event) (author, text string) { return spokenBy(e.Author, e.Trust), e.Text })
	if p.empty() {
		return p, nil
	}
	if c.fast {
		if p.episodicTurns, err = c.episodicTurns(ctx, thread.AppName); err != nil {
			return nil, err
		}
		if p.minImportance, err = c.minImportance(ctx, thread.AppName); err != nil {
			return nil, err
		}
		if p.fast, err = c.part(ctx, p, thread.ReplayedSeq); err != nil {
			return nil, err
		}
	}
	if c.deep {
		if p.deep, err = c.part(ctx, p, thread.ReflectedSeq); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// fitting is the first of the events that together have at most so many characters, and one at
// least.
func fitting[E any](events []E, maxChars int, said func(E) (author, text string)) []E {
	chars := 0
	for i, e := range events {
		author, text := said(e)
		chars += utf8.RuneCountInString(author) + utf8.RuneCountInString(text)
		if chars > maxChars && i > 0 {
			return events[:i]
		}
	}
	return events
}

// part takes the events after a watermark out of a piece.
func (c *consolidation) part(ctx context.Context, p *piece, after int64) (part, error) {
	if p.to() <= after {
		return part{}, nil
	}
	t := part{after: after, to: p.to()}
	for _, e := range p.events {
		if e.SequenceNum > after && !isBlank(e.Text) {
			t.events = append(t.events, e)
		}
	}
	if len(t.events) == 0 || after == 0 {
		return t, nil
	}
	prior, err := c.queries.MemoryGetPriorSummary(ctx, c.pool, &db.MemoryGetPriorSummaryParams{
		AppName: p.thread.AppName, ThreadID: &p.thread.ID, UntilSeq: after, UserID: p.thread.UserID,
	})
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return part{}, fmt.Errorf("read the summary so far: %w", db.Wrap(err))
	}
	t.prior = prior
	return t, nil
}

// episodicTurns is the app's setting of that name.
func (c *consolidation) episodicTurns(ctx context.Context, appName string) (int, error) {
	value, err := c.queries.SettingGet(ctx, c.pool, &db.SettingGetParams{AppName: appName, Key: "episodic_turns"})
	if err != nil {
		return 0, fmt.Errorf("read the setting episodic_turns: %w", db.Wrap(err))
	}
	turns := 1
	if len(value) > 0 {
		if err := json.Unmarshal(value, &turns); err != nil || turns < 1 {
			return 0, fmt.Errorf("the setting episodic_turns of app %q is %s, but must be a number from 1", appName, value)
		}
	}
	return turns, nil
}

// minImportance is the threshold of the app's policy, 0 where that is not enabled: who asks for
// consolidations by hand decides by hand.
func (c *consolidation) minImportance(ctx context.Context, appName string) (float32, error) {
	policy, err := c.queries.PolicyGet(ctx, c.pool, appName)
	if err != nil {
		return 0, fmt.Errorf("read the consolidation policy: %w", db.Wrap(err))
	}
	if !policy.Enabled {
		return 0, nil
	}
	return policy.MinImportance, nil
}

// conversations are what a model is given to read: one, but where a single event is too long for
// one call.
func (c *consolidation) conversations(t *part) [][]model.Turn {
	maxTokens, maxChars := c.config.MaxConversationTokens, max(1, c.config.MaxConversationChars-utf8.RuneCountInString(spokenBy(t.events[0].Author, t.events[0].Trust)))
	if len(t.events) > 1 || int(t.events[0].TokenCount) <= maxTokens && utf8.RuneCountInString(t.events[0].Text) <= maxChars {
		turns := make([]model.Turn, len(t.events))
		for i, e := range t.events {
			turns[i] = turn(e, e.Text)
		}
		return [][]model.Turn{turns}
	}
	var all [][]model.Turn
	for rest := t.events[0].Text; rest != ""; {
		head := c.head(rest, maxTokens, maxChars)
		if rest = rest[len(head):]; !isBlank(head) {
			all = append(all, []model.Turn{turn(t.events[0], head)})
		}
	}
	return all
}

// conversation is what a model is given to read: the turns, and of the summary of what came before as much as it takes
// beside them.
func (w *Worker) conversation(prior string, turns []model.Turn) *model.Conversation {
	c := &model.Conversation{Turns: turns}
	if most := w.config.Models.MaxInputChars; most > 0 {
		prior = model.FirstRunes(prior, max(0, most-c.Chars()))
	}
	c.PriorSummary = prior
	return c
}

func turn(e *event, text string) model.Turn {
	return model.Turn{At: e.CreatedAt, Author: spokenBy(e.Author, e.Trust), Sequence: e.SequenceNum, Text: text}
}

// spokenBy is who speaks, for a model: what a tool gave is the tool's, under whatever role a client logged it.
func spokenBy(author, trust string) string {
	if trust == "tool" {
		return "tool"
	}
	return author
}

// head is the beginning of a text that has at most so many tokens and characters.
func (w *Worker) head(text string, maxTokens, maxChars int) string {
	return model.Head(w.config.Counter.Count, text, maxTokens, maxChars)
}

// span is where something came from: a run of events.
type span struct {
	fromSeq, toSeq int64
	from, until    time.Time
	importance     float32
	category       string // of the most important event
}

// spanOf is the span of the events with the given sequence numbers, or of all of them where none
// of the numbers is theirs.
func spanOf(events []*event, sequences []int64) span {
	wanted := make(map[int64]bool, len(sequences))
	for _, n := range sequences {
		wanted[n] = true
	}
	var s span
	for _, e := range events {
		if wanted[e.SequenceNum] {
			s.extend(e)
		}
	}
	if s.fromSeq == 0 {
		for _, e := range events {
			s.extend(e)
		}
	}
	return s
}

// sequencesOf are the events with the given sequence numbers, or all of them where none of the numbers is
// theirs.
func sequencesOf(events []*event, sequences []int64) []int64 {
	var known, all []int64
	for _, e := range events {
		all = append(all, e.SequenceNum)
		if slices.Contains(sequences, e.SequenceNum) {
			known = append(known, e.SequenceNum)
		}
	}
	if len(known) == 0 {
		return all
	}
	return known
}

func (s *span) extend(e *event) {
	if s.fromSeq == 0 || e.SequenceNum < s.fromSeq {
		s.fromSeq = e.SequenceNum
	}
	s.toSeq = max(s.toSeq, e.SequenceNum)
	if s.from.IsZero() || e.CreatedAt.Before(s.from) {
		s.from = e.CreatedAt
	}
	if e.CreatedAt.After(s.until) {
		s.until = e.CreatedAt
	}
	if s.category == "" || e.Importance > s.importance {
		s.category, s.importance = e.Category, e.Importance
	}
}

// newMemory is a memory that is to be stored.
type newMemory struct {
	span
	author       *string
	content      string
	context      map[string]json.RawMessage // the short fields of its events' metadata
	initialScore float64
	kind         memoryKind
	model        string
	score        float64 // its importance
	tags         []string
	vector       []float32
}

type memoryKind int

const (
	episode memoryKind = iota
	summary
	insight
)

// newFact is a fact that is to be stored.
type newFact struct {
	span
	model.Fact
	// sequences are the events that it came from, all of the piece's where the model named none.
	sequences []int64
	text      string // how it reads
	vector    []float32
	statement truth.Statement // as it is stored, with what a classifier said of it
}

// learned is what a piece taught.
type learned struct {
	// replayed and reflected are whether the parts succeeded.
	replayed, reflected bool
	episodes            []*newMemory
	facts               []*newFact
	insights            []*newMemory
	kept                int
	reflector           string
	repaired            int
	summaries           []*newMemory
	summarizer          string
	usage               model.Usage
	withoutEmbedding    int
	embedder            string
}

// memories are all of them, episodes first and insights last.
func (l *learned) memories() []*newMemory {
	all := make([]*newMemory, 0, len(l.episodes)+len(l.summaries)+len(l.insights))
	return append(append(append(all, l.episodes...), l.summaries...), l.insights...)
}
