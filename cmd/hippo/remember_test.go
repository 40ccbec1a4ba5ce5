package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/internal/command"
	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

func TestVerbs(t *testing.T) {
	t.Parallel()
	r := newRunner(t, dbtest.DatabaseURL(dbtest.DB(t)))
	for args, next := range map[string]string{
		"anchors lookup tea": "hippo index", "blocks": "block_set", "facts": "hippo import", "facts --key tea": "--key", "forget tea": "--threshold",
		"history": "hippo stats", "history tea": "hippo history", "lessons": "record_lesson", "recall tea": "import a conversation", "search tea": "hippo stats",
	} {
		stdout, _ := r.ok(strings.Fields(args)...)
		require.Regexp(t, `^The user me of the app hippo has (no|nothing) [^\n.]*\. [^\n]+\.\n$`, stdout, args)
		require.Contains(t, stdout, next, args)
	}
	_, stderr := r.ok("context", "tea")
	require.Contains(t, stderr, "has nothing to fill a window with")
	var stored map[string]string
	r.json(&stored, "remember", "--tag", "drink", "I like green tea")
	stdout, _ := r.ok("remember", "i like GREEN tea")
	require.Equal(t, stored["memory_id"]+"\n", stdout)
	stdout, _ = r.ok("recall", "green", "tea")
	require.Contains(t, stdout, "I like green tea")
	r.ok("remember", "--tag", `say "hi", 你好`, "I like green tea")
	stdout, _ = r.ok("search", "--tag", "drink", "--tag", `say "hi", 你好`, "tea")
	require.Contains(t, stdout, "I like green tea")
	require.Contains(t, r.fails(command.ExitUsage, "recall", "--limit", "0", "tea"), "--limit is 0")
	require.Contains(t, r.fails(command.ExitUsage, "facts", "--type", "no"), "--type is \"no\"")
	require.Contains(t, r.fails(command.ExitUsage, "remember"), "wants a text")

	stdout, stderr = r.ok("forget", "I like green tea")
	require.Contains(t, stdout, "I like green tea")
	require.Contains(t, stderr, "--yes")
	stdout, _ = r.ok("recall", "tea")
	require.Contains(t, stdout, "I like green tea", "a preview forgets nothing")
	stdout, _ = r.ok("forget", "--yes", "I like green tea")
	require.Equal(t, "Forgot 1 memory and 0 facts.\n", stdout)
	stdout, _ = r.ok("recall", "tea")
	require.NotContains(t, stdout, "green")
}

// What goes along with what is meant is shown before it goes; of a message that tells two things, the other stays.
func TestForgetShowsWhatGoesAlong(t *testing.T) {
	t.Parallel()
	r := newRunner(t, dbtest.DatabaseURL(dbtest.DB(t)))
	r.ok("import", "--user", "me", write(t, "talk.jsonl", `{"author": "user", "text": "I live in Berlin and I have a dog named Rex."}`))
	stdout, stderr := r.ok("forget", "that I live in Berlin")
	for _, want := range []string{`(?m)^0\.\d+ +memory .* I live in Berlin`, `(?m)^0\.\d+ +fact .* location: Berlin`, `(?m)^ +memory .* User: I live`, `(?m)^ +event .* a dog named Rex`} {
		require.Regexp(t, want, stdout)
	}
	require.NotRegexp(t, `(?m)^.* fact .* Rex`, stdout)
	require.Contains(t, stderr, "and 1 fact, and passes over 1 event")
	stdout, _ = r.ok("forget", "--yes", "that I live in Berlin")
	require.Regexp(t, `^Forgot .* and 1 fact, and passed over 1 event that told it\.\n$`, stdout)
	stdout, _ = r.ok("history")
	require.Contains(t, stdout, "I live in Berlin", "the record of what was said")
	stdout, _ = r.ok("facts")
	require.Contains(t, stdout, "dog named Rex")
	require.NotContains(t, stdout, "Berlin")
	_, stderr = r.ok("forget", "--yes", "purple elephants")
	require.Contains(t, stderr, "nothing was forgotten")
}

