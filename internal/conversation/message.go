package conversation

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/hippocampus-memory/hippocampus/service"
)

// around is what a message may have besides what models' APIs know.
type around struct {
	Category  string   `json:"category"`
	CreatedAt string   `json:"created_at"`
	EventID   string   `json:"event_id"`
	EventType string   `json:"event_type"`
	SessionID string   `json:"session_id"`
	Tags      []string `json:"tags"`
}

// aroundFields are those of around, in JSON.
var aroundFields = []string{"category", "created_at", "event_id", "event_type", "session_id", "tags"}

// ofMessages are fields that models' APIs have, and that mean something else to an event of our own.
var ofMessages = []string{"id", "name", "type"}

// isMessage tells a message of a model's API, which has a role or, as an item, a type, from an event of our own,
// which has an author.
func isMessage(text []byte) (bool, error) {
	var keys map[string]json.RawMessage
	decoder := json.NewDecoder(bytes.NewReader(text))
	if err := decoder.Decode(&keys); err != nil {
		return false, plain(err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return false, errors.New("something follows the event; write one event a line")
	}
	_, author := keys["author"]
	_, role := keys["role"]
	if author && role {
		return false, errors.New("it has an author and a role, which mean the same; leave one out")
	}
	_, item := keys["type"]
	return role || item && !author, nil
}

// readMessage reads a message as the service does.
func readMessage(text []byte) (event *Event, session string, err error) {
	var (
		a      around
		fields map[string]json.RawMessage
	)
	if err := errors.Join(json.Unmarshal(text, &a), json.Unmarshal(text, &fields)); err != nil {
		return nil, "", plain(err)
	}
	for field := range fields {
		if better := meant[field]; better != "" && !slices.Contains(ofMessages, field) {
			return nil, "", fmt.Errorf("there is no field %q; call it %s", field, better)
		}
	}
	for _, field := range aroundFields {
		delete(fields, field)
	}
	rest, _ := json.Marshal(fields) // was read from JSON
	var m service.Message
	if err := json.Unmarshal(rest, &m); err != nil {
		return nil, "", plain(err)
	}
	m.Metadata = given(m.Metadata)
	params, err := m.Event()
	if err != nil {
		return nil, "", err
	}
	event = &Event{
		Author: params.Author, Category: cmp.Or(a.Category, params.Category), Content: params.Content,
		EventID: cmp.Or(a.EventID, params.EventID), EventType: a.EventType, Metadata: params.Metadata, Tags: a.Tags, Text: params.Text,
	}
	if event.Content == nil {
		event.Content, _ = json.Marshal(map[string]string{"text": event.Text}) // strings never fail
	}
	event.CreatedAt, err = readCreated(a.CreatedAt)
	return event, a.SessionID, err
}
