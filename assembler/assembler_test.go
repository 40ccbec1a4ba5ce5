package assembler_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/hippocampus-memory/hippocampus/assembler"
	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

// material is what a user's memory holds.
type material struct {
	events, memories, facts, blocks, instructions []string
	exact                                         bool // counted by Go, as opposed to estimated by SQL
}

func drawMaterial(t *rapid.T) *material {
	// Many short entries of few kinds make what is wrong with one add up.
	text := textOf(rapid.SampledFrom([]int{1, 3, 20}).Draw(t, "length"))
	texts := func(name string, most int) []string {
		drawn := rapid.SliceOfN(text, 0, most).Draw(t, name)
		return slicesRepeat(drawn, rapid.IntRange(1, 3).Draw(t, name+" times"))
	}
	return &material{
		blocks: texts("blocks", 2), events: texts("events", 12), exact: rapid.Bool().Draw(t, "exact"),
		facts: texts("facts", 8), instructions: texts("instructions", 2), memories: texts("memories", 10),
	}
}

func slicesRepeat(texts []string, times int) []string {
	var all []string
	for range times {
		all = append(all, texts...)
	}
	return all
}

// store writes the material, and returns the thread of its events.
func (m *material) store(t require.TestingT, tx pgx.Tx, counter *assembler.Counter, scope db.Scope, now time.Time) uuid.UUID {
	ctx := tContext
	count := func(text string) *int32 {
		if !m.exact {
			return nil
		}
		return new(int32(counter.Count(text)))
	}
	batch := &pgx.Batch{}
	for i, text := range m.instructions {
		batch.Queue("SELECT hippocampus.put_instruction($1, $2, $3, p_token_count => $4)", scope.AppName, fmt.Sprint("i", i), text, count(text))
	}
	for i, text := range m.blocks {
		batch.Queue("SELECT hippocampus.block_set($1, $2, $3, $4, p_token_limit => 200000, p_token_count => $5)",
			scope.UserID, scope.AppName, fmt.Sprint("b\n", i), text, count(text))
	}
	for i, text := range m.facts {
		value, err := json.Marshal(text)
		require.NoError(t, err)
		batch.Queue("SELECT hippocampus.upsert_fact($1, $2, 'custom', $3, $4, p_token_count => $5, p_now => $6)",
			scope.UserID, scope.AppName, fmt.Sprint(i), value, count(fmt.Sprint(i)+": "+text), now)
	}
	for i, text := range m.memories {
		batch.Queue(`SELECT hippocampus.remember($1, $2, $3, p_token_count => $4, p_now => $5)`,
			scope.UserID, scope.AppName, text, count(text), now.Add(-time.Duration(i)*time.Hour))
	}
	events := []map[string]any{}
	for i, text := range m.events {
		author := []string{"user", "agent", "/x", "'])->", "a:b：::"}[i%5]
		event := map[string]any{"author": author, "content": map[string]any{"text": text}}
		if i%7 == 6 {
			event["category"] = "tool-use" // which a line says after its speaker
		}
		if m.exact {
			event["token_count"] = counter.Count(author + ": " + text)
		}
		events = append(events, event)
	}
	raw, err := json.Marshal(events)
	require.NoError(t, err)
	var threadID uuid.UUID
	require.NoError(t, tx.QueryRow(ctx, "SELECT hippocampus.create_thread($1, $2)", scope.UserID, scope.AppName).Scan(&threadID))
	batch.Queue("SELECT count(*) FROM hippocampus.append_events($1, $2)", threadID, raw)
	require.NoError(t, tx.SendBatch(ctx, batch).Close())
	return threadID
}

// tContext is that of property tests, whose T has none.
var tContext = context.Background()

var breaks = regexp.MustCompile("\r\n|[\n\r\v\f\u0085\u2028\u2029]")

// TestAssemble_Promise checks, for random material and budgets, all that a window promises.
func TestAssemble_Promise(t *testing.T) {
	t.Parallel()
	counter := newCounter(t)
	pool := dbtest.DB(t)
	rapid.Check(t, func(rt *rapid.T) {
		m := drawMaterial(rt)
		language := rapid.SampledFrom([]string{"en", "zh"}).Draw(rt, "language")
		maxTokens := rapid.OneOf(rapid.IntRange(0, 400), rapid.IntRange(0, 5000), rapid.IntRange(0, 200_000)).Draw(rt, "max tokens")
		request := &assembler.Request{
			AppName: "app", Language: language, MaxTokens: &maxTokens, Now: dbtest.Epoch, SystemOverflow: true, UserID: "user",
			Query: rapid.SampledFrom([]string{"", "tea", "我们今天", "the quick"}).Draw(rt, "query"),
		}
		if rapid.Bool().Draw(rt, "ratios") {
			request.MemoryRatio, request.HistoryRatio = new(rapid.Float64Range(0, 0.5).Draw(rt, "memory")), new(rapid.Float64Range(0, 0.3).Draw(rt, "history"))
			request.FactRatio, request.SystemRatio = new(rapid.Float64Range(0, 0.2).Draw(rt, "fact")), new(rapid.Float64Range(0, 1).Draw(rt, "system"))
		}
		if prompt := textOf(5).Draw(rt, "prompt"); counter.Count(prompt)+4 <= maxTokens && rapid.Bool().Draw(rt, "prompted") {
			request.SystemPrompt = prompt
		}
		tx, err := pool.Begin(tContext)
		require.NoError(rt, err)
		defer func() { _ = tx.Rollback(tContext) }()
		scope := db.Scope{AppName: "app", UserID: "user"}
		threadID := m.store(rt, tx, counter, scope, dbtest.Epoch)
		if rapid.Bool().Draw(rt, "one thread") {
			request.ThreadID = &threadID
		}

		window, err := assembler.Assemble(tContext, tx, counter, request)
		require.NoError(rt, err)
		checkWindow(rt, window, counter, maxTokens)
		again, err := assembler.Assemble(tContext, tx, counter, request)
		require.NoError(rt, err)
		require.Equal(rt, window, again)
		require.Equal(rt, sqlText(rt, tx, counter, request), window.Text)
		checkWhole(rt, m, request, window)
	})
}