// What was said goes, too, where that is asked for; the dates of a preview are of when it happened.
func TestForgetErases(t *testing.T) {
	t.Parallel()
	r := newRunner(t, dbtest.DatabaseURL(dbtest.DB(t)))
	require.Contains(t, r.fails(command.ExitUsage, "forget", "--log", "burn", "x"), `--log is "burn", but must be one of keep, erase`)
	r.ok("import", "--user", "me", write(t, "talk.jsonl",
		`{"author": "user", "text": "我住在杭州。I live in Hangzhou.", "created_at": "2024-03-05T12:00:00Z"}`, `{"author": "user", "text": "I have a cat."}`))
	stdout, stderr := r.ok("forget", "--log", "erase", "that I live in Hangzhou")
	require.Regexp(t, `(?m)memory +2024-03-05 `, stdout)
	require.Regexp(t, `(?m)fact +2024-03-05 `, stdout)
	require.Regexp(t, `(?m)event +2024-03-05 `, stdout)
	require.Contains(t, stderr, "and empties 1 event that told it")
	stdout, _ = r.ok("history")
	require.Contains(t, stdout, "Hangzhou", "a preview erases nothing")
	stdout, _ = r.ok("forget", "--log", "erase", "--yes", "that I live in Hangzhou")
	require.Contains(t, stdout, "and emptied 1 event that told it")
	stdout, _ = r.ok("history")
	require.NotContains(t, stdout, "Hangzhou")
	require.NotContains(t, stdout, "杭州")
	require.Contains(t, stdout, "I have a cat.")
}

func TestMCP(t *testing.T) {
	t.Parallel()
	databaseURL := dbtest.DatabaseURL(dbtest.DB(t))

	t.Run("AnotherProcess", func(t *testing.T) {
		t.Parallel()
		binary := filepath.Join(t.TempDir(), "hippo")
		out, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, ".").CombinedOutput()
		require.NoError(t, err, string(out))
		command := exec.CommandContext(t.Context(), binary, "mcp", "--user", "ada")
		command.Env = append(os.Environ(), "DATABASE_URL="+databaseURL)
		session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).
			Connect(t.Context(), &mcp.CommandTransport{Command: command}, nil)
		require.NoError(t, err)
		call := func(name, arguments string) string {
			result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: json.RawMessage(arguments)})
			require.NoError(t, err, name)
			require.False(t, result.IsError, "%s: %v", name, result.Content[0])
			return result.Content[0].(*mcp.TextContent).Text
		}
		listed, err := session.ListTools(t.Context(), nil)
		require.NoError(t, err)
		require.GreaterOrEqual(t, len(listed.Tools), 17)
		require.Contains(t, call("remember_facts", `{"text": "I live in Porto."}`), "Porto")
		call("store_memory", `{"content": "The team decided to use Postgres", "category": "decision"}`)
		require.Contains(t, call("recall_memories", `{"query": "Which database does the team use: Postgres?"}`), "decided")
		require.Contains(t, call("recall_memories", `{"query": "Porto"}`), "Porto")
		call("append_memory_block", `{"key": "human", "text": "likes tea, green tea"}`)
		require.Contains(t, call("replace_memory_block", `{"key": "human", "old_text": "tea", "new_text": "coffee"}`), "likes coffee, green coffee")
		require.Contains(t, call("forget_memory", `{"description": "The team decided to use Postgres", "preview": true}`), "decided")
		require.Contains(t, call("forget_memory", `{"description": "The team decided to use Postgres"}`), `"memories": 1`)
		require.NotContains(t, call("recall_memories", `{"query": "Postgres"}`), "decided")
		require.Contains(t, call("recall_conversation", `{"query": "tea"}`), `"messages": []`)
		require.NoError(t, session.Close()) // which fails where the process does not end well with its input
	})

	t.Run("Refuses", func(t *testing.T) {
		t.Parallel()
		r := newRunner(t, databaseURL)
		require.Contains(t, r.fails(command.ExitUsage, "mcp", "--http", "0"), "needs a bearer token")
		require.Contains(t, r.fails(command.ExitUsage, "mcp", "--tokens", "x"), "--http")
		r.env[envToken] = "short"
		require.Contains(t, r.fails(command.ExitUsage, "mcp", "--http", "0"), "a token has 5 bytes")
		r.env[envToken] = ""
		require.Contains(t, r.fails(command.ExitUsage, "mcp", "--http", "0", "--tokens", write(t, "tokens.json", `[{"token": "0123456789abcdef"}]`)),
			"entry 1 has no app or no user")
		for _, test := range []struct{ tokens, want string }{
			{`{"token": "0123456789abcdef"}`, `there is a JSON object where none may be; it must be a list: [{"token": "…", "app": "…", "user": "…"}]`},
			{`[{"token": 7}]`, "token is a JSON number, but must be text"},
			{`[{"token": "0123456789abcdef", "app": "a", "user": "b"}`, "this is no JSON: unexpected end"},
		} {
			said := r.fails(command.ExitUsage, "mcp", "--http", "0", "--tokens", write(t, "tokens.json", test.tokens))
			require.Contains(t, said, test.want)
			require.NotContains(t, said, "Go ")
		}
	})
}
