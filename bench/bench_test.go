package bench

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/bench/dataset"
	"github.com/hippocampus-memory/hippocampus/bench/metric"
	"github.com/hippocampus-memory/hippocampus/internal/conversation"
	"github.com/hippocampus-memory/hippocampus/service"
)

func TestCorpus(t *testing.T) {
	t.Parallel()

	t.Run("IsTheSameForASeed", func(t *testing.T) {
		t.Parallel()
		a, b := newSpace(7, 16).source(3), newSpace(7, 16).source(3)
		for range 50 {
			require.Equal(t, a.text(), b.text())
			require.Equal(t, a.vector(), b.vector())
			require.Equal(t, a.id(), b.id())
		}
		require.NotEqual(t, newSpace(7, 16).source(3).text(), newSpace(7, 16).source(4).text())
		require.NotEqual(t, newSpace(7, 16).source(3).vector(), newSpace(8, 16).source(3).vector())
	})

	t.Run("SizesAddUp", func(t *testing.T) {
		t.Parallel()
		for _, test := range []struct {
			rows, tenants int
			fixed         []int
		}{{1000, 20, []int{100, 500}}, {100, 10, []int{5, 200}}, {600, 2, []int{100, 500}}, {50, 49, nil}, {1000, 5, []int{990}}} {
			sum := 0
			users := map[string]bool{}
			for _, size := range tenantSizes(test.rows, test.tenants, test.fixed) {
				require.Positive(t, size.rows)
				sum += size.rows
				users[size.user] = true
			}
			require.Equal(t, test.rows, sum, test)
			require.Len(t, users, test.tenants, test)
		}
		first := tenantSizes(1000, 12, []int{100, 500})
		require.Equal(t, tenantSize{fixed: true, rows: 100, user: "tenant-100"}, first[0])
		require.Greater(t, first[2].rows, first[3].rows) // skewed
	})

	t.Run("VectorsHaveUnitLength", func(t *testing.T) {
		t.Parallel()
		sum := 0.0
		for _, x := range newSpace(1, 384).source(0).vector() {
			sum += float64(x) * float64(x)
		}
		require.InDelta(t, 1, sum, 1e-5)
	})

	t.Run("WordsDiffer", func(t *testing.T) {
		t.Parallel()
		seen := map[string]bool{}
		for n := range uint64(vocabulary) {
			seen[word(n)] = true
		}
		require.Len(t, seen, vocabulary)
	})
}

func TestEvidence(t *testing.T) {
	t.Parallel()
	d := &dataset.Dataset{
		Conversations: []*conversation.Conversation{{ID: "c", Sessions: []conversation.Session{{Events: []conversation.Event{
			{Author: "Ida", EventID: "1/query", Text: "Four hives,\nno more."},
			{Author: "Otto", EventID: "1/response", Text: "So many?"},
			{Author: "Ida", EventID: "2", Text: "蜜蜂。"},
		}}}}},
		Turn: conversation.ExchangeID,
	}
	evidence := newEvidence(d)
	q := &dataset.Question{Conversation: "c", Gold: []string{"1", "2"}}
	require.Zero(t, evidence.share(q, "Otto: Four hives, no more."))
	require.InDelta(t, 0.25, evidence.share(q, "- [2024-03-01] Ida: Four hives, no more."), 1e-12)
	require.InDelta(t, 1, evidence.share(q, "Ida: Four hives, no more.\nOtto: So many?\n- Ida: 蜜蜂。"), 1e-12)
}

func TestLatency(t *testing.T) {
	t.Parallel()
	require.Equal(t, Latency{}, latency(nil))
	times := make([]time.Duration, 100)
	for i := range times {
		times[i] = time.Duration(100-i) * time.Millisecond
	}
	require.Equal(t, Latency{Max: 100, Mean: 50.5, N: 100, P50: 50, P95: 95, P99: 99}, latency(times))
	require.Equal(t, Latency{Max: 7, Mean: 7, N: 1, P50: 7, P95: 7, P99: 7}, latency([]time.Duration{7 * time.Millisecond}))
}

