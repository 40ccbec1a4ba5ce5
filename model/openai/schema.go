package openai

import (
	"encoding/json"

	"github.com/sashabaranov/go-openai"

	"github.com/hippocampus-memory/hippocampus/model/internal/chat"
)

// The forms of prompts.Reflection and prompts.Classification, in the part of
// JSON schema that strict mode takes: every field required, no others allowed.
const (
	classificationSchema = `{
		"type": "object", "additionalProperties": false, "required": ["relation", "reason"],
		"properties": {
			"relation": {"type": "string", "enum": ["DUPLICATE", "SUPERSEDES", "DISTINCT"]},
			"reason": {"type": "string"}}}`

	reflectionSchema = `{
		"type": "object", "additionalProperties": false, "required": ["facts", "insights"],
		"properties": {
			"facts": {"type": "array", "items": {
				"type": "object", "additionalProperties": false,
				"required": ["type", "key", "value", "confidence", "intensity", "valid_from", "sequences"],
				"properties": {
					"type": {"type": "string", "enum": ["preference", "rule", "profile", "custom"]},
					"key": {"type": "string"},
					"value": {"type": "string"},
					"confidence": {"type": "number"},
					"intensity": {"type": "number"},
					"valid_from": {"type": ["string", "null"]},
					"sequences": {"type": "array", "items": {"type": "integer"}}}}},
			"insights": {"type": "array", "items": {
				"type": "object", "additionalProperties": false,
				"required": ["content", "importance", "sequences"],
				"properties": {
					"content": {"type": "string"},
					"importance": {"type": "string", "enum": ["high", "medium", "low"]},
					"sequences": {"type": "array", "items": {"type": "integer"}}}}}}}`
)

func schemaOf(shape chat.Shape) *openai.ChatCompletionResponseFormatJSONSchema {
	name, schema := "reflection", reflectionSchema
	if shape == chat.ShapeClassification {
		name, schema = "classification", classificationSchema
	}
	return &openai.ChatCompletionResponseFormatJSONSchema{Name: name, Schema: json.RawMessage(schema), Strict: true}
}
