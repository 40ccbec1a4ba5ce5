package offline_test

import (
	"context"
	"fmt"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/hippocampus-memory/hippocampus/model"
	"github.com/hippocampus-memory/hippocampus/model/offline"
)

func TestSummarizer(t *testing.T) {
	t.Parallel()
	english := []model.Turn{
		{Author: "user", Text: "Hi! How are you?"},
		{Author: "assistant", Text: "Hello! I'm fine. How can I help you today?"},
		{Author: "user", Text: "I'm planning a trip to Japan in April 2027 with my sister Emma. Our budget is 4000 euros."},
		{Author: "assistant", Text: "Great choice. April is the cherry blossom season, so book hotels in Kyoto early. Anything else?"},
		{Author: "user", Text: "We decided to stay five days in Kyoto and three in Tokyo. Thanks!"},
		{Author: "tool", Text: "{\"status\": \"ok\"}"},
	}

	t.Run("Chinese", func(t *testing.T) {
		t.Parallel()
		c := &model.Conversation{}
		for i := range 40 {
			c.Turns = append(c.Turns,
				model.Turn{Author: "user", Text: fmt.Sprintf("我们决定在第%d周发布新版本，因为测试环境已经准备好了。你好！", i)},
				model.Turn{Author: "agent", Text: "好的。数据库迁移需要两个小时，建议安排在周五晚上进行。还有其他问题吗？"})
		}
		s, err := open(t).Summarizer.Summarize(t.Context(), c)
		require.NoError(t, err)
		require.LessOrEqual(t, utf8.RuneCountInString(s.Content), 200)
		require.Contains(t, s.Content, "用户：我们决定在第")
		require.Contains(t, s.Content, "助手：数据库迁移需要两个小时")
		require.NotContains(t, s.Content, "还有其他问题吗")
	})

	t.Run("English", func(t *testing.T) {
		t.Parallel()
		s, err := open(t).Summarizer.Summarize(t.Context(), &model.Conversation{Turns: english})
		require.NoError(t, err)
		require.Equal(t, "offline/extractive-v1", s.Model)
		require.Contains(t, s.Content, "User: I'm planning a trip to Japan in April 2027 with my sister Emma.")
		require.Contains(t, s.Content, "We decided to stay five days in Kyoto and three in Tokyo.")
		again, err := open(t).Summarizer.Summarize(t.Context(), &model.Conversation{Turns: english})
		require.NoError(t, err)
		require.Equal(t, s, again)
	})

	// Sentences of two languages are set apart as each has it: a space after a full stop, none after 。
	t.Run("JoinsLanguages", func(t *testing.T) {
		t.Parallel()
		for _, language := range []string{"en", "zh"} {
			s, err := open(t).Summarizer.Summarize(t.Context(), &model.Conversation{Language: language, Turns: []model.Turn{
				{Author: "user", Text: "I don't drink coffee any more."},
				{Author: "user", Text: "My cat is called Mimi."},
				{Author: "user", Text: "我改喝绿茶。"},
				{Author: "user", Text: "我老公叫王强。"},
			}})
			require.NoError(t, err)
			require.Contains(t, s.Content, "any more. My cat is called Mimi. 我改喝绿茶。我老公叫王强。")
		}
	})

	t.Run("KeepsWhomASentenceIsAbout", func(t *testing.T) {
		t.Parallel()
		s, err := open(t).Summarizer.Summarize(t.Context(), &model.Conversation{Turns: []model.Turn{
			{Author: "user", Text: "The deploy plan of project Apollo moved to March 2026."},
			{Author: "user", Text: "We decided that project Apollo must deploy by March 2026 under the new plan."},
			{Author: "user", Text: "I adopted a dog, too. He is called Bento, and will join project Apollo when the plan to deploy in March 2026 is done."},
		}})
		require.NoError(t, err)
		require.Contains(t, s.Content, "I adopted a dog, too. He is called Bento, and")
	})

	t.Run("KeepsLengthAndOrder", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(t *rapid.T) {
			c := &model.Conversation{Language: rapid.SampledFrom([]string{"en", "zh", ""}).Draw(t, "language")}
			for i := range rapid.IntRange(1, 30).Draw(t, "turns") {
				text := rapid.StringOfN(rapid.SampledFrom([]rune("ab cd. ef! 好的。寿司？\n!?…\"")), 1, 300, -1).Draw(t, "text")
				c.Turns = append(c.Turns, model.Turn{Author: rapid.SampledFrom([]string{"user", "agent", "Bob"}).Draw(t, "author"), Text: text + fmt.Sprintf(" x%d", i)})
			}
			s, err := open(t).Summarizer.Summarize(context.Background(), c)
			require.NoError(t, err)
			require.NotEmpty(t, s.Content)
			require.True(t, utf8.ValidString(s.Content))
			if c.Language == "zh" {
				require.LessOrEqual(t, utf8.RuneCountInString(s.Content), 240)
			}
		})
	})

	t.Run("NothingButSigns", func(t *testing.T) {
		t.Parallel()
		s, err := open(t).Summarizer.Summarize(t.Context(), &model.Conversation{Turns: []model.Turn{{Author: "user", Text: "👍"}}})
		require.NoError(t, err)
		require.Equal(t, "User: 👍", s.Content)
	})

	t.Run("RefusesNoTextAndTooMuch", func(t *testing.T) {
		t.Parallel()
		models, err := offline.Open(t.Context(), &offline.Config{MaxInputChars: 10})
		require.NoError(t, err)
		for _, c := range []*model.Conversation{{}, {Turns: english}} {
			_, err := models.Summarizer.Summarize(t.Context(), c)
			var failure *model.Error
			require.ErrorAs(t, err, &failure)
			require.Equal(t, model.KindRejected, failure.Kind)
			_, err = models.Reflector.Reflect(t.Context(), c)
			require.ErrorAs(t, err, &failure)
		}
		_, err = models.Classifier.Classify(t.Context(), &model.ClassifyInput{Old: "abcdef", New: "ghijkl"})
		require.ErrorContains(t, err, "over the limit of 10")
	})
}
