package tools

import (
	"context"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/hippocampus-memory/hippocampus/service"
)

type textIn struct {
	Text string `json:"text" jsonschema:"what was said, in the user's own words"`
}

type forgetIn struct {
	Description string   `json:"description" jsonschema:"what to forget, in words"`
	Threshold   *float64 `json:"threshold,omitempty" jsonschema:"how near to the description a memory must be, 0 to 1; lower forgets more"`
	Preview     bool     `json:"preview,omitempty" jsonschema:"list what would be forgotten, and forget nothing"`
}

func truthTools(svc *service.OpenMemoryService) []*Tool {
	return []*Tool{
		New(Spec{
			Name: "remember_facts", Title: "Remember facts", Refine: func(in *jsonschema.Schema) { in.Properties["text"].MinLength = new(1) },
			Description: "Draws lasting facts about the user from a text and keeps them. What is known already is strengthened; " +
				"a new value takes the place of the old one, which stays as history. Answers with what was learned. " +
				"What is to be done always or never is kept as a fact, not as a rule.",
		}, func(ctx context.Context, scope service.Scope, in *textIn) (*service.LearnedFacts, error) {
			return svc.RememberFacts(ctx, scope, in.Text, &service.RememberFactsOptions{Trust: service.TrustAgent})
		}),
		New(Spec{
			Name: "forget_memory", Title: "Forget", Destructive: true, Idempotent: true, Refine: func(in *jsonschema.Schema) {
				in.Properties["description"].MinLength = new(1)
				threshold := in.Properties["threshold"]
				threshold.Type, threshold.Types = "number", nil
				threshold.Minimum, threshold.Maximum = new(0.0), new(1.0)
			},
			Description: "Deletes for good the facts and memories that a description means, when the user asks to forget something. " +
				"Call it with preview first: it lists what is meant, and counts all that would go along. Memory blocks are not touched: use replace_memory_block for them.",
		}, func(ctx context.Context, scope service.Scope, in *forgetIn) (*service.Forgotten, error) {
			return svc.ForgetMemory(ctx, scope, in.Description, &service.ForgetMemoryOptions{Preview: in.Preview, Threshold: in.Threshold})
		}),
	}
}
