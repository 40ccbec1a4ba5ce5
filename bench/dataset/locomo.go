package dataset

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hippocampus-memory/hippocampus/internal/conversation"
)

// locomoCategories are named as the authors' code has it.
var locomoCategories = map[int]string{
	1: "1 multi-hop", 2: "2 temporal", 3: "3 open-domain", 4: "4 single-hop", 5: "5 adversarial",
}

const (
	locomoHeadline = "categories 1-4"
	locomoAll      = "all 1-5"
)

var locomoEvidence = regexp.MustCompile(`D(\d+):(\d+)`)

type locomoQuestions struct {
	ID string `json:"sample_id"`
	QA []struct {
		Question json.RawMessage `json:"question"`
		Evidence []string        `json:"evidence"`
		Category int             `json:"category"`
	} `json:"qa"`
}

// readLoCoMo reads LoCoMo. Its rules: a question is on its own conversation; an evidence string may
// name several turns («D8:6; D9:17»), and one that is not there is dropped; a question without
// valid evidence is excluded. The headline is the categories 1 to 4: 5 is adversarial, and its
// evidence the turn that its trap was made from.
func readLoCoMo(conversations, questions []byte) (*Dataset, error) {
	d := &Dataset{
		Excluded: map[string]int{},
		Format:   LoCoMo,
		Headline: locomoHeadline,
		Name:     LoCoMo,
		Session:  func(id string) string { return "S" + strings.TrimPrefix(id, "session_") },
		Summary:  func(session string) string { return "D" + strings.TrimPrefix(session, "S") + ":summary" },
		Turn:     same,
	}
	for c := 1; c <= 5; c++ {
		d.Rows = append(d.Rows, locomoCategories[c])
	}
	d.Rows = append(d.Rows, locomoHeadline, locomoAll)
	var err error
	if d.Conversations, err = conversation.Read(bytes.NewReader(conversations), LoCoMo); err != nil {
		return nil, err
	}
	var samples []locomoQuestions
	if err := json.Unmarshal(questions, &samples); err != nil {
		return nil, fmt.Errorf("read LoCoMo's questions: %w", err)
	}
	for _, sample := range samples {
		c := d.Conversation(sample.ID)
		if c == nil {
			return nil, fmt.Errorf("read LoCoMo's questions: there is no conversation %s", sample.ID)
		}
		if err := d.addLoCoMo(c, &sample); err != nil {
			return nil, fmt.Errorf("read LoCoMo's questions: %s: %w", sample.ID, err)
		}
	}
	return d, d.check()
}

func (d *Dataset) addLoCoMo(c *conversation.Conversation, sample *locomoQuestions) error {
	turns := map[string]bool{}
	for _, s := range c.Sessions {
		for i := range s.Events {
			turns[s.Events[i].EventID] = true
		}
	}
	for i, qa := range sample.QA {
		category, known := locomoCategories[qa.Category]
		if !known {
			return fmt.Errorf("question %d is of category %d, which is none", i, qa.Category)
		}
		q := &Question{
			Category: category, Conversation: c.ID, ID: fmt.Sprintf("%s#%d", c.ID, i), Rows: []string{category, locomoAll},
			Text: locomoText(qa.Question),
		}
		if qa.Category != 5 {
			q.Rows = append(q.Rows, locomoHeadline)
		}
		for _, written := range qa.Evidence {
			for _, m := range locomoEvidence.FindAllStringSubmatch(written, -1) {
				session, turn := plain(m[1]), plain(m[2])
				if id := "D" + session + ":" + turn; turns[id] && !slices.Contains(q.Gold, id) {
					q.Gold = append(q.Gold, id)
					q.GoldSessions = append(q.GoldSessions, "S"+session)
				}
			}
		}
		if len(q.Gold) == 0 {
			d.Excluded[category]++
			continue
		}
		q.GoldSessions = unique(q.GoldSessions)
		d.Questions = append(d.Questions, q)
	}
	return nil
}

// locomoText is a question's text. One or two of them are numbers.
func locomoText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

// plain is a number without leading zeros: «05» is turn 5.
func plain(digits string) string {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return digits
	}
	return strconv.Itoa(n)
}
