package tools_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/service"
	"github.com/hippocampus-memory/hippocampus/service/tools"
	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

func TestExperience(t *testing.T) {
	t.Parallel()
	svc, err := service.New(dbtest.As(t, dbtest.DB(t), "hippocampus_service", nil), nil)
	require.NoError(t, err)
	scope := service.Scope{AppName: "shop", UserID: "ada"}
	folder := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(folder, "git"), 0o700))
	write := func(text string) {
		require.NoError(t, os.WriteFile(filepath.Join(folder, "git", "SKILL.md"), []byte(text), 0o600))
	}
	write("---\nname: git\ndescription: Version control\nrouting_keywords: [commit, rebase]\n---\n# Git\nRebase before you push.\n")
	verbs := map[string]*tools.Tool{}
	for _, v := range tools.Experience(svc, folder) {
		verbs[v.Name] = v
	}
	call := func(verb, arguments string) string {
		t.Helper()
		result, err := verbs[verb].Call(t.Context(), scope, json.RawMessage(arguments))
		require.NoError(t, err, arguments)
		return result.Text
	}
	refuses := func(code, message, verb, arguments string) {
		t.Helper()
		_, err := verbs[verb].Call(t.Context(), scope, json.RawMessage(arguments))
		var told *tools.Error
		require.ErrorAs(t, err, &told, arguments)
		require.Equal(t, code, told.Code)
		require.Contains(t, told.Error(), message)
	}

	require.Equal(t, "No matching memories found.", call("search_memory", `{"query": "git tags"}`))
	require.Regexp(t, `^Saved memory \[[0-9a-f-]{36}\]: Always use semantic versioning for git tags$`,
		call("save_memory", `{"content": "Always use semantic versioning for git tags", "metadata": {"domain": "git", "source": "user"}}`))
	require.Regexp(t, `^Found 1 match:\n- \[Score: \d\.\d{4}\] Always use semantic versioning for git tags$`,
		call("search_memory", `{"query": "git tags semantic versioning"}`))
	found, err := svc.SearchMemory(t.Context(), scope, "tags", nil)
	require.NoError(t, err)
	require.Equal(t, []string{"git"}, found.Memories[0].Tags)

	call("save_memory", `{"content": "The order of the umbrella", "metadata": {"order_id": 1182345678901234567, "more": [{"price": 0.10000000000000000555, "half": 2.5}]}}`)
	found, err = svc.SearchMemory(t.Context(), scope, "umbrella", nil)
	require.NoError(t, err)
	require.Contains(t, string(found.Memories[0].Metadata), `"order_id": 1182345678901234567`)
	require.Contains(t, string(found.Memories[0].Metadata), `"price": 0.10000000000000000555`)

	require.Equal(t, "Skill 'git' loaded into semantic memory.", call("load_skill", `{"skill_name": "git"}`))
	require.Contains(t, call("search_memory", `{"query": "rebase"}`), "Rebase before you push.")
	write("---\nname: git\n---\nMerge before you push.\n")
	call("load_skill", `{"skill_name": "git"}`)
	require.NotContains(t, call("search_memory", `{"query": "rebase push"}`), "Rebase")
	refuses("not_found", "there is no skill", "load_skill", `{"skill_name": "nowhere"}`)
	refuses("invalid_argument", "no name of a skill", "load_skill", `{"skill_name": "../git"}`)
	write("---\nname: svn\n---\n")
	refuses("invalid_argument", `names "svn"`, "load_skill", `{"skill_name": "git"}`)
	write("---\nname: [\n---\n")
	refuses("invalid_argument", "front matter", "load_skill", `{"skill_name": "git"}`)
	write("---\nname: git\n")
	refuses("invalid_argument", "has no end", "load_skill", `{"skill_name": "git"}`)

	require.Contains(t, call("record_experience", `{"task": "Release", "trajectory": ["test", "tag"], "insight": "Tag last."}`), "complex_execution")
	require.Contains(t, call("record_experience", `{"task": "Say hello", "steps": 1}`), "no_learning_value")
	refuses("malformed_arguments", "won does not equal", "record_experience", `{"task": "x", "steps": 1, "outcome": "won"}`)
	refuses("malformed_arguments", "user_id", "save_memory", `{"content": "x", "user_id": "bea"}`)
	require.Regexp(t, `^Saved memory `, call("update_knowledge_base", `{"category": "patterns", "title": "Research", "content": "Use the graph."}`))
	require.Equal(t, "Memory Statistics:\n- Total memories: 5\n- Experiences: 1 (1 skipped)\n- Lessons: 0\n- Skills: 1\n- Notes: 1", call("get_memory_stats", `{}`))
}
