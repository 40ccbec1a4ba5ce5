package function_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
	"github.com/stretchr/testify/require"
)

func TestResolveTime(t *testing.T) {
	t.Parallel()
	b := setup(t)
	// a Thursday
	now := time.Date(2023, 6, 15, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string][2]string{
		"Which movie did I watch on May 2nd?": {"2023-05-02", "2023-05-03"},
		"the 8th of August":                   {"2022-08-08", "2022-08-09"}, // the last one
		"2 May 2022":                          {"2022-05-02", "2022-05-03"},
		"on 2023-05-08":                       {"2023-05-08", "2023-05-09"},
		"in May 2023":                         {"2023-05-01", "2023-06-01"},
		"What did I buy in December?":         {"2022-12-01", "2023-01-01"},
		"in 2022":                             {"2022-01-01", "2023-01-01"},
		"What did we do last week?":           {"2023-06-05", "2023-06-14"},
		"two weeks ago":                       {"2023-05-28", "2023-06-06"},
		"3 days ago":                          {"2023-06-12", "2023-06-13"},
		"the day before yesterday":            {"2023-06-13", "2023-06-14"},
		"What did I eat three days before?":   {"2023-06-12", "2023-06-13"},
		"Two weeks before, did I run?":        {"2023-05-28", "2023-06-06"},
		"two weeks before about the trip":     {"2023-05-28", "2023-06-06"},
		"A few days earlier I ran":            {"2023-06-12", "2023-06-13"},
		"what I said two weeks back":          {"2023-05-28", "2023-06-06"},
		"三個月前":                                {"2023-02-23", "2023-04-05"},
		"兩週前我去了哪裡":                            {"2023-05-28", "2023-06-06"},
		"我三天之前吃了什么":                           {"2023-06-12", "2023-06-13"},
		// counted from a day that is named
		"three days before May 8th, what did I eat?":       {"2023-05-05", "2023-05-06"},
		"What did I eat 2 days after the fair on May 8th?": {"2023-05-10", "2023-05-11"},
		"The day before May 8th":                           {"2023-05-07", "2023-05-08"},
		"Where was I in the week before May 8th?":          {"2023-04-30", "2023-05-09"},
		"The week after May 8th":                           {"2023-05-08", "2023-05-17"},
		"On May 8th, three days before the fair?":          {"2023-05-08", "2023-05-09"}, // the fair is of another
		"yesterday, three days before the fair":            {"2023-06-14", "2023-06-15"},
		"5月8日前三天我吃了什么？":                                    {"2023-05-05", "2023-05-06"},
		"5月8日的三天前我吃了什么？":                                   {"2023-05-05", "2023-05-06"},
		"5月8日之后两天":                                         {"2023-05-10", "2023-05-11"},
		"2023年5月前三天":                                       {"2023-05-01", "2023-06-01"},
		"yesterday":                                        {"2023-06-14", "2023-06-15"},
		"last Saturday":                                    {"2023-06-10", "2023-06-11"},
		"last Thursday":                                    {"2023-06-08", "2023-06-09"},
		"last month":                                       {"2023-05-01", "2023-06-01"},
		"last year":                                        {"2022-01-01", "2023-01-01"},
		"我5月2日看了什么？":                                       {"2023-05-02", "2023-05-03"},
		"4月30号的天气":                                         {"2023-04-30", "2023-05-01"},
		"五月十二日":                                            {"2023-05-12", "2023-05-13"},
		"2023年5月8日":                                        {"2023-05-08", "2023-05-09"},
		"去年5月":                                             {"2022-05-01", "2022-06-01"},
		"2021年":                                            {"2021-01-01", "2022-01-01"},
		"上个月去了哪里":                                          {"2023-05-01", "2023-06-01"},
		"上周六":                                              {"2023-06-10", "2023-06-11"},
		"三天前":                                              {"2023-06-12", "2023-06-13"},
		"两个星期前":                                            {"2023-05-28", "2023-06-06"},
		"昨天":                                               {"2023-06-14", "2023-06-15"},
		"前年":                                               {"2021-01-01", "2022-01-01"},
		// what stands within a word for another time
		"大前天我吃了什么":             {"2023-06-12", "2023-06-13"},
		"大前年":                  {"2020-01-01", "2021-01-01"},
		"大前年5月":                {"2020-05-01", "2020-06-01"},
		"上上周去了哪里":              {"2023-05-29", "2023-06-05"},
		"上上周六":                 {"2023-06-03", "2023-06-04"},
		"我早上上周六的课":             {"2023-06-10", "2023-06-11"},
		"上上个月":                 {"2023-04-01", "2023-05-01"},
		"上週六":                  {"2023-06-10", "2023-06-11"},
		"上個月":                  {"2023-05-01", "2023-06-01"},
		"這個月":                  {"2023-06-01", "2023-06-16"},
		"a party two days ago": {"2023-06-13", "2023-06-14"},
		// of a year that is told otherwise
		"今年12月":              {"2023-12-01", "2024-01-01"},
		"December this year": {"2023-12-01", "2024-01-01"},
		"this August":        {"2023-08-01", "2023-09-01"},
		"明年5月":               {"2024-05-01", "2024-06-01"},
		"in May next year":   {"2024-05-01", "2024-06-01"},
		"in May of 2022":     {"2022-05-01", "2022-06-01"},
		"next May":           {"2024-05-01", "2024-06-01"},
		"next August":        {"2023-08-01", "2023-09-01"},
		"22年5月8日":            {"2022-05-08", "2022-05-09"},
		"98年7月":              {"1998-07-01", "1998-08-01"},
		"on February 29th":   {"2020-02-29", "2020-03-01"},
		"2月29日":              {"2020-02-29", "2020-03-01"},
	} {
		got := get[pgtype.Range[pgtype.Timestamptz]](t, b, "SELECT hippocampus.resolve_time($1, $2)", text, now)
		require.True(t, got.Valid, text)
		require.Equal(t, want, [2]string{
			got.Lower.Time.UTC().Format(time.DateOnly), got.Upper.Time.UTC().Format(time.DateOnly),
		}, text)
	}
	for _, text := range []string{
		"", "May I ask something?", "What may happen?", "before I moved", "three days before my wedding", "Where did I go two weeks before the exam?",
		"A year before I moved, where did I eat?", "three days earlier than my wedding", "after two weeks back home", "three days before and after the fair",
		"three days after my wedding", "婚礼前三天", "婚礼的三天前我去了哪里？", "婚礼后三天", "搬家的兩個月前", "the 30th of February", "I marched on", "13月40日", "call 2023", "我喜欢什么",
		"2.5 years ago", "half a year ago", "twenty-five days ago", "twenty five days ago", "one hundred and five days ago", "1.5年前", "一百零五天前", "一百五十天前",
		"February 29 of 2023",
	} {
		got := get[pgtype.Range[pgtype.Timestamptz]](t, b, "SELECT hippocampus.resolve_time($1, $2)", text, now)
		require.False(t, got.Valid, text)
	}
	b.refuses(t, "HC009", "p_now", "SELECT hippocampus.resolve_time('today', 'infinity')")
}

