package concurrency_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func TestForgetMemory(t *testing.T) {
	t.Parallel()

	t.Run("WhileAThreadThatToldItIsForgotten", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		var threads []uuid.UUID
		for range 2 {
			thread := b.thread(t, b.ada)
			get[string](t, b, "SELECT hippocampus.append_event($1, 'user', 'message', '\"The safe opens with 1234.\"')::text", thread)
			get[int](t, b, "SELECT hippocampus.remember_events('ada', 'app', $1)", thread)
			threads = append(threads, thread)
		}
		require.NotZero(t, get[int](t, b, "SELECT count(*) FROM hippocampus.memories"))
		first, second := b.session(t, "first"), b.session(t, "second")
		first.do("BEGIN")
		first.do("SELECT hippocampus.forget_thread('ada', 'app', $1)", threads[0])
		waiting := second.waits("SELECT hippocampus.forget_memory('ada', 'app', 'The safe opens with 1234')")
		first.do("COMMIT")
		waiting.succeeds(t)
		require.Zero(t, get[int](t, b, "SELECT count(*) FROM hippocampus.memories"))
		require.Equal(t, threads[1], get[uuid.UUID](t, b, "SELECT thread_id FROM hippocampus.forgotten_events"))
		require.Zero(t, get[int](t, b, "SELECT count(*) FROM hippocampus.recall_conversation('ada', 'app', 'safe')"))
	})

	t.Run("WhileAConsolidationSaysTheSame", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		first, fact := b.told(t)
		second := b.drawnAgain(t, fact, "SELECT hippocampus.forget('ada', 'app', ARRAY[$1::uuid])", fact)
		require.Zero(t, get[int](t, b, "SELECT count(*) FROM hippocampus.facts"))
		require.Zero(t, get[int](t, b, "SELECT count(*) FROM hippocampus.consolidation_jobs WHERE result::text LIKE '%' || $1::uuid || '%'", fact),
			"its id stays in a result")
		require.Equal(t, 2, get[int](t, b, "SELECT count(*) FROM hippocampus.threads WHERE id IN ($1, $2)", first, second))
	})
}

// A guess is kept as history, and refers to the fact that is surer.
func TestForgetWhatAGuessRefersTo(t *testing.T) {
	t.Parallel()
	const (
		guess  = `SELECT hippocampus.upsert_fact('ada', 'app', 'custom', 'drink', '"coffee"', 0.1)`
		forget = "SELECT hippocampus.forget('ada', 'app', ARRAY[$1::uuid])"
	)

	t.Run("WhichIsBeingStated", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		_, fact := b.told(t)
		stating, forgetting := b.session(t, "stating"), b.session(t, "forgetting")
		stating.do("BEGIN")
		stating.do(guess)
		waiting := forgetting.waits(forget, fact)
		stating.do("COMMIT")
		waiting.succeeds(t)
		require.Equal(t, 1, get[int](t, b, "SELECT count(*) FROM hippocampus.facts WHERE superseded_by IS NULL"))
		require.Equal(t, 1, get[int](t, b, "SELECT count(*) FROM hippocampus.facts"))
	})

	t.Run("WhichIsBeingForgotten", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		_, fact := b.told(t)
		stating, forgetting := b.session(t, "stating"), b.session(t, "forgetting")
		forgetting.do("BEGIN")
		forgetting.do(forget, fact)
		waiting := stating.waits(guess)
		forgetting.do("COMMIT")
		waiting.succeeds(t)
		require.Equal(t, "coffee", get[string](t, b, "SELECT value #>> '{}' FROM hippocampus.facts_as_of('ada', 'app')"), "nothing surer is known")
		require.Equal(t, 1, get[int](t, b, "SELECT count(*) FROM hippocampus.facts WHERE superseded_by IS NULL"))
	})
}

func TestForgetThread(t *testing.T) {
	t.Parallel()

	t.Run("WhileAConsolidationOfAnotherSaysTheSame", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		first, fact := b.told(t)
		second := b.drawnAgain(t, fact, "SELECT hippocampus.forget_thread('ada', 'app', $1)", first)
		require.Equal(t, fact, get[uuid.UUID](t, b, "SELECT id FROM hippocampus.facts"), "the other conversation tells it")
		require.Equal(t, second, get[uuid.UUID](t, b, "SELECT thread_id FROM hippocampus.memory_sources"))
	})
}

// drawTea is what a consolidation stores of a conversation: its thread, and the job.
const drawTea = `SELECT hippocampus.remember_facts('ada', 'app', '[{"key": "drink", "value": "green tea", "sequences": [1]}]', $1, p_job_id => $2)`

// conversation is a thread that says what the user drinks, and a consolidation that is enqueued.
func (b *testBundle) conversation(t *testing.T) (thread, job uuid.UUID) {
	t.Helper()
	thread = b.thread(t, b.ada)
	get[string](t, b, `SELECT hippocampus.append_event($1, 'user', 'message', '"I drink green tea."')::text`, thread)
	return thread, get[uuid.UUID](t, b, "SELECT hippocampus.enqueue_consolidation($1)", thread)
}

// told is a conversation from which the fact was drawn.
func (b *testBundle) told(t *testing.T) (thread, fact uuid.UUID) {
	t.Helper()
	thread, job := b.conversation(t)
	get[string](t, b, "SELECT action FROM ("+drawTea+" AS f) r CROSS JOIN LATERAL (SELECT (r.f).action) a", thread, job)
	return thread, get[uuid.UUID](t, b, "SELECT id FROM hippocampus.facts")
}

// drawnAgain is another conversation, of which a consolidation is just storing the same fact when the forgetting begins,
// which waits for it.
func (b *testBundle) drawnAgain(t *testing.T, fact uuid.UUID, forget string, args ...any) (thread uuid.UUID) {
	t.Helper()
	thread, job := b.conversation(t)
	drawing, forgetting := b.session(t, "drawing"), b.session(t, "forgetting")
	drawing.do("BEGIN")
	drawing.do(drawTea, thread, job)
	drawing.do(`UPDATE hippocampus.consolidation_jobs SET result = jsonb_build_object('fact_ids', ARRAY[$1::uuid]) WHERE id = $2`, fact, job)
	waiting := forgetting.waits(forget, args...)
	drawing.do("COMMIT")
	waiting.succeeds(t)
	return thread
}
