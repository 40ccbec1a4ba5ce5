package assembler_test

import (
	"strings"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer"
	"pgregory.net/rapid"
)

// scripts are ranges of letters and signs, from those that a tokenizer knows well to those that it
// has never seen.
var scripts = [][2]rune{
	{'a', 'z'},
	{'A', 'Z'},
	{'0', '9'},
	{'!', '~'},
	{0x01, 0x1f},
	{0x7f, 0xa0},
	{0xa1, 0xff},
	{0x100, 0x17f},
	{0x300, 0x36f},
	{0x391, 0x3c9},
	{0x410, 0x44f},
	{0x5d0, 0x5ea},
	{0x621, 0x64a},
	{0x905, 0x939},
	{0xb85, 0xbcd},
	{0xc05, 0xc4d},
	{0xd05, 0xd4d},
	{0xe01, 0xe3a},
	{0xf40, 0xf6c},
	{0x1000, 0x102a},
	{0x10d0, 0x10f0},
	{0x1780, 0x17b3},
	{0x2000, 0x206f},
	{0x2190, 0x23ff},
	{0x2500, 0x257f},
	{0x2600, 0x27bf},
	{0x3000, 0x303f},
	{0x3041, 0x3096},
	{0x30a1, 0x30fa},
	{0x3400, 0x3500},
	{0x4e00, 0x9fa5},
	{0xac00, 0xd7a3},
	{0xe000, 0xe010},
	{0xff01, 0xff5e},
	{0x1f300, 0x1f64f},
	{0x1f680, 0x1faff},
	{0x20000, 0x20100},
	{0x10ffff, 0x10ffff},
}

// vocabulary is every token of o200k_base that is text, since nothing surprises a tokenizer like
// its own tokens in other surroundings.
var vocabulary = func() []string {
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		panic(err)
	}
	var tokens []string
	for id := range uint(200_000) {
		token, err := codec.Decode([]uint{id})
		if err == nil && utf8.ValidString(token) && !strings.ContainsRune(token, 0) {
			tokens = append(tokens, token)
		}
	}
	return tokens
}()

// awkward are those that change most at a border, and what a line can do to its neighbours.
var awkward = []string{
	"ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz", "்களுக்கு", "ುಕುನಿ", "ുവനന്തപുരം", "────────────────",
	"=-=-=-=-=-=-=-=-", "+-+-+-+-+-+-+-+-", ";;;;;;;;;;;;;;;;", "................................", "…………………………………………", "⭕",
	"'])->", "}}{{", "[][]", "iddleware", "ology", "ILLISECONDS", ".SEVERE", "_TYPED", "植物百科通", "邀请码", "♀♀♀♀♀♀",
	"/", "//", "/x", "!\n/", "-", "##", "<recalled_memories>", "</recalled_memories>", "< / RECALLED_memories", "＜/recalled_memories＞", "<|im_start|>",
	"</recalled\u200b_memories>", "\u202e", "&lt;/recalled_memories&gt;", "</rеcalled_memories>", "\U000e0041", "\x1b", "《", "⟨", "&",
	"\u0090", "\ufe0f\ufe0f", "葛\U000e0100\U000e0101", "[INST]", "[/INST]", "<<SYS>>", "</s>", "<start_of_turn>", "<｜User｜>", "&LT;/recalled_memories", "\u2329", "</récalled_memories>", "<é", "</ꭱꭼꮯꭺꮮ", "≮ᚲ", "<<ⓡ", "&#60;字", "«ꭱ", "<reca",
	"\n", "\r\n", "\n\n\n", " \n \n", "\n  \n", "\t\n", "\r", "\v", "\f", "\u0085", "\u2028", "\u2029", "   ", " ", "\u3000", "\u00a0",
	"'s", "'S", "'ll", "‹", "<", "user: ", "\n## Instructions\n", "e\u0301", "👩‍👩‍👧", "🇨🇳", "\ufeff", "\u200d", "123", "1234567",
}

// textOf draws a text of at most n parts: words of the vocabulary, awkward ones, runs of a script,
// and parts over and over.
func textOf(n int) *rapid.Generator[string] {
	part := rapid.OneOf(
		rapid.SampledFrom(vocabulary),
		rapid.SampledFrom(awkward),
		rapid.SampledFrom([]string{"the", " quick", " tea", "。", "我们", "今天", " and", ", ", "."}),
		rapid.Custom(func(t *rapid.T) string {
			script := rapid.SampledFrom(scripts).Draw(t, "script")
			return string(rapid.SliceOfN(rapid.RuneFrom(nil, rangeTable(script)), 1, 12).Draw(t, "run"))
		}),
	)
	repeated := rapid.Custom(func(t *rapid.T) string {
		return strings.Repeat(part.Draw(t, "part"), rapid.IntRange(1, 8).Draw(t, "times"))
	})
	return rapid.Custom(func(t *rapid.T) string {
		parts := rapid.SliceOfN(rapid.OneOf(part, part, repeated), 1, n).Draw(t, "parts")
		text := strings.Join(parts, "")
		if len(text) > 2000 {
			text = strings.ToValidUTF8(text[:2000], "")
		}
		return text
	})
}
