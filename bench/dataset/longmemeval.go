package dataset

import (
	"bytes"
	"io"
	"slices"
	"strings"

	"github.com/hippocampus-memory/hippocampus/internal/conversation"
)

const (
	longMemEvalHeadline = "all, no abstention"
	longMemEvalAll      = "all incl. abstention"
)

// readLongMemEval reads LongMemEval. Its rules: a question is on its own haystack, and shares it with
// none; the sessions that answer it are named, the turns are those of them that are marked; a
// question that can't be answered («…_abs») has sessions but no turns, and is not in the headline.
func readLongMemEval(questions, sessions []byte) (*Dataset, error) {
	var sessionsReader io.Reader
	if sessions != nil {
		sessionsReader = bytes.NewReader(sessions)
	}
	haystacks, err := conversation.ReadLongMemEval(bytes.NewReader(questions), sessionsReader)
	if err != nil {
		return nil, err
	}
	d := &Dataset{
		Excluded: map[string]int{},
		Format:   LongMemEval,
		Headline: longMemEvalHeadline,
		Name:     LongMemEval,
		Session:  same,
		Summary:  func(session string) string { return session + "#summary" },
		Turn:     same,
	}
	for _, h := range haystacks {
		d.Conversations = append(d.Conversations, h.Conversation())
		d.addHaystack(h)
	}
	slices.Sort(d.Rows)
	d.Rows = append(d.Rows, longMemEvalHeadline, longMemEvalAll)
	return d, d.check()
}

func (d *Dataset) addHaystack(h *conversation.Haystack) {
	q := &Question{
		Asked: h.Asked, Category: h.QuestionType, Conversation: h.QuestionID, GoldSessions: unique(h.AnswerSessions), ID: h.QuestionID,
		Rows: []string{longMemEvalAll}, Text: h.Question,
	}
	if len(q.GoldSessions) == 0 {
		d.Excluded[h.QuestionType]++
		return
	}
	d.Questions = append(d.Questions, q)
	if strings.HasSuffix(h.QuestionID, "_abs") {
		return
	}
	q.Rows = append(q.Rows, h.QuestionType, longMemEvalHeadline)
	if !slices.Contains(d.Rows, h.QuestionType) {
		d.Rows = append(d.Rows, h.QuestionType)
	}
	for i := range h.Sessions {
		s := &h.Sessions[i]
		if !slices.Contains(q.GoldSessions, s.ID) {
			continue
		}
		for n, turn := range s.Turns {
			if turn.HasAnswer {
				q.Gold = append(q.Gold, s.TurnID(n))
			}
		}
	}
}
