package dataset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/hippocampus-memory/hippocampus/internal/conversation"
)

const memoryBankAll = "answerable"

// readMemoryBank reads MemoryBank with labelled questions. Its rules: a question is on its user's
// exchanges; one that can't be answered is excluded; where an answer can be had from one exchange or
// another, one of each group is enough for full@k. Its sessions are days.
func readMemoryBank(name string, exchanges, questions []byte) (*Dataset, error) {
	d := &Dataset{
		Excluded: map[string]int{},
		Format:   MemoryBank,
		Headline: memoryBankAll,
		Name:     name,
		Rows:     []string{memoryBankAll},
		Session:  same,
		Summary:  func(session string) string { return session + "#summary" },
		Turn:     conversation.ExchangeID,
	}
	var err error
	if d.Conversations, err = conversation.Read(bytes.NewReader(exchanges), name); err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(questions))
	for n := 1; ; n++ {
		var row struct {
			ID         string     `json:"qid"`
			User       string     `json:"user"`
			Question   string     `json:"question"`
			Gold       []string   `json:"gold"`
			GoldGroups [][]string `json:"gold_groups"`
			Answerable bool       `json:"answerable"`
		}
		err := decoder.Decode(&row)
		if errors.Is(err, io.EOF) {
			return d, d.check()
		}
		if err != nil {
			return nil, fmt.Errorf("read MemoryBank's questions: question %d: %w", n, err)
		}
		if !row.Answerable || len(row.Gold) == 0 {
			d.Excluded[memoryBankAll]++
			continue
		}
		q := &Question{
			Category: memoryBankAll, Conversation: row.User, Gold: unique(row.Gold), Groups: row.GoldGroups, ID: row.ID,
			Rows: []string{memoryBankAll}, Text: row.Question,
		}
		for _, id := range q.Gold {
			q.GoldSessions = append(q.GoldSessions, before("#")(id))
		}
		q.GoldSessions = unique(q.GoldSessions)
		d.Questions = append(d.Questions, q)
	}
}
