// Package prompts holds what language models are asked, in English and Chinese.
// One set serves every provider.
//
// A prompt is a file <name>.<language>.tmpl with two templates, "system" and
// "user". What people said is put into a prompt as JSON, one line a turn, in
// which < is written \u003c: it can't close the fence round it, nor look like
// another turn.
package prompts

import (
	"embed"
	"encoding/json"
	"fmt"
	"strings"
	"text/template"
	"time"

	"github.com/hippocampus-memory/hippocampus/model"
)

//go:embed *.tmpl
var files embed.FS

// Prompt is one question to a model.
type Prompt struct {
	System string // how to answer
	User   string // what to answer
}

// Summary asks for a summary of the conversation, in its resolved language.
func Summary(c *model.Conversation) (*Prompt, error) { return conversation("summary", c) }

// Reflection asks for facts and insights as JSON.
func Reflection(c *model.Conversation) (*Prompt, error) { return conversation("reflection", c) }

// Classification asks how two statements relate, as JSON.
func Classification(in *model.ClassifyInput) (*Prompt, error) {
	return render("classification", in.ResolvedLanguage(), map[string]any{"Old": quote(in.Old), "New": quote(in.New)})
}

// Correction asks for another reply since the last had this problem. Only User
// is set: it follows the prompt and the reply in the same exchange.
func Correction(language, problem string) (*Prompt, error) {
	return render("correction", language, map[string]any{"Problem": problem})
}

func conversation(name string, c *model.Conversation) (*Prompt, error) {
	turns := make([]string, len(c.Turns))
	for i := range c.Turns {
		turns[i] = line(&c.Turns[i])
	}
	prior := ""
	if strings.TrimSpace(c.PriorSummary) != "" {
		prior = quote(c.PriorSummary)
	}
	return render(name, c.ResolvedLanguage(), map[string]any{"Prior": prior, "Turns": turns})
}

func render(name, language string, data any) (*Prompt, error) {
	if language != model.LanguageChinese {
		language = model.LanguageEnglish
	}
	file := name + "." + language + ".tmpl"
	t, err := template.New(file).Option("missingkey=error").ParseFS(files, file)
	if err != nil {
		return nil, fmt.Errorf("parse prompt %s: %w", file, err)
	}
	var p Prompt
	for part, into := range map[string]*string{"system": &p.System, "user": &p.User} {
		var b strings.Builder
		if err := t.ExecuteTemplate(&b, part, data); err != nil {
			return nil, fmt.Errorf("render prompt %s: %w", file, err)
		}
		*into = strings.TrimSpace(b.String())
	}
	return &p, nil
}

// line is one turn as a JSON object on one line.
func line(t *model.Turn) string {
	turn := struct {
		Sequence int64  `json:"sequence"`
		Author   string `json:"author"`
		At       string `json:"at,omitempty"`
		Text     string `json:"text"`
	}{Sequence: t.Sequence, Author: model.CleanText(t.Author), Text: model.CleanText(t.Text)}
	if !t.At.IsZero() {
		turn.At = t.At.UTC().Format(time.RFC3339)
	}
	data, err := json.Marshal(turn) // escapes <, > and &
	if err != nil {
		panic("prompts: a struct of strings and a number was not encoded: " + err.Error())
	}
	return string(data)
}

func quote(text string) string {
	data, err := json.Marshal(model.CleanText(text))
	if err != nil {
		panic("prompts: a string was not encoded: " + err.Error())
	}
	return string(data)
}
