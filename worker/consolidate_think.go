package worker

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/model"
)

// maxEpisodeBytes bounds an episode's content, below what a memory may have.
const maxEpisodeBytes = 1_000_000

// think asks the models about a piece. Both parts are asked at once; where one fails, what the
// other taught comes with the error.
func (c *consolidation) think(ctx context.Context, p *piece) (*learned, error) {
	l := &learned{replayed: p.fast.to > 0, reflected: p.deep.to > 0}
	var (
		fastErr, deepErr error
		reflection       []*model.Reflection
		summaries        []*model.Summary
		wait             sync.WaitGroup
	)
	if len(p.fast.events) > 0 {
		wait.Go(func() { summaries, fastErr = c.summarize(ctx, &p.fast) })
	}
	if len(p.deep.events) > 0 {
		wait.Go(func() { reflection, deepErr = c.reflect(ctx, &p.deep) })
	}
	wait.Wait()
	switch {
	case fastErr != nil && (deepErr != nil || !l.reflected):
		return nil, errors.Join(fastErr, deepErr)
	case deepErr != nil && !l.replayed:
		return nil, deepErr
	case fastErr != nil:
		l.replayed = false
	case deepErr != nil:
		l.reflected = false
	}
	if l.replayed && len(p.fast.events) > 0 {
		l.episodes, l.kept = c.episodes(p)
		l.addSummaries(&p.fast, summaries)
	}
	if l.reflected && len(p.deep.events) > 0 {
		if err := c.addReflections(ctx, l, &p.deep, reflection); err != nil {
			return nil, err
		}
	}
	return l, cmp.Or(fastErr, deepErr)
}

// ask asks a model about the i-th part of an event that is too long for one call. What was paid for the parts before
// is not thrown away for a rate limit that the attempt can wait for.
func (c *consolidation) ask(ctx context.Context, i int, model func() error) error {
	if i == 0 {
		return model()
	}
	if err := c.patiently(ctx, c.until(), model); err != nil {
		return &paidError{err: err}
	}
	return nil
}

func (c *consolidation) summarize(ctx context.Context, t *part) ([]*model.Summary, error) {
	var all []*model.Summary
	prior := t.prior
	for i, turns := range c.conversations(t) {
		var s *model.Summary
		err := c.ask(ctx, i, func() (err error) {
			s, err = c.config.Models.Summarizer.Summarize(ctx, c.conversation(prior, turns))
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("summarize events %d to %d: %w", t.after+1, t.to, err)
		}
		all = append(all, s)
		prior = s.Content
	}
	return all, nil
}

func (c *consolidation) reflect(ctx context.Context, t *part) ([]*model.Reflection, error) {
	var all []*model.Reflection
	for i, turns := range c.conversations(t) {
		var r *model.Reflection
		err := c.ask(ctx, i, func() (err error) {
			r, err = c.config.Models.Reflector.Reflect(ctx, c.conversation(t.prior, turns))
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("reflect on events %d to %d: %w", t.after+1, t.to, err)
		}
		all = append(all, r)
	}
	return all, nil
}

// episodes slices the events: so many consecutive ones each, in their own words. Those that matter
// less than the policy wants make none, and none is made of a prompt. The most important come first. It tells how many
// events are in episodes.
func (c *consolidation) episodes(p *piece) (all []*newMemory, kept int) {
	told := slices.DeleteFunc(slices.Clone(p.fast.events), isPrompt)
	for group := range slices.Chunk(told, p.episodicTurns) {
		if !slices.ContainsFunc(group, func(e *event) bool { return float32(e.EffectiveImportance) >= p.minImportance }) {
			continue
		}
		kept += len(group)
		var (
			lines strings.Builder
			slice []*event
		)
		flush := func() {
			if len(slice) > 0 {
				all = append(all, newEpisode(slice, lines.String()))
				lines.Reset()
				slice = nil
			}
		}
		for _, e := range group {
			text := line(e.Author, e.Text)
			if lines.Len()+len(text) > maxEpisodeBytes {
				flush()
			}
			for len(text) > maxEpisodeBytes { // longer than a memory may be: in two
				head := strings.ToValidUTF8(text[:maxEpisodeBytes], "")
				all = append(all, newEpisode([]*event{e}, head))
				text = text[len(head):]
			}
			if len(slice) > 0 {
				lines.WriteByte('\n')
			}
			lines.WriteString(text)
			slice = append(slice, e)
		}
		flush()
	}
	slices.SortStableFunc(all, func(a, b *newMemory) int { return cmp.Compare(b.score, a.score) })
	return all, kept
}

// isPrompt is whether an event is what a model was told to do: it is nothing that happened, and would answer every
// question that has its words.
func isPrompt(e *event) bool {
	return strings.EqualFold(e.Author, "system") || strings.EqualFold(e.Author, "developer")
}

func newEpisode(events []*event, content string) *newMemory {
	s := spanOf(events, nil)
	m := &newMemory{span: s, content: content, initialScore: 0.2, kind: episode, score: model.Share(float64(s.importance))}
	if len(events) == 1 {
		m.author = &events[0].Author
	}
	m.context = contextOf(events)
	for _, e := range events {
		for _, tag := range e.Tags {
			if len(m.tags) < 64 && !slices.Contains(m.tags, tag) {
				m.tags = append(m.tags, tag)
			}
		}
	}
	return m
}

// contextOf is what the contexts of all the events have in common: an episode is recalled by the
// room or the person that its events are of.
func contextOf(events []*event) map[string]json.RawMessage {
	var common map[string]json.RawMessage
	for i, e := range events {
		context := map[string]json.RawMessage{}
		if json.Unmarshal(e.Context, &context) != nil { // the database made it
			return nil
		}
		if i == 0 {
			common = context
			continue
		}
		maps.DeleteFunc(common, func(key string, value json.RawMessage) bool { return !bytes.Equal(context[key], value) })
	}
	return common
}

func (l *learned) addSummaries(t *part, summaries []*model.Summary) {
	contents := make([]string, 0, len(summaries))
	for _, s := range summaries {
		l.summarizer = s.Model
		l.usage = l.usage.Add(s.Usage)
		if content := model.CleanText(s.Content); !isBlank(content) {
			contents = append(contents, content)
		}
	}
	if len(contents) == 0 {
		return
	}
	s := spanOf(t.events, nil)
	l.summaries = append(l.summaries, &newMemory{
		span: s, content: strings.Join(contents, "\n\n"), initialScore: 0.2, kind: summary, model: l.summarizer,
		score: model.Share(float64(s.importance)),
	})
}

// insightScores are what an insight is worth when it is new, and how much it matters.
var insightScores = map[string]float64{
	model.ImportanceHigh: 1.0, model.ImportanceMedium: 0.7, model.ImportanceLow: 0.4,
}

func (c *consolidation) addReflections(ctx context.Context, l *learned, t *part, reflections []*model.Reflection) error {
	for _, r := range reflections {
		l.reflector = r.Model
		l.usage = l.usage.Add(r.Usage)
		if r.Repaired {
			l.repaired++
		}
		for _, i := range r.Insights {
			score, known := insightScores[i.Importance]
			if !known {
				score = insightScores[model.ImportanceMedium]
			}
			if content := model.CleanText(i.Content); !isBlank(content) {
				s := spanOf(t.events, i.Sequences)
				s.category = "insight"
				l.insights = append(l.insights, &newMemory{
					span: s, content: content, initialScore: score, kind: insight, model: r.Model, score: score,
				})
			}
		}
		for _, f := range r.Facts {
			l.facts = append(l.facts, &newFact{Fact: f, sequences: sequencesOf(t.events, f.Sequences), span: spanOf(t.events, f.Sequences)})
		}
	}
	// Concurrent jobs of a user take their locks in one order: facts by type and key, and insights
	// by content. Facts of one key stay in the order in which they were stated.
	slices.SortStableFunc(l.facts, func(a, b *newFact) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Key, b.Key))
	})
	slices.SortStableFunc(l.insights, func(a, b *newMemory) int {
		return cmp.Or(cmp.Compare(a.content, b.content), cmp.Compare(b.score, a.score))
	})
	l.insights = slices.CompactFunc(l.insights, func(a, b *newMemory) bool { return a.content == b.content })
	return c.readFacts(ctx, l.facts)
}

