package bench

import (
	"github.com/hippocampus-memory/hippocampus/bench/dataset"
	"github.com/hippocampus-memory/hippocampus/bench/metric"
)

// The levels at which a run is scored.
const (
	LevelTurn         = "turn"
	LevelTurnEpisodes = "turn, summaries left out"
	LevelSession      = "session"
)

// Table is the scores of a run at one level, a row for each group of questions.
type Table struct {
	Level string `json:"level"`
	Rows  []*Row `json:"rows"`
}

// Row is the mean of a group of questions.
type Row struct {
	Label  string        `json:"label"`
	N      int           `json:"n"`
	Scores metric.Scores `json:"scores"`
}

// Score grades a run at each level.
func Score(d *dataset.Dataset, answers []*Answer) []*Table {
	return []*Table{
		scoreAt(d, answers, LevelTurn, func(a *Answer) metric.Scores { return gradeTurns(a.Question, a.Found) }),
		scoreAt(d, answers, LevelTurnEpisodes, func(a *Answer) metric.Scores { return gradeTurns(a.Question, a.Episodes) }),
		scoreAt(d, answers, LevelSession, func(a *Answer) metric.Scores { return metric.Grade(a.Found.sessions, a.Question.GoldSessions) }),
	}
}

func gradeTurns(q *dataset.Question, r *ranking) metric.Scores {
	scores := metric.Grade(r.turns, q.Gold)
	if scores != nil && q.Groups != nil {
		for name, value := range metric.Full(r.turns, q.Groups) {
			scores[name] = value
		}
	}
	return scores
}

func scoreAt(d *dataset.Dataset, answers []*Answer, level string, grade func(*Answer) metric.Scores) *Table {
	groups := map[string][]metric.Scores{}
	for _, a := range answers {
		if a == nil {
			continue
		}
		scores := grade(a)
		if scores == nil {
			continue
		}
		for _, row := range a.Question.Rows {
			groups[row] = append(groups[row], scores)
		}
	}
	t := &Table{Level: level}
	for _, label := range d.Rows {
		if all := groups[label]; len(all) > 0 {
			t.Rows = append(t.Rows, &Row{Label: label, N: len(all), Scores: metric.Mean(all)})
		}
	}
	return t
}

// Row finds a row by its label, or nil.
func (t *Table) Row(label string) *Row {
	for _, r := range t.Rows {
		if r.Label == label {
			return r
		}
	}
	return nil
}
