package bench

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hippocampus-memory/hippocampus/bench/report"
	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/model"
	"github.com/hippocampus-memory/hippocampus/service"
)

// corfTop is how many documents a way may bring.
const corfTop = 20

// CorfQuery is a question whose document is known: a line of a query set.
type CorfQuery struct {
	// ID names it; Kind says how it was made: "hand", or a rule of [MakeCorf].
	ID   string `json:"id"`
	Kind string `json:"kind"`
	Text string `json:"query"`
	// ProjectAnchors are what is being talked about.
	ProjectAnchors []string `json:"project_anchors,omitempty"`
	// Paths are those of the documents that answer it; one of them is enough.
	Paths []string `json:"paths"`

	namedVector []float32 // of the question with its project anchors
}

// ReadCorf reads a query set: JSON lines.
func ReadCorf(r io.Reader) ([]*CorfQuery, error) {
	var queries []*CorfQuery
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		q := &CorfQuery{}
		if err := json.Unmarshal(lines.Bytes(), q); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if q.Text == "" || len(q.Paths) == 0 {
			return nil, fmt.Errorf("line %d: a question has query and paths", n)
		}
		queries = append(queries, q)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read queries: %w", err)
	}
	return queries, nil
}

// WriteCorf writes a query set.
func WriteCorf(w io.Writer, queries []*CorfQuery) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, q := range queries {
		if err := enc.Encode(q); err != nil {
			return fmt.Errorf("write queries: %w", err)
		}
	}
	return nil
}

// corfFrames are what a question of a rule is put in.
var corfFrames = []string{"How do I %s?", "where is %s explained", "What does it say about %s?", "I need to know %s"}

// MakeCorf makes n questions about a scope's documents by rule, the same for the same corpus; a third
// each: "title" asks for the words of a document's title in reverse order, "heading" for those of a
// heading and the title, "pronoun" for those of a heading alone, with the title as the project.
// They are paraphrases by rule: a person would ask in other words.
func MakeCorf(ctx context.Context, e *Engine, scope db.Scope, n int) ([]*CorfQuery, error) {
	rows, err := db.New().DocumentSampleHeadings(ctx, e.Pool, &db.DocumentSampleHeadingsParams{
		AppName: scope.AppName, MaxRows: int32(20 * n), UserID: scope.UserID,
	})
	if err != nil {
		return nil, fmt.Errorf("sample headings: %w", db.Wrap(err))
	}
	var queries []*CorfQuery
	used := map[string]bool{}
	for _, r := range rows {
		if len(queries) == n {
			break
		}
		parts := strings.Split(r.Heading, " > ")
		heading := parts[len(parts)-1]
		if used[r.Path] || utf8.RuneCountInString(r.Title) < 6 || utf8.RuneCountInString(heading) < 6 || heading == r.Title || r.SameTitle > 1 {
			continue
		}
		used[r.Path] = true
		q := &CorfQuery{ID: fmt.Sprintf("q%d", len(queries)+1), Kind: []string{"title", "heading", "pronoun"}[len(queries)%3], Paths: []string{r.Path}}
		sum := fnv.New32a()
		_, _ = sum.Write([]byte(r.Path))
		frame := corfFrames[int(sum.Sum32())%len(corfFrames)]
		switch q.Kind {
		case "title":
			q.Text = fmt.Sprintf(frame, backwards(r.Title))
		case "heading":
			q.Text = fmt.Sprintf(frame, backwards(heading)+" ("+backwards(r.Title)+")")
		default:
			q.Text = fmt.Sprintf(frame, backwards(heading))
			q.ProjectAnchors = []string{r.Title}
		}
		queries = append(queries, q)
	}
	return queries, nil
}

func backwards(text string) string {
	words := strings.Fields(strings.ToLower(text))
	slices.Reverse(words)
	return strings.Join(words, " ")
}

// corfWay is a way of finding documents.
type corfWay struct {
	name string
	find func(ctx context.Context, d *service.Documents, scope db.Scope, q *CorfQuery, vector []float32) ([]found, error)
}

// found is a document that was found, with its best score, in the order of a ranking.
type found struct {
	path, source string
	score        float64
}

func lookupWay(change func(*service.LookupOptions)) func(context.Context, *service.Documents, db.Scope, *CorfQuery, []float32) ([]found, error) {
	return func(ctx context.Context, d *service.Documents, scope db.Scope, q *CorfQuery, vector []float32) ([]found, error) {
		opts := &service.LookupOptions{ProjectAnchors: q.ProjectAnchors, QueryEmbedding: vector}
		change(opts)
		hits, err := d.Lookup(ctx, scope, q.Text, opts)
		list := make([]found, 0, len(hits))
		for _, h := range hits {
			if h.Path != "" {
				list = append(list, found{h.Path, h.Source, h.Score})
			}
		}
		return list, err
	}
}

func hybridWay(ctx context.Context, d *service.Documents, scope db.Scope, q *CorfQuery, vector []float32) ([]found, error) {
	hits, err := d.Search(ctx, scope, q.Text, &service.ChunkSearchOptions{Limit: 3 * corfTop, QueryEmbedding: vector})
	list := make([]found, 0, len(hits))
	for _, h := range hits {
		if !slices.ContainsFunc(list, func(f found) bool { return f.path == h.Path }) {
			list = append(list, found{h.Path, h.Source, h.Score})
		}
	}
	return list, err
}

// named is the question with what is being talked about written into it.
func (q *CorfQuery) named() string { return q.Text + " (" + strings.Join(q.ProjectAnchors, ", ") + ")" }