// readFacts asks the database how the facts will read, which it alone decides.
func (c *consolidation) readFacts(ctx context.Context, facts []*newFact) error {
	if len(facts) == 0 {
		return nil
	}
	params := &db.FactListTextsParams{}
	for _, f := range facts {
		params.Keys = append(params.Keys, f.Key)
		params.Values = append(params.Values, string(f.Value))
	}
	texts, err := c.queries.FactListTexts(ctx, c.pool, params)
	if err != nil {
		return fmt.Errorf("read the model's facts: %w", db.Wrap(err))
	}
	for i, f := range facts {
		f.text = texts[i]
	}
	return nil
}

// embed gives vectors to what is to be stored. If the embedder fails, the rows are stored without,
// and are found by their words until an embedding job has worked off the queue that they are on.
func (c *consolidation) embed(ctx context.Context, l *learned) error {
	memories := l.memories()
	texts := make([]string, 0, len(memories)+len(l.facts))
	for _, m := range memories {
		texts = append(texts, c.embeddable(m.content))
	}
	for _, f := range l.facts {
		texts = append(texts, c.embeddable(f.text))
	}
	if len(texts) == 0 {
		return nil
	}
	l.withoutEmbedding = len(texts)
	vectors, err := c.embedOrNot(ctx, c.until(), texts, "job", c.job.ID)
	if vectors == nil || err != nil {
		return err
	}
	for i, m := range memories {
		m.vector = vectors[i]
	}
	for i, f := range l.facts {
		f.vector = vectors[len(memories)+i]
	}
	l.withoutEmbedding, l.embedder = 0, c.config.Models.Embedder.Name()
	return nil
}

// embedOrNot gives the vectors of texts, or none where the embedder fails, or has not made them by the given time: what
// they are of is stored without, and embedded later. It says so in the log, with more attributes.
func (w *Worker) embedOrNot(ctx context.Context, until time.Time, texts []string, attributes ...any) ([][]float32, error) {
	if w.embedPause.remaining() > 0 || w.dropped.Load() {
		return nil, nil
	}
	embedder := w.config.Models.Embedder
	limited, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	vectors, err := embedder.Embed(limited, texts, model.TaskDocument)
	if err == nil {
		err = checkVectors(vectors, len(texts), embedder.Dimension())
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("embed: %w", ctx.Err())
	}
	if err != nil {
		if !isPoison(err) && limited.Err() == nil {
			w.pauseEmbedding(err)
		}
		w.logger.WarnContext(ctx, "rows are stored without a vector, which an embedding job will make",
			append(attributes, "rows", len(texts), "error", err)...)
		return nil, nil
	}
	return vectors, nil
}

// embeddable is what of a text its vector stands for.
func (w *Worker) embeddable(text string) string {
	return w.head(text, w.config.MaxEmbedTokens, w.maxEmbedChars())
}

// maxEmbedChars is how many characters the tokens of embeddable have at most, and the embedder takes.
func (w *Worker) maxEmbedChars() int {
	return model.EmbedChars(w.config.MaxEmbedTokens, w.config.Models.MaxEmbedChars)
}
