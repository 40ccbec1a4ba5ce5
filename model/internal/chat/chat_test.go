package chat_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/model"
	"github.com/hippocampus-memory/hippocampus/model/internal/chat"
)

// script answers with one text after another and notes what it was asked.
type script struct {
	answers []string
	asked   []chat.Request
}

func (s *script) Generate(_ context.Context, r *chat.Request) (*chat.Answer, error) {
	copied := *r
	copied.Messages = append([]chat.Message(nil), r.Messages...)
	s.asked = append(s.asked, copied)
	if len(s.asked) > len(s.answers) {
		return nil, errors.New("asked too often")
	}
	return &chat.Answer{Text: s.answers[len(s.asked)-1], Usage: model.Usage{InputTokens: 10, OutputTokens: 3}}, nil
}

func ports(answers ...string) (*chat.Ports, *script) {
	s := &script{answers: answers}
	return &chat.Ports{Generator: s, Provider: "test", Model: "test/one", MaxInputChars: 100}, s
}

func talk(text string) *model.Conversation {
	return &model.Conversation{Turns: []model.Turn{{Sequence: 1, Author: "user", Text: text}}}
}

const (
	goodReply = `{"facts":[{"type":"profile","key":"name","value":"Anna","confidence":0.9,"intensity":0.3,"valid_from":null,"sequences":[1,2]}],"insights":[]}`
	badReply  = `{"facts":[{"type":"profile","key":"name","value":"Anna","confidence":"high","intensity":0.3}],"insights":[]}`
)

func requireKind(t *testing.T, err error, kind model.ErrorKind) *model.Error {
	t.Helper()
	var failure *model.Error
	require.ErrorAs(t, err, &failure)
	require.Equal(t, kind, failure.Kind)
	require.Equal(t, "test", failure.Provider)
	return failure
}

func TestPorts_Classify(t *testing.T) {
	t.Parallel()

	t.Run("AsksTwice", func(t *testing.T) {
		t.Parallel()
		p, s := ports("dunno", `{"relation":"DUPLICATE","reason":"same"}`)
		c, err := p.Classify(t.Context(), &model.ClassifyInput{Old: "a", New: "b"})
		require.NoError(t, err)
		require.Equal(t, &model.Classification{Relation: model.RelationDuplicate, Reason: "same", Model: "test/one"}, c)
		require.Len(t, s.asked, 2)
		require.Equal(t, chat.ShapeClassification, s.asked[1].Shape)
	})

	t.Run("Blank", func(t *testing.T) {
		t.Parallel()
		p, s := ports()
		_, err := p.Classify(t.Context(), &model.ClassifyInput{Old: "a", New: " "})
		requireKind(t, err, model.KindRejected)
		_, err = p.Classify(t.Context(), nil)
		requireKind(t, err, model.KindRejected)
		require.Empty(t, s.asked)
	})
}

func TestPorts_Reflect(t *testing.T) {
	t.Parallel()

	t.Run("AsksOnceMoreWithTheProblem", func(t *testing.T) {
		t.Parallel()
		p, s := ports(badReply, goodReply)
		r, err := p.Reflect(t.Context(), talk("I'm Anna"))
		require.NoError(t, err)
		require.True(t, r.Repaired)
		require.Equal(t, model.Usage{InputTokens: 20, OutputTokens: 6}, r.Usage)
		require.Equal(t, "test/one", r.Model)
		require.Equal(t, []int64{1}, r.Facts[0].Sequences, "turn 2 is not of this conversation")
		require.Len(t, s.asked, 2)
		messages := s.asked[1].Messages
		require.Len(t, messages, 3)
		require.Equal(t, chat.Message{FromModel: true, Text: badReply}, messages[1])
		require.Contains(t, messages[2].Text, "facts[0].confidence: must be a number from 0 to 1")
	})

	t.Run("FailsAfterTheSecondReplyAndKeepsIt", func(t *testing.T) {
		t.Parallel()
		for _, second := range []string{badReply, goodReply[:len(goodReply)-20], ""} {
			p, s := ports(badReply, second)
			_, err := p.Reflect(t.Context(), talk("I'm Anna"))
			failure := requireKind(t, err, model.KindInvalidReply)
			require.Equal(t, second, failure.RawReply)
			require.True(t, failure.Retryable())
			require.NotContains(t, err.Error(), "Anna")
			require.Len(t, s.asked, 2)
		}
	})

	t.Run("GoodAtOnce", func(t *testing.T) {
		t.Parallel()
		p, s := ports(goodReply)
		r, err := p.Reflect(t.Context(), talk("I'm Anna"))
		require.NoError(t, err)
		require.False(t, r.Repaired)
		require.Len(t, s.asked, 1)
		require.Equal(t, chat.ShapeReflection, s.asked[0].Shape)
	})

	t.Run("PassesOnFailures", func(t *testing.T) {
		t.Parallel()
		p, _ := ports()
		_, err := p.Reflect(t.Context(), talk("I'm Anna"))
		require.EqualError(t, err, "asked too often")
	})

	t.Run("RefusesWhatIsTooLongOrBlank", func(t *testing.T) {
		t.Parallel()
		p, s := ports()
		_, err := p.Reflect(t.Context(), talk(strings.Repeat("字", 97)))
		requireKind(t, err, model.KindRejected)
		require.ErrorContains(t, err, "has 101 characters, over the limit of 100")
		for _, c := range []*model.Conversation{nil, {}, talk(" \x00"), {PriorSummary: "x"}} {
			_, err = p.Reflect(t.Context(), c)
			requireKind(t, err, model.KindRejected)
			_, err = p.Summarize(t.Context(), c)
			requireKind(t, err, model.KindRejected)
		}
		require.Empty(t, s.asked)
	})
}

func TestPorts_Summarize(t *testing.T) {
	t.Parallel()

	t.Run("Cleans", func(t *testing.T) {
		t.Parallel()
		p, _ := ports("<think>x</think>\n Anna\x00 moved. ")
		s, err := p.Summarize(t.Context(), talk("I moved"))
		require.NoError(t, err)
		require.Equal(t, &model.Summary{Content: "Anna moved.", Model: "test/one", Usage: model.Usage{InputTokens: 10, OutputTokens: 3}}, s)
	})

	t.Run("EmptyOrEndless", func(t *testing.T) {
		t.Parallel()
		for _, answer := range []string{"", "<think>hm</think>", strings.Repeat("a", 20000)} {
			p, _ := ports(answer)
			_, err := p.Summarize(t.Context(), talk("I moved"))
			failure := requireKind(t, err, model.KindInvalidReply)
			require.Equal(t, answer, failure.RawReply)
		}
	})
}