// checkWindow checks the sums of a window.
func checkWindow(t require.TestingT, window *assembler.Window, counter *assembler.Counter, maxTokens int) {
	sum, used := 0, 0
	for _, item := range window.Items {
		sum += item.TokenEstimate
		require.Contains(t, window.Text, item.Content)
		require.Empty(t, item.OmittedReason)
	}
	for _, section := range window.Sections {
		used += section.Used
	}
	for _, item := range window.Omitted {
		require.NotEmpty(t, item.OmittedReason)
	}
	require.Equal(t, sum, window.TokenEstimate)
	require.Equal(t, sum, used)
	require.LessOrEqual(t, sum, maxTokens)
	require.Equal(t, counter.Count(window.Text), window.Tokens)
	require.LessOrEqual(t, window.Tokens, sum, "%q", window.Text)
}

// sqlText is what a client of SQL alone gets.
func sqlText(t require.TestingT, tx pgx.Tx, counter *assembler.Counter, r *assembler.Request) string {
	var prompt *string
	if r.SystemPrompt != "" {
		prompt = &r.SystemPrompt
	}
	or := func(ratio *float64, otherwise float64) float64 {
		if ratio == nil {
			return otherwise
		}
		return *ratio
	}
	var text string
	err := tx.QueryRow(tContext, `
		SELECT hippocampus.format_context(ARRAY(SELECT w FROM hippocampus.get_context_window('user', 'app', $1,
			p_max_tokens => $2, p_memory_ratio => $3, p_history_ratio => $4, p_thread_id => $5, p_system_prompt => $6,
			p_system_tokens => $7, p_system_ratio => $8, p_fact_ratio => $9, p_system_overflow => true,
			p_language => $10, p_now => $11) w), $10)`,
		r.Query, *r.MaxTokens, or(r.MemoryRatio, 0.3), or(r.HistoryRatio, 0.4), r.ThreadID, prompt,
		counter.Count(r.SystemPrompt), or(r.SystemRatio, 0.1), or(r.FactRatio, 0.2), r.Language, r.Now).Scan(&text)
	require.NoError(t, err)
	return text
}

// checkWhole checks that no entry is cut: each is one that was stored.
func checkWhole(t require.TestingT, m *material, request *assembler.Request, window *assembler.Window) {
	fence := regexp.MustCompile(`(?i)<(\s*/?\s*)(recalled_memories)`)
	// What a fence drops or replaces is no matter here: TestFence looks at that. It drops before lines are broken, so
	// that a dropped character between \r and \n leaves one break.
	dropped := regexp.MustCompile(`[\x01-\x08\x0e-\x1f\x7f-\x{84}\x{86}-\x{9f}\x{fe00}-\x{fe0f}\x{202a}-\x{202e}\x{2066}-\x{2069}\x{e0000}-\x{e007f}\x{e0100}-\x{e01ef}]`)
	fenced := regexp.MustCompile(`(?i)&\s*(lt|#0*60|#x0*3c)\s*;?|[&‹<＜﹤≮〈\x{2329}⟨❬❮❰ᐸᚲ˂≺⧼⦑\x{1d236}《⟪«\[\]()]`)
	bare := func(text string) string { return fenced.ReplaceAllString(dropped.ReplaceAllString(text, ""), "") }
	whole := map[string]bool{request.SystemPrompt: true}
	add := func(prefix, text string) {
		text = breaks.ReplaceAllString(dropped.ReplaceAllString(text, ""), "\n  ")
		whole[bare(prefix+text)] = true
	}
	for _, text := range m.instructions {
		add("", text)
	}
	for i, text := range m.blocks {
		add("", fmt.Sprint("b\n", i)+": "+text)
	}
	for i, text := range m.facts {
		add("- ", fmt.Sprint(i)+": "+text)
	}
	for i, text := range m.memories {
		add("- ["+request.Now.Add(-time.Duration(i)*time.Hour).Format(time.DateOnly)+"] ", text)
	}
	for i, text := range m.events {
		tool := ""
		if i%7 == 6 {
			tool = " (tool)"
		}
		add("", []string{"user", "agent", "/x", "'])->", "a·b···"}[i%5]+tool+": "+text)
	}
	for _, item := range window.Items {
		require.True(t, item.Content == request.SystemPrompt || whole[bare(item.Content)], "%q", item.Content)
	}
	// What was recalled can't close its fence. The system prompt is the caller's own.
	recalled := strings.TrimPrefix(window.Text, request.SystemPrompt)
	require.LessOrEqual(t, strings.Count(recalled, "<recalled_memories>"), 3)
	require.Equal(t, strings.Count(recalled, "<recalled_memories>"), len(fence.FindAllString(recalled, -1))/2)
}

