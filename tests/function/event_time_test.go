package function_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/stretchr/testify/require"
)

func TestEventClause(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for text, want := range map[string][]string{
		"Where did I live before I moved?":                         {"before", "i moved"},
		"Before I moved, where did I live?":                        {"before", "i moved"},
		"Where was I until the flood":                              {"before", "the flood"},
		"after the wedding where did we go":                        {"after", "the wedding"},
		"Which books have I read since I started my new job?":      {"after", "i started my new job"},
		"How many flats did I see before signing the lease?":       {"before", "signing the lease"},
		"What did I eat while I was in Japan?":                     {"around", "i was in japan"},
		"When I was in Japan, what did I eat?":                     {"around", "i was in japan"},
		"Who sat beside me during the concert when it rained?":     {"around", "the concert"},
		"When did I eat before the exam?":                          {"before", "the exam"}, // the first asks, the second tells
		"搬家之前我住在哪里？":                                               {"before", "搬家"},
		"还记得我搬家以前住哪吗？":                                             {"before", "搬家"},
		"我换工作前在哪里上班？":                                              {"before", "换工作"},
		"結婚以後我們去了哪裡？":                                              {"after", "結婚"},
		"毕业后我做什么工作？":                                               {"after", "毕业"},
		"自从换了工作以来我每天几点起床？":                                         {"after", "换工作"},
		"去日本的时候我吃了什么？":                                             {"around", "去日本"},
		"我在日本期间吃了什么？":                                              {"around", "日本"},
		"I like tea. What did I drink before the race, and where?": {"before", "the race"},
		// counted from there
		"Where did I eat three days before my wedding?":  {"before", "my wedding", "-3", "day"},
		"Two weeks after I moved, where did I eat?":      {"after", "i moved", "2", "week"},
		"What did I do the night before the exam?":       {"before", "the exam", "-1", "day"},
		"What did I do the week before the exam?":        {"before", "the exam", "-1", "the week"},
		"What did I do a year before the exam?":          {"before", "the exam", "-1", "year"},
		"What did I eat twice a week before the exam?":   {"before", "the exam"},
		"What had I bought three days before May 8th?":   {"before", "may 8th", "-3", "day"},
		"Who did I meet three days ago before the exam?": {"before", "the exam"},
		"婚礼前三天我们去了哪里？":                                   {"before", "婚礼", "-3", "天"},
		"婚礼的三天前我们去了哪里？":                                  {"before", "婚礼", "-3", "天"},
		"我结婚后两个月住在哪里？":                                   {"after", "结婚", "2", "月"},
		"搬家兩週後我去了哪裡？":                                    {"after", "搬家", "2", "週"},
		"搬家以后一天吃几顿饭？":                                    {"after", "搬家"},
	} {
		require.Equal(t, want, get[[]string](t, b, "SELECT hippocampus._event_clause($1)", text), text)
	}
	for _, text := range []string{
		"", "Which tea do I like?", "When did I move?", "When is my birthday?", "Tell me when to water the plants", "before", "Did we meet before?",
		"You told me that before, what was it?", "What has changed since then?", "What did I play when I was younger?", "What did he fear when he was a kid?",
		"How long did we date before we married?", "How many days before the fair did I arrive?", "搬家之前住了多久？", "结婚后过了几个月？",
		"你之前推荐的书是什么？", "以前我住哪里？", "三天之前我做了什么？", "两个月后呢？", "我目前的工作是什么？", "后来怎么样了？", "前天我吃了什么？", "最后一次见面是几号？",
	} {
		require.Nil(t, get[[]string](t, b, "SELECT hippocampus._event_clause($1)", text), text)
	}
}

// told remembers something as of a day, so many before the bundle's.
func (b *testBundle) told(t *testing.T, content string, daysAgo int) uuid.UUID {
	t.Helper()
	return b.rememberWith(t, content, "p_occurred_from => $5", b.daysAgo(daysAgo))
}

func (b *testBundle) daysAgo(n int) time.Time { return b.now.AddDate(0, 0, -n) }

