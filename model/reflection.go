package model

import (
	"context"
	"encoding/json"
	"time"
)

// The types of a Fact. A reply with any other type is taken as FactCustom.
const (
	FactPreference = "preference" // what someone likes, dislikes, favours
	FactRule       = "rule"       // a standing instruction, e.g. "no meetings on Friday"
	FactProfile    = "profile"    // who someone is: name, place, work, family
	FactCustom     = "custom"     // any other lasting fact
)

// MaxKeyBytes bounds Fact.Key.
const MaxKeyBytes = 255

// Fact is one statement about a person that stays true for a while.
type Fact struct {
	// Type is one of FactPreference, FactRule, FactProfile, FactCustom.
	Type string
	// Key identifies what the fact is about and stays the same when its value
	// changes, e.g. "location", "about_sushi". Lower-case letters of any script,
	// digits and single underscores; 1 to MaxKeyBytes bytes.
	Key string
	// Value is any JSON value but null; the providers here give a short string
	// in the conversation's language.
	Value json.RawMessage
	// Confidence that the fact was really said and is understood right, 0 to 1.
	Confidence float64
	// Intensity is how strongly it was put, 0 to 1: casual aside 0.1–0.2, clear
	// statement 0.3–0.5, strong conviction 0.6–0.8, sustained and identity-level
	// 0.85–1.
	Intensity float64
	// ValidFrom is when it became true, if the text says so.
	ValidFrom *time.Time
	// Sequences are the turns it came from, ascending; may be empty.
	Sequences []int64
}

// The values of Insight.Importance.
const (
	ImportanceHigh   = "high"
	ImportanceMedium = "medium"
	ImportanceLow    = "low"
)

// Insight is a conclusion worth remembering: a decision, a plan, a lesson.
type Insight struct {
	Content string
	// Importance is one of ImportanceHigh, ImportanceMedium, ImportanceLow.
	Importance string
	// Sequences are the turns it came from, ascending; may be empty.
	Sequences []int64
}

// Reflection is what a conversation taught. No facts and no insights is a
// valid answer: there was nothing to learn.
type Reflection struct {
	// Facts are in the order they were stated: of two with the same type and
	// key, the later one holds now.
	Facts    []Fact
	Insights []Insight
	// Model is who wrote it.
	Model string
	Usage Usage
	// Repaired says that the reply was not clean JSON and was mended without
	// changing its meaning, or that the model had to be asked a second time.
	Repaired bool
}

// Reflector extracts facts and insights. It fails rather than returning less
// than the model said: an incomplete or invalid reply is KindInvalidReply, with
// the reply kept in Error.RawReply. Conversations are refused as by Summarizer.
type Reflector interface {
	Reflect(ctx context.Context, c *Conversation) (*Reflection, error)
}