func TestOverride(t *testing.T) {
	t.Parallel()
	merged, err := override(json.RawMessage(`{"text":0.5,"vector":0.2}`), json.RawMessage(`{"vector":0,"recency":1}`))
	require.NoError(t, err)
	require.JSONEq(t, `{"text":0.5,"vector":0,"recency":1}`, string(merged))
	merged, err = override(nil, json.RawMessage(`{"text":1}`))
	require.NoError(t, err)
	require.JSONEq(t, `{"text":1}`, string(merged))
}

func TestProvenance(t *testing.T) {
	t.Parallel()
	d := &dataset.Dataset{Summary: func(session string) string { return session + "#summary" }}
	one, two, lost := uuid.New(), uuid.New(), uuid.New()
	p := &provenance{dataset: d, threads: map[uuid.UUID]*sourceThread{
		one: {session: "s1", turns: map[int64]string{1: "s1#0", 2: "s1#1", 3: "s1#2"}},
		two: {session: "s2", turns: map[int64]string{1: "s2#0"}},
	}}
	id := func(n byte) uuid.UUID { return uuid.UUID{15: n} }
	hit := func(kind string, n byte, thread *uuid.UUID, from, to int64) *service.MemoryHit {
		return &service.MemoryHit{FromSeq: &from, MemoryID: id(n), MemoryType: kind, ThreadID: thread, ToSeq: &to}
	}
	place := func(n byte) string { return "memory " + id(n).String() }
	hits := []*service.MemoryHit{
		{MemoryID: id(1), MemoryType: "semantic"}, // of no one place: takes one, and tells no turn
		hit("episodic", 2, &lost, 1, 1),           // of no conversation of the dataset's
		hit("summary", 3, &two, 1, 1),             // as an insight
		hit("episodic", 4, &one, 2, 3),            // two turns
		hit("episodic", 5, &one, 3, 3),            // again
		hit("episodic", 6, &one, 9, 9),            // gone
		hit("episodic", 7, &two, 1, 1),
		hit("semantic", 8, &one, 1, 2), // an insight
		hit("summary", 9, &one, 1, 3),  // of the same conversation
		hit("episodic", 10, &one, 1, 1),
	}
	r := p.rank(hits, false)
	require.Equal(t, []string{place(1), place(2), "s2#summary", "s1#1", "s1#2", "s1#2", place(6), "s2#0", "s1#summary", "s1#summary", "s1#0"}, r.turns)
	require.Equal(t, []string{"s2", "s1"}, r.sessions)
	// The turn s1#0 is read after ten others.
	require.InDelta(t, 1.0/11, metric.Grade(r.turns, []string{"s1#0"})[metric.MRR], 1e-9)
	r = p.rank(hits, true)
	require.Equal(t, []string{place(2), "s1#1", "s1#2", "s1#2", place(6), "s2#0", "s1#0"}, r.turns)
	require.Equal(t, []string{"s1", "s2"}, r.sessions)
}

func TestReadVariants(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "variants.json")
	require.NoError(t, os.WriteFile(path, []byte(`[{"name":"three","ranking":{"recency":0}}]`), 0o600))
	variants, err := ReadVariants([]string{`{"text":1}`, `two={"vector":0}`, path})
	require.NoError(t, err)
	require.Equal(t, []*Variant{
		{Name: `{"text":1}`, Ranking: json.RawMessage(`{"text":1}`), Evidence: json.RawMessage("{}")},
		{Name: "two", Ranking: json.RawMessage(`{"vector":0}`), Evidence: json.RawMessage("{}")},
		{Name: "three", Ranking: json.RawMessage(`{"recency":0}`), Evidence: json.RawMessage("{}")},
	}, variants)
	variants, err = ReadVariants([]string{"mechanisms"})
	require.NoError(t, err)
	require.Equal(t, "words alone", variants[0].Name)
	require.Len(t, variants, 1+len(mechanisms)+2)
	kept, err := variants[2].evidence(json.RawMessage(`{"nearby":1,"session":0.5,"spread":0.1}`))
	require.NoError(t, err)
	require.JSONEq(t, `{"nearby":1,"session":0.5}`, string(kept))
	last := variants[len(variants)-1]
	require.JSONEq(t, "{}", string(last.Ranking))
	kept, err = last.evidence(json.RawMessage(`{"spread":0.1,"meaning":0.5}`))
	require.NoError(t, err)
	require.JSONEq(t, `{"spread":0.1,"meaning":0.5}`, string(kept))
	for _, wrong := range []string{`{"text":`, `x={1}`, path + ".gone"} {
		_, err := ReadVariants([]string{wrong})
		require.Error(t, err, wrong)
	}
	require.NoError(t, os.WriteFile(path, []byte(`{"text":1}`), 0o600))
	_, err = ReadVariants([]string{path})
	require.ErrorContains(t, err, "must be an array")
}