func TestSearchByTheTimeInTheQuestion(t *testing.T) {
	t.Parallel()
	b := setup(t)
	day := 24 * time.Hour
	for i, content := range []string{"We had dinner at the harbour", "We had dinner on the hill", "We had dinner at home"} {
		b.rememberWith(t, content, "p_occurred_from => $5", b.now.Add(-time.Duration(5+10*i)*day))
	}
	for question, want := range map[string]string{
		"Where was the dinner " + b.now.Add(-15*day).Format("on January 2, 2006") + "?": "We had dinner on the hill",
		"dinner 25 days ago": "We had dinner at home",
		"dinner":             "We had dinner at the harbour", // nothing else tells them apart, so the newest
	} {
		found := list[string](t, b, "SELECT s.content FROM hippocampus.search_memory($1, $2, $3, p_now => $4) s", b.UserID, b.AppName, question, b.now)
		require.Len(t, found, 3, question) // evidence, not a filter
		require.Equal(t, want, found[0], question)
	}
}

func TestResolveTimeAtTheEnds(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, text := range []string{
		"last week", "this week", "12 years ago", "99年前", "去年5月", "前年5月", "last May 3", "last month", "last year", "前年", "yesterday", "上周六",
		"in 1999", "May 3", "two months ago", "today", "this year", "29 February", "去年2月29号",
	} {
		for _, now := range []string{"0001-01-02 00:00:00+00", "0001-12-31 00:00:00+00", "9999-01-01 00:00:00+00", "9999-12-30 00:00:00+00"} {
			b.exec(t, "SELECT hippocampus.resolve_time($1, $2::text::timestamptz)", text, now)
		}
		b.refuses(t, "HC009", "p_now is", "SELECT hippocampus.resolve_time($1, '4713-01-01 00:00:00+00 BC')", text)
		b.refuses(t, "HC009", "p_now is", "SELECT hippocampus.resolve_time($1, '294276-12-31 23:59:59+00')", text)
	}
}