// TestAssemble_Fills checks that a window is full where there is enough to fill it, in any script.
func TestAssemble_Fills(t *testing.T) {
	t.Parallel()
	counter := newCounter(t)
	pool := dbtest.DB(t)
	for _, c := range []struct {
		name, memory, message, query string
		rows                         int // some 50 tokens each
	}{
		{
			"english", "Memory %d: Ada drank tea in the garden with friend %d, and said that she'd rather have had the green one.",
			"Message %d: would you like some more tea, or shall we walk down to the river before it rains again?", "tea in the garden", 5000,
		},
		{
			"chinese", "记忆%d：阿达和朋友%d在花园里喝茶，她说她更想喝绿茶。",
			"消息%d：你还想再喝点茶吗，还是我们趁下雨之前走到河边去？", "花园里的茶", 1500,
		},
		{
			"korean", "기억 %d: 에이다는 친구 %d와 정원에서 차를 마셨고 녹차가 더 좋았을 거라고 말했다.",
			"메시지 %d: 차를 더 드시겠어요, 아니면 비가 다시 오기 전에 강까지 걸어갈까요?", "정원에서 차", 1500,
		},
		{
			"arabic", "ذكرى %d: شربت آدا الشاي في الحديقة مع الصديق %d وقالت إنها كانت تفضل الشاي الأخضر.",
			"رسالة %d: هل تريد المزيد من الشاي أم نمشي إلى النهر قبل أن تمطر مرة أخرى؟", "الشاي في الحديقة", 1500,
		},
		{
			"hindi", "याद %d: आडा ने बगीचे में दोस्त %d के साथ चाय पी और कहा कि उसे हरी चाय ज़्यादा पसंद आती।",
			"संदेश %d: क्या आप और चाय लेंगे, या फिर से बारिश होने से पहले हम नदी तक चलें?", "बगीचे में चाय", 1500,
		},
		{
			"emoji", "🍵 %d: 👩‍👩‍👧 ❤️ %d 🌳 🌧️ 🏞️ 🍵 💚 🫖",
			"💬 %d: 🍵 ❓ 🚶‍♀️ 🏞️ ⏳ 🌧️ ❗ 🫖", "🍵", 1500,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			scope := db.Scope{AppName: "app", UserID: c.name}
			fill(t, pool, counter, scope, c.memory, c.message, c.rows)
			for _, maxTokens := range []int{500, 1000, 4000, 8000, 32_000, 100_000, 200_000} {
				if maxTokens > 45*c.rows {
					break
				}
				for _, query := range []string{"", c.query} {
					window, err := assembler.Assemble(t.Context(), pool, counter, &assembler.Request{
						AppName: scope.AppName, MaxTokens: &maxTokens, Query: query, UserID: scope.UserID,
					})
					require.NoError(t, err)
					checkWindow(t, window, counter, maxTokens)
					t.Logf("%d reserved, %d true tokens of %d", window.TokenEstimate, window.Tokens, maxTokens)
					require.GreaterOrEqual(t, window.TokenEstimate, maxTokens*9/10, "of %d", maxTokens)
					require.GreaterOrEqual(t, window.Tokens, maxTokens*8/10, "of %d", maxTokens)
				}
			}
		})
	}
}

// fill stores so many rows of memories and of history, numbered from 1000 and all counted.
func fill(t *testing.T, pool *pgxpool.Pool, counter *assembler.Counter, scope db.Scope, memory, message string, rows int) {
	t.Helper()
	tokens := counter.Count(fmt.Sprintf(memory, 1000, 1000))
	_, err := pool.Exec(t.Context(), `
		SELECT hippocampus.remember($1, $2, format($3, n, n), p_token_count => $4)
		FROM generate_series(1000, 999 + $5::integer) n`, scope.UserID, scope.AppName, strings.ReplaceAll(memory, "%d", "%s"), tokens, rows)
	require.NoError(t, err)
	tokens = counter.Count("user: " + fmt.Sprintf(message, 1000))
	_, err = pool.Exec(t.Context(), `
		SELECT count(*) FROM hippocampus.append_events(hippocampus.create_thread($1, $2), (
			SELECT jsonb_agg(jsonb_build_object('author', 'user', 'content', '{}'::jsonb, 'text', format($3, n), 'token_count', $4::integer))
			FROM generate_series(1000, 999 + $5::integer) n))`, scope.UserID, scope.AppName, strings.ReplaceAll(message, "%d", "%s"), tokens, rows)
	require.NoError(t, err)
}
