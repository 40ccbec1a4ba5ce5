package gemini

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/generative-ai-go/genai"

	"github.com/hippocampus-memory/hippocampus/model"
	"github.com/hippocampus-memory/hippocampus/model/internal/chat"
	"github.com/hippocampus-memory/hippocampus/model/internal/wire"
)

type generator struct {
	client *genai.Client
	caller *wire.Caller
	config Config
}

// Generate implements chat.Generator.
func (g *generator) Generate(ctx context.Context, r *chat.Request) (answer *chat.Answer, err error) {
	err = g.caller.Do(ctx, r.Operation, g.config.Limits.ChatTimeout, true, func(ctx context.Context) error {
		response, err := g.model(r).GenerateContent(ctx, parts(r.Messages)...)
		if err != nil {
			var blocked *genai.BlockedError
			if errors.As(err, &blocked) {
				return invalid(r.Operation, textOf(blocked.Candidate), blocked)
			}
			return fmt.Errorf("generate content: %w", err)
		}
		answer, err = read(r.Operation, response)
		return err
	})
	return answer, err
}

func (g *generator) model(r *chat.Request) *genai.GenerativeModel {
	m := g.client.GenerativeModel(fullName(g.config.ChatModel))
	m.SystemInstruction = genai.NewUserContent(genai.Text(r.System))
	m.Temperature = g.config.Temperature
	if g.config.MaxOutputTokens > 0 {
		m.SetMaxOutputTokens(int32(g.config.MaxOutputTokens))
	}
	if r.Shape != chat.ShapeText {
		m.ResponseMIMEType = "application/json"
		m.ResponseSchema = schemas[r.Shape]
	}
	return m
}

// parts puts the exchange into one message of several parts: this client's chat
// session would stream, which reports neither usage nor a broken end. What the
// model said before is quoted, so that it can't pass for a question.
func parts(messages []chat.Message) []genai.Part {
	parts := make([]genai.Part, len(messages))
	for i, message := range messages {
		text := message.Text
		if message.FromModel {
			text = fmt.Sprintf("Your last reply, quoted: %q", text)
		}
		parts[i] = genai.Text(text)
	}
	return parts
}

// read takes the answer from a response, and refuses one that is not whole.
func read(operation string, response *genai.GenerateContentResponse) (*chat.Answer, error) {
	if len(response.Candidates) == 0 {
		return nil, invalid(operation, "", errors.New("the reply has no candidate"))
	}
	candidate := response.Candidates[0]
	answer := &chat.Answer{Text: textOf(candidate)}
	switch candidate.FinishReason {
	case genai.FinishReasonStop, genai.FinishReasonUnspecified:
	case genai.FinishReasonMaxTokens:
		return nil, invalid(operation, answer.Text, errors.New("the reply is truncated: it reached the limit of output tokens"))
	default:
		return nil, invalid(operation, answer.Text, fmt.Errorf("the model stopped: %s", candidate.FinishReason))
	}
	if usage := response.UsageMetadata; usage != nil {
		answer.Usage.InputTokens = int(usage.PromptTokenCount)
		// The total includes thinking, which this client has no field for.
		answer.Usage.OutputTokens = int(max(usage.CandidatesTokenCount, usage.TotalTokenCount-usage.PromptTokenCount))
	}
	return answer, nil
}

func textOf(candidate *genai.Candidate) string {
	if candidate == nil || candidate.Content == nil {
		return ""
	}
	var b strings.Builder
	for _, part := range candidate.Content.Parts {
		if text, ok := part.(genai.Text); ok {
			b.WriteString(string(text))
		}
	}
	return b.String()
}

func invalid(operation, raw string, err error) error {
	return &model.Error{Kind: model.KindInvalidReply, Provider: provider, Operation: operation, RawReply: model.BoundReply(raw), Err: err}
}
