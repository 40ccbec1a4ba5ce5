package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hippocampus-memory/hippocampus/service"
)

// fenced makes tools whose results a client may put into a prompt as they are: whatever was remembered, it
// can't look like the end of what it stands in, or like a turn of a chat.
func fenced(svc *service.OpenMemoryService, all []*Tool) []*Tool {
	for _, t := range all {
		call := t.call
		t.call = func(ctx context.Context, scope service.Scope, arguments json.RawMessage) (*Result, error) {
			result, err := call(ctx, scope, arguments)
			if err != nil {
				return nil, err
			}
			return result.fence(ctx, svc)
		}
	}
	return all
}

// fence changes as little as it can: each string of JSON, or each line of words, is a text by itself.
func (r *Result) fence(ctx context.Context, svc *service.OpenMemoryService) (*Result, error) {
	structured, inWords := cutStrings(string(r.Structured)), !json.Valid([]byte(r.Text))
	words := &cutText{texts: strings.Split(r.Text, "\n")}
	if !inWords {
		words = cutStrings(r.Text)
	}
	fenced, err := svc.Fence(ctx, append(structured.texts[:len(structured.texts):len(structured.texts)], words.texts...))
	if err != nil {
		return nil, err
	}
	n := len(structured.texts)
	r.Structured = json.RawMessage(structured.join(fenced[:n]))
	if inWords {
		r.Text = strings.Join(fenced[n:], "\n")
	} else {
		r.Text = words.join(fenced[n:])
	}
	return r, nil
}

// cutText is JSON cut into its strings and what stands around them.
type cutText struct {
	around   []string // one more than literals
	literals []string // as they are written
	texts    []string // as they read
}

// cutStrings cuts JSON of ours.
func cutStrings(raw string) *cutText {
	cut := &cutText{}
	for {
		start := strings.IndexByte(raw, '"')
		if start < 0 {
			cut.around = append(cut.around, raw)
			return cut
		}
		end := start + 1
		for raw[end] != '"' {
			if raw[end] == '\\' {
				end++
			}
			end++
		}
		literal, text := raw[start:end+1], ""
		if err := json.Unmarshal([]byte(literal), &text); err != nil {
			panic(fmt.Errorf("tools: a string of a result can't be read: %w", err))
		}
		cut.around, cut.literals, cut.texts = append(cut.around, raw[:start]), append(cut.literals, literal), append(cut.texts, text)
		raw = raw[end+1:]
	}
}

// join puts other texts in the place of those that were cut out. What did not change is written as it was.
func (c *cutText) join(texts []string) string {
	var out strings.Builder
	for i, text := range texts {
		out.WriteString(c.around[i])
		if text == c.texts[i] {
			out.WriteString(c.literals[i])
			continue
		}
		literal, err := marshal(text, "")
		if err != nil {
			panic(fmt.Errorf("tools: a string was not encoded: %w", err))
		}
		out.Write(literal)
	}
	out.WriteString(c.around[len(texts)])
	return out.String()
}
