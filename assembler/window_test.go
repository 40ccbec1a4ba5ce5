package assembler_test

import (
	"math"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/assembler"
	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

func TestAssemble(t *testing.T) {
	t.Parallel()

	type testBundle struct {
		counter *assembler.Counter
		request *assembler.Request
		tx      db.DBTX
	}
	setup := func(t *testing.T) *testBundle {
		t.Helper()
		tx := dbtest.Tx(t)
		scope := dbtest.NewScope(t)
		for _, query := range []string{
			"SELECT hippocampus.put_instruction($2, 'tone' || left($1, 0), 'Be brief.', p_token_count => 3)",
			"SELECT hippocampus.block_set($1, $2, 'persona', 'A gardener.', p_token_count => 4)",
			`SELECT hippocampus.upsert_fact($1, $2, 'preference', 'favourite_drink', '"green tea"', p_token_count => 7, p_now => '2026-01-05 12:00Z')`,
			"SELECT hippocampus.remember($1, $2, 'Ada walked to the river.', p_token_count => 6, p_now => '2026-01-05 12:00Z')",
			`SELECT count(*) FROM hippocampus.append_events(hippocampus.create_thread($1, $2),
				'[{"author": "user", "content": {"text": "Shall we walk?"}}, {"author": "agent", "content": {"text": "Yes.\n# Gladly"}}]')`,
		} {
			_, err := tx.Exec(t.Context(), query, scope.UserID, scope.AppName)
			require.NoError(t, err)
		}
		return &testBundle{
			counter: newCounter(t),
			request: &assembler.Request{AppName: scope.AppName, Now: dbtest.Epoch, Query: "river", UserID: scope.UserID},
			tx:      tx,
		}
	}

	t.Run("CountsTheSystemPromptExactly", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.request.SystemPrompt = "You help."
		window, err := assembler.Assemble(t.Context(), b.tx, nil, b.request)
		require.NoError(t, err)
		require.Equal(t, b.counter.Count("You help.")+4, window.Items[0].TokenEstimate)
		require.Equal(t, assembler.SectionSystem, window.Items[0].ContextType)
	})

	t.Run("KeepsALedger", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.request.MaxTokens = new(1000)
		window, err := assembler.Assemble(t.Context(), b.tx, b.counter, b.request)
		require.NoError(t, err)
		budgets := map[string]int{}
		items := map[string]int{}
		for _, section := range window.Sections {
			budgets[section.Name] = section.Budget
			items[section.Name] = section.Items
		}
		require.Equal(t, map[string]int{"system": 100, "instruction": 0, "block": 0, "fact": 200, "memory": 300, "history": 400}, budgets)
		require.Equal(t, map[string]int{"system": 0, "instruction": 1, "block": 1, "fact": 1, "memory": 1, "history": 2}, items)
	})

	t.Run("OmitsWithAReason", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.request.MaxTokens = new(60)
		window, err := assembler.Assemble(t.Context(), b.tx, b.counter, b.request)
		require.NoError(t, err)
		require.NotEmpty(t, window.Omitted)
		require.Equal(t, "over budget", window.Omitted[0].OmittedReason)
		require.NotEmpty(t, window.Omitted[0].Content)

		b.request.SkipOmitted = true
		window, err = assembler.Assemble(t.Context(), b.tx, b.counter, b.request)
		require.NoError(t, err)
		require.Empty(t, window.Omitted)
	})

	t.Run("PrintsChineseHeadings", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.request.Language = "zh"
		window, err := assembler.Assemble(t.Context(), b.tx, b.counter, b.request)
		require.NoError(t, err)
		require.Contains(t, window.Text, "## 用户偏好\n<recalled_memories>\n- favourite drink: green tea\n</recalled_memories>\n\n## 相关记忆\n<recalled_memories>\n")
		require.Equal(t, "zh", window.Language)
	})

	t.Run("PrintsTheSectionsInOrder", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.request.SystemPrompt = "You help."
		window, err := assembler.Assemble(t.Context(), b.tx, b.counter, b.request)
		require.NoError(t, err)
		require.Equal(t, `You help.

## Instructions
Be brief.

## Memory blocks
<recalled_memories>
persona: A gardener.
</recalled_memories>

## What is known of the user
<recalled_memories>
- favourite drink: green tea
</recalled_memories>

## Relevant memories
<recalled_memories>
- [2026-01-05] Ada walked to the river.
</recalled_memories>

## Conversation history
user: Shall we walk?
agent: Yes.
  # Gladly`, window.Text)
	})

	t.Run("RefusesWhatCannotBe", func(t *testing.T) {
		t.Parallel()
		for name, test := range map[string]struct {
			err    error
			change func(*assembler.Request)
		}{
			"budget below zero":   {db.ErrInvalidBudget, func(r *assembler.Request) { r.MaxTokens = new(-1) }},
			"budget out of range": {db.ErrInvalidBudget, func(r *assembler.Request) { r.MaxTokens = new(math.MaxInt) }},
			"dimension":           {db.ErrDimension, func(r *assembler.Request) { r.QueryEmbedding = make([]float32, 3) }},
			"language":            {db.ErrInvalidArgument, func(r *assembler.Request) { r.Language = "fr" }},
			"no direction":        {db.ErrInvalidEmbedding, func(r *assembler.Request) { r.QueryEmbedding = make([]float32, dbtest.DefaultDimension) }},
			"NUL":                 {db.ErrInvalidText, func(r *assembler.Request) { r.Query = "a\x00b" }},
			"ratio above one":     {db.ErrInvalidBudget, func(r *assembler.Request) { r.MemoryRatio = new(1.5) }},
			"ratio NaN":           {db.ErrInvalidBudget, func(r *assembler.Request) { r.FactRatio = new(math.NaN()) }},
			"ratios in sum":       {db.ErrInvalidBudget, func(r *assembler.Request) { r.MemoryRatio, r.HistoryRatio = new(0.6), new(0.6) }},
			"scope":               {db.ErrInvalidScope, func(r *assembler.Request) { r.UserID = "" }},
			"system prompt": {db.ErrSystemPromptOverBudget, func(r *assembler.Request) {
				r.MaxTokens, r.SystemPrompt = new(100), "one two three four five six seven eight"
			}},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				b := setup(t)
				test.change(b.request)
				_, err := assembler.Assemble(t.Context(), b.tx, b.counter, b.request)
				require.ErrorIs(t, err, test.err)
			})
		}
	})

	t.Run("TakesZeroForZero", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.request.MaxTokens = new(0)
		window, err := assembler.Assemble(t.Context(), b.tx, b.counter, b.request)
		require.NoError(t, err)
		require.Empty(t, window.Text)
		require.Empty(t, window.Items)
		require.Zero(t, window.Tokens)
		require.Len(t, window.Sections, 6)
	})
}

