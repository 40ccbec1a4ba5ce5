package bench

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"github.com/hippocampus-memory/hippocampus/bench/dataset"
)

// runLine is a line of a run file, as the independent scorers read it.
type runLine struct {
	QuestionID string   `json:"qid"`
	Level      string   `json:"level"`
	Ranking    []string `json:"ranking"`
}

// WriteRun writes a run's rankings as JSON lines, so that another program can grade them. Those of
// MemoryBank are of turns only: its scorer knows no other level.
func WriteRun(w io.Writer, d *dataset.Dataset, answers []*Answer) error {
	out := bufio.NewWriter(w)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for _, a := range answers {
		if a == nil {
			continue
		}
		for _, line := range []runLine{
			{Level: LevelTurn, QuestionID: a.Question.ID, Ranking: a.Found.turns},
			{Level: LevelSession, QuestionID: a.Question.ID, Ranking: a.Sessions},
		} {
			if line.Level == LevelSession && d.Format == dataset.MemoryBank {
				continue
			}
			if line.Ranking == nil {
				line.Ranking = []string{}
			}
			if err := encoder.Encode(line); err != nil {
				return fmt.Errorf("write the run: %w", err)
			}
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write the run: %w", err)
	}
	return nil
}
