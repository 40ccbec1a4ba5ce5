package function_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func TestGetContextWindow(t *testing.T) {
	t.Parallel()
	type entry struct {
		ContextType   string
		Content       string
		OmittedReason *string
		SourceSeq     *int64
	}
	window := func(t *testing.T, b *testBundle, at time.Time, named string, args ...any) []entry {
		t.Helper()
		return rowsOf[entry](t, b, "SELECT w.context_type, w.content, w.omitted_reason, w.source_seq FROM hippocampus.get_context_window($1, $2, 'city tea', p_now => $3"+named+") w",
			append([]any{b.UserID, b.AppName, at}, args...)...)
	}

	t.Run("EpisodeOfAnEventPassedOverIsShown", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread := b.thread(t)
		for i, text := range []string{"tea one", strings.Repeat("tea is long ", 60), "tea three"} {
			b.exec(t, "SELECT hippocampus.append_event($1, 'user', 'message', '{}', p_text => $2)", thread, text)
			b.rememberWith(t, []string{"tea one", "a word about tea", "tea three"}[i],
				"p_memory_type => 'episodic', p_thread_id => $5, p_from_seq => $6", thread, i+1)
		}
		reasons, shown := map[int64]string{}, []int64{}
		// With room for the short events, and not for the long one between them.
		for _, e := range window(t, b, b.now, ", p_thread_id => $4, p_max_tokens => 400, p_include_omitted => true", thread) {
			switch {
			case e.ContextType == "history" && e.OmittedReason == nil:
				shown = append(shown, *e.SourceSeq)
			case e.ContextType == "memory":
				reasons[*e.SourceSeq] = ""
				if e.OmittedReason != nil {
					reasons[*e.SourceSeq] = *e.OmittedReason
				}
			}
		}
		require.Equal(t, []int64{1, 3}, shown)
		require.Equal(t, map[int64]string{1: "stands in the history", 2: "", 3: "stands in the history"}, reasons)
	})

	t.Run("WhatTheHistoryOfAnyThreadTellsIsNotSaidAgain", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		for _, texts := range [][]string{
			{"first tea", "first cake"},
			{"second tea", strings.Repeat("tea is long ", 60)}, // no room for it
		} {
			thread := b.thread(t)
			for i, text := range texts {
				b.exec(t, "SELECT hippocampus.append_event($1, 'user', 'message', '{}', p_text => $2)", thread, text)
				b.rememberWith(t, text[:min(10, len(text))], "p_memory_type => 'episodic', p_thread_id => $5, p_from_seq => $6", thread, i+1)
			}
			b.rememberWith(t, "all of it: "+texts[0], "p_memory_type => 'summary', p_thread_id => $5, p_from_seq => 1, p_to_seq => 2", thread)
		}
		said := map[string]string{}
		for _, e := range window(t, b, b.now, ", p_max_tokens => 400, p_include_omitted => true") {
			if e.ContextType == "memory" {
				_, text, _ := strings.Cut(e.Content, "] ")
				said[text] = ""
				if e.OmittedReason != nil {
					said[text] = *e.OmittedReason
				}
			}
		}
		const told = "stands in the history"
		require.Equal(t, map[string]string{
			"first tea": told, "first cake": told, "all of it: first tea": told,
			"second tea": told, "tea is lon": "", "all of it: second tea": "",
		}, said)
	})

	t.Run("MemoriesFillWhatHistoryCannot", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread := b.thread(t)
		for i := range 2 { // too long for the history's share, and for what the memories leave
			b.exec(t, "SELECT hippocampus.append_event($1, 'user', 'message', '{}', p_text => $2, p_token_count => 4100)",
				thread, "long talk "+strings.Repeat("x", i))
		}
		b.exec(t, `SELECT hippocampus.remember($1, $2, 'tea of the garden ' || i, p_token_count => 60) FROM generate_series(1, 200) i`,
			b.UserID, b.AppName)
		filled := list[int](t, b, `SELECT sum(w.token_estimate)::integer FROM hippocampus.get_context_window($1, $2, 'tea',
			p_max_tokens => 8000, p_thread_id => $3) w`, b.UserID, b.AppName, thread)[0]
		require.GreaterOrEqual(t, filled, 7200)
	})

	t.Run("FactsHoldAtItsTime", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		facts := func(at time.Time) (all []string) {
			for _, e := range window(t, b, at, "") {
				if e.ContextType == "fact" {
					all = append(all, e.Content)
				}
			}
			return all
		}
		start := b.now
		b.state(t, "Berlin", "p_valid_from => $5", start.Add(-10*day))
		b.state(t, "Paris", "p_valid_from => $5", start.Add(10*day))
		require.Equal(t, []string{"- city: Berlin"}, facts(start))
		require.Equal(t, []string{"- city: Paris"}, facts(start.Add(11*day)))
		require.Empty(t, facts(start.Add(-11*day)))
	})

	t.Run("FactsOfEqualRelevanceAreStrongestFirst", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		for _, f := range []struct {
			key       string
			intensity float64
			days      int
		}{{"a_weak", 0.4, 0}, {"b_old", 0.6, -9}, {"c_new", 0.6, -1}, {"d_strong", 0.9, -9}} {
			b.exec(t, `SELECT hippocampus.upsert_fact($1, $2, 'profile', $3, '"x"', p_intensity => $4, p_valid_from => $5, p_now => $6)`,
				b.UserID, b.AppName, f.key, f.intensity, b.now.Add(time.Duration(f.days)*day), b.now)
		}
		var told []string
		for _, e := range window(t, b, b.now, "") {
			if e.ContextType == "fact" {
				told = append(told, e.Content)
			}
		}
		require.Equal(t, []string{"- d strong: x", "- c new: x", "- b old: x", "- a weak: x"}, told)
	})

	t.Run("RefusesAnUnknownThread", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		for _, sql := range []string{
			"SELECT hippocampus.get_context_window($1, $2, 'tea', p_thread_id => $3)", "SELECT hippocampus.recent_events($1, $2, $3)",
		} {
			b.refuses(t, "HC002", "is unknown", sql, b.UserID, b.AppName, uuid.New())
			b.refuses(t, "HC002", "is unknown", sql, b.UserID+" other", b.AppName, b.thread(t))
		}
	})
}
