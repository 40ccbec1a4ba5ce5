package assembler_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

func rangeTable(script [2]rune) *unicode.RangeTable {
	if script[1] > 0xffff {
		return &unicode.RangeTable{R32: []unicode.Range32{{Lo: uint32(script[0]), Hi: uint32(script[1]), Stride: 1}}}
	}
	return &unicode.RangeTable{R16: []unicode.Range16{{Lo: uint16(script[0]), Hi: uint16(script[1]), Stride: 1}}}
}

// estimate_tokens is never under, for texts of every script.
func TestEstimateTokens(t *testing.T) {
	t.Parallel()
	counter := newCounter(t)
	tx := dbtest.Tx(t)
	check := func(rt require.TestingT, texts []string) {
		rows, err := tx.Query(t.Context(),
			"SELECT hippocampus.estimate_tokens(u.text) FROM unnest($1::text[]) WITH ORDINALITY u (text, n) ORDER BY u.n", texts)
		require.NoError(rt, err)
		estimates, err := pgx.CollectRows(rows, pgx.RowTo[int])
		require.NoError(rt, err)
		for i, estimate := range estimates {
			require.GreaterOrEqual(rt, estimate, counter.Count(texts[i]), "%q", texts[i])
		}
	}
	var letters []string
	for r := rune(1); r < 0x3100; r++ {
		letters = append(letters, string(r), strings.Repeat(string(r), 20), "a"+string(r)+"b")
	}
	check(t, letters)
	check(t, vocabulary)
	rapid.Check(t, func(rt *rapid.T) {
		check(rt, rapid.SliceOfN(textOf(12), 50, 50).Draw(rt, "texts"))
	})
}

// An entry's price is never under what it adds to a window that is full of its like.
func TestContextPrice(t *testing.T) {
	t.Parallel()
	counter := newCounter(t)
	tx := dbtest.Tx(t)
	const copies = 16
	rapid.Check(t, func(rt *rapid.T) {
		texts := rapid.SliceOfN(textOf(4), 40, 40).Draw(rt, "texts")
		texts = append(texts, "++++++++"+strings.Repeat("=-", 50)+"D") // a space before it moves all its pieces
		counts := make([]int32, len(texts))
		for i, text := range texts {
			counts[i] = int32(counter.Count(text))
		}
		for _, entry := range []struct {
			prefix string
			frame  int
			spaced bool
		}{
			{"", 1, false},
			{"- ", 2, true},
			{"- [2026-01-05] ", 11, true},
			{"- [2026-01-05, operator] ", 14, true},
			{"- [2026-01-05, tool] ", 14, true},
			{"- [lesson 0.85] ", 14, true},
			{"- [lesson 1.00, operator] ", 14, true},
			{"- [document] ", 10, true},
		} {
			rows, err := tx.Query(t.Context(), `
				SELECT hippocampus._context_line($3, u.text) AS line,
				    hippocampus._context_price(u.tokens, $4, u.text, $5) AS price
				FROM unnest($1::text[], $2::integer[]) WITH ORDINALITY u (text, tokens, n) ORDER BY u.n`,
				texts, counts, entry.prefix, entry.frame, entry.spaced)
			require.NoError(rt, err)
			priced, err := pgx.CollectRows(rows, pgx.RowToStructByName[struct {
				Line  string
				Price int
			}])
			require.NoError(rt, err)
			for i, p := range priced {
				lines := strings.Repeat("\n"+p.Line, copies) + "\n"
				require.GreaterOrEqual(rt, copies*p.Price, counter.Count(lines)-1, "%q after %q", texts[i], entry.prefix)
			}
		}
	})
}

// The headings of both languages, and the fence, cost no more than _context_words says.
func TestContextWords(t *testing.T) {
	t.Parallel()
	counter := newCounter(t)
	tx := dbtest.Tx(t)
	for _, language := range []string{"en", "zh"} {
		rows, err := tx.Query(t.Context(), "SELECT heading, opening, closing, tokens FROM hippocampus._context_words($1) WHERE heading <> ''", language)
		require.NoError(t, err)
		words, err := pgx.CollectRows(rows, pgx.RowToStructByPos[struct {
			Heading, Opening, Closing string
			Tokens                    int
		}])
		require.NoError(t, err)
		require.Len(t, words, 5)
		for _, w := range words {
			frame := "x\n\n" + w.Heading + "\n"
			rest := ""
			if w.Opening != "" {
				frame += w.Opening + "\n"
				rest = "\n" + w.Closing
			}
			require.LessOrEqual(t, counter.Count(frame+"x"+rest)-2, w.Tokens, "%s", w.Heading)
		}
	}
}

// The frame of a block of recalled memories costs no more than _recall_notice says.
func TestRecallNotice(t *testing.T) {
	t.Parallel()
	counter := newCounter(t)
	tx := dbtest.Tx(t)
	for _, language := range []string{"en", "zh"} {
		var notice string
		var tokens int
		require.NoError(t, tx.QueryRow(t.Context(), "SELECT notice, tokens FROM hippocampus._recall_notice($1)", language).Scan(&notice, &tokens))
		require.LessOrEqual(t, counter.Count("<recalled_memories>\n"+notice+"\n- x\n</recalled_memories>")-2, tokens, language)
	}
}
