package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/google/uuid"

	"github.com/hippocampus-memory/hippocampus/service"
)

// Spec says what a tool is.
type Spec struct {
	// Name is what a model calls it by.
	Name string
	// Title is what a person reads.
	Title string
	// Description tells a model what it does and when to use it.
	Description string

	// ReadOnly says that it changes nothing, not even how strongly a memory is held.
	ReadOnly bool
	// Destructive says that it may delete or overwrite what is there.
	Destructive bool
	// Idempotent says that the same call again changes nothing more.
	Idempotent bool

	// IgnoreUnknown lets arguments that the tool has no name for pass. Otherwise they are refused.
	IgnoreUnknown bool
	// Refine narrows the schema of the arguments beyond what Go's types say: lengths, ranges, choices.
	Refine func(input *jsonschema.Schema)
}

// maxInteger is the greatest integer that JSON's numbers, which many read as floats, can't confuse with another.
const maxInteger = 1<<53 - 1

// Tool is what a model may call.
type Tool struct {
	Spec

	// Input and Output are the schemas of arguments and result. Both are objects.
	Input, Output *jsonschema.Schema

	call func(ctx context.Context, scope service.Scope, arguments json.RawMessage) (*Result, error)
}

// Result is what a call gave.
type Result struct {
	// Structured is a JSON object that Output describes.
	Structured json.RawMessage
	// Text says the same to a model that reads text.
	Text string
}

// Texter is a result that reads otherwise than its JSON.
type Texter interface {
	Text() (string, error)
}

// New makes a tool of a function. Its schemas are those of In and Out, structs whose fields have
// json tags and, as jsonschema tags, descriptions; a field with omitempty or omitzero is optional. It
// panics where they make no schema, which is a mistake in the program.
func New[In, Out any](spec Spec, fn func(ctx context.Context, scope service.Scope, in *In) (*Out, error)) *Tool {
	t := &Tool{Spec: spec, Input: schemaOf[In](), Output: schemaOf[Out]()}
	walk(t.Input, func(s *jsonschema.Schema) {
		if s.Type == "integer" || slices.Contains(s.Types, "integer") { // what every JSON reader reads exactly
			s.Minimum, s.Maximum = new(-float64(maxInteger)), new(float64(maxInteger))
		}
	})
	if spec.IgnoreUnknown {
		walk(t.Input, func(s *jsonschema.Schema) { s.AdditionalProperties = nil })
	}
	if spec.Refine != nil {
		spec.Refine(t.Input)
	}
	resolved, err := t.Input.Resolve(nil)
	if err != nil {
		panic(fmt.Errorf("the schema of %s: %w", spec.Name, err))
	}
	t.call = func(ctx context.Context, scope service.Scope, arguments json.RawMessage) (*Result, error) {
		in := new(In)
		if err := decode(resolved, arguments, in); err != nil {
			return nil, err
		}
		out, err := fn(ctx, scope, in)
		if err != nil {
			return nil, err
		}
		return newResult(out)
	}
	return t
}

// Call calls the tool in a scope with JSON arguments, an object; none at all is an empty one.
//
// Errors: an *[Error] for the model; any other for the log.
func (t *Tool) Call(ctx context.Context, scope service.Scope, arguments json.RawMessage) (*Result, error) {
	result, err := t.call(ctx, scope, arguments)
	if err != nil {
		return nil, forModel(err)
	}
	return result, nil
}

func newResult(out any) (*Result, error) {
	structured, err := marshal(out, "")
	if err != nil {
		return nil, err
	}
	result := &Result{Structured: structured}
	if texter, ok := out.(Texter); ok {
		result.Text, err = texter.Text()
		return result, err
	}
	text, err := marshal(out, "  ")
	result.Text = string(text)
	return result, err
}

// marshal writes JSON for people: & < > stay as they are.
func marshal(v any, indent string) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", indent)
	if err := encoder.Encode(v); err != nil {
		return nil, fmt.Errorf("write a tool's result: %w", err)
	}
	return bytes.TrimRight(out.Bytes(), "\n"), nil
}

