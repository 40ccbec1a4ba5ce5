package offline_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/hippocampus-memory/hippocampus/model"
	"github.com/hippocampus-memory/hippocampus/model/internal/reply"
	"github.com/hippocampus-memory/hippocampus/model/offline"
)

func open(t require.TestingT) *model.Models {
	models, err := offline.Open(context.Background(), &offline.Config{})
	require.NoError(t, err)
	return models
}

var may10 = time.Date(2026, 5, 10, 15, 0, 0, 0, time.UTC)

func reflect(t *testing.T, turns ...model.Turn) *model.Reflection {
	t.Helper()
	for i := range turns {
		turns[i].Sequence, turns[i].At = int64(i+1), may10
	}
	r, err := open(t).Reflector.Reflect(t.Context(), &model.Conversation{Turns: turns})
	require.NoError(t, err)
	return r
}

// learned is a reflection in short: "type key=value".
func learned(r *model.Reflection) []string {
	facts := []string{}
	for _, f := range r.Facts {
		facts = append(facts, fmt.Sprintf("%s %s=%s", f.Type, f.Key, strings.Trim(string(f.Value), `"`)))
	}
	return facts
}

func user(text string) model.Turn { return model.Turn{Author: "user", Text: text} }

func TestReflector_Facts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		// English preferences
		"I love sushi!":                              {"preference about_sushi=loves sushi"},
		"I really don't like mushrooms.":             {"preference about_mushrooms=dislikes mushrooms"},
		"I no longer like sushi.":                    {"preference about_sushi=no longer likes sushi"},
		"I don’t like sushi anymore.":                {"preference about_sushi=no longer likes sushi"},
		"I'm a big fan of the Beatles":               {"preference about_beatles=is a fan of the Beatles"},
		"I prefer tea over coffee.":                  {"preference about_tea=prefers tea over coffee"},
		"My favorite color is blue.":                 {"preference favorite_color=blue"},
		"I love hiking but hate running.":            {"preference about_hiking=loves hiking", "preference about_running=hates running"},
		"Well, actually, I can't stand cilantro":     {"preference about_cilantro=can't stand cilantro"},
		"I've been really into pottery lately.":      {"preference about_pottery=is a fan of pottery"},
		"I like to cook, and I enjoy reading novels": {"preference about_cook=likes to cook", "preference about_novels=likes reading novels"},
		// English profile
		"My name is Anna Smith and I work as a software engineer at Google.": {
			"profile name=Anna Smith", "profile occupation=software engineer", "profile employer=Google",
		},
		"Call me Ishmael.":                               {"profile name=Ishmael"},
		"I live in New York City with my two cats.":      {"profile location=New York City"},
		"i live in berlin":                               {"profile location=berlin"},
		"I just moved from Paris to Berlin last month.":  {"profile location=Berlin"},
		"I used to live in Rome but now I live in Oslo.": {"profile location=Oslo"},
		"We live in Lyon.":                               {"profile location=Lyon"},
		"since last month I live in Lyon":                {"profile location=Lyon"},
		"We've just moved from Berlin to Lyon.":          {"profile location=Lyon"},
		"I no longer live in Toulouse.":                  {"profile past_location_toulouse=no longer lives in Toulouse"},
		"We don't live in New York anymore.":             {"profile past_location_new_york=no longer lives in New York"},
		"I quit my job at Siemens last month.":           {"profile past_employer_siemens=no longer works at Siemens"},
		"I don't work at Google any more.":               {"profile past_employer_google=no longer works at Google"},
		"I no longer work for Google":                    {"profile past_employer_google=no longer works at Google"},
		"I always want an aisle seat.":                   {"preference about_aisle_seat=always wants an aisle seat"},
		"我不住在北京了。":                                       {"profile past_location_北京=不再住在北京"},
		"我已经从西门子辞职了。":                                    {"profile past_employer_西门子=不再就职于西门子"},
		"我不在腾讯工作了。":                                      {"profile past_employer_腾讯=不再就职于腾讯"},
		"我们全家搬到了重庆":                                      {"profile location=重庆"},
		"我不喝咖啡了，改喝绿茶。":                                   {"preference about_咖啡=不再喝咖啡", "preference about_绿茶=改喝绿茶"},
		"I'm from the Netherlands.":                      {"profile origin=the Netherlands"},
		"I'm a nurse.":                                   {"profile occupation=nurse"},
		"I'm allergic to peanuts, shellfish and eggs.": {
			"profile allergy_peanuts=allergic to peanuts", "profile allergy_shellfish=allergic to shellfish", "profile allergy_eggs=allergic to eggs",
		},
		"I'm not allergic to nuts.":                    {"profile allergy_nuts=not allergic to nuts"},
		"My birthday is on March 3rd.":                 {"profile birthday=March 3rd"},
		"I have a dog named Rex and a cat named Luna.": {"profile pet_rex=has a dog named Rex", "profile pet_luna=has a cat named Luna"},
		"My wife's name is Emma.":                      {"profile wife=Emma"},
		"My daughter is called Zoë.":                   {"profile daughter_zoë=Zoë"},
		"I've been vegan since 2019.":                  {"profile diet=vegan"},
		"I got divorced last year.":                    {"profile marital_status=divorced"},
		"I am 34 years old.":                           {"profile age=34"},
		"I speak English and French.":                  {"profile languages=English and French"},
		"My email is anna@example.com.":                {"profile email=anna@example.com"},
		// English rules
		"Please don't use emoji in your replies.": {"rule never_use_emoji_in_replies=Please do not use emoji in your replies"},
		"Never call me before 9am.":               {"rule never_call_before_9am=Never call me before 9am"},
		"Always answer in French.":                {"rule reply_language=Always answer in French"},
		"From now on, reply in English.":          {"rule reply_language=From now on, reply in English"},
		"No meetings on Fridays, please.":         {"rule no_meetings_on_fridays=No meetings on Fridays"},
		"I never eat meat.":                       {"rule never_eat_meat=never eats meat"},
		"I don't drink coffee after 3pm.":         {"rule never_drink_coffee_after_3pm=does not drink coffee after 3pm"},
		// Chinese
		"我非常喜欢寿司。":                                      {"preference about_寿司=非常喜欢寿司"},
		"我喜欢吃寿司，不喜欢喝咖啡":                                 {"preference about_寿司=喜欢吃寿司", "preference about_咖啡=不喜欢喝咖啡"},
		"我不再喜欢寿司了":                                      {"preference about_寿司=不再喜欢寿司"},
		"我一直很讨厌加班":                                      {"preference about_加班=一直很讨厌加班"},
		"我最喜欢的颜色是蓝色":                                    {"preference favorite_颜色=蓝色"},
		"我叫小明，今年30岁，住在杭州。":                              {"profile name=小明", "profile age=30", "profile location=杭州"},
		"请叫我老王":                                         {"profile name=老王"},
		"我去年搬到了上海":                                      {"profile location=上海"},
		"我从上海搬到了深圳":                                     {"profile location=深圳"},
		"我来自四川":                                         {"profile origin=四川"},
		"我是一名软件工程师":                                     {"profile occupation=软件工程师"},
		"我在腾讯工作":                                        {"profile employer=腾讯"},
		"我在北京工作":                                        {"profile work_location=北京"},
		"我对花生和海鲜过敏":                                     {"profile allergy_花生=对花生过敏", "profile allergy_海鲜=对海鲜过敏"},
		"我对花生不过敏":                                       {"profile allergy_花生=对花生不过敏"},
		"我的生日是5月12日":                                    {"profile birthday=5月12日"},
		"我养了一只猫，叫咪咪":                                    {"profile pet_咪咪=养了一只猫，叫咪咪"},
		"我家有一只叫旺财的狗":                                    {"profile pet_旺财=养了一只狗，叫旺财"},
		"我养了一条狗，叫旺财":                                    {"profile pet_旺财=养了一条狗，叫旺财"},
		"我有两匹叫赤兔的马":                                     {"profile pet_赤兔=养了两匹马，叫赤兔"},
		"我每周五不开会":                                       {"rule 每周五不开会=每周五不开会"},
		"And please never schedule deploys on Fridays.": {"rule never_schedule_deploys_on_fridays=Please never schedule deploys on Fridays"},
		"我老婆叫小红":                                        {"profile wife=小红"},
		"我吃素":                                           {"profile diet=吃素"},
		"请不要用表情符号":                                      {"rule 不要用表情符号=请不要用表情符号"},
		"以后都用中文回答":                                      {"rule reply_language=以后都用中文回答"},
		"每周五不开会":                                        {"rule 每周五不开会=每周五不开会"},
		"不要再给我发邮件了":                                     {"rule 不要给我发邮件=不要再给我发邮件"},
		"我从不吃肉":                                         {"rule 不吃肉=从不吃肉"},
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, want, learned(reflect(t, user(text))))
		})
	}
}

