package reply

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/hippocampus-memory/hippocampus/model"
)

const (
	// maxValue bounds Fact.Value and Insight.Content, in bytes: a fact is not a
	// document.
	maxValue = 16 << 10
	// maxProblems bounds how many faults are listed.
	maxProblems = 10
)

// Reflection reads {"facts": […], "insights": […]}. Both lists must be there.
// One invalid item makes the whole reply invalid: dropping it would be losing
// a memory in silence. turns are the sequence numbers of the conversation;
// others an item claims to come from are dropped, since they can't be true.
func Reflection(raw string, turns []int64) (*model.Reflection, error) {
	text, repaired, err := Repair(raw)
	if err != nil {
		return nil, err
	}
	top, err := parseObject([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("the reply %w", err)
	}
	facts, factsErr := top.list("facts")
	insights, insightsErr := top.list("insights")
	problems := compact(factsErr, insightsErr)

	r := &model.Reflection{Repaired: repaired}
	for i, item := range facts {
		fact, faults := parseFact(item, turns)
		for _, fault := range faults {
			problems = append(problems, fmt.Errorf("facts[%d].%w", i, fault))
		}
		r.Facts = append(r.Facts, fact)
	}
	for i, item := range insights {
		insight, faults := parseInsight(item, turns)
		for _, fault := range faults {
			problems = append(problems, fmt.Errorf("insights[%d].%w", i, fault))
		}
		r.Insights = append(r.Insights, insight)
	}
	if len(problems) > 0 {
		return nil, join(problems)
	}
	r.Facts = uniqueFacts(r.Facts)
	return r, nil
}

// Classification reads {"relation": …, "reason": …}.
func Classification(raw string) (*model.Classification, error) {
	text, _, err := Repair(raw)
	if err != nil {
		return nil, err
	}
	top, err := parseObject([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("the reply %w", err)
	}
	relation, err := top.text("relation")
	if err != nil {
		return nil, err
	}
	c := &model.Classification{Relation: model.Relation(strings.ToUpper(relation))}
	if !slices.Contains([]model.Relation{model.RelationDuplicate, model.RelationSupersedes, model.RelationDistinct}, c.Relation) {
		return nil, errors.New("relation: must be DUPLICATE, SUPERSEDES or DISTINCT")
	}
	if top.has("reason") {
		if c.Reason, err = top.text("reason"); err != nil {
			c.Reason = "" // only for people; not worth another request
		}
	}
	return c, nil
}

func parseFact(data json.RawMessage, turns []int64) (f model.Fact, faults []error) {
	o, err := parseObject(data)
	if err != nil {
		return f, []error{err}
	}
	kind, err := o.text("type")
	faults = append(faults, err)
	f.Type = factType(kind)

	key, err := o.text("key")
	faults = append(faults, err)
	if err == nil {
		if f.Key = Key(key); f.Key == "" || len(f.Key) > model.MaxKeyBytes {
			faults = append(faults, fmt.Errorf("key: gives no identifier of 1 to %d bytes", model.MaxKeyBytes))
		}
	}
	f.Value, err = parseValue(o)
	faults = append(faults, err)
	f.Confidence, err = o.unit("confidence")
	faults = append(faults, err)
	f.Intensity, err = o.unit("intensity")
	faults = append(faults, err)
	f.ValidFrom, err = parseTime(o, "valid_from")
	faults = append(faults, err)
	f.Sequences, err = parseSequences(o, turns)
	faults = append(faults, err)
	return f, compact(faults...)
}

func parseInsight(data json.RawMessage, turns []int64) (i model.Insight, faults []error) {
	o, err := parseObject(data)
	if err != nil {
		return i, []error{err}
	}
	i.Content, err = o.text("content")
	faults = append(faults, err)
	if len(i.Content) > maxValue {
		faults = append(faults, fmt.Errorf("content: has %d bytes, over %d", len(i.Content), maxValue))
	}
	importance, err := o.text("importance")
	faults = append(faults, err)
	i.Importance = strings.ToLower(importance)
	if err == nil && !slices.Contains([]string{model.ImportanceHigh, model.ImportanceMedium, model.ImportanceLow}, i.Importance) {
		faults = append(faults, errors.New("importance: must be high, medium or low"))
	}
	i.Sequences, err = parseSequences(o, turns)
	faults = append(faults, err)
	return i, compact(faults...)
}

func factType(kind string) string {
	switch kind = strings.ToLower(kind); kind {
	case model.FactPreference, model.FactRule, model.FactProfile:
		return kind
	default:
		return model.FactCustom
	}
}

func parseValue(o object) (json.RawMessage, error) {
	if !o.has("value") {
		return nil, errors.New("value: must be given")
	}
	value, err := cleanJSON(o["value"])
	switch {
	case err != nil:
		return nil, fmt.Errorf("value: %w", err)
	case len(value) > maxValue:
		return nil, fmt.Errorf("value: has %d bytes, over %d", len(value), maxValue)
	case string(value) == `""` || string(value) == `{}` || string(value) == `[]`:
		return nil, errors.New("value: must not be empty")
	}
	return value, nil
}

// parseTime reads an optional date: a moment, a day, a month or a year, in UTC
// unless it says otherwise.
func parseTime(o object, name string) (*time.Time, error) {
	if !o.has(name) {
		return nil, nil
	}
	var text string
	if json.Unmarshal(o[name], &text) != nil {
		return nil, fmt.Errorf("%s: must be a date as a string, or null", name)
	}
	if text = strings.TrimSpace(text); text == "" {
		return nil, nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02", "2006-01", "2006"} {
		if at, err := time.Parse(layout, text); err == nil && at.Year() > 0 {
			return &at, nil
		}
	}
	return nil, fmt.Errorf("%s: must be a date such as 2026-01-31", name)
}

func parseSequences(o object, turns []int64) ([]int64, error) {
	if !o.has("sequences") {
		return nil, nil
	}
	var numbers []float64
	if json.Unmarshal(o["sequences"], &numbers) != nil {
		return nil, errors.New("sequences: must be a list of turn numbers")
	}
	var known []int64
	for _, n := range numbers {
		if n == math.Trunc(n) && math.Abs(n) < 1<<53 && slices.Contains(turns, int64(n)) {
			known = append(known, int64(n))
		}
	}
	slices.Sort(known)
	return slices.Compact(known), nil
}

// uniqueFacts drops a fact that repeats an earlier one word for word.
func uniqueFacts(facts []model.Fact) []model.Fact {
	seen := map[string]bool{}
	return slices.DeleteFunc(facts, func(f model.Fact) bool {
		id := f.Type + "\x00" + f.Key + "\x00" + string(f.Value)
		if seen[id] {
			return true
		}
		seen[id] = true
		return false
	})
}

func compact(errs ...error) []error {
	return slices.DeleteFunc(errs, func(err error) bool { return err == nil })
}

func join(problems []error) error {
	if n := len(problems) - maxProblems; n > 0 {
		problems = append(problems[:maxProblems:maxProblems], fmt.Errorf("and %d more", n))
	}
	texts := make([]string, len(problems))
	for i, p := range problems {
		texts[i] = p.Error()
	}
	return errors.New(strings.Join(texts, "; "))
}
