package bench

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/hippocampus-memory/hippocampus/bench/dataset"
	"github.com/hippocampus-memory/hippocampus/model"
	"github.com/hippocampus-memory/hippocampus/service"
)

// RecallOptions are the options of [Recall].
type RecallOptions struct {
	// App is the app whose memory is searched.
	App string
	// Clients is how many search at once.
	Clients int
	// Depth is how many memories a search asks for.
	Depth int
	// MemoryTypes are those that are searched; all of them if there are none.
	MemoryTypes []string
	// Profile is how hits are ranked.
	Profile string
	// What names the run, on its bar.
	What string
}

// RecallResult is what [Recall] found.
type RecallResult struct {
	// Answers are in the order of the dataset's questions; nil for one that was not reached.
	Answers []*Answer
	// Search are the times of the searches, without that of embedding the query.
	Search Latency
	// Summaries is the share of the first ten places that summaries took.
	Summaries float64
}

// Answer is what was found for a question.
type Answer struct {
	Question *dataset.Question
	// Found is what the search returned, and Episodes the same without its summaries.
	Found, Episodes *ranking
	elapsed         time.Duration
	summaries       int // among the first ten
	top             int // of the first ten
}

// Vectors are the vectors of a dataset's questions, by question, made once for all runs.
type Vectors map[string][]float32

// embedBatch is how many questions are embedded in one call.
const embedBatch = 100

// EmbedQuestions makes them, or none where the engine has no embedder.
func EmbedQuestions(ctx context.Context, e *Engine, d *dataset.Dataset) (Vectors, error) {
	if e.Embedder == nil {
		return nil, nil
	}
	vectors := Vectors{}
	for from := 0; from < len(d.Questions); from += embedBatch {
		batch := d.Questions[from:min(from+embedBatch, len(d.Questions))]
		texts := make([]string, len(batch))
		for i, q := range batch {
			texts[i] = q.Text
		}
		made, err := e.Embedder.Embed(ctx, texts, model.TaskQuery)
		if err != nil {
			return nil, fmt.Errorf("embed the questions: %w", err)
		}
		for i, q := range batch {
			vectors[q.ID] = made[i]
		}
	}
	return vectors, nil
}

// Recall asks the dataset's questions. If the context ends, what was found until then is returned
// with the error.
func Recall(ctx context.Context, e *Engine, d *dataset.Dataset, vectors Vectors, opts *RecallOptions) (*RecallResult, error) {
	r := &recall{Engine: e, dataset: d, opts: opts, result: &RecallResult{Answers: make([]*Answer, len(d.Questions))}, vectors: vectors}
	if err := r.prepare(ctx); err != nil {
		return r.result, err
	}
	err := r.ask(ctx)
	r.summarize()
	return r.result, err
}

type recall struct {
	*Engine
	dataset *dataset.Dataset
	ends    map[string]time.Time // of conversations
	opts    *RecallOptions
	result  *RecallResult
	sources map[string]*provenance
	vectors Vectors
}

// prepare reads where memories come from, and when the conversations ended.
func (r *recall) prepare(ctx context.Context) error {
	r.ends, r.sources = map[string]time.Time{}, map[string]*provenance{}
	for _, c := range r.dataset.Conversations {
		p, err := readProvenance(ctx, r.Engine, r.dataset, r.scope(c.ID))
		if err != nil {
			return err
		}
		r.sources[c.ID] = p
		for _, s := range c.Sessions {
			for i := range s.Events {
				if at := s.Events[i].CreatedAt; at != nil && at.After(r.ends[c.ID]) {
					r.ends[c.ID] = *at
				}
			}
		}
	}
	return nil
}

func (r *recall) scope(conversation string) service.Scope {
	return service.Scope{AppName: r.opts.App, UserID: conversation}
}

// ask asks all questions, by several clients.
func (r *recall) ask(ctx context.Context) error {
	bar := r.Progress(len(r.dataset.Questions), r.opts.What)
	next := make(chan int)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(next)
		for i := range r.dataset.Questions {
			select {
			case next <- i:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	for range max(1, r.opts.Clients) {
		group.Go(func() error {
			s, err := newSearcher(r.Engine)
			if err != nil {
				return err
			}
			for i := range next {
				if r.result.Answers[i], err = r.answer(ctx, s, r.dataset.Questions[i]); err != nil {
					return fmt.Errorf("question %s: %w", r.dataset.Questions[i].ID, err)
				}
				_ = bar.Add(1)
			}
			return nil
		})
	}
	err := group.Wait()
	return errors.Join(err, bar.Finish())
}

func (r *recall) answer(ctx context.Context, s *searcher, q *dataset.Question) (*Answer, error) {
	s.at(q, r.ends[q.Conversation])
	start := time.Now()
	found, err := s.service.SearchMemory(ctx, r.scope(q.Conversation), q.Text, &service.SearchOptions{
		Limit: r.opts.Depth, MemoryTypes: r.opts.MemoryTypes, Profile: r.opts.Profile, QueryEmbedding: r.vectors[q.ID],
		SkipAccess: true,
	})
	if err != nil {
		return nil, err
	}
	p := r.sources[q.Conversation]
	a := &Answer{
		Episodes: p.rank(found.Memories, false), Found: p.rank(found.Memories, true), Question: q, elapsed: time.Since(start),
	}
	for _, hit := range found.Memories[:min(10, len(found.Memories))] {
		a.top++
		if hit.MemoryType == "summary" {
			a.summaries++
		}
	}
	return a, nil
}

func (r *recall) summarize() {
	var (
		summaries, top int
		times          []time.Duration
	)
	for _, a := range r.result.Answers {
		if a != nil {
			summaries += a.summaries
			top += a.top
			times = append(times, a.elapsed)
		}
	}
	r.result.Search = latency(times)
	if top > 0 {
		r.result.Summaries = float64(summaries) / float64(top)
	}
}

// searcher is a service with a clock of its own: a question is asked at a time of its own.
type searcher struct {
	lock    sync.Mutex
	now     time.Time
	service *service.OpenMemoryService
}

func newSearcher(e *Engine) (*searcher, error) {
	s := &searcher{}
	var err error
	s.service, err = e.NewService(&service.Config{Now: s.clock})
	return s, err
}

func (s *searcher) clock() time.Time {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.now
}

// at sets the clock to when a question is asked, and where that is unknown, to the end of its
// conversation.
func (s *searcher) at(q *dataset.Question, end time.Time) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.now = q.Asked; s.now.IsZero() {
		s.now = end
	}
}