func TestReflector_Nothing(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		// questions
		"Do you like sushi?", "I like sushi, don't you?", "Does he know I live in Rome?", "What if I lived in Rome?", "你喜欢寿司吗？", "我喜欢什么呢", "谁说我喜欢寿司",
		// suppositions
		"If I lived in Paris I would like it.", "If I lived in Paris, I like to think I'd be happy.", "Imagine I live in Rome.",
		"I wish I lived in Rome.", "I'd love to visit Japan.", "I might move to Berlin.", "如果我住在巴黎就好了", "我想搬到杭州", "我希望我叫小明",
		// quotations and reported speech
		`She said "I love cats".`, "She said, I love cats.", "People say I live in Rome.", `The song is called "I live in Paris"`, "他说，我喜欢猫", "“我喜欢你”这首歌",
		// other people
		"My friend lives in Rome.", "He is a nurse.", "He loves sushi.", "我爱人是医生", "小李住在广州",
		// nobody's, or nothing's, place
		"We live in hope.", "we live in interesting times", "Since I live in hope, I wait.", "I left my job", "I left my keys at Anna's", "I left Google alone", "我不住了", "We don't live in Toulouse's centre",
		"I always want to help", "我不住校",
		// the past
		"I used to live in Rome.", "I used to like sushi.", "我曾经住在上海",
		// what can't be understood alone
		"I love it when you smile", "I love you", "I like your idea", "I like it a lot.", "I love how you explained that.", "I hate doing that.",
		"I love the idea", "我喜欢这个", "我爱你", "我喜欢你说的方案", "我讨厌你",
		// looks alike
		"I live in hope", "I moved to the front of the line.", "I'm from Monday to Friday at the office", "My name is not important",
		"Call me later", "I'm engaged in talks", "I work for myself", "I prefer not to say", "I'm a morning person.", "I work hard, like a horse.",
		"I'm moving to Berlin next month.", "I'm not a doctor.", "我叫了外卖", "我叫他来", "我住院了", "我在家工作", "我是老师的学生", "我不是医生", "我被狗咬了",
		// orders for once, and idioms
		"Please don't delete that.", "Don't worry about it!", "Never mind.", "Always happy to help", "Only 3 left", "Never been better!", "Don't tell anyone",
		"别担心", "不要这样", "请不要这样做", "每天不容易",
		// code
		"```\nI love sushi\n```", "if (x) { I love sushi }",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			require.Empty(t, learned(reflect(t, user(text))))
		})
	}
}

