package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

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
	// Ranking is the setting by which hits were ranked, and its key.
	Ranking    json.RawMessage
	RankingKey string
	// Search are the times of the searches, without that of embedding the query.
	Search Latency
	// Summaries is the share of the first ten places that summaries took.
	Summaries float64
}

// Answer is what was found for a question.
type Answer struct {
	Question *dataset.Question
	// Found is what the search returned, and Episodes the same without its summaries and insights.
	Found, Episodes *ranking
	// Sessions are what a search for conversations returned; those of Found under a profile or types.
	Sessions  []string
	elapsed   time.Duration
	summaries int // among the first ten
	top       int // of the first ten
}

// Vectors are the vectors of a dataset's questions, by question, made once for all runs.
type Vectors map[string][]float32

// searchedThreads is how many conversations a search for them asks for: as many as the farthest cutoff.
const searchedThreads = 50

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
	err := askAll(ctx, e, d, opts.Clients, opts.What, func(ctx context.Context, s *searcher, i int) error {
		answer, err := r.answer(ctx, s, d.Questions[i])
		r.result.Answers[i] = answer
		return err
	})
	r.summarize()
	return r.result, err
}

type recall struct {
	*Engine
	dataset *dataset.Dataset
	opts    *RecallOptions
	result  *RecallResult
	sources map[string]*provenance
	vectors Vectors
}

// prepare reads where memories come from and how they are ranked.
func (r *recall) prepare(ctx context.Context) (err error) {
	if r.result.RankingKey, r.result.Ranking, err = rankingSetting(ctx, r.Pool, r.opts.App); err != nil {
		return err
	}
	r.sources = map[string]*provenance{}
	for _, c := range r.dataset.Conversations {
		if r.sources[c.ID], err = readProvenance(ctx, r.Engine, r.dataset, service.Scope{AppName: r.opts.App, UserID: c.ID}); err != nil {
			return err
		}
	}
	return nil
}

func (r *recall) answer(ctx context.Context, s *searcher, q *dataset.Question) (*Answer, error) {
	start := time.Now()
	found, err := s.service.SearchMemory(ctx, service.Scope{AppName: r.opts.App, UserID: q.Conversation}, q.Text, &service.SearchOptions{
		Limit: r.opts.Depth, MemoryTypes: r.opts.MemoryTypes, Profile: r.opts.Profile, QueryEmbedding: r.vectors[q.ID],
		SkipAccess: true,
	})
	if err != nil {
		return nil, err
	}
	elapsed := time.Since(start)
	p := r.sources[q.Conversation]
	a := &Answer{Episodes: p.rank(found.Memories, true), Found: p.rank(found.Memories, false), Question: q, elapsed: elapsed}
	if a.Sessions = a.Found.sessions; r.opts.Profile == "" && len(r.opts.MemoryTypes) == 0 {
		threads, err := s.service.SearchThreads(ctx, service.Scope{AppName: r.opts.App, UserID: q.Conversation}, q.Text,
			&service.SearchThreadsOptions{Limit: searchedThreads, QueryEmbedding: r.vectors[q.ID]})
		if err != nil {
			return nil, err
		}
		a.Sessions = p.rankThreads(threads)
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
