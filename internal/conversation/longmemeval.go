package conversation

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// Haystack is a question of LongMemEval (Wu et al. 2024) and the sessions among which its answer is
// to be found. Each has a user of its own.
type Haystack struct {
	QuestionID   string
	QuestionType string
	Question     string
	// Asked is when the question is asked.
	Asked time.Time
	// AnswerSessions are the ids of the sessions that answer it.
	AnswerSessions []string
	// Sessions are in the data set's order; one that it has twice is here once.
	Sessions []HaystackSession
}

// HaystackSession is a chat of a user with an assistant.
type HaystackSession struct {
	ID    string
	At    time.Time
	Turns []HaystackTurn
}

// HaystackTurn is what one of the two says.
type HaystackTurn struct {
	Role    string `json:"role"`
	Content string `json:"content"`
	// HasAnswer marks a turn that is evidence.
	HasAnswer bool `json:"has_answer"`
}

// haystackTime is how LongMemEval writes times: «2023/05/25 (Thu) 10:04», in no zone; UTC here.
const haystackTime = "2006/01/02 (Mon) 15:04"

// haystackQuestion is a question in either of two forms: the data set's own, with its sessions in
// it, or with a list of [session id, date] that refers to a file of sessions.
type haystackQuestion struct {
	QuestionID     string           `json:"question_id"`
	QuestionType   string           `json:"question_type"`
	Question       json.RawMessage  `json:"question"`
	QuestionDate   string           `json:"question_date"`
	AnswerSessions []string         `json:"answer_session_ids"`
	SessionIDs     []string         `json:"haystack_session_ids"`
	Dates          []string         `json:"haystack_dates"`
	Sessions       [][]HaystackTurn `json:"haystack_sessions"`
	Haystack       [][2]string      `json:"haystack"`
}

// ReadLongMemEval reads LongMemEval: its own JSON, with all sessions in it, or questions and sessions
// as JSON lines each. Sessions is nil in the first case.
func ReadLongMemEval(questions, sessions io.Reader) ([]*Haystack, error) {
	all, err := readHaystackQuestions(questions)
	if err != nil {
		return nil, fmt.Errorf("read LongMemEval: %w", err)
	}
	known := map[string][]HaystackTurn{}
	if sessions != nil {
		decoder := json.NewDecoder(bufio.NewReader(sessions))
		for n := 1; ; n++ {
			var s struct {
				ID    string         `json:"session_id"`
				Turns []HaystackTurn `json:"turns"`
			}
			err := decoder.Decode(&s)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return nil, fmt.Errorf("read LongMemEval: session %d: %w", n, err)
			}
			known[s.ID] = s.Turns
		}
	}
	haystacks := make([]*Haystack, len(all))
	for i, q := range all {
		if haystacks[i], err = q.read(known); err != nil {
			return nil, fmt.Errorf("read LongMemEval: question %d (%s): %w", i+1, q.QuestionID, err)
		}
	}
	return haystacks, nil
}

func readHaystackQuestions(r io.Reader) ([]*haystackQuestion, error) {
	raw, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	var all []*haystackQuestion
	if raw = bytes.TrimSpace(raw); bytes.HasPrefix(raw, []byte("[")) {
		return all, json.Unmarshal(raw, &all)
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	for {
		q := &haystackQuestion{}
		err := decoder.Decode(q)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("question %d: %w", len(all)+1, err)
		}
		all = append(all, q)
	}
}

func (q *haystackQuestion) read(known map[string][]HaystackTurn) (*Haystack, error) {
	h := &Haystack{AnswerSessions: q.AnswerSessions, QuestionID: q.QuestionID, QuestionType: q.QuestionType}
	if json.Unmarshal(q.Question, &h.Question) != nil {
		h.Question = string(q.Question) // a few are numbers
	}
	if q.QuestionID == "" || h.Question == "" {
		return nil, errors.New("it has no question_id or no question")
	}
	var err error
	if h.Asked, err = time.Parse(haystackTime, q.QuestionDate); err != nil {
		return nil, fmt.Errorf("question_date: %w", err)
	}
	if len(q.SessionIDs) != len(q.Dates) || len(q.SessionIDs) != len(q.Sessions) {
		return nil, fmt.Errorf("it has %d session ids, %d dates and %d sessions", len(q.SessionIDs), len(q.Dates), len(q.Sessions))
	}
	for i, id := range q.SessionIDs {
		if err := h.add(id, q.Dates[i], q.Sessions[i]); err != nil {
			return nil, err
		}
	}
	for _, ref := range q.Haystack {
		turns, ok := known[ref[0]]
		if !ok {
			return nil, fmt.Errorf("the session %s is not among the sessions", ref[0])
		}
		if err := h.add(ref[0], ref[1], turns); err != nil {
			return nil, err
		}
	}
	return h, nil
}

func (h *Haystack) add(id, date string, turns []HaystackTurn) error {
	for _, s := range h.Sessions {
		if s.ID == id {
			return nil
		}
	}
	at, err := time.Parse(haystackTime, date)
	if err != nil {
		return fmt.Errorf("session %s: %w", id, err)
	}
	h.Sessions = append(h.Sessions, HaystackSession{At: at, ID: id, Turns: turns})
	return nil
}

// TurnID is the id of a turn: «<session id>#<index>», from 0.
func (s *HaystackSession) TurnID(index int) string { return fmt.Sprintf("%s#%d", s.ID, index) }

// Conversation is the haystack as a user's conversation, named after the question. A turn that says
// nothing is left out. That a turn has the answer is not told.
func (h *Haystack) Conversation() *Conversation {
	c := &Conversation{ID: h.QuestionID}
	for i := range h.Sessions {
		s := &h.Sessions[i]
		session := Session{ID: s.ID}
		for n, turn := range s.Turns {
			if strings.TrimSpace(turn.Content) == "" {
				continue
			}
			session.Events = append(session.Events, Event{
				Author: turn.Role, CreatedAt: new(s.At.Add(time.Duration(n) * time.Second)), EventID: s.TurnID(n), Text: turn.Content,
			})
		}
		c.Sessions = append(c.Sessions, session)
	}
	return c
}

func readLongMemEval(questions, sessions io.Reader) ([]*Conversation, error) {
	haystacks, err := ReadLongMemEval(questions, sessions)
	if err != nil {
		return nil, err
	}
	conversations := make([]*Conversation, len(haystacks))
	for i, h := range haystacks {
		conversations[i] = h.Conversation()
	}
	return conversations, nil
}