func TestReflector_Authors(t *testing.T) {
	t.Parallel()

	t.Run("AgentsAreNotPeople", func(t *testing.T) {
		t.Parallel()
		for _, author := range []string{"agent", "assistant", "tool", "system", "weather_agent", "TravelBot", "model", "助手", ""} {
			r := reflect(t, model.Turn{Author: author, Text: "I love sushi. My name is Bob."})
			require.Empty(t, r.Facts, author)
		}
		r := reflect(t, user("hi"), model.Turn{Author: "planner", Text: "I love sushi."})
		require.Empty(t, r.Facts, "beside a user, any other name is taken for an agent")
	})

	t.Run("TwoPeopleDoNotCollide", func(t *testing.T) {
		t.Parallel()
		r := reflect(t, model.Turn{Author: "Caroline", Text: "I live in Oslo."}, model.Turn{Author: "Mary Ann", Text: "I live in Rome. Don't use emoji, please. Please don't share photos."})
		require.Equal(t, []string{"profile caroline_location=Oslo", "profile mary_ann_location=Rome"}, learned(r), "and their advice to each other is no rule")
	})
}

func TestReflector_Change(t *testing.T) {
	t.Parallel()

	t.Run("Dates", func(t *testing.T) {
		t.Parallel()
		for text, want := range map[string]string{
			"I moved to Berlin last month.":       "2026-04-01",
			"I moved to Berlin yesterday.":        "2026-05-09",
			"I moved to Berlin in March 2021.":    "2021-03-01",
			"I have been living in Rome since 98": "",
			"I've been vegan since 2019.":         "2019-01-01",
			"我2019年3月加入了阿里巴巴":                     "2019-03-01",
			"我去年搬到了上海":                            "2025-01-01",
			"I live in Rome.":                     "",
		} {
			f := reflect(t, user(text)).Facts
			if want == "" {
				if len(f) > 0 {
					require.Nil(t, f[0].ValidFrom, text)
				}
				continue
			}
			require.Len(t, f, 1, text)
			require.Equal(t, want, f[0].ValidFrom.Format(time.DateOnly), text)
		}
	})

	t.Run("LaterValueComesLater", func(t *testing.T) {
		t.Parallel()
		r := reflect(t, user("I live in Paris."), user("I love sushi."), user("I moved to Berlin."), user("I no longer like sushi."))
		require.Equal(t, []string{
			"profile location=Paris", "preference about_sushi=loves sushi", "profile location=Berlin", "preference about_sushi=no longer likes sushi",
		}, learned(r))
		require.Greater(t, r.Facts[2].Intensity, 0.5, "taking back an earlier value strengthens the new one")
	})

	t.Run("RepetitionStrengthens", func(t *testing.T) {
		t.Parallel()
		r := reflect(t, user("I like sushi."), user("Yes, I like sushi."))
		require.Len(t, r.Facts, 1)
		require.Equal(t, []int64{1, 2}, r.Facts[0].Sequences)
		require.InDelta(t, 0.5, r.Facts[0].Intensity, 1e-9)
	})

	t.Run("SignalsSetIntensity", func(t *testing.T) {
		t.Parallel()
		last := 0.0
		for _, text := range []string{"I kind of like jazz.", "I like jazz.", "I really like jazz.", "I love jazz!", "I have always absolutely loved and always love jazz!"} {
			facts := reflect(t, user(text)).Facts
			if len(facts) == 0 {
				continue
			}
			require.Greater(t, facts[0].Intensity, last, text)
			last = facts[0].Intensity
		}
		require.Less(t, reflect(t, user("I think I like jazz.")).Facts[0].Confidence, 0.7)
	})
}

