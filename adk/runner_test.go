package adk_test

import (
	"context"
	"iter"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/loadmemorytool"
	"google.golang.org/adk/v2/tool/preloadmemorytool"
	"google.golang.org/genai"

	"github.com/hippocampus-memory/hippocampus/adk"
)

// scripted is a model that answers by a script, and keeps what it was asked.
type scripted struct {
	answer   func(req *model.LLMRequest) *genai.Content
	requests []*model.LLMRequest
}

func (m *scripted) Name() string { return "scripted" }

func (m *scripted) GenerateContent(_ context.Context, req *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	m.requests = append(m.requests, req)
	return func(yield func(*model.LLMResponse, error) bool) {
		yield(&model.LLMResponse{Content: m.answer(req), TurnComplete: true}, nil)
	}
}

// asked is all that a request tells the model: its instructions and its contents.
func asked(req *model.LLMRequest) string {
	var all strings.Builder
	contents := req.Contents
	if req.Config != nil && req.Config.SystemInstruction != nil {
		contents = append([]*genai.Content{req.Config.SystemInstruction}, contents...)
	}
	for _, content := range contents {
		for _, part := range content.Parts {
			all.WriteString(part.Text + "\n")
			if part.FunctionResponse != nil {
				for _, value := range part.FunctionResponse.Response {
					all.WriteString(strings.Join(strings.Fields(stringOf(value)), " ") + "\n")
				}
			}
		}
	}
	return all.String()
}

func TestRunner(t *testing.T) {
	t.Parallel()
	for name, with := range map[string]tool.Tool{"LoadMemory": loadmemorytool.New(), "PreloadMemory": preloadmemorytool.New()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			svc, pool := engine(t)
			sessions, memories := adk.NewSessionService(svc, nil), adk.NewMemoryService(svc, nil)
			llm := &scripted{answer: func(req *model.LLMRequest) *genai.Content {
				last := req.Contents[len(req.Contents)-1].Parts[0]
				switch {
				case strings.Contains(last.Text, "favourite") && name == "LoadMemory":
					return genai.NewContentFromFunctionCall("load_memory", map[string]any{"query": "favourite tea"}, genai.RoleModel)
				case strings.Contains(asked(req), "genmaicha"):
					return genai.NewContentFromText("It is genmaicha.", genai.RoleModel)
				}
				return genai.NewContentFromText("I don't know.", genai.RoleModel)
			}}
			helper, err := llmagent.New(llmagent.Config{Name: "helper", Description: "Helps.", Instruction: "Help the user.", Model: llm, Tools: []tool.Tool{with}})
			require.NoError(t, err)
			r, err := runner.New(runner.Config{AppName: "shop", Agent: helper, SessionService: sessions, MemoryService: memories, AutoCreateSession: true})
			require.NoError(t, err)
			run := func(sessionID, text string) string {
				var answer string
				for event, err := range r.Run(t.Context(), "ada", sessionID, genai.NewContentFromText(text, genai.RoleUser), agent.RunConfig{}) {
					require.NoError(t, err)
					if event.IsFinalResponse() && event.Content != nil {
						answer = event.Content.Parts[0].Text
					}
				}
				return answer
			}

			run("monday", "My favourite tea is genmaicha, please remember.")
			before := run("early", "What is my favourite tea?")
			require.Equal(t, "I don't know.", before, "nobody has added monday to memory")
			require.NoError(t, memories.AddSessionToMemory(t.Context(), read(t, sessions, "monday")))
			require.Equal(t, "It is genmaicha.", run("tuesday", "What is my favourite tea?"))

			// A session of another user finds nothing of it.
			for event, err := range r.Run(t.Context(), "bob", "bob's", genai.NewContentFromText("What is my favourite tea?", genai.RoleUser), agent.RunConfig{}) {
				require.NoError(t, err)
				if event.Content != nil {
					require.NotContains(t, event.Content.Parts[0].Text, "genmaicha")
				}
			}

			// All that was said is in the log, and what the session service reads is what ran.
			got := read(t, sessions, "tuesday")
			require.Equal(t, []string{"user", "helper"}, []string{got.Events().At(0).Author, got.Events().At(got.Events().Len() - 1).Author})
			require.Equal(t, got.Events().Len(), count(t, pool, "SELECT count(*) FROM hippocampus.events e JOIN hippocampus.threads t ON t.id = e.thread_id WHERE t.session_id = 'tuesday'"))
			listed, err := sessions.List(t.Context(), &session.ListRequest{AppName: "shop"})
			require.NoError(t, err)
			require.Len(t, listed.Sessions, 4)
		})
	}
}
