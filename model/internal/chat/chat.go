// Package chat makes a Summarizer, Reflector and Classifier of anything that
// can answer a prompt, so that every language model is asked, checked and asked
// again in the same way.
package chat

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hippocampus-memory/hippocampus/model"
	"github.com/hippocampus-memory/hippocampus/model/internal/reply"
	"github.com/hippocampus-memory/hippocampus/model/prompts"
)

// maxSummary bounds a summary, in bytes: over it, the model did something else.
const maxSummary = 16 << 10

// Shape is the form an answer must have.
type Shape int

// The shapes.
const (
	ShapeText           Shape = iota
	ShapeReflection           // the JSON object of prompts.Reflection
	ShapeClassification       // the JSON object of prompts.Classification
)

// Message is one side of the exchange after the system prompt.
type Message struct {
	FromModel bool
	Text      string
}

// Request is one question to a model. The last message is not the model's.
type Request struct {
	Operation string
	System    string
	Messages  []Message
	Shape     Shape
}

// Answer is what the model said in full.
type Answer struct {
	Text  string
	Usage model.Usage
}

// Generator asks a model once, with retries for passing failures. A blocked or
// truncated answer is a KindInvalidReply error with the text there was.
type Generator interface {
	Generate(ctx context.Context, r *Request) (*Answer, error)
}

// Ports answers the ports of package model with a Generator.
type Ports struct {
	Generator     Generator
	Provider      string // for errors, e.g. "gemini"
	Model         string // for results, e.g. "gemini/gemini-3.5-flash-lite"
	MaxInputChars int    // 0: no limit
}

var (
	_ model.Summarizer = (*Ports)(nil)
	_ model.Reflector  = (*Ports)(nil)
	_ model.Classifier = (*Ports)(nil)
)

// Summarize implements model.Summarizer.
func (p *Ports) Summarize(ctx context.Context, c *model.Conversation) (*model.Summary, error) {
	const operation = "summarize"
	if err := CheckConversation(p.Provider, operation, c, p.MaxInputChars); err != nil {
		return nil, err
	}
	prompt, err := prompts.Summary(c)
	if err != nil {
		return nil, p.rejected(operation, err)
	}
	answer, err := p.Generator.Generate(ctx, &Request{
		Operation: operation, System: prompt.System, Messages: []Message{{Text: prompt.User}},
	})
	if err != nil {
		return nil, err
	}
	content := reply.Text(answer.Text)
	switch {
	case content == "":
		return nil, p.invalid(operation, answer.Text, errors.New("the summary is empty"))
	case len(content) > maxSummary:
		return nil, p.invalid(operation, answer.Text, fmt.Errorf("the summary has %d bytes, over %d", len(content), maxSummary))
	}
	return &model.Summary{Content: content, Model: p.Model, Usage: answer.Usage}, nil
}

// Reflect implements model.Reflector.
func (p *Ports) Reflect(ctx context.Context, c *model.Conversation) (*model.Reflection, error) {
	const operation = "reflect"
	if err := CheckConversation(p.Provider, operation, c, p.MaxInputChars); err != nil {
		return nil, err
	}
	prompt, err := prompts.Reflection(c)
	if err != nil {
		return nil, p.rejected(operation, err)
	}
	turns := make([]int64, len(c.Turns))
	for i := range c.Turns {
		turns[i] = c.Turns[i].Sequence
	}
	var result *model.Reflection
	usage, again, err := p.ask(ctx, operation, ShapeReflection, c.ResolvedLanguage(), prompt, func(text string) (err error) {
		result, err = reply.Reflection(text, turns)
		return err
	})
	if err != nil {
		return nil, err
	}
	result.Model, result.Usage, result.Repaired = p.Model, usage, result.Repaired || again
	return result, nil
}

// Classify implements model.Classifier.
func (p *Ports) Classify(ctx context.Context, in *model.ClassifyInput) (*model.Classification, error) {
	const operation = "classify"
	if err := CheckStatements(p.Provider, in, p.MaxInputChars); err != nil {
		return nil, err
	}
	prompt, err := prompts.Classification(in)
	if err != nil {
		return nil, p.rejected(operation, err)
	}
	var result *model.Classification
	_, _, err = p.ask(ctx, operation, ShapeClassification, in.ResolvedLanguage(), prompt, func(text string) (err error) {
		result, err = reply.Classification(text)
		return err
	})
	if err != nil {
		return nil, err
	}
	result.Model = p.Model
	return result, nil
}

// ask sends a prompt and reads the answer; if it can't be read, it tells the
// model why and asks once more. The raw reply of the last try is kept in the
// error.
func (p *Ports) ask(ctx context.Context, operation string, shape Shape, language string, prompt *prompts.Prompt, read func(string) error) (usage model.Usage, again bool, err error) {
	request := &Request{Operation: operation, System: prompt.System, Messages: []Message{{Text: prompt.User}}, Shape: shape}
	for {
		answer, err := p.Generator.Generate(ctx, request)
		if err != nil {
			return usage, again, err
		}
		usage = usage.Add(answer.Usage)
		problem := read(answer.Text)
		if problem == nil {
			return usage, again, nil
		}
		if again {
			return usage, again, p.invalid(operation, answer.Text, fmt.Errorf("asked twice: %w", problem))
		}
		correction, err := prompts.Correction(language, problem.Error())
		if err != nil {
			return usage, again, p.rejected(operation, err)
		}
		said := answer.Text
		if strings.TrimSpace(said) == "" {
			said = "(no answer)" // servers refuse an empty message
		}
		request.Messages = append(request.Messages,
			Message{FromModel: true, Text: model.BoundReply(said)}, Message{Text: correction.User})
		again = true
	}
}

func (p *Ports) invalid(operation, raw string, err error) error {
	return &model.Error{Kind: model.KindInvalidReply, Provider: p.Provider, Operation: operation, RawReply: model.BoundReply(raw), Err: err}
}

func (p *Ports) rejected(operation string, err error) error {
	return &model.Error{Kind: model.KindRejected, Provider: p.Provider, Operation: operation, Err: err}
}