// eventTime is the time that a question tells by an event: its ends in days before the bundle's, «…» where it is open, and
// "" where there is none.
func (b *testBundle) eventTime(t *testing.T, question string) string {
	t.Helper()
	r := get[pgtype.Range[pgtype.Timestamptz]](t, b, "SELECT hippocampus._event_time($1, $2, $3)", b.UserID, b.AppName, question)
	if !r.Valid {
		return ""
	}
	end := func(bound pgtype.BoundType, at time.Time) string {
		if bound == pgtype.Unbounded {
			return "…"
		}
		return b.now.Truncate(24 * time.Hour).Sub(at.UTC().Truncate(24 * time.Hour)).String()
	}
	return end(r.LowerType, r.Lower.Time) + " to " + end(r.UpperType, r.Upper.Time)
}

func TestEventTime(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	days := func(n int) string { return (time.Duration(n) * day).String() }
	before := func(n int) string { return "… to " + days(n) }
	after := func(n int) string { return days(n) + " to …" }

	t.Run("AsAMemoryTellsIt", func(t *testing.T) {
		t.Parallel()
		for _, c := range []struct{ told, question, want string }{
			{"I moved to Lisbon today", "Where did I eat before I moved?", before(40)},
			{"I moved to Lisbon today", "Where have I eaten since moving to Lisbon?", after(40)},
			{"The wedding was wonderful", "Where did we go after the wedding?", after(40)},
			{"I arrived in Japan", "What did I eat while I was in Japan?", days(43) + " to " + days(37)},
			{"我今天搬家了，好累", "搬家之前我常去哪里吃饭？", before(40)},
			{"我們結婚了", "結婚以後我們去了哪裡？", after(40)},
			{"我换工作了", "自从换了工作以来我每天几点起床？", after(40)},
			{"今天到日本了", "我在日本的时候吃了什么？", days(43) + " to " + days(37)},
			{"I moved to Lisbon today", "Where did I eat before I moved to Rome?", ""}, // nothing tells of Rome
			{"I moved to Lisbon today", "Where did I eat before the flood?", ""},
			{"我今天搬家了，好累", "结婚之前我常去哪里吃饭？", ""},
			{"Should I move to Lisbon?", "Where did I eat before I moved to Lisbon?", ""},           // asks
			{"Before I moved, I ate at Ada's", "Where did I eat before I moved?", ""},               // speaks of the time, and doesn't tell it
			{"I moved two weeks ago", "Where did I eat before I moved?", before(40 + 14 + 4)},       // around it, as resolve_time has it
			{"I moved last year", "What did I eat when I moved?", days(43) + " to " + days(37)},     // what is told of it is of that day
			{"I moved to Lisbon today", "How long did I eat there before I moved?", ""},             // is asked at both ends
			{"I moved to Lisbon today", "When did I move to Lisbon?", ""},                           // tells no time
			{"I moved to Lisbon today", "Where did I eat before I moved to a house in Lisbon?", ""}, // two words of three
		} {
			t.Run(c.told+" "+c.question, func(t *testing.T) {
				t.Parallel()
				b := setup(t)
				b.told(t, c.told, 40)
				b.told(t, "I had an ice cream in the park", 20)
				require.Equal(t, c.want, b.eventTime(t, c.question))
			})
		}
	})

	t.Run("CountedFromIt", func(t *testing.T) {
		t.Parallel()
		for _, c := range []struct{ told, question, want string }{ // the day of the count, and one on each side of it
			{"The wedding was wonderful", "Where did we go three days before the wedding?", days(44) + " to " + days(41)},
			{"The wedding was wonderful", "Where did we go the day after the wedding?", days(40) + " to " + days(37)},
			{"The wedding was wonderful", "Where did we go two weeks after the wedding?", days(31) + " to " + days(20)},
			{"The wedding was yesterday", "Where did we go three days before the wedding?", days(45) + " to " + days(42)},
			{"今天的婚礼很美", "婚礼前三天我们去了哪里？", days(44) + " to " + days(41)},
			{"今天的婚礼很美", "婚礼的三天前我们去了哪里？", days(44) + " to " + days(41)},
			{"今天的婚礼很美", "婚礼后两周我们去了哪里？", days(31) + " to " + days(20)},
			{"The wedding was wonderful", "Where did we go three days before the fair?", ""},
		} {
			b := setup(t)
			b.told(t, c.told, 40)
			require.Equal(t, c.want, b.eventTime(t, c.question), c.question)
			require.Equal(t, c.want != "", get[bool](t, b, "SELECT EXISTS (SELECT FROM hippocampus._asked_time($1, $2, $3, $4))",
				b.UserID, b.AppName, c.question, b.now), c.question)
		}
	})

	t.Run("ToldMoreThanOnce", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.told(t, "I adopted a dog", 40)
		b.told(t, "Since I adopted the dog I sleep better", 30)
		require.Equal(t, before(40), b.eventTime(t, "Where was I before I adopted the dog?")) // it was news when it was told first
		require.Equal(t, after(40), b.eventTime(t, "Where was I after I adopted the dog?"))
		require.Empty(t, b.eventTime(t, "Where was I when I adopted the dog?")) // no one time
		b.told(t, "You adopted a dog, you said", 20)
		require.Equal(t, before(40), b.eventTime(t, "Where was I before I adopted the dog?"))
		b.told(t, "The dog that I adopted barks", 10)
		require.Empty(t, b.eventTime(t, "Where was I before I adopted the dog?")) // a topic

		b.told(t, "The fair begins", 7)
		b.told(t, "The fair is over", 2)
		require.Equal(t, days(10)+" to "+days(-1), b.eventTime(t, "Where was I during the fair?"))
	})

	t.Run("ByAFact", func(t *testing.T) {
		t.Parallel()
		fact := func(b *testBundle, key, value string, from any) {
			t.Helper()
			b.exec(t, "SELECT hippocampus.upsert_fact($1, $2, 'profile', $3, to_jsonb($4::text), p_valid_from => $5, p_now => $6)",
				b.UserID, b.AppName, key, value, from, b.now)
		}
		b := setup(t)
		b.told(t, "Big news: the wedding!", 40)
		fact(b, "wedding", "at the harbour", nil)
		require.Equal(t, after(40), b.eventTime(t, "Where did I go after the wedding?")) // nobody said when
		fact(b, "job", "baker", b.daysAgo(300))
		require.Equal(t, before(300), b.eventTime(t, "What did I do before the job?")) // no memory tells it
		fact(b, "job", "cook", b.daysAgo(100))
		require.Equal(t, before(100), b.eventTime(t, "What did I do before the job?")) // the newest
		require.Equal(t, before(300), b.eventTime(t, "What did I do before the job as a baker?"))
		require.Equal(t, days(303)+" to "+days(297), b.eventTime(t, "Where did I eat while I had the job as a baker?"))
	})

	t.Run("ByAFactDrawnFromWhatTellsIt", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread := b.talk(t, "user: I moved to Lisbon, and I am tired", "agent: Rest!")
		id := get[uuid.UUID](t, b, "SELECT hippocampus.upsert_fact($1, $2, 'profile', 'home', '\"Lisbon\"', p_valid_from => $3, p_now => $4)",
			b.UserID, b.AppName, b.daysAgo(90), b.now)
		b.exec(t, `INSERT INTO hippocampus.memory_sources (from_seq, to_seq, fact_id, thread_id, user_id, app_name)
			VALUES (1, 1, $1, $2, $3, $4)`, id, thread, b.UserID, b.AppName)
		require.Equal(t, before(90), b.eventTime(t, "Where did I eat before I moved to Lisbon?"))
		require.Equal(t, before(0), b.eventTime(t, "Where did I eat before I was tired?")) // of which the fact says nothing
	})

	t.Run("WhatIsGoneTellsNothing", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		question := "Where did I eat before the wedding?"
		first := b.told(t, "The wedding is today", 40)
		second := b.told(t, "The wedding was today", 30)
		b.exec(t, "SELECT hippocampus.supersede($1, $2, $3, $4)", b.UserID, b.AppName, first, second)
		require.Equal(t, before(30), b.eventTime(t, question))
		b.exec(t, "SELECT hippocampus.forget($1, $2, ARRAY[$3::uuid])", b.UserID, b.AppName, second)
		require.Empty(t, b.eventTime(t, question)) // with what it took the place of
	})

	t.Run("AnotherUsersEventIsNoTime", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		for _, of := range [][2]string{{b.UserID + " else", b.AppName}, {b.UserID, b.AppName + " else"}} {
			b.exec(t, "SELECT hippocampus.remember($1, $2, 'The wedding was today', p_now => $3)", of[0], of[1], b.daysAgo(40))
			b.exec(t, "SELECT hippocampus.upsert_fact($1, $2, 'custom', 'wedding', '\"in June\"', p_valid_from => $3, p_now => $4)",
				of[0], of[1], b.daysAgo(300), b.now)
		}
		b.told(t, "We had dinner", 20)
		require.Empty(t, b.eventTime(t, "Where did I eat before the wedding?"))
	})
}

