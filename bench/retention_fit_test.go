package bench_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/bench"
	"github.com/hippocampus-memory/hippocampus/bench/dataset"
	"github.com/hippocampus-memory/hippocampus/bench/report"
	"github.com/hippocampus-memory/hippocampus/internal/conversation"
)

// asked is a dataset of conversations whose turns are used at rates that are log-normal with a spread, those of each
// conversation by a mean of its own.
func asked(conversations, turns int, spread float64, means ...float64) *dataset.Dataset {
	rnd := rand.New(rand.NewPCG(7, 0))
	d := &dataset.Dataset{Headline: "all", Turn: func(id string) string { return id }}
	for c := range conversations {
		id := fmt.Sprint("c", c)
		var session conversation.Session
		for turn := range turns {
			name := fmt.Sprint("t", turn)
			session.Events = append(session.Events, conversation.Event{EventID: name})
			rate := means[c%len(means)] * math.Exp(math.Log(spread)*rnd.NormFloat64())
			for at := rnd.ExpFloat64() / rate; at < 1; at += rnd.ExpFloat64() / rate {
				d.Questions = append(d.Questions, &dataset.Question{Conversation: id, Gold: []string{name}, Rows: []string{"all"}})
			}
		}
		d.Conversations = append(d.Conversations, &conversation.Conversation{ID: id, Sessions: []conversation.Session{session}})
	}
	return d
}

func TestFitRetention(t *testing.T) {
	t.Parallel()
	fit := func(t *testing.T, d *dataset.Dataset) (spread float64, all []string) {
		t.Helper()
		r := &report.Report{}
		spread, err := bench.FitRetention(d, r)
		require.NoError(t, err)
		require.Len(t, r.Tables[0].Rows, len(d.Conversations)+1)
		return spread, r.Tables[0].Rows[len(d.Conversations)]
	}
	number := func(t *testing.T, cell string) float64 {
		t.Helper()
		value, err := strconv.ParseFloat(cell, 64)
		require.NoError(t, err)
		return value
	}

	// The spread that made the uses is found, though most turns are never used, and one conversation is asked about
	// ten times as often as the other.
	t.Run("FindsTheSpread", func(t *testing.T) {
		t.Parallel()
		for _, spread := range []float64{2, 3.3, 7} {
			d := asked(6, 600, spread, 0.1, 1)
			found, row := fit(t, d)
			require.Equal(t, []string{"all", "3600", strconv.Itoa(len(d.Questions))}, row[:3])
			require.LessOrEqual(t, number(t, row[8]), spread, row)
			require.GreaterOrEqual(t, number(t, row[9]), spread, row)
			require.InDelta(t, math.Log(spread), math.Log(found), 0.15)
		}
	})

	// Chance alone gives few turns most of few uses; that is no spread.
	t.Run("ChanceIsNoSpread", func(t *testing.T) {
		t.Parallel()
		found, row := fit(t, asked(1, 5000, 1.0001, 0.1))
		require.Less(t, found, 1.5)
		require.Less(t, number(t, row[10]), 20.0)
		used := 5000 - number(t, row[3])
		require.Less(t, used, 600.0, "a tenth of the turns has nearly all of the uses")
	})

	t.Run("CountsWhatIsAskedInTheHeadline", func(t *testing.T) {
		t.Parallel()
		d := asked(1, 10, 2, 0.0001)
		d.Turn = func(id string) string { return "exchange of " + string(id[len(id)-1]/2) } // two events are one turn
		ask := func(row string, turns ...string) {
			d.Questions = append(d.Questions, &dataset.Question{Conversation: "c0", Gold: turns, Rows: []string{row}})
		}
		ask("all", "a", "b")
		ask("all", "a")
		ask("all", "a")
		ask("other", "c")
		_, row := fit(t, d)
		require.Equal(t, []string{"all", "5", "4", "3", "1", "0", "1"}, row[:7])
	})

	t.Run("RefusesWhatSaysNothing", func(t *testing.T) {
		t.Parallel()
		_, err := bench.FitRetention(&dataset.Dataset{Headline: "all"}, &report.Report{})
		require.ErrorContains(t, err, "there is no use to count")
	})
}