// projectWay is the search of one who writes what is being talked about into the question, which a
// lookup is told by project anchors.
func projectWay(ctx context.Context, d *service.Documents, scope db.Scope, q *CorfQuery, vector []float32) ([]found, error) {
	named := *q
	if len(q.ProjectAnchors) > 0 {
		named.Text = q.named()
		vector = q.namedVector
	}
	return hybridWay(ctx, d, scope, &named, vector)
}

// bothWays merges search and lookup, by a sum of what merit gives the place and the score of a document.
func bothWays(merit func(way, place int, score float64) float64) func(context.Context, *service.Documents, db.Scope, *CorfQuery, []float32) ([]found, error) {
	return func(ctx context.Context, d *service.Documents, scope db.Scope, q *CorfQuery, vector []float32) ([]found, error) {
		hybrid, err := hybridWay(ctx, d, scope, q, vector)
		if err != nil {
			return nil, err
		}
		lookup, err := lookupWay(func(*service.LookupOptions) {})(ctx, d, scope, q, vector)
		at := map[string]int{}
		var list []found
		for way, ranking := range [][]found{hybrid, lookup} {
			for place, f := range ranking {
				n, known := at[f.path]
				if !known {
					n = len(list)
					at[f.path] = n
					list = append(list, found{path: f.path, source: f.source})
				}
				list[n].score += merit(way, place, f.score)
			}
		}
		slices.SortStableFunc(list, func(a, b found) int { return cmp.Compare(b.score, a.score) })
		return list, err
	}
}

// reciprocal is the merit of a place in either ranking.
func reciprocal(_, place int, _ float64) float64 { return 1 / float64(60+place) }

// weighted is the merit of a score, of which that of a lookup counts for a part.
func weighted(lookup float64) func(way, place int, score float64) float64 {
	return func(way, _ int, score float64) float64 { return []float64{1, lookup}[way] * score }
}

// corfWays are the search without anchors, the lookup, its ablations, and both together.
func corfWays() []corfWay {
	none := 1.0
	return []corfWay{
		{"hybrid search", hybridWay},
		{"hybrid search, project named", projectWay},
		{"lookup", lookupWay(func(*service.LookupOptions) {})},
		{"lookup, no pronoun", lookupWay(func(o *service.LookupOptions) { o.ProjectAnchors = nil })},
		{"lookup, no re-rank", lookupWay(func(o *service.LookupOptions) { o.AnchorWeight = &none })},
		{"lookup, nightly only", lookupWay(func(o *service.LookupOptions) { o.NightlyOnly = true })},
		{"both, by place", bothWays(reciprocal)},
		{"both, by score 1 : 0.2", bothWays(weighted(0.2))},
		{"both, by score 1 : 0.5", bothWays(weighted(0.5))},
		{"both, by score 1 : 1", bothWays(weighted(1))},
	}
}

// Corf asks each question in each way, the vectors given, one client, and reports recall of the
// documents among the first 20, how many sources and documents were brought, and latency.
func Corf(ctx context.Context, e *Engine, scope db.Scope, queries []*CorfQuery, r *report.Report) error {
	if len(queries) == 0 {
		return errors.New("there are no questions")
	}
	s, err := e.NewService(&service.Config{Embedder: e.Embedder})
	if err != nil {
		return err
	}
	vectors := make([][]float32, len(queries))
	if e.Embedder != nil {
		for i, q := range queries {
			v, err := e.Embedder.Embed(ctx, []string{q.Text}, model.TaskQuery)
			if err != nil {
				return fmt.Errorf("embed question %s: %w", q.ID, err)
			}
			vectors[i] = v[0]
			if len(q.ProjectAnchors) > 0 {
				if v, err = e.Embedder.Embed(ctx, []string{q.named()}, model.TaskQuery); err != nil {
					return fmt.Errorf("embed question %s: %w", q.ID, err)
				}
				q.namedVector = v[0]
			}
		}
	}
	kinds := map[string]int{}
	for _, q := range queries {
		kinds[q.Kind]++
	}
	names := make([]string, 0, len(kinds))
	for name := range kinds {
		names = append(names, name)
	}
	slices.Sort(names)
	heads := []string{"way", "recall@20", "MRR", "documents", "sources", "p50 ms", "p95 ms"}
	for _, name := range names {
		heads = append(heads, fmt.Sprintf("recall %s (%d)", name, kinds[name]))
	}
	table := &report.Table{
		Title: "CORF", Heads: heads,
		Notes: "documents and sources: how many were brought, on average, among the first 20. Vectors of questions are given. Questions of kind other than hand are paraphrases by rule.",
	}
	bar := e.Progress(len(corfWays())*len(queries), "asking")
	defer bar.Finish()
	documents := s.Documents()
	for _, way := range corfWays() {
		times := make([]time.Duration, len(queries))
		var hits, ranks, paths, sources float64
		byKind := map[string]float64{}
		for i, q := range queries {
			started := time.Now()
			list, err := way.find(ctx, documents, scope, q, vectors[i])
			times[i] = time.Since(started)
			if err != nil {
				return fmt.Errorf("question %s: %w", q.ID, err)
			}
			list = list[:min(len(list), corfTop)]
			for n, f := range list {
				if slices.Contains(q.Paths, f.path) {
					hits++
					byKind[q.Kind]++
					ranks += 1 / float64(n+1)
					break
				}
			}
			paths += float64(len(list))
			from := map[string]bool{}
			for _, f := range list {
				from[f.source] = true
			}
			sources += float64(len(from))
			bar.Add(1)
		}
		n, l := float64(len(queries)), latency(times)
		row := []any{way.name, 100 * hits / n, ranks / n, paths / n, sources / n, l.P50, l.P95}
		for _, name := range names {
			row = append(row, 100*byKind[name]/float64(kinds[name]))
		}
		table.Row(row...)
	}
	r.Tables = append(r.Tables, table)
	return nil
}