func TestSearchByAnEventInTheQuestion(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		event    string
		dinners  [3]string // before it, at its time, after it
		question [3]string
		none     string // a question about an event that nothing tells
	}{
		{
			"I moved to Lisbon",
			[3]string{"We had dinner at the harbour", "We had dinner on the hill", "We had dinner at home"},
			[3]string{"Where was our dinner before I moved?", "Where was our dinner when I moved to Lisbon?", "Where was our dinner after moving to Lisbon?"},
			"Where was our dinner before the flood?",
		},
		{
			"我今天搬家了",
			[3]string{"我们在港口吃晚饭", "我们在山上吃晚饭", "我们在船上吃晚饭"},
			[3]string{"搬家之前晚饭在哪里？", "搬家的时候晚饭在哪里？", "搬家以后晚饭在哪里？"},
			"洪水之前晚饭在哪里？",
		},
	} {
		b := setup(t)
		b.told(t, c.event, 50)
		for i, daysAgo := range []int{80, 49, 20} {
			b.told(t, c.dinners[i], daysAgo)
		}
		b.exec(t, `SELECT hippocampus.put_setting($1, 'ranking', '{"text": 1}')`, b.AppName) // so that the newest isn't the best
		dinners := func(question string) (order []string, timely map[string]bool) {
			t.Helper()
			timely = map[string]bool{}
			for _, h := range b.search(t, question, "") {
				timely[h.Content] = h.Timely
				if h.Content != c.event {
					order = append(order, h.Content)
				}
			}
			require.Len(t, order, 3, question) // evidence, not a filter
			return order, timely
		}
		for i, question := range c.question {
			order, timely := dinners(question)
			want := map[string]bool{c.dinners[0]: i == 0, c.dinners[1]: i >= 1, c.dinners[2]: i == 2, c.event: i > 0}
			require.Equal(t, want, timely, question)
			require.True(t, timely[order[0]], question)
		}
		_, timely := dinners(c.none)
		require.NotContains(t, timely, true)
		for _, is := range timely {
			require.False(t, is, c.none)
		}
		b.evidence(t, `{"time": 0}`)
		_, timely = dinners(c.question[0])
		for _, is := range timely {
			require.False(t, is, c.question[0])
		}
	}
}

// A question by the calendar and one by an event differ in what the time weighs.
func TestAskedTime(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.told(t, "I moved to Lisbon", 50)
	for question, share := range map[string][]float64{
		"Where did we eat yesterday?": {1}, "Where did we eat before I moved?": {0.2}, "Where did we eat yesterday, after I moved?": {1},
		"Where did we eat last month?": {}, "Where did we eat last year, before I moved?": {}, "Where did we eat?": {}, "": {},
	} {
		require.Equal(t, share, list[float64](t, b, "SELECT a.share FROM hippocampus._asked_time($1, $2, $3, $4) a", b.UserID, b.AppName, question, b.now), question)
	}
}
