package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/internal/command"
	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

// toolCalls are calls of all tools, in their order, and what their answers say.
var toolCalls = []struct{ name, arguments, says string }{
	{"remember_facts", `{"text": "I live in Porto."}`, "Porto"},
	{"store_memory", `{"content": "The team decided to use Postgres", "category": "decision"}`, `"memory_id": "`},
	{"recall_memories", `{"query": "Postgres", "limit": 3}`, "decided to use Postgres"},
	{"recall_conversation", `{"query": "ferry"}`, "The ferry leaves at nine."},
	{"append_memory_block", `{"key": "human", "text": "likes tea"}`, "likes tea"},
	{"replace_memory_block", `{"key": "human", "old_text": "tea", "new_text": "咖啡"}`, "likes 咖啡"},
	{"recall_memory_block", `{"key": "human"}`, "likes 咖啡"},
	// what is not seen is the text's all the same: between the words of Thai, within those of German and Hebrew
	{"append_memory_block", `{"key": "thai", "text": "ภาษา\u200bไทย Wort\u00adteil \u200fעברית\ufeff"}`, "ภาษา\u200bไทย Wort\u00adteil \u200fעברית\ufeff"},
	{"replace_memory_block", `{"key": "thai", "old_text": "ภาษา\u200bไทย Wort\u00adteil \u200fעברית\ufeff", "new_text": "ok"}`, `"value": "ok"`},
	{"forget_memory", `{"description": "The team decided to use Postgres"}`, `"memories": 1`},

	{"create_entities", `{"entities": [{"name": "Ada", "entityType": "person", "observations": ["likes tea"]}, {"name": "Acme", "entityType": "company", "observations": []}]}`, `"Acme"`},
	{"create_relations", `{"relations": [{"from": "Ada", "to": "Acme", "relationType": "works_at"}]}`, "works_at"},
	{"add_observations", `{"observations": [{"entityName": "Acme", "contents": ["makes anvils"]}]}`, "makes anvils"},
	{"read_graph", `{}`, "makes anvils"},
	{"search_nodes", `{"query": "ANVILS"}`, `"Acme"`},
	{"open_nodes", `{"names": ["Ada"]}`, "likes tea"},
	{"delete_observations", `{"deletions": [{"entityName": "Ada", "observations": ["likes tea"]}]}`, "deleted successfully"},
	{"delete_relations", `{"relations": [{"from": "Ada", "to": "Acme", "relationType": "works_at"}]}`, "deleted successfully"},
	{"delete_entities", `{"entityNames": ["Ada", "Acme"]}`, "deleted successfully"},

	{"save_memory", `{"content": "Tag before you push", "metadata": {"domain": "git"}}`, "Saved memory ["},
	{"search_memory", `{"query": "tag before push"}`, "Tag before you push"},
	{"load_skill", `{"skill_name": "git"}`, "Skill 'git' loaded"},
	{"record_experience", `{"task": "Release", "trajectory": ["test", "tag"], "insight": "Tag last."}`, "complex_execution"},
	{"update_knowledge_base", `{"category": "patterns", "title": "Research", "content": "Use the graph."}`, "Saved memory ["},
	{"get_memory_stats", `{}`, "- Experiences: 1 (0 skipped)\n- Lessons: 0\n- Skills: 1\n- Notes: 1"},
	{"index_memory", `{}`, "Vector index created/updated."},

	{"search_documents", `{"query": "restarts a container", "sources": ["docs"]}`, "corpus/probes.md"},
	{"lookup_documents", `{"query": "When does it restart?", "projects": ["Liveness probe"]}`, "corpus/probes.md"},
}

// Every tool that the server lists answers, as its schema says; one that has no call here fails.
func TestMCPTools(t *testing.T) {
	t.Parallel()
	r := newRunner(t, dbtest.DatabaseURL(dbtest.DB(t)))
	folder := t.TempDir()
	corpus := filepath.Join(folder, "corpus")
	require.NoError(t, os.Mkdir(corpus, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(corpus, "probes.md"), []byte("# Liveness probe\n\nA liveness probe restarts a container that hangs.\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "git.md"), []byte("Rebase before you push.\n"), 0o600))
	r.ok("index", "--rebuild", corpus)
	r.ok("import", write(t, "talk.jsonl", `{"session_id": "s", "author": "user", "text": "The ferry leaves at nine."}`))

	serverIn, clientOut := io.Pipe()
	clientIn, serverOut := io.Pipe()
	var log bytes.Buffer
	ended := make(chan int, 1)
	server := newApp(serverIn, serverOut, &log, func(name string) string { return r.env[name] })
	go func() {
		ended <- server.run(t.Context(), []string{"mcp", "--worker", "--skills", folder})
		_ = serverOut.Close()
	}()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).
		Connect(t.Context(), &mcp.IOTransport{Reader: clientIn, Writer: clientOut}, nil)
	require.NoError(t, err)

	listed, err := session.ListTools(t.Context(), nil)
	require.NoError(t, err)
	outputs := map[string]*jsonschema.Resolved{}
	for _, tool := range listed.Tools {
		raw, err := json.Marshal(tool.OutputSchema)
		require.NoError(t, err)
		schema := &jsonschema.Schema{}
		require.NoError(t, json.Unmarshal(raw, schema), tool.Name)
		outputs[tool.Name], err = schema.Resolve(nil)
		require.NoError(t, err, tool.Name)
	}
	require.Len(t, outputs, len(listed.Tools), "two tools of one name")
	guide, err := os.ReadFile("../../docs/mcp.md")
	require.NoError(t, err)
	uncalled := map[string]bool{}
	for name := range outputs {
		uncalled[name] = true
		require.Contains(t, string(guide), "`"+name+"`", "docs/mcp.md lists the tools")
	}
	for _, c := range toolCalls {
		require.Contains(t, outputs, c.name)
		delete(uncalled, c.name)
		result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: c.name, Arguments: json.RawMessage(c.arguments)})
		require.NoError(t, err, c.name)
		require.Len(t, result.Content, 1, c.name)
		text := result.Content[0].(*mcp.TextContent).Text
		require.False(t, result.IsError, "%s: %s", c.name, text)
		require.Contains(t, text, c.says, c.name)
		require.NoError(t, outputs[c.name].Validate(result.StructuredContent), c.name)
	}
	require.Empty(t, uncalled, "a tool that no test calls")

	refused, err := session.CallTool(t.Context(), &mcp.CallToolParams{
		Name: "replace_memory_block", Arguments: json.RawMessage(`{"key": "none", "old_text": "x", "new_text": "y"}`),
	})
	require.NoError(t, err)
	require.True(t, refused.IsError)
	require.JSONEq(t, `{"error": {"code": "not_found", "message": "block \"none\" does not exist", "hint": "Create it with append_memory_block."}}`,
		refused.Content[0].(*mcp.TextContent).Text)

	require.NoError(t, session.Close())
	require.Equal(t, command.ExitOK, <-ended, log.String())
}
