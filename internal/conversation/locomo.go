package conversation

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// locomoSample is one of LoCoMo's very long conversations (Maharana et al. 2024): sessions are
// keys session_1, session_2, …, each beside its session_N_date_time.
type locomoSample struct {
	ID           string                     `json:"sample_id"`
	Conversation map[string]json.RawMessage `json:"conversation"`
}

type locomoTurn struct {
	Speaker string `json:"speaker"`
	DiaID   string `json:"dia_id"`
	Text    string `json:"text"`
	Caption string `json:"blip_caption"`
}

// locomoTime is how LoCoMo writes a session's time: «1:56 pm on 8 May, 2023», in no zone; UTC here.
const locomoTime = "3:04 pm on 2 January, 2006"

func readLoCoMo(raw []byte) ([]*Conversation, error) {
	var samples []locomoSample
	if err := json.Unmarshal(raw, &samples); err != nil {
		return nil, fmt.Errorf("read LoCoMo: %w", plain(err))
	}
	conversations := make([]*Conversation, 0, len(samples))
	for i, s := range samples {
		if s.ID == "" || s.Conversation == nil {
			return nil, fmt.Errorf("read LoCoMo: sample %d has no sample_id or no conversation; "+
				"a list of events or messages has author or role, and text or content", i+1)
		}
		c, err := s.read()
		if err != nil {
			return nil, fmt.Errorf("read LoCoMo: sample %s: %w", s.ID, err)
		}
		conversations = append(conversations, c)
	}
	return conversations, nil
}

func (s *locomoSample) read() (*Conversation, error) {
	c := &Conversation{ID: s.ID}
	for n := 1; ; n++ {
		key := "session_" + strconv.Itoa(n)
		rawTurns, hasTurns := s.Conversation[key]
		rawTime, hasTime := s.Conversation[key+"_date_time"]
		if !hasTurns {
			if !hasTime {
				return c, nil
			}
			continue // a session that the data set planned and never held
		}
		var turns []locomoTurn
		if err := json.Unmarshal(rawTurns, &turns); err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		var written string
		if err := json.Unmarshal(rawTime, &written); err != nil {
			return nil, fmt.Errorf("%s_date_time: %w", key, err)
		}
		at, err := time.Parse(locomoTime, strings.NewReplacer("AM", "am", "PM", "pm").Replace(written))
		if err != nil {
			return nil, fmt.Errorf("%s_date_time: %w", key, err)
		}
		session := Session{ID: key}
		for i, turn := range turns {
			session.Events = append(session.Events, turn.event(at.Add(time.Duration(i)*time.Second)))
		}
		c.Sessions = append(c.Sessions, session)
	}
}

// event is a turn as an event. A picture's caption is part of what was said.
func (t *locomoTurn) event(at time.Time) Event {
	text := t.Text
	if t.Caption != "" {
		text = strings.TrimSpace(text + " [image: " + t.Caption + "]")
	}
	content, _ := json.Marshal(map[string]string{"text": text, "dia_id": t.DiaID}) // strings never fail
	return Event{Author: t.Speaker, Content: content, Text: text, EventID: t.DiaID, CreatedAt: &at}
}
