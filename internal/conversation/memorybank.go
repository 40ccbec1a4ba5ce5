package conversation

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// exchange is a question of a user's and the answer of their companion, of MemoryBank (Zhong et al.
// 2023). Its id is «<date>#<index>».
type exchange struct {
	User     string `json:"user"`
	ID       string `json:"id"`
	Date     string `json:"date"`
	Query    string `json:"query"`
	Response string `json:"response"`
}

// ExchangeID is the id of the exchange to which an event of a MemoryBank conversation belongs. Each
// exchange is two events.
func ExchangeID(eventID string) string {
	id, _, _ := strings.Cut(eventID, "/")
	return id
}

// readExchanges reads MemoryBank as JSON lines of exchanges: a conversation a user, a session a day.
func readExchanges(raw []byte) ([]*Conversation, error) {
	b := &memoryBank{at: map[string]*Conversation{}}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	for n := 1; ; n++ {
		var e exchange
		err := decoder.Decode(&e)
		if errors.Is(err, io.EOF) {
			return b.conversations, nil
		}
		if err == nil {
			err = b.add(&e)
		}
		if err != nil {
			return nil, fmt.Errorf("read MemoryBank: exchange %d: %w", n, err)
		}
	}
}

// readMemoryBank reads MemoryBank's own JSON: {user: {"history": {date: [{"query", "response"}, …]}}}.
func readMemoryBank(raw []byte) ([]*Conversation, error) {
	var users map[string]struct {
		History map[string][]struct {
			Query    string `json:"query"`
			Response string `json:"response"`
		} `json:"history"`
	}
	if err := json.Unmarshal(raw, &users); err != nil {
		return nil, fmt.Errorf("read MemoryBank: %w", err)
	}
	b := &memoryBank{at: map[string]*Conversation{}}
	for _, user := range slices.Sorted(maps.Keys(users)) {
		for _, date := range slices.Sorted(maps.Keys(users[user].History)) {
			for i, said := range users[user].History[date] {
				e := &exchange{Date: date, ID: fmt.Sprintf("%s#%d", date, i), Query: said.Query, Response: said.Response, User: user}
				if err := b.add(e); err != nil {
					return nil, fmt.Errorf("read MemoryBank: %s, %s: %w", user, e.ID, err)
				}
			}
		}
	}
	return b.conversations, nil
}

type memoryBank struct {
	at            map[string]*Conversation
	conversations []*Conversation
}

func (b *memoryBank) add(e *exchange) error {
	if e.User == "" || e.ID == "" {
		return errors.New("it has no user or no id")
	}
	day, err := time.Parse(time.DateOnly, e.Date)
	if err != nil {
		return fmt.Errorf("date: %w", err)
	}
	c := b.at[e.User]
	if c == nil {
		c = &Conversation{ID: e.User}
		b.at[e.User] = c
		b.conversations = append(b.conversations, c)
	}
	i := slices.IndexFunc(c.Sessions, func(s Session) bool { return s.ID == e.Date })
	if i < 0 {
		i = len(c.Sessions)
		c.Sessions = append(c.Sessions, Session{ID: e.Date})
	}
	session := &c.Sessions[i]
	for _, said := range []struct{ author, part, text string }{{"user", "query", e.Query}, {"assistant", "response", e.Response}} {
		if strings.TrimSpace(said.text) == "" {
			continue
		}
		session.Events = append(session.Events, Event{
			Author: said.author, CreatedAt: new(day.Add(time.Duration(len(session.Events)) * time.Second)),
			EventID: e.ID + "/" + said.part, Text: said.text,
		})
	}
	return nil
}
