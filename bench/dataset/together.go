package dataset

import (
	"strings"

	"github.com/hippocampus-memory/hippocampus/internal/conversation"
)

// together is the user whose all conversations are.
const together = "everybody"

// Together makes all conversations those of one user, so that each question is asked among what all of them tell.
// Ids get the conversation's before them. LongMemEval's name a session in all of its questions' histories, and
// it is there once.
func (d *Dataset) Together() {
	prefix := func(c string) string { return c + "/" }
	if d.Format == LongMemEval {
		prefix = func(string) string { return "" }
	}
	ends := d.Ends()
	all := &conversation.Conversation{ID: together}
	there := map[string]bool{}
	for _, c := range d.Conversations {
		for _, s := range c.Sessions {
			s.ID = prefix(c.ID) + s.ID
			if there[s.ID] {
				continue
			}
			there[s.ID] = true
			for i := range s.Events {
				if id := &s.Events[i].EventID; *id != "" {
					*id = prefix(c.ID) + *id
				}
			}
			all.Sessions = append(all.Sessions, s)
		}
	}
	for _, q := range d.Questions {
		if q.Asked.IsZero() {
			q.Asked = ends[q.Conversation]
		}
		for _, ids := range append([][]string{q.Gold, q.GoldSessions}, q.Groups...) {
			for i := range ids {
				ids[i] = prefix(q.Conversation) + ids[i]
			}
		}
		q.Conversation = together
	}
	d.Conversations = []*conversation.Conversation{all}
	d.Name += "-together"
	d.Turn, d.Session, d.Summary = behindPrefix(d.Turn), behindPrefix(d.Session), behindPrefix(d.Summary)
}

// behindPrefix is a change of ids that leaves the conversation's before them.
func behindPrefix(change func(string) string) func(string) string {
	return func(id string) string {
		end := strings.LastIndexByte(id, '/') + 1
		return id[:end] + change(id[end:])
	}
}