func TestScore(t *testing.T) {
	t.Parallel()
	d := &dataset.Dataset{
		Headline: "all",
		Questions: []*dataset.Question{
			{Gold: []string{"a"}, GoldSessions: []string{"s1"}, ID: "1", Rows: []string{"easy", "all"}},
			{Gold: []string{"a", "b"}, Groups: [][]string{{"a", "b"}}, ID: "2", Rows: []string{"all"}},
			{GoldSessions: []string{"s2"}, ID: "3", Rows: []string{"all"}},
			{Gold: []string{"a"}, ID: "4", Rows: []string{"all"}}, // not reached
		},
		Rows: []string{"hard", "easy", "all"},
	}
	found := &ranking{sessions: []string{"s1", "s2"}, turns: []string{"x", "a"}}
	answers := make([]*Answer, 4)
	for i := range 3 {
		answers[i] = &Answer{Episodes: &ranking{turns: []string{"a"}}, Found: found, Question: d.Questions[i], Sessions: found.sessions}
	}
	tables := Score(d, answers)
	require.Equal(t, []string{LevelTurn, LevelTurnEpisodes, LevelSession, LevelSessionFound}, []string{tables[0].Level, tables[1].Level, tables[2].Level, tables[3].Level})
	require.Nil(t, tables[0].Row("hard"))
	require.Equal(t, 1, tables[0].Row("easy").N)
	turn := tables[0].Row("all")
	require.Equal(t, 2, turn.N)
	require.InDelta(t, 0.75, turn.Scores["recall@5"], 1e-12)
	require.InDelta(t, 0.5, turn.Scores["mrr"], 1e-12)
	require.InDelta(t, 1, turn.Scores["full@3"], 1e-12)
	require.InDelta(t, 1, tables[1].Row("easy").Scores["mrr"], 1e-12)
	session := tables[2].Row("all")
	require.Equal(t, 2, session.N)
	require.InDelta(t, 0.75, session.Scores["mrr"], 1e-12)
}

func TestWriteRun(t *testing.T) {
	t.Parallel()
	answers := []*Answer{
		{Found: &ranking{turns: []string{"D1:2", "D1:summary"}}, Question: &dataset.Question{ID: "c#0"}, Sessions: []string{"S1"}},
		nil,
		{Found: &ranking{}, Question: &dataset.Question{ID: "c#2"}},
	}
	var out bytes.Buffer
	require.NoError(t, WriteRun(&out, &dataset.Dataset{Format: dataset.LoCoMo}, answers))
	require.Equal(t, `{"qid":"c#0","level":"turn","ranking":["D1:2","D1:summary"]}
{"qid":"c#0","level":"session","ranking":["S1"]}
{"qid":"c#2","level":"turn","ranking":[]}
{"qid":"c#2","level":"session","ranking":[]}
`, out.String())
	out.Reset()
	require.NoError(t, WriteRun(&out, &dataset.Dataset{Format: dataset.MemoryBank}, answers))
	require.Equal(t, 2, strings.Count(out.String(), "\n"))
}
