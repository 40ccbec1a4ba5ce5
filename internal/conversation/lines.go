package conversation

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

// maxLine is how long a line may be.
const maxLine = 16 << 20

// line is an event as our own format writes it.
type line struct {
	Author    string          `json:"author"`
	Category  string          `json:"category"`
	Content   json.RawMessage `json:"content"`
	CreatedAt string          `json:"created_at"`
	EventID   string          `json:"event_id"`
	EventType string          `json:"event_type"`
	Metadata  json.RawMessage `json:"metadata"`
	SessionID string          `json:"session_id"`
	Tags      []string        `json:"tags"`
	Text      string          `json:"text"`
}

// readLines reads one event a line.
func readLines(raw []byte, name string) (*Conversation, error) {
	g := newGrouping(name)
	lines := bufio.NewScanner(bytes.NewReader(raw))
	lines.Buffer(nil, maxLine)
	n := 0
	for lines.Scan() {
		n++
		text := bytes.TrimSpace(lines.Bytes())
		if len(text) == 0 {
			continue
		}
		if err := g.read(text); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	if err := lines.Err(); err != nil {
		if errors.Is(err, bufio.ErrTooLong) {
			return nil, fmt.Errorf("line %d is longer than %d MiB", n+1, maxLine>>20)
		}
		return nil, fmt.Errorf("read lines: %w", err)
	}
	return g.conversation, nil
}

// readList reads a JSON array of events.
func readList(raw []byte, name string) (*Conversation, error) {
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, plain(err)
	}
	g := newGrouping(name)
	for n, text := range list {
		if err := g.read(text); err != nil {
			return nil, fmt.Errorf("event %d of the list: %w", n+1, err)
		}
	}
	return g.conversation, nil
}

// grouping groups events by session_id, in order of first sight. Those without one are a session of the
// conversation's name.
type grouping struct {
	conversation *Conversation
	at           map[string]int
	same         map[string]int // how often an event was seen that is the same in all that its id is made of
}

func newGrouping(name string) *grouping {
	return &grouping{conversation: &Conversation{ID: name}, at: map[string]int{}, same: map[string]int{}}
}

func (g *grouping) read(text []byte) error {
	event, session, err := readLine(text)
	if err != nil {
		return err
	}
	c := g.conversation
	session = cmp.Or(session, c.ID)
	if event.EventID == "" {
		key := event.fingerprint(session)
		event.EventID = contentID(key, g.same[key])
		g.same[key]++
	}
	i, ok := g.at[session]
	if !ok {
		i = len(c.Sessions)
		g.at[session] = i
		c.Sessions = append(c.Sessions, Session{ID: session})
	}
	c.Sessions[i].Events = append(c.Sessions[i].Events, *event)
	return nil
}

func readLine(text []byte) (event *Event, session string, err error) {
	if !utf8.Valid(text) {
		return nil, "", errors.New("it is not UTF-8; convert the file first")
	}
	message, err := isMessage(text)
	if err != nil {
		return nil, "", err
	}
	if message {
		return readMessage(text)
	}
	var l line
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&l); err != nil {
		return nil, "", plain(err)
	}
	event = &Event{
		Author: l.Author, Category: l.Category, Content: given(l.Content), EventID: l.EventID,
		EventType: l.EventType, Metadata: given(l.Metadata), Tags: l.Tags, Text: l.Text,
	}
	if event.Author == "" {
		return nil, "", errors.New(`an event needs an author, such as "user" or "agent", or a message's role`)
	}
	if event.CreatedAt, err = readCreated(l.CreatedAt); err != nil {
		return nil, "", err
	}
	if err := event.fill(); err != nil {
		return nil, "", err
	}
	return event, l.SessionID, nil
}

func readCreated(text string) (*time.Time, error) {
	if text == "" {
		return nil, nil
	}
	created, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return nil, fmt.Errorf("created_at is %q, which is no time such as 2026-05-01T09:00:00Z", text)
	}
	return &created, nil
}

// fill gives an event of our own format the content that the log wants: an object.
func (e *Event) fill() error {
	switch {
	case e.Content == nil && e.Text == "":
		return errors.New("an event needs text or content")
	case e.Content == nil:
		e.Content, _ = json.Marshal(map[string]string{"text": e.Text}) // strings never fail
	case e.Content[0] == '"':
		var text string
		if err := json.Unmarshal(e.Content, &text); err != nil {
			return plain(err)
		}
		if text == "" && e.Text == "" {
			return errors.New("an event needs text or content, but its content is empty")
		}
		e.Text = cmp.Or(e.Text, text)
		e.Content, _ = json.Marshal(map[string]string{"text": text})
	case e.Content[0] == '[':
		e.Content, _ = json.Marshal(map[string]json.RawMessage{"content": e.Content}) // was read from JSON
	case e.Content[0] != '{':
		return fmt.Errorf("content is %s, but must be text, an object or a list of parts", e.Content)
	}
	return nil
}

// given is a value, or nil for null.
func given(raw json.RawMessage) json.RawMessage {
	if string(raw) == "null" {
		return nil
	}
	return raw
}

// fingerprint is all that makes an event another one: whatever file and line it is in.
func (e *Event) fingerprint(session string) string {
	created := ""
	if e.CreatedAt != nil {
		created = e.CreatedAt.UTC().Format(time.RFC3339Nano)
	}
	var content bytes.Buffer
	if err := json.Compact(&content, e.Content); err != nil {
		content.Write(e.Content) // never: it was read from JSON
	}
	key, _ := json.Marshal([]string{session, e.Author, created, content.String(), e.Text}) // strings never fail
	return string(key)
}

// contentID is the id of an event that has none: the first 32 digits of the SHA-256 of its
// fingerprint and of its place among events that are the same. So a file that is imported again
// adds nothing, and one to which lines were added, anywhere, adds just those.
func contentID(fingerprint string, ordinal int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", fingerprint, ordinal))
	return "sha256:" + hex.EncodeToString(sum[:16])
}

// meant are the fields that others call by these names.
var meant = map[string]string{
	"conversation_id": "session_id", "date": "created_at", "datetime": "created_at", "from": "author", "id": "event_id",
	"message": "text", "message_id": "event_id", "name": "author", "sender": "author", "session": "session_id", "speaker": "author",
	"thread_id": "session_id", "time": "created_at", "timestamp": "created_at", "type": "event_type", "user": "author",
	"who": "author",
}

// plain says what is wrong with JSON without the names of Go's types.
func plain(err error) error {
	var (
		syntax *json.SyntaxError
		kind   *json.UnmarshalTypeError
	)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the JSON ends too early; write each event on one line")
	case errors.As(err, &syntax):
		return fmt.Errorf("this is no JSON: %s", strings.TrimPrefix(syntax.Error(), "json: "))
	case errors.As(err, &kind) && kind.Field == "":
		return fmt.Errorf(`this is a JSON %s, but an event is an object: {"author": …, "text": …}`, kind.Value)
	case errors.As(err, &kind):
		wanted := "text"
		if kind.Field == "tags" {
			wanted = "a list of texts"
		}
		return fmt.Errorf("%s is a JSON %s, but must be %s", kind.Field, kind.Value, wanted)
	}
	text := strings.TrimPrefix(err.Error(), "json: ")
	if quoted, ok := strings.CutPrefix(text, "unknown field "); ok {
		field := strings.Trim(quoted, `"`)
		if better := meant[field]; better != "" {
			return fmt.Errorf("there is no field %q; call it %s", field, better)
		}
		return fmt.Errorf("there is no field %q; put what the log should keep into metadata", field)
	}
	return errors.New(text)
}
