package model_test

import (
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/hippocampus-memory/hippocampus/model"
)

func TestBoundReply(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.SampledFrom([]string{"a", "好", "\xff", "\xe5\xa5", "\x80", "a\x00", "🍣"}).Draw(t, "unit")
		got := model.BoundReply("x" + strings.Repeat(unit, rapid.IntRange(0, model.MaxRawReply).Draw(t, "n")))
		require.LessOrEqual(t, len(got), model.MaxRawReply)
		require.True(t, utf8.ValidString(got))
		require.NotContains(t, got, "\x00")
		require.True(t, strings.HasPrefix(got, "x"))
	})
}

func TestConversation(t *testing.T) {
	t.Parallel()
	c := &model.Conversation{PriorSummary: "之前", Turns: []model.Turn{{Author: "user", Text: "你好"}}}
	require.Equal(t, 8, c.Chars())
	require.Equal(t, model.LanguageChinese, c.ResolvedLanguage())
	c.Language = model.LanguageEnglish
	require.Equal(t, model.LanguageEnglish, c.ResolvedLanguage())
	c.Language = "zh_CN"
	require.Equal(t, model.LanguageChinese, c.ResolvedLanguage())
	c.Language = "en-GB"
	require.Equal(t, model.LanguageEnglish, c.ResolvedLanguage())
	c.Language = "fr"
	require.Equal(t, model.LanguageChinese, c.ResolvedLanguage())
}

func TestDetectLanguage(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                        "en",
		"12 + 3 🙂":                "en",
		"I live in Berlin":        "en",
		"我住在柏林":                   "zh",
		"我在用 Kubernetes 部署服务":     "zh", // 7 letters of 17
		"请把日志写到 stdout":           "zh",
		"寿司が好きです":                 "en",
		"저는 서울에 삽니다":              "en",
		"I said 你好 to my teacher": "en",
	} {
		require.Equal(t, want, model.DetectLanguage(text), text)
	}
}

func TestError(t *testing.T) {
	t.Parallel()

	t.Run("SaysWhoWhatWhy", func(t *testing.T) {
		t.Parallel()
		err := &model.Error{
			Kind: model.KindRateLimited, Provider: "gemini", Operation: "embed", Status: 429,
			RetryAfter: 3 * time.Second, RawReply: "private", Err: io.EOF,
		}
		require.EqualError(t, err, "gemini embed: rate limited (HTTP 429), retry after 3s: EOF")
		require.ErrorIs(t, err, io.EOF)
		require.EqualError(t, &model.Error{Kind: model.KindRejected, Provider: "offline", Operation: "embed"}, "offline embed: rejected")
	})

	t.Run("Retryable", func(t *testing.T) {
		t.Parallel()
		for kind, want := range map[model.ErrorKind]bool{
			model.KindInvalidReply: true, model.KindRateLimited: true, model.KindRejected: false, model.KindUnavailable: true,
		} {
			require.Equal(t, want, (&model.Error{Kind: kind}).Retryable(), kind)
		}
	})
}

func TestLimits(t *testing.T) {
	t.Parallel()
	limits := model.Limits{}.WithDefaults()
	require.NoError(t, limits.Validate())
	require.Equal(t, time.Minute, limits.ChatTimeout)
	require.Equal(t, 30*time.Second, limits.EmbedTimeout)
	require.Equal(t, 200_000, limits.MaxInputChars)
	require.NoError(t, model.Limits{RequestsPerSecond: math.Inf(1)}.Validate())
	for _, bad := range []model.Limits{
		{ChatTimeout: -1}, {MaxInputChars: -1}, {RequestsPerSecond: math.NaN()}, {Retry: model.Retry{BaseDelay: -1}},
	} {
		require.Error(t, bad.Validate())
	}
}

func TestUsage_Add(t *testing.T) {
	t.Parallel()
	require.Equal(t, model.Usage{InputTokens: 4, OutputTokens: 6}, model.Usage{InputTokens: 1, OutputTokens: 2}.Add(model.Usage{InputTokens: 3, OutputTokens: 4}))
}

var errPlain = errors.New("plain")
