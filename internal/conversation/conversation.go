// Package conversation reads conversations from files: events and models' messages, as JSON
// lines or a list, and those of LoCoMo, LongMemEval and MemoryBank.
package conversation

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hippocampus-memory/hippocampus/service"
)

// Conversation is what one user and those that they talk to have said, session by session.
type Conversation struct {
	// ID names it: LoCoMo's sample_id, LongMemEval's question_id, MemoryBank's user, or the file's
	// name without its ending.
	ID       string
	Sessions []Session
}

// Session is one thread of events, oldest first.
type Session struct {
	ID     string
	Events []Event
}

// Event is one line of the log, in the shape that append_events takes.
type Event struct {
	Author    string          `json:"author"`
	Content   json.RawMessage `json:"content"`
	Text      string          `json:"text,omitempty"`
	EventType string          `json:"event_type,omitempty"`
	Category  string          `json:"category,omitempty"`
	EventID   string          `json:"event_id,omitempty"`
	CreatedAt *time.Time      `json:"created_at,omitempty"`
	Tags      []string        `json:"tags,omitempty"`
	Metadata  json.RawMessage `json:"metadata,omitempty"`
}

// Events counts the events of all sessions.
func (c *Conversation) Events() int {
	n := 0
	for _, s := range c.Sessions {
		n += len(s.Events)
	}
	return n
}

// ReadFile reads a file in any of the formats, told apart by its content; it may be compressed by
// gzip. LongMemEval's questions, where they are apart from their sessions, find them in
// sessions.jsonl or sessions.jsonl.gz beside.
func ReadFile(path string) ([]*Conversation, error) {
	raw, err := ReadAll(path)
	if err != nil {
		return nil, err
	}
	name := strings.TrimSuffix(filepath.Base(path), ".gz")
	name = strings.TrimSuffix(name, filepath.Ext(name))
	var conversations []*Conversation
	if kindOf(raw) == kindQuestions {
		conversations, err = readBeside(path, raw)
	} else {
		conversations, err = Read(bytes.NewReader(raw), name)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return conversations, nil
}

func readBeside(path string, questions []byte) ([]*Conversation, error) {
	sessions, err := ReadAll(SessionsBeside(path))
	if err != nil {
		return nil, err
	}
	return readLongMemEval(bytes.NewReader(questions), bytes.NewReader(sessions))
}

// SessionsBeside is the file of the sessions to which a file of LongMemEval's questions refers.
func SessionsBeside(questions string) string {
	plain := filepath.Join(filepath.Dir(questions), "sessions.jsonl")
	if _, err := os.Stat(plain); err == nil {
		return plain
	}
	return plain + ".gz"
}

// ReadAll reads a file, and decompresses it where its name ends in .gz.
func ReadAll(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read conversation: %w", err)
	}
	defer file.Close() //nolint:errcheck // it was only read
	if filepath.Ext(path) != ".gz" {
		raw, err := readText(file)
		if err != nil {
			return nil, fmt.Errorf("read conversation: %w", err)
		}
		return withoutMark(raw), nil
	}
	var raw []byte
	unzipped, err := gzip.NewReader(bufio.NewReader(file))
	if err == nil {
		raw, err = readText(unzipped)
	}
	if err != nil {
		return nil, fmt.Errorf("decompress %s: %w", path, err)
	}
	return withoutMark(raw), nil
}

// maxBytes bounds what is read at once: more than the largest of the data sets has.
const maxBytes = 4 << 30

// readText reads all there is. What begins as no text does, such as a device or a disk image, has perhaps no end, and
// is not read to it.
func readText(r io.Reader) ([]byte, error) {
	buffered := bufio.NewReaderSize(r, 64<<10)
	head, err := buffered.Peek(4096)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if bytes.IndexByte(head, 0) >= 0 {
		return nil, errors.New("it is no text: it has a NUL byte near its start")
	}
	raw, err := io.ReadAll(io.LimitReader(buffered, maxBytes+1))
	if err == nil && len(raw) > maxBytes {
		err = fmt.Errorf("it has more than %d bytes; divide it", maxBytes)
	}
	return raw, err
}

// withoutMark takes away the byte order mark with which some editors begin a file.
func withoutMark(raw []byte) []byte { return bytes.TrimPrefix(raw, []byte("\uFEFF")) }

// Read reads conversations in any of the formats. The name is the id of one in JSON lines, and the
// session of those of its lines that name none.
func Read(r io.Reader, name string) ([]*Conversation, error) {
	raw, err := readText(r)
	if err != nil {
		return nil, fmt.Errorf("read conversation: %w", err)
	}
	trimmed := bytes.TrimSpace(withoutMark(raw))
	switch kindOf(trimmed) {
	case kindEmpty:
		return nil, errors.New("the file is empty; give events as JSON lines or a list, or the JSON of LoCoMo, LongMemEval or MemoryBank")
	case kindExchanges:
		return readExchanges(trimmed)
	case kindHaystacks:
		return readLongMemEval(bytes.NewReader(trimmed), nil)
	case kindLoCoMo:
		if trimmed[0] != '[' {
			trimmed = append(append([]byte{'['}, trimmed...), ']')
		}
		return readLoCoMo(trimmed)
	case kindMemoryBank:
		return readMemoryBank(trimmed)
	case kindQuestions:
		return nil, errors.New("these are LongMemEval's questions, but its sessions are in another file")
	case kindList:
		c, err := readList(trimmed, name)
		if err != nil {
			return nil, err
		}
		return []*Conversation{c}, nil
	default:
		c, err := readLines(withoutMark(raw), name)
		if err != nil {
			return nil, err
		}
		return []*Conversation{c}, nil
	}
}

// Params is the event as the service appends it.
func (e *Event) Params() *service.EventParams {
	params := &service.EventParams{
		Author: e.Author, Category: e.Category, Content: e.Content, EventID: e.EventID, EventType: e.EventType,
		Metadata: e.Metadata, Tags: e.Tags, Text: e.Text,
	}
	if e.CreatedAt != nil {
		params.CreatedAt = *e.CreatedAt
	}
	return params
}
