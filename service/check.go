package service

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/hippocampus-memory/hippocampus/db"
)

// What the database takes; it checks again, and its own limits hold.
const (
	maxAgeDays     = 36_500
	maxBlockTokens = 200_000
	maxBranch      = 1024
	maxID          = 255
	maxJSON        = 16 << 20 // as text, which may be longer than what is stored
	maxLimit       = 10_000
	maxOffset      = 1_000_000_000
	maxReason      = 4096
	maxTags        = 64
	maxText        = 1 << 20
)

// checkText refuses what Postgres can't store, naming the value.
func checkText(name, text string, maxBytes int) error {
	if len(text) > maxBytes {
		return fmt.Errorf("%w: %s has %d bytes, but may have %d: store larger content elsewhere and refer to it",
			db.ErrTooLarge, name, len(text), maxBytes)
	}
	if at := strings.IndexByte(text, 0); at >= 0 {
		return fmt.Errorf("%w: %s has a NUL at byte %d", db.ErrInvalidText, name, at)
	}
	if !utf8.ValidString(text) {
		return fmt.Errorf("%w: %s is not UTF-8 from byte %d", db.ErrInvalidText, name, invalidAt(text))
	}
	return nil
}

func invalidAt(text string) int {
	for i, r := range text {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(text[i:]); size == 1 {
				return i
			}
		}
	}
	return len(text)
}

// checkName refuses what [checkText] does, and an empty text.
func checkName(name, text string, maxBytes int) error {
	if text == "" {
		return fmt.Errorf("%w: %s is empty", db.ErrInvalidArgument, name)
	}
	return checkText(name, text, maxBytes)
}

// checkJSON refuses what is no JSON, or what jsonb can't store.
func checkJSON(name string, raw json.RawMessage) error {
	if err := checkText(name, string(raw), maxJSON); err != nil {
		return err
	}
	if !json.Valid(raw) {
		return fmt.Errorf("%w: %s is no JSON: %.100s", db.ErrInvalidArgument, name, raw)
	}
	return checkEscapes(name, raw)
}

// checkEscapes refuses the two escapes that JSON has and jsonb can't store: NUL, and half a
// surrogate pair.
func checkEscapes(name string, raw []byte) error {
	for {
		at := bytes.IndexByte(raw, '\\')
		if at < 0 {
			return nil
		}
		if raw[at+1] != 'u' {
			raw = raw[at+2:]
			continue
		}
		unit := codeUnit(raw[at:])
		raw = raw[at+6:]
		switch {
		case unit == 0:
			return fmt.Errorf(`%w: %s has a NUL (\u0000)`, db.ErrInvalidText, name)
		case !utf16.IsSurrogate(unit):
		case utf16.DecodeRune(unit, codeUnit(raw)) == utf8.RuneError:
			return fmt.Errorf(`%w: %s has half a surrogate pair (\u%04x)`, db.ErrInvalidText, name, unit)
		default:
			raw = raw[6:]
		}
	}
}

// codeUnit reads the \uXXXX that valid JSON begins with, or gives a space for anything else.
func codeUnit(raw []byte) rune {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return ' '
	}
	unit, _ := strconv.ParseUint(string(raw[2:6]), 16, 16)
	return rune(unit)
}

// checkScope refuses a scope that can't be text; its emptiness and length are the database's to refuse.
func checkScope(scope Scope) error {
	if err := checkText("UserID", scope.UserID, math.MaxInt); err != nil {
		return fmt.Errorf("%w: %w", db.ErrInvalidScope, err)
	}
	if err := checkText("AppName", scope.AppName, math.MaxInt); err != nil {
		return fmt.Errorf("%w: %w", db.ErrInvalidScope, err)
	}
	return nil
}

// checkVector refuses a vector that pgvector can't read; its dimension is the database's to refuse.
func checkVector(name string, vector []float32) error {
	if vector != nil && len(vector) == 0 {
		return fmt.Errorf("%w: %s has no values", db.ErrInvalidEmbedding, name)
	}
	for i, x := range vector {
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			return fmt.Errorf("%w: %s[%d] is %v", db.ErrInvalidEmbedding, name, i, x)
		}
	}
	return nil
}

// checkDirection refuses what [checkVector] does, and a vector that points nowhere.
func checkDirection(name string, vector []float32) error {
	if err := checkVector(name, vector); err != nil {
		return err
	}
	if !slices.ContainsFunc(vector, func(x float32) bool { return x != 0 }) {
		return fmt.Errorf("%w: %s is all zero", db.ErrInvalidEmbedding, name)
	}
	return nil
}

// checkLimit gives a limit for SQL; 0 is the default.
func checkLimit(limit, otherwise int) (int32, error) {
	if limit == 0 {
		limit = otherwise
	}
	if limit < 0 || limit > maxLimit {
		return 0, fmt.Errorf("%w: Limit is %d, but must be 1 to %d", db.ErrInvalidArgument, limit, maxLimit)
	}
	return int32(limit), nil
}

// checkInt gives an integer for SQL, whose functions say which of those that fit may be.
func checkInt(name string, n int) (int32, error) {
	if n < math.MinInt32 || n > math.MaxInt32 {
		return 0, fmt.Errorf("%w: %s is %d, but may have 32 bits", db.ErrInvalidArgument, name, n)
	}
	return int32(n), nil
}

// checkTexts checks pairs of a name and an optional text.
func checkTexts(maxBytes int, pairs ...string) error {
	for i := 0; i+1 < len(pairs); i += 2 {
		if err := checkText(pairs[i], pairs[i+1], maxBytes); err != nil {
			return err
		}
	}
	return nil
}

// checkObject refuses JSON that is no object. None at all is right.
func checkObject(name string, raw json.RawMessage) error {
	if raw == nil {
		return nil
	}
	if err := checkJSON(name, raw); err != nil {
		return err
	}
	if trimmed := bytes.TrimLeft(raw, " \t\r\n"); trimmed[0] != '{' {
		return fmt.Errorf("%w: %s is no JSON object: %.100s", db.ErrInvalidArgument, name, raw)
	}
	return nil
}

// checkShare refuses a number that is not from 0 to 1. None at all is right.
func checkShare(name string, x *float64) error {
	if x != nil && !(*x >= 0 && *x <= 1) { // which NaN is not
		return fmt.Errorf("%w: %s is %v, but must be from 0 to 1", db.ErrInvalidArgument, name, *x)
	}
	return nil
}
