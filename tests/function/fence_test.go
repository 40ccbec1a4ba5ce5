package function_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/hippocampus-memory/hippocampus/tests/hostile"
)

// alike draws a letter that a reader may take for another one: of a script, a block of symbols, or Unicode as a whole,
// with what may stand on it.
func alike(letter rune) *rapid.Generator[string] {
	plain := rapid.SampledFrom([]string{string(letter), strings.ToUpper(string(letter))})
	of := func(low, high rune) *rapid.Generator[string] {
		return rapid.Map(rapid.Int32Range(low, high), func(r int32) string { return string(r) })
	}
	nth := func(first rune) *rapid.Generator[string] { return rapid.Just(string(first + letter - 'a')) }
	return rapid.OneOf(plain, plain, plain,
		nth(0x1d41a), nth(0x1d4ea), nth(0x1d51e), nth(0x1d552), nth(0x1d68a), // mathematical: bold, script, Fraktur, double-struck, monospace
		nth(0x24d0), nth(0x249c), nth(0x1f130), nth(0x1f150), nth(0x1f170), nth(0x1f1e6), nth(0xff41), // enclosed, squared, regional, full-width
		of(0x13a0, 0x13f4), of(0xab70, 0xabbf), of(0x0370, 0x03ff), of(0x0400, 0x052f), of(0x0250, 0x02af), // Cherokee, Greek, Cyrillic, IPA
		of(0xa4d0, 0xa4fd), of(0x10400, 0x1044f), of(0x2c80, 0x2cff), of(0x1d00, 0x1dbf), of(0x1400, 0x167f), // Lisu, Deseret, Coptic, small capitals, syllabics
		of(0x4e00, 0x9fff), of(0xe0100, 0xe01ef), of(0x20000, 0x2fa1f), of(0x00a0, 0xd7ff),
		rapid.Map(of(0x0300, 0x036f), func(mark string) string { return string(letter) + mark }),
	)
}

// No text can begin a tag of the fence, whatever letters it is spelled with and whatever stands between.
func TestFenceHoldsAnyLetters(t *testing.T) {
	t.Parallel()
	b := setup(t)
	between := rapid.SampledFrom([]string{"", "", "", "", "", " ", "\t", "\n", "\u200b", "\u00ad", "\u0301", "\ufe0f", "_", "-", "/"})
	tag := rapid.Custom(func(t *rapid.T) string {
		var text strings.Builder
		text.WriteString(rapid.SampledFrom(strings.Split("< ＜ ﹤ ≮ \u2329 ⟨ ❬ ❮ ❰ ᐸ ᚲ ˂ ≺ ⧼ ⦑ \U0001d236 &lt; &LT &#60; &#x3C; << < <", " ")).Draw(t, "bracket"))
		text.WriteString(between.Draw(t, "before") + rapid.SampledFrom([]string{"/", "", "/ ", "⁄", "∕"}).Draw(t, "slash"))
		for _, letter := range "recalled_memories" {
			if letter == '_' {
				text.WriteString(rapid.SampledFrom([]string{"_", "-", " ", "＿", ""}).Draw(t, "line"))
				continue
			}
			text.WriteString(alike(letter).Draw(t, "letter") + between.Draw(t, "between"))
		}
		return text.String() + rapid.SampledFrom([]string{">", "＞", "", " >"}).Draw(t, "end")
	})
	rapid.Check(t, func(rt *rapid.T) {
		texts := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
			return rapid.SampledFrom([]string{"", "say ", "说", "a < b"}).Draw(t, "first") + strings.Join(rapid.SliceOfN(tag, 1, 3).Draw(t, "tags"), "x")
		}), 40, 40).Draw(rt, "texts")
		fenced := list[string](t, b, "SELECT hippocampus._fence_text(u.text) FROM unnest($1::text[]) WITH ORDINALITY u (text, n) ORDER BY u.n", texts)
		again := list[string](t, b, "SELECT hippocampus._fence_text(u.text) FROM unnest($1::text[]) WITH ORDINALITY u (text, n) ORDER BY u.n", fenced)
		for i, text := range fenced {
			hostile.Tame(rt, text)
			require.Equal(rt, text, again[i], "fenced twice, it is the same")
		}
	})
}

// What cannot begin a tag stands as it is: code, quotations in any language, comparisons.
func TestFenceLeavesTheRest(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, text := range []string{
		"if a < b && c <= d << 2", "<div class=\"x\">Привет</div>", "List<Record<String>> r", "for (i = 0; i<r; i++)", "<re>", "<rest>é", "x <- y", "<p>你好</p>", "5 &lt; 6 &#60; 7",
		"«Война и мир»", "«recalculer» ou «récapituler»", "《红楼梦》和〈故乡〉", "〈봄날〉", "«Ποῦ;»", "«שלום»", "«🎉»", "⟪a⟫", "3 < 4", "a <", "<",
	} {
		require.Equal(t, text, get[string](t, b, "SELECT hippocampus._fence_text($1)", text))
	}
	for text, fenced := range map[string]string{
		"<ꭱꭼꮯꭺꮮꮮꭼꭰ>": "‹ꭱꭼꮯꭺꮮꮮꭼꭰ>", "</🅁🄴🄲🄰>": "‹/🅁🄴🄲🄰>", "«ꭱꭼꮯꭺ»": "‹ꭱꭼꮯꭺ»", "〈/ⓡⓔⓒⓐ〉": "‹/ⓡⓔⓒⓐ〉", "<r3c4ll": "‹r3c4ll", "&lt;/尺乇匚卂": "‹/尺乇匚卂",
	} {
		require.Equal(t, fenced, get[string](t, b, "SELECT hippocampus._fence_text($1)", text))
	}
}
