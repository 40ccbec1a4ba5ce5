package service

import (
	"encoding/json"
	"strconv"
	"time"
)

// or is a text, or another where it is empty.
func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// orValue is what a pointer points to, or another value for nil.
func orValue[T any](value *T, otherwise T) T {
	if value == nil {
		return otherwise
	}
	return *value
}

// deref is what a pointer points to, or the zero value for nil.
func deref[T any](value *T) (zero T) { return orValue(value, zero) }

// nonEmpty is NULL for an empty text.
func nonEmpty(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// nonZero is NULL for the zero time.
func nonZero(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	return &at
}

// orEmpty is an empty array, not NULL, for nil.
func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// orEmptyObject is {} for no JSON.
func orEmptyObject(raw json.RawMessage) json.RawMessage {
	if raw == nil {
		return json.RawMessage(`{}`)
	}
	return raw
}

// widen makes 0.6 of the float32 that is nearest to 0.6, not 0.6000000238.
func widen(x float32) float64 {
	wide, _ := strconv.ParseFloat(strconv.FormatFloat(float64(x), 'g', -1, 32), 64)
	return wide
}
