package tools_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/service"
	"github.com/hippocampus-memory/hippocampus/service/tools"
	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

func TestMemory(t *testing.T) {
	t.Parallel()
	svc, err := service.New(dbtest.As(t, dbtest.DB(t), "hippocampus_service", nil), nil)
	require.NoError(t, err)
	all := map[string]*tools.Tool{}
	names := []string{}
	for _, tool := range tools.Memory(svc) {
		all[tool.Name] = tool
		names = append(names, tool.Name)
	}
	call := func(t *testing.T, user, name, arguments string) string {
		t.Helper()
		result, err := all[name].Call(t.Context(), service.Scope{AppName: "shop", UserID: user}, json.RawMessage(arguments))
		require.NoError(t, err, arguments)
		require.JSONEq(t, string(result.Structured), result.Text)
		return string(result.Structured)
	}
	refuses := func(t *testing.T, user, want, hint, name, arguments string) (message string) {
		t.Helper()
		_, err := all[name].Call(t.Context(), service.Scope{AppName: "shop", UserID: user}, json.RawMessage(arguments))
		var told *tools.Error
		require.ErrorAs(t, err, &told, arguments)
		require.Equal(t, want, told.Code, told.Message)
		require.Contains(t, told.Hint, hint)
		var parsed struct {
			Error struct{ Code, Message string } `json:"error"`
		}
		require.NoError(t, json.Unmarshal(told.JSON(), &parsed))
		require.Equal(t, want, parsed.Error.Code)
		require.NotEmpty(t, parsed.Error.Message)
		require.NotContains(t, told.Error(), "p_", "a model has not seen the parameters of SQL")
		return told.Message
	}
	require.ElementsMatch(t, []string{
		"remember_facts", "store_memory", "replace_memory_block", "append_memory_block", "forget_memory",
		"recall_memories", "recall_memory_block", "recall_conversation",
	}, names)

	t.Run("ABlockThatIsMissingIsNull", func(t *testing.T) {
		t.Parallel()
		require.JSONEq(t, `{"key": "human", "value": null, "version": 0}`, call(t, "missing", "recall_memory_block", `{"key": "human"}`))
		refuses(t, "missing", tools.CodeMalformed, "schema", "recall_memory_block", `{"key": ""}`)
		refuses(t, "missing", tools.CodeMalformed, "schema", "recall_memory_block", `{}`)
	})

	t.Run("AppendCreates", func(t *testing.T) {
		t.Parallel()
		require.JSONEq(t, `{"key": "human", "value": "喜欢茶", "version": 1}`, call(t, "append", "append_memory_block", `{"key": "human", "text": "喜欢茶"}`))
		require.JSONEq(t, `{"key": "human", "value": "喜欢茶\nlives in Berlin", "version": 2}`,
			call(t, "append", "append_memory_block", `{"key": "human", "text": "lives in Berlin"}`))
		require.JSONEq(t, `{"key": "human", "value": "喜欢茶\nlives in Berlin", "version": 2}`, call(t, "append", "recall_memory_block", `{"key": "human"}`))
		require.JSONEq(t, `{"key": "human", "value": null, "version": 0}`, call(t, "another", "recall_memory_block", `{"key": "human"}`))
	})

	t.Run("ReplaceReplacesAll", func(t *testing.T) {
		t.Parallel()
		call(t, "replace", "append_memory_block", `{"key": "human", "text": "tea, tea. And Tea"}`)
		require.JSONEq(t, `{"key": "human", "value": "coffee, coffee. And Tea", "version": 2}`,
			call(t, "replace", "replace_memory_block", `{"key": "human", "old_text": "tea", "new_text": "coffee"}`))
		require.JSONEq(t, `{"key": "human", "value": " And Tea", "version": 3}`,
			call(t, "replace", "replace_memory_block", `{"key": "human", "old_text": "coffee, coffee.", "new_text": ""}`))
	})

	t.Run("WhatIsNotFoundIsAnErrorForTheModel", func(t *testing.T) {
		t.Parallel()
		refuses(t, "notfound", tools.CodeNotFound, "append_memory_block", "replace_memory_block", `{"key": "human", "old_text": "a", "new_text": "b"}`)
		call(t, "notfound", "append_memory_block", `{"key": "human", "text": "tea"}`)
		told := refuses(t, "notfound", tools.CodeTextNotFound, "to the letter", "replace_memory_block", `{"key": "human", "old_text": "t.a", "new_text": "b"}`)
		require.Contains(t, told, "'human' does not contain 't.a'")
		refuses(t, "notfound", tools.CodeMalformed, "schema", "replace_memory_block", `{"key": "human", "old_text": "", "new_text": "b"}`)
		require.JSONEq(t, `{"key": "human", "value": "tea", "version": 1}`, call(t, "notfound", "recall_memory_block", `{"key": "human"}`))
	})

	t.Run("TheLimitIsKept", func(t *testing.T) {
		t.Parallel()
		long := strings.Repeat("one two three four ", 499) // of the 2,000 tokens of a block
		call(t, "limit", "append_memory_block", `{"key": "human", "text": "`+long+`"}`)
		told := refuses(t, "limit", tools.CodeTooLarge, "replace_memory_block", "append_memory_block", `{"key": "human", "text": "five six seven eight"}`)
		require.Contains(t, told, "its limit is 2000")
		refuses(t, "limit", tools.CodeTooLarge, "replace_memory_block", "replace_memory_block", `{"key": "human", "old_text": "one", "new_text": "twenty-one"}`)
		require.Contains(t, call(t, "limit", "recall_memory_block", `{"key": "human"}`), `"version":1`)
	})

	t.Run("TheVersionThatWasReadIsCompared", func(t *testing.T) {
		t.Parallel()
		call(t, "version", "append_memory_block", `{"key": "human", "text": "tea", "expected_version": 0}`)
		told := refuses(t, "version", tools.CodeVersionConflict, "read it again", "append_memory_block", `{"key": "human", "text": "x", "expected_version": 0}`)
		require.Contains(t, told, "at version 1, not 0")
		require.Contains(t, call(t, "version", "replace_memory_block", `{"key": "human", "old_text": "tea", "new_text": "milk", "expected_version": 1}`), `"version":2`)
		refuses(t, "version", tools.CodeVersionConflict, "read it again", "replace_memory_block",
			`{"key": "human", "old_text": "milk", "new_text": "x", "expected_version": 1}`)
		refuses(t, "version", tools.CodeMalformed, "schema", "append_memory_block", `{"key": "human", "text": "x", "expected_version": -1}`)
		require.JSONEq(t, `{"key": "human", "value": "milk", "version": 2}`, call(t, "version", "recall_memory_block", `{"key": "human"}`))
	})

	t.Run("TheSameMemoryTwiceIsOne", func(t *testing.T) {
		t.Parallel()
		first := call(t, "store", "store_memory", `{"content": "We spent two hours on the OAuth flow."}`)
		require.JSONEq(t, first, call(t, "store", "store_memory", `{"content": "we spent  two hours on the OAuth flow."}`))
		refuses(t, "store", tools.CodeMalformed, "schema", "store_memory", `{"content": ""}`)
	})

	t.Run("ForgettingLeavesBlocksAlone", func(t *testing.T) {
		t.Parallel()
		call(t, "forget", "append_memory_block", `{"key": "human", "text": "likes Redux"}`)
		call(t, "forget", "store_memory", `{"content": "The user likes Redux"}`)
		call(t, "forget", "forget_memory", `{"description": "The user likes Redux", "threshold": 0.3}`)
		require.JSONEq(t, `{"hits": [], "degraded": false}`, call(t, "forget", "recall_memories", `{"query": "Redux"}`))
		require.Contains(t, call(t, "forget", "recall_memory_block", `{"key": "human"}`), "likes Redux")
	})
}
