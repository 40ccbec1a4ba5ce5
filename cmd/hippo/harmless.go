package main

import (
	"io"
	"strings"
	"unicode/utf8"
)

// harmless writes for people what others have said: a memory may hold whatever its author wrote,
// also what makes a terminal change its title, its colours or the order of what it shows. Such
// characters are shown as � instead. JSON is left as it is: it is for programs.
type harmless struct {
	exact *bool // --json
	out   io.Writer
}

// Write is that of [io.Writer]. Whoever prints writes whole characters.
func (h *harmless) Write(text []byte) (int, error) {
	if *h.exact {
		return h.out.Write(text)
	}
	if _, err := io.WriteString(h.out, disarm(string(text))); err != nil {
		return 0, err
	}
	return len(text), nil
}

// disarm replaces what a terminal obeys instead of showing it.
func disarm(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t':
			return r
		case r < ' ', r >= 0x7f && r < 0xa0: // ESC, carriage return, backspace, CSI, OSC …
			return utf8.RuneError
		case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069: // what turns the order of letters round
			return utf8.RuneError
		}
		return r
	}, text)
}
