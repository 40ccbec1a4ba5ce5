package bench

import (
	"github.com/hippocampus-memory/hippocampus/bench/dataset"
	"github.com/hippocampus-memory/hippocampus/bench/metric"
)

// The levels at which a run is scored.
const (
	LevelTurn         = "turn"
	LevelTurnEpisodes = "turn, summaries left out"
	// LevelSession is that of a search for conversations, LevelSessionFound that of the memories found.
	LevelSession      = "session"
	LevelSessionFound = "session, of the memories found"
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
		scoreAt(d, answers, LevelSession, func(a *Answer) metric.Scores { return metric.Grade(a.Sessions, a.Question.GoldSessions) }),
		scoreAt(d, answers, LevelSessionFound, func(a *Answer) metric.Scores { return metric.Grade(a.Found.sessions, a.Question.GoldSessions) }),
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
	return &Table{Level: level, Rows: rowsOf(d, func(i int) metric.Scores {
		if answers[i] == nil {
			return nil
		}
		return grade(answers[i])
	})}
}

// rowsOf are the means of each group of the dataset's questions, of which grade gives the scores, by
// index; nil for one that is not scored.
func rowsOf(d *dataset.Dataset, grade func(i int) metric.Scores) []*Row {
	groups := map[string][]metric.Scores{}
	for i, q := range d.Questions {
		scores := grade(i)
		if scores == nil {
			continue
		}
		for _, row := range q.Rows {
			groups[row] = append(groups[row], scores)
		}
	}
	var rows []*Row
	for _, label := range d.Rows {
		if all := groups[label]; len(all) > 0 {
			rows = append(rows, &Row{Label: label, N: len(all), Scores: metric.Mean(all)})
		}
	}
	return rows
}

// Row finds a row by its label, or nil.
func (t *Table) Row(label string) *Row { return rowOf(t.Rows, label) }

func rowOf(rows []*Row, label string) *Row {
	for _, r := range rows {
		if r.Label == label {
			return r
		}
	}
	return nil
}
