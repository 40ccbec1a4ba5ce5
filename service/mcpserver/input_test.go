package mcpserver_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/service"
	"github.com/hippocampus-memory/hippocampus/service/mcpserver"
	"github.com/hippocampus-memory/hippocampus/service/tools"
	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

// TestNumbers gives the tools numbers and names that none can be. The answer says which argument it is and what
// it was, and nothing is written.
func TestNumbers(t *testing.T) { //nolint:tparallel // its subtests share a database, and are few
	t.Parallel()
	pool := dbtest.DB(t)
	svc, err := service.New(pool, nil)
	require.NoError(t, err)
	session := connect(t, &mcpserver.Config{
		Tools:   slices.Concat(tools.Memory(svc), tools.Graph(svc), tools.Experience(svc, ""), tools.Documents(svc)),
		Version: "test",
	}, ada)
	written := func() string {
		var rows string
		require.NoError(t, pool.QueryRow(t.Context(), `SELECT concat_ws(' ', (SELECT count(*) FROM hippocampus.memories),
			(SELECT count(*) FROM hippocampus.facts), (SELECT count(*) FROM hippocampus.experience_skips), (SELECT count(*) FROM hippocampus.memory_blocks),
			(SELECT sum(version) FROM hippocampus.memory_blocks), (SELECT count(*) FROM hippocampus.graph_entities), (SELECT sum(access_count) FROM hippocampus.memories))`).Scan(&rows))
		return rows
	}
	call(t, session, "store_memory", `{"content": "x"}`)
	call(t, session, "append_memory_block", `{"key": "k", "text": "x"}`)
	call(t, session, "create_entities", `{"entities": [{"name": "Ada", "entityType": "person", "observations": []}]}`)
	before := written()

	for _, bad := range []struct {
		tool, arguments, argument string
		values                    []string
	}{
		{"recall_memories", `{"query": "x", "limit": %s}`, "limit", []string{`1.5`, `1e30`, `""`, `-1`, `0`, `null`, `"3"`}},
		{"recall_conversation", `{"query": "x", "limit": %s}`, "limit", []string{`1.5`, `1e30`, `""`, `-1`}},
		{"search_memory", `{"query": "x", "limit": %s}`, "limit", []string{`1.5`, `1e30`, `""`, `-1`}},
		{"search_documents", `{"query": "x", "limit": %s}`, "limit", []string{`1.5`, `1e30`, `""`, `-1`}},
		{"lookup_documents", `{"query": "x", "limit": %s}`, "limit", []string{`1.5`, `1e30`, `""`, `-1`}},
		{"append_memory_block", `{"key": "k", "text": "y", "expected_version": %s}`, "expected_version", []string{`1.5`, `1e30`, `""`, `-1`, `null`, `9007199254740993`}},
		{"replace_memory_block", `{"key": "k", "old_text": "x", "new_text": "y", "expected_version": %s}`, "expected_version", []string{`1.5`, `1e30`, `""`, `-1`}},
		{"append_memory_block", `{"key": %s, "text": "y"}`, "key", []string{`1.5`, `1e+30`, `""`, `-1`}},
		{"record_experience", `{"task": "t", "steps": %s}`, "steps", []string{`1.5`, `1e30`, `""`, `-1`, `4294967298`}},
		{"record_experience", `{"task": "t", "steps": 2, "retry_count": %s}`, "retr", []string{`1.5`, `1e30`, `""`, `-1`, `4294967298`}},
		{"save_memory", `{"content": "y", "metadata": {"confidence": %s}}`, "confidence", []string{`1.5`, `1e30`, `""`, `-1`}},
		{"forget_memory", `{"description": "x", "threshold": %s}`, "threshold", []string{`1.5`, `1e30`, `""`, `-1`}},
		{"create_entities", `{"entities": [{"name": %s, "entityType": "t", "observations": []}]}`, "entities[].name", []string{`1.5`, `1e30`, `""`, `-1`}},
		{"delete_entities", `{"entityNames": [%s]}`, "entityNames[]", []string{`1.5`, `1e30`, `-1`, `null`}},
		{"open_nodes", `{"names": [%s]}`, "names[]", []string{`1.5`, `1e30`, `-1`, `null`}},
	} {
		for _, value := range bad.values {
			arguments := fmt.Sprintf(bad.arguments, value)
			t.Run(bad.tool+" "+arguments, func(t *testing.T) {
				result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: bad.tool, Arguments: json.RawMessage(arguments)})
				var said string
				if err != nil {
					var failure *jsonrpc.Error
					require.ErrorAs(t, err, &failure)
					require.EqualValues(t, jsonrpc.CodeInvalidParams, failure.Code)
					said = failure.Message
				} else {
					require.True(t, result.IsError)
					require.NoError(t, json.Unmarshal([]byte(result.Content[0].(*mcp.TextContent).Text), &struct{ Error *tools.Error }{}))
					said = result.Content[0].(*mcp.TextContent).Text
				}
				said = strings.NewReplacer("1e+30", "1e30", `\"`, `"`, "9007199254740992", "9007199254740993").Replace(said)
				require.Contains(t, strings.ToLower(said), strings.ToLower(bad.argument))
				require.Contains(t, said, strings.Replace(strings.Trim(value, `"`), "+", "", 1))
				require.NotContains(t, said, "Go ")
				require.NotContains(t, said, "reflect")
			})
		}
	}
	require.Equal(t, before, written())

	// An integer may be written with a point or an exponent.
	for _, arguments := range []string{`{"query": "x", "limit": 2.0}`, `{"query": "x", "limit": 1e1}`} {
		text, isError := call(t, session, "recall_memories", arguments)
		require.False(t, isError, text)
	}
}
