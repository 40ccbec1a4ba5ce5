package main

import (
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// harmless writes for people what others have said: a memory may hold whatever its author wrote,
// also what makes a terminal change its title, its colours or the order of what it shows, and what
// it does not show at all. Such characters are shown as � instead. JSON is left as it is: it is for programs.
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

// What joins letters, and what keeps them apart.
const zwnj, zwj = '\u200c', '\u200d'

// unseen is what nobody sees on a terminal, and a model reads all the same: format characters, line and
// paragraph separators, and letters without a shape. The signs of Unicode's category Cf that are seen,
// such as the Arabic number sign, are not among them.
var unseen = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x00ad, Hi: 0x00ad, Stride: 1},
		{Lo: 0x034f, Hi: 0x034f, Stride: 1},
		{Lo: 0x061c, Hi: 0x061c, Stride: 1},
		{Lo: 0x115f, Hi: 0x1160, Stride: 1},
		{Lo: 0x17b4, Hi: 0x17b5, Stride: 1},
		{Lo: 0x180e, Hi: 0x180e, Stride: 1},
		{Lo: 0x200b, Hi: 0x200f, Stride: 1},
		{Lo: 0x2028, Hi: 0x202e, Stride: 1},
		{Lo: 0x2060, Hi: 0x206f, Stride: 1},
		{Lo: 0x3164, Hi: 0x3164, Stride: 1},
		{Lo: 0xfeff, Hi: 0xfeff, Stride: 1},
		{Lo: 0xffa0, Hi: 0xffa0, Stride: 1},
		{Lo: 0xfff9, Hi: 0xfffb, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0x1bca0, Hi: 0x1bca3, Stride: 1},
		{Lo: 0x1d173, Hi: 0x1d17a, Stride: 1},
		{Lo: 0xe0000, Hi: 0xe007f, Stride: 1},
	},
	LatinOffset: 1,
}

// disarm replaces what a terminal obeys instead of showing it, and what it does not show.
func disarm(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t':
			return r
		case r < ' ', r >= 0x7f && r < 0xa0: // ESC, carriage return, backspace, CSI, OSC …
			return utf8.RuneError
		case r == zwnj, r == zwj: // emoji and several scripts are written with them
			return r
		case unicode.Is(unseen, r): // also what turns the order of letters round
			return utf8.RuneError
		}
		return r
	}, text)
}
