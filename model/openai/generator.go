package openai

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/sashabaranov/go-openai"

	"github.com/hippocampus-memory/hippocampus/model"
	"github.com/hippocampus-memory/hippocampus/model/internal/chat"
	"github.com/hippocampus-memory/hippocampus/model/internal/wire"
)

// The ways to ask for JSON, from the strictest down.
const (
	formatSchema int32 = iota
	formatObject
	formatText
)

type generator struct {
	client *openai.Client
	caller *wire.Caller
	config Config

	// format is the strictest form the server is known to take.
	format atomic.Int32
}

// Generate implements chat.Generator.
func (g *generator) Generate(ctx context.Context, r *chat.Request) (*chat.Answer, error) {
	if r.Shape == chat.ShapeText {
		return g.generate(ctx, r, formatText)
	}
	for format := g.format.Load(); ; format++ {
		answer, err := g.generate(ctx, r, format)
		if format == formatText || !refusesFormat(err) {
			var failure *model.Error
			if err == nil || errors.As(err, &failure) && failure.Kind == model.KindInvalidReply {
				g.format.Store(max(format, g.format.Load())) // it was taken
			}
			return answer, err
		}
	}
}

// refusesFormat tells a server that doesn't know the form asked for from one
// that refuses the request for another reason.
func refusesFormat(err error) bool {
	var failure *model.Error
	if !errors.As(err, &failure) || failure.Kind != model.KindRejected ||
		failure.Status != http.StatusBadRequest && failure.Status != http.StatusUnprocessableEntity {
		return false
	}
	var refusal *wire.StatusError
	if !errors.As(err, &refusal) {
		return false
	}
	message := strings.ToLower(refusal.Message)
	for _, word := range []string{"response_format", "json_schema", "json_object", "structured output", "guided"} {
		if strings.Contains(message, word) {
			return true
		}
	}
	return false
}

func (g *generator) generate(ctx context.Context, r *chat.Request, format int32) (answer *chat.Answer, err error) {
	request := g.request(r, format)
	err = g.caller.Do(ctx, r.Operation, g.config.Limits.ChatTimeout, true, func(ctx context.Context) error {
		response, err := g.client.CreateChatCompletion(ctx, request)
		if err != nil {
			return fmt.Errorf("create chat completion: %w", err)
		}
		answer, err = read(r.Operation, &response)
		return err
	})
	return answer, err
}

func (g *generator) request(r *chat.Request, format int32) openai.ChatCompletionRequest {
	request := openai.ChatCompletionRequest{
		Model:           g.config.ChatModel,
		Messages:        []openai.ChatCompletionMessage{{Role: openai.ChatMessageRoleSystem, Content: r.System}},
		ReasoningEffort: g.config.ReasoningEffort,
	}
	for _, message := range r.Messages {
		role := openai.ChatMessageRoleUser
		if message.FromModel {
			role = openai.ChatMessageRoleAssistant
		}
		request.Messages = append(request.Messages, openai.ChatCompletionMessage{Role: role, Content: message.Text})
	}
	if t := g.config.Temperature; t != nil {
		// The client leaves out a zero; the smallest number means the same.
		request.Temperature = max(*t, math.SmallestNonzeroFloat32)
	}
	if reasons(g.config.ChatModel) {
		request.MaxCompletionTokens = g.config.MaxOutputTokens
	} else {
		request.MaxTokens = g.config.MaxOutputTokens //nolint:staticcheck // deprecated by OpenAI, but the only name that every compatible server knows
	}
	switch format {
	case formatSchema:
		request.ResponseFormat = &openai.ChatCompletionResponseFormat{
			Type:       openai.ChatCompletionResponseFormatTypeJSONSchema,
			JSONSchema: schemaOf(r.Shape),
		}
	case formatObject:
		request.ResponseFormat = &openai.ChatCompletionResponseFormat{Type: openai.ChatCompletionResponseFormatTypeJSONObject}
	}
	return request
}

// read takes the answer from a response, and refuses one that is not whole.
func read(operation string, response *openai.ChatCompletionResponse) (*chat.Answer, error) {
	if len(response.Choices) == 0 {
		return nil, invalid(operation, "", errors.New("the reply has no choice"))
	}
	choice := response.Choices[0]
	text := choice.Message.Content
	switch {
	case choice.FinishReason == openai.FinishReasonLength || choice.FinishReason == "model_length":
		return nil, invalid(operation, text, errors.New("the reply is truncated: it reached the limit of output tokens"))
	case choice.FinishReason == openai.FinishReasonContentFilter:
		return nil, invalid(operation, text, errors.New("the reply was blocked by a content filter"))
	case choice.Message.Refusal != "":
		return nil, invalid(operation, choice.Message.Refusal, errors.New("the model refused to answer"))
	}
	return &chat.Answer{
		Text:  text,
		Usage: model.Usage{InputTokens: response.Usage.PromptTokens, OutputTokens: response.Usage.CompletionTokens},
	}, nil
}

func invalid(operation, raw string, err error) error {
	return &model.Error{Kind: model.KindInvalidReply, Provider: provider, Operation: operation, RawReply: model.BoundReply(raw), Err: err}
}
