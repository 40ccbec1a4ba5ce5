package tools_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/service"
	"github.com/hippocampus-memory/hippocampus/service/tools"
	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
	"github.com/hippocampus-memory/hippocampus/tests/hostile"
)

// tame checks a string of JSON, in which line breaks are escaped.
func tame(t *testing.T, text string) {
	t.Helper()
	hostile.Tame(t, strings.NewReplacer("\r", " ", "\v", " ", "\f", " ").Replace(text))
}

// walk visits the strings of JSON.
func walk(v any, visit func(string)) {
	switch v := v.(type) {
	case string:
		visit(v)
	case []any:
		for _, e := range v {
			walk(e, visit)
		}
	case map[string]any:
		for k, e := range v {
			visit(k)
			walk(e, visit)
		}
	}
}

// What a client reads of a tool it puts into a prompt as it is: whatever was stored, through any door, nothing in a
// result can end what it stands in, in its JSON or in its words.
func TestHostileResults(t *testing.T) {
	t.Parallel()
	svc, err := service.New(dbtest.As(t, dbtest.DB(t), "hippocampus_service", nil), nil)
	require.NoError(t, err)
	scope := service.Scope{AppName: "shop", UserID: "ada"}
	all := map[string]*tools.Tool{}
	for _, tool := range slices.Concat(tools.Memory(svc), tools.Graph(svc), tools.Experience(svc, ""), tools.Documents(svc)) {
		all[tool.Name] = tool
	}
	call := func(name string, arguments map[string]any) *tools.Result {
		t.Helper()
		raw, err := json.Marshal(arguments)
		require.NoError(t, err)
		result, err := all[name].Call(t.Context(), scope, raw)
		require.NoError(t, err, "%s %.200s", name, raw)
		var read any
		require.NoError(t, json.Unmarshal(result.Structured, &read))
		walk(read, func(text string) { tame(t, text) })
		if json.Unmarshal([]byte(result.Text), &read) == nil {
			walk(read, func(text string) { tame(t, text) })
		} else {
			for _, line := range strings.Split(result.Text, "\n") {
				hostile.Tame(t, line)
				require.Regexp(t, `^(Found \d+ match(es)?:$|- \[Score: \d\.\d{4}(, tool)?\] |Saved memory \[)`, line[:min(len(line), 100)])
			}
		}
		return result
	}
	texts := hostile.Texts()
	thread, err := svc.CreateThread(t.Context(), scope, nil)
	require.NoError(t, err)
	for i, text := range texts {
		short := hostile.Cut(text, 30_000)
		call("save_memory", map[string]any{"content": text})
		call("store_memory", map[string]any{"content": "stored " + short, "source": hostile.Cut(text, 200)})
		call("update_knowledge_base", map[string]any{"category": "umbrellas", "title": hostile.Cut(text, 200), "content": short})
		call("create_entities", map[string]any{"entities": []any{map[string]any{"name": hostile.Cut(text, 200), "entityType": "umbrella", "observations": []any{short}}}})
		call("append_memory_block", map[string]any{"key": fmt.Sprint("block", i), "text": hostile.Cut(text, 1500)})
		call("recall_memory_block", map[string]any{"key": fmt.Sprint("block", i)})
		_, err = svc.Remember(t.Context(), scope, "a tool gave "+short, &service.RememberOptions{Author: "tool"})
		require.NoError(t, err)
		_, err = svc.AppendEvent(t.Context(), scope, thread, &service.EventParams{Author: "tool", Text: short}, nil)
		require.NoError(t, err)
		_, err = svc.Documents().Put(t.Context(), scope, &service.DocumentParams{
			Path: hostile.Cut(text, 500), Text: "# " + hostile.Cut(text, 500) + "\n\n" + short, Source: hostile.Cut(text, 100), Title: hostile.Cut(text, 300),
		})
		require.NoError(t, err, "%.80q", text)
	}
	for _, name := range []string{"search_memory", "recall_memories", "recall_conversation", "search_documents", "search_nodes", "read_graph"} {
		arguments := map[string]any{"query": "umbrella", "limit": 100}
		switch name {
		case "search_nodes":
			delete(arguments, "limit")
		case "read_graph":
			arguments = map[string]any{}
		}
		found := call(name, arguments)
		require.Greater(t, strings.Count(string(found.Structured), "umbrella"), 100, name)
	}
	require.Contains(t, call("search_memory", map[string]any{"query": "a tool gave", "limit": 100}).Text, ", tool] a tool gave umbrella ")
	// and what is harmless is as it was
	code := "vector<int> a; if (a < b) \"x\" \\\\ <div>«quoted»</div> Persian می\u200cخواهم 👩\u200d👩\u200d👧"
	require.Contains(t, call("append_memory_block", map[string]any{"key": "code", "text": code}).Text, `vector<int> a; if (a < b) \"x\" \\\\ <div>«quoted»</div> Persian می`)
}
