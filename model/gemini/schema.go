package gemini

import (
	"github.com/google/generative-ai-go/genai"

	"github.com/hippocampus-memory/hippocampus/model"
	"github.com/hippocampus-memory/hippocampus/model/internal/chat"
)

// schemas are the forms of prompts.Reflection and prompts.Classification, in
// the part of OpenAPI that the API takes.
var schemas = map[chat.Shape]*genai.Schema{
	chat.ShapeClassification: {
		Type: genai.TypeObject,
		Properties: map[string]*genai.Schema{
			"relation": enum(string(model.RelationDuplicate), string(model.RelationSupersedes), string(model.RelationDistinct)),
			"reason":   {Type: genai.TypeString},
		},
		Required: []string{"relation", "reason"},
	},
	chat.ShapeReflection: {
		Type: genai.TypeObject,
		Properties: map[string]*genai.Schema{
			"facts": {Type: genai.TypeArray, Items: &genai.Schema{
				Type: genai.TypeObject,
				Properties: map[string]*genai.Schema{
					"type":       enum(model.FactPreference, model.FactRule, model.FactProfile, model.FactCustom),
					"key":        {Type: genai.TypeString},
					"value":      {Type: genai.TypeString},
					"confidence": {Type: genai.TypeNumber},
					"intensity":  {Type: genai.TypeNumber},
					"valid_from": {Type: genai.TypeString, Nullable: true},
					"sequences":  sequences,
				},
				Required: []string{"type", "key", "value", "confidence", "intensity", "sequences"},
			}},
			"insights": {Type: genai.TypeArray, Items: &genai.Schema{
				Type: genai.TypeObject,
				Properties: map[string]*genai.Schema{
					"content":    {Type: genai.TypeString},
					"importance": enum(model.ImportanceHigh, model.ImportanceMedium, model.ImportanceLow),
					"sequences":  sequences,
				},
				Required: []string{"content", "importance", "sequences"},
			}},
		},
		Required: []string{"facts", "insights"},
	},
}

var sequences = &genai.Schema{Type: genai.TypeArray, Items: &genai.Schema{Type: genai.TypeInteger}}

func enum(values ...string) *genai.Schema {
	return &genai.Schema{Type: genai.TypeString, Format: "enum", Enum: values}
}