func TestAssemble_Order(t *testing.T) {
	t.Parallel()
	// Clocks of clients stand still and run back; the thread's own order holds.
	tx := dbtest.Tx(t)
	scope := dbtest.NewScope(t)
	var threadID uuid.UUID
	require.NoError(t, tx.QueryRow(t.Context(), "SELECT hippocampus.create_thread($1, $2)", scope.UserID, scope.AppName).Scan(&threadID))
	_, err := tx.Exec(t.Context(), `SELECT count(*) FROM hippocampus.append_events($1, '[
		{"author": "user", "content": "one", "created_at": "2026-01-05T12:00:03Z"},
		{"author": "user", "content": "two", "created_at": "2026-01-05T12:00:01Z"},
		{"author": "user", "content": "three", "created_at": "2026-01-05T12:00:01Z"}]')`, threadID)
	require.NoError(t, err)
	request := &assembler.Request{AppName: scope.AppName, UserID: scope.UserID, ThreadID: &threadID}
	window, err := assembler.Assemble(t.Context(), tx, nil, request)
	require.NoError(t, err)
	require.Equal(t, "## Conversation history\nuser: one\nuser: two\nuser: three", window.Text)
}

// An episode gives way to the history that tells it, unless that has no room.
func TestAssemble_Episodes(t *testing.T) {
	t.Parallel()
	tx := dbtest.Tx(t)
	scope := dbtest.NewScope(t)
	var threadID uuid.UUID
	require.NoError(t, tx.QueryRow(t.Context(), "SELECT hippocampus.create_thread($1, $2)", scope.UserID, scope.AppName).Scan(&threadID))
	_, err := tx.Exec(t.Context(), `SELECT count(*) FROM hippocampus.append_events($1,
		'[{"author": "user", "content": "one", "token_count": 140}]')`, threadID)
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `SELECT hippocampus.remember($1, $2, 'episode', 'episodic', p_thread_id => $3, p_from_seq => 1, p_token_count => 1)`,
		scope.UserID, scope.AppName, threadID)
	require.NoError(t, err)
	request := &assembler.Request{AppName: scope.AppName, MaxTokens: new(400), ThreadID: &threadID, UserID: scope.UserID}
	window, err := assembler.Assemble(t.Context(), tx, nil, request)
	require.NoError(t, err)
	require.Len(t, window.Items, 1)
	require.Equal(t, assembler.SectionHistory, window.Items[0].ContextType)
	require.Equal(t, "stands in the history", window.Omitted[0].OmittedReason)

	_, err = tx.Exec(t.Context(), "SELECT hippocampus.block_set($1, $2, 'persona', 'long', p_token_count => 250)", scope.UserID, scope.AppName)
	require.NoError(t, err)
	window, err = assembler.Assemble(t.Context(), tx, nil, request)
	require.NoError(t, err)
	require.Len(t, window.Items, 2)
	require.Equal(t, assembler.SectionMemory, window.Items[1].ContextType)
	require.Equal(t, "over budget", window.Omitted[0].OmittedReason)
}

func TestWindow_BudgetBar(t *testing.T) {
	t.Parallel()
	window := &assembler.Window{MaxTokens: 8000, TokenEstimate: 7000, Tokens: 6912, Sections: []assembler.Section{
		{Name: "system", Used: 10},
		{Name: "block"},
		{Name: "fact", Used: 1000},
		{Name: "memory", Used: 2400},
		{Name: "history", Used: 3590},
	}}
	require.Equal(t, "[SFFFFMMMMMMMMMMMMHHHHHHHHHHHHHHHHHH·····] 6,912 of 8,000 tokens", window.BudgetBar(40))
	require.Equal(t, "[SFM] 6,912 of 8,000 tokens", window.BudgetBar(3))
	require.Equal(t, "[] 6,912 of 8,000 tokens", window.BudgetBar(-1))
	require.Equal(t, "[··] 0 of 0 tokens", (&assembler.Window{}).BudgetBar(2))
}