func TestReflector_Insights(t *testing.T) {
	t.Parallel()
	r := reflect(t,
		user("We decided to use SQLite instead of Postgres. Should we go?"),
		model.Turn{Author: "agent", Text: "The root cause was a missing index. If we decided to wait, it would fail."},
		model.Turn{Author: "tool", Text: "We decided to fail."},
		user("We haven't decided yet. The plan is to ship on Friday."),
		user("我们决定周五发布。原因是索引缺失。"))
	require.Equal(t, []model.Insight{
		{Content: "User: We decided to use SQLite instead of Postgres.", Importance: "high", Sequences: []int64{1}},
		{Content: "Assistant: The root cause was a missing index.", Importance: "high", Sequences: []int64{2}},
		{Content: "User: The plan is to ship on Friday.", Importance: "medium", Sequences: []int64{4}},
		{Content: "User: 我们决定周五发布。", Importance: "high", Sequences: []int64{5}},
		{Content: "User: 原因是索引缺失。", Importance: "medium", Sequences: []int64{5}},
	}, r.Insights)
	require.Equal(t, "offline/patterns-v1", r.Model)
}

// Whatever is said, what is learned keeps the promises of the port.
func TestReflector_Properties(t *testing.T) {
	t.Parallel()
	words := []string{
		"I", "love", "hate", "live", "in", "Paris", "never", "please", "don't", "my", "name", "is", "Anna", ",", ".", "and", "\"", "sushi", "a", "dog", "named",
		"我", "喜欢", "不", "住在", "北京", "，", "。", "叫", "以后", "请", "每周五", "\x00", "\xff", "🍣", "if", "2019", "use", "allergic", "to", "am", "对", "过敏",
	}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 1, 25).Draw(t, "words"), rapid.SampledFrom([]string{" ", ""}).Draw(t, "gap"))
		c := &model.Conversation{Turns: []model.Turn{{Sequence: 4, Author: rapid.SampledFrom([]string{"user", "Bob", "bot"}).Draw(t, "author"), Text: text + "x"}}}
		r, err := open(t).Reflector.Reflect(context.Background(), c)
		require.NoError(t, err)
		for _, f := range r.Facts {
			require.Equal(t, f.Key, reply.Key(f.Key))
			require.NotEmpty(t, f.Key)
			require.LessOrEqual(t, len(f.Key), model.MaxKeyBytes)
			require.Greater(t, len(f.Value), 2)
			require.Equal(t, []int64{4}, f.Sequences)
			require.True(t, f.Confidence > 0 && f.Confidence <= 1 && f.Intensity > 0 && f.Intensity <= 1)
		}
		again, err := open(t).Reflector.Reflect(context.Background(), c)
		require.NoError(t, err)
		require.Equal(t, r, again)
	})
}