// decode refuses arguments that the schema does not allow, and reads them.
func decode(schema *jsonschema.Resolved, arguments json.RawMessage, in any) error {
	if len(bytes.TrimSpace(arguments)) == 0 || string(bytes.TrimSpace(arguments)) == "null" {
		arguments = json.RawMessage("{}")
	}
	var instance any
	if err := json.Unmarshal(arguments, &instance); err != nil {
		return malformed("the arguments are no JSON: %v", err)
	}
	if _, ok := instance.(map[string]any); !ok {
		return malformed("the arguments are no JSON object: %.100s", arguments)
	}
	if err := schema.Validate(instance); err != nil {
		return malformed("%s", readable(err))
	}
	// Read again, since the schema's numbers are floats, which have no room for the digits of an id.
	exact, err := exactly(arguments)
	if err != nil {
		return malformed("the arguments are no JSON: %v", err)
	}
	whole, err := json.Marshal(integers(schema.Schema(), exact))
	if err != nil {
		return fmt.Errorf("write a tool's arguments: %w", err)
	}
	if err := unmarshalExactly(whole, in); err != nil {
		return malformed("the arguments can't be read: %v", err)
	}
	return nil
}

// exactly reads JSON with its numbers as they are written.
func exactly(raw json.RawMessage) (value any, err error) {
	err = unmarshalExactly(raw, &value)
	return value, err
}

func unmarshalExactly(raw json.RawMessage, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	return decoder.Decode(into)
}

// integers writes the integers that a schema asks for without a point or an exponent: 2.0 is an integer in JSON, and
// none for Go.
func integers(s *jsonschema.Schema, value any) any {
	if s == nil {
		return value
	}
	switch v := value.(type) {
	case map[string]any:
		for name, property := range s.Properties {
			if inner, ok := v[name]; ok {
				v[name] = integers(property, inner)
			}
		}
	case []any:
		for i, inner := range v {
			v[i] = integers(s.Items, inner)
		}
	case json.Number:
		if float, err := v.Float64(); err == nil && (s.Type == "integer" || slices.Contains(s.Types, "integer")) {
			return json.Number(strconv.FormatFloat(float, 'f', -1, 64)) // exact up to maxInteger
		}
	}
	return value
}

var (
	// inSchema is where in the schema a validation failed.
	inSchema = regexp.MustCompile(`^validating (/\S+): `)
	// ratio is a number as a bound's failure has it.
	ratio = regexp.MustCompile(`^(m(?:in|ax)imum: )(-?\d+/\d+)`)
	// shown are values that a failure shows as Go does.
	shown = strings.NewReplacer(`type: <invalid reflect.Value> has`, `type: null has`, `type:  has`, `type: "" has`)
)

// readable is the innermost cause of a validation error, with the path of the argument instead of that through the
// schema.
func readable(err error) string {
	path := ""
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		if found := inSchema.FindStringSubmatch(inner.Error()); found != nil {
			path = found[1]
		}
		err = inner
	}
	said := shown.Replace(strings.TrimPrefix(err.Error(), "validating root: "))
	said = ratio.ReplaceAllStringFunc(said, func(bound string) string {
		parts := ratio.FindStringSubmatch(bound)
		number, _ := new(big.Rat).SetString(parts[2]) // which the pattern has seen to
		float, _ := number.Float64()
		written, err := json.Marshal(float)
		if err != nil { // infinite, which JSON can't have written
			return bound
		}
		return parts[1] + string(written)
	})
	if path == "" {
		return said
	}
	path = strings.ReplaceAll(strings.ReplaceAll(path, "/items", "[]"), "/properties/", ".")
	return strings.TrimPrefix(path, ".") + ": " + said
}

// types are those that JSON has another shape for than Go.
var types = map[reflect.Type]*jsonschema.Schema{
	reflect.TypeFor[uuid.UUID]():       {Type: "string", Format: "uuid"},
	reflect.TypeFor[json.RawMessage](): {},
}

func schemaOf[T any]() *jsonschema.Schema {
	schema, err := jsonschema.For[T](&jsonschema.ForOptions{TypeSchemas: types})
	if err != nil {
		panic(fmt.Errorf("the schema of %T: %w", *new(T), err))
	}
	walk(schema, func(s *jsonschema.Schema) {
		if len(s.Types) == 2 && s.Types[0] == "null" && (s.Types[1] == "array" || s.Types[1] == "object") {
			s.Type, s.Types = s.Types[1], nil // Go's nil, which is never sent
		}
	})
	return schema
}

func walk(s *jsonschema.Schema, visit func(*jsonschema.Schema)) {
	if s == nil {
		return
	}
	visit(s)
	walk(s.Items, visit)
	for _, property := range s.Properties {
		walk(property, visit)
	}
}
