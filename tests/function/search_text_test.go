package function_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// What people write in, and how they look it up. Every text stands beside all others.
func TestSearchLanguages(t *testing.T) { //nolint:tparallel // its subtests share a transaction
	t.Parallel()
	b := setup(t)
	texts := []struct {
		content string
		queries []string
	}{
		{"She was running through the forests yesterday", []string{"run", "forest", "RUNNING FOREST", "who runs through forests?"}},
		{"我昨天去了北京的故宫博物院", []string{"故宫", "北京", "博物院在哪里", "宫", "昨", "院"}},
		{"我用PostgreSQL数据库", []string{"postgresql", "数据库", "用PostgreSQL数据库吗", "库", "据", "数 据"}},
		{"東京で寿司を食べました。ｶﾗｵｹも楽しかった", []string{"寿司", "東京", "食べる", "カラオケ", "ｶﾗｵｹ", "寿"}},
		{"서울에서 김치찌개를 먹었다", []string{"김치", "서울", "찌개"}},
		{"ฉันชอบกินข้าวผัดกุ้ง", []string{"ข้าวผัด", "กุ้ง"}},
		{"🎉 party at eight 🎂", []string{"🎉", "🎂", "🎉 eight"}},
		{"I ❤️ Kyoto 🇯🇵", []string{"❤", "❤️", "🇯🇵"}},
		{"Ｆｕｌｌ－ｗｉｄｔｈ　ＡＢＣ１２３", []string{"abc123", "ＡＢＣ１２３", "width"}},
		{"Café crème in São Paulo", []string{"cafe", "café", "CAFÉ", "cafe\u0301", "sao paulo", "São", "creme"}},
		{"Wir wohnen in der Königstraße in Düsseldorf", []string{"königstraße", "KÖNIGSTRAßE", "dusseldorf", "Düsseldorf"}},
		{"Я живу в МОСКВЕ", []string{"москве", "Москве", "живу"}},
		{"أحب القهوة، والشاي أيضا", []string{"القهوة", "والشاي"}},
		{"אני אוהב ״קפה״ בבוקר", []string{"קפה", "בבוקר"}},
		{"من می\u200cخواهم کتاب بخرم", []string{"می\u200cخواهم", "کتاب"}},
		{"मुझे अदरक वाली चाय पसंद है।", []string{"चाय", "अदरक"}},
		{"“Quoted” ‘words’ — and an ellipsis… ¿verdad? «oui»", []string{"quoted", "ellipsis", "verdad", "oui"}},
		{"The URL is https://example.org/a?b=c and the mail ada@example.net", []string{"example.org", "ada@example.net"}},
		{"Order #4711 cost €1,299.00 on 2026-01-05", []string{"4711", "#4711", "€1,299.00", "2026-01-05"}},
		{"Tiếng Việt rất hay", []string{"tiếng việt", "tieng viet"}},
		{"Ο Όμηρος έγραψε την Οδύσσεια", []string{"οδύσσεια", "ΌΜΗΡΟΣ", "έγραψε"}},
		{"𠮷野家で牛丼", []string{"𠮷野家", "𠮷", "牛丼"}},
	}
	for _, text := range texts {
		b.remember(t, text.content)
	}
	for _, text := range texts {
		for _, query := range text.queries {
			hits := b.found(t, query, "p_limit => 1")
			require.Equal(t, []string{text.content}, hits, "%q", query)
		}
	}

	// The words that only ask find nothing, in any language: an answer has none of them, and another question has.
	t.Run("WhatOnlyAsks", func(t *testing.T) {
		b := setup(t)
		for _, text := range []string{
			"我八月去青岛看海", "同事问我周末有什么打算，当时没想好，时候还早", "我们家的猫叫团子", "她不吃辣，问我还能做什么菜",
			"In August we go to the sea", "What a time: when will the others be where they should?",
		} {
			b.remember(t, text)
		}
		for query, want := range map[string]string{
			"我什么时候去看海？": "我八月去青岛看海", "我們什麼時候去看海": "我八月去青岛看海", "哪里能看海呢": "我八月去青岛看海", "猫叫什么": "我们家的猫叫团子",
			"谁家的猫": "我们家的猫叫团子", "when do we go to the sea, and where?": "In August we go to the sea",
		} {
			require.Equal(t, []string{want}, b.found(t, query, "p_limit => 1"), query)
		}
		require.Len(t, b.found(t, "什么", ""), 2, "where nothing else is asked, they are looked up")
	})

	t.Run("AtTheFrontAndAtTheEndOfARun", func(t *testing.T) {
		b := setup(t)
		for _, text := range []string{"猫在睡觉", "我有一只猫", "狗在睡觉", "猫"} {
			b.remember(t, text)
		}
		require.ElementsMatch(t, []string{"猫在睡觉", "我有一只猫", "猫"}, b.found(t, "猫", ""))
		require.Len(t, b.found(t, "猫 狗", ""), 4)
		require.ElementsMatch(t, []string{"狗在睡觉"}, b.found(t, "my 狗 !", ""))
	})

	t.Run("ManyPairsBeginWithTheCharacter", func(t *testing.T) {
		b := setup(t)
		var all strings.Builder
		for i := range 600 {
			fmt.Fprintf(&all, "不%c ", rune(0x4e00+i))
		}
		b.remember(t, all.String())
		b.remember(t, "不龘") // the last in the order of code points
		require.Len(t, b.found(t, "不", ""), 2)
	})

	t.Run("OtherTextSearchConfig", func(t *testing.T) {
		b := setup(t)
		b.exec(t, `INSERT INTO hippocampus.settings (app_name, key, value) VALUES ($1, 'text_search_config', '"german"')`, b.AppName)
		b.remember(t, "Die Häuser und Straßen von Köln")
		for _, query := range []string{"Haus", "straße", "KÖLN", "koln"} {
			require.Len(t, b.found(t, query, ""), 1, query)
		}
		require.Empty(t, b.found(t, "unsinn", ""))
	})
}

// Whatever a text is made of, it is stored, and found by its own words.
func TestSearchAnyText(t *testing.T) {
	t.Parallel()
	b := setup(t)
	run := 0
	rapid.Check(t, func(r *rapid.T) {
		run++
		b.UserID = fmt.Sprintf("rapid-%s-%d", b.AppName, run)
		text := strings.ReplaceAll(strings.ToValidUTF8(rapid.StringN(1, 300, -1).Draw(r, "text"), ""), "\x00", "")
		if text == "" {
			return
		}
		id := b.remember(t, text)
		if again := b.remember(t, "  "+strings.ToUpper(text)); again != id && strings.ToLower(strings.ToUpper(text)) == text {
			r.Fatalf("not the same words: %q", text)
		}
		b.remember(t, "something else")
		terms := get[int](t, b, "SELECT cardinality(hippocampus._query_terms($1, $2))", b.AppName, text)
		if hits := b.search(t, text, ""); terms > 0 && (len(hits) == 0 || hits[0].MemoryID != id && hits[0].Content != "  "+strings.ToUpper(text)) {
			r.Fatalf("not found: %q", text)
		}
	})
}
