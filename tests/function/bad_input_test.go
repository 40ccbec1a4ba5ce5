package function_test

import (
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

// TestBadInput gives the functions what clients of SQL give by mistake: each has a code of its own, the message
// names the value, and nothing is written. Statements are sent as text, as psql does. What Postgres itself can't
// read has its own code.
func TestBadInput(t *testing.T) { //nolint:tparallel // its subtests share a database, and are few
	t.Parallel()
	pool := dbtest.DB(t)
	thread := get[string](t, pool, "SELECT hippocampus.create_thread('ada', 'app')::text")
	const written = `SELECT concat_ws(' ', (SELECT count(*) FROM hippocampus.threads), (SELECT count(*) FROM hippocampus.events),
		(SELECT count(*) FROM hippocampus.memories), (SELECT count(*) FROM hippocampus.facts), (SELECT count(*) FROM hippocampus.memory_blocks),
		(SELECT count(*) FROM hippocampus.consolidation_jobs), (SELECT count(*) FROM hippocampus.river_job),
		(SELECT count(*) FROM hippocampus.embeddings), (SELECT count(*) FROM hippocampus.embedding_models WHERE model IS NOT NULL),
		(SELECT count(*) FROM hippocampus.postings), (SELECT sum(next_seq) FROM hippocampus.threads))`
	before := get[string](t, pool, written)
	event := func(content string) string {
		return "hippocampus.append_event('" + thread + "', 'user', 'message', " + content + ")"
	}
	for name, bad := range map[string]struct{ call, code, message string }{
		"AMemoryOf10MB":      {"hippocampus.remember('ada', 'app', repeat('a', 10485760))", "HC006", "p_content is 10485760 bytes long"},
		"AFactOf10MB":        {"hippocampus.upsert_fact('ada', 'app', 'custom', 'k', to_jsonb(repeat('a', 10485760)))", "HC006", "p_value is 10485762 bytes long"},
		"AnEventOf10MB":      {event("jsonb_build_object('text', repeat('a', 10485760))"), "HC006", "content of 104857"},
		"BudgetBelowNothing": {"hippocampus.get_context_window('ada', 'app', 'x', p_max_tokens => -1)", "HC007", "p_max_tokens is -1"},
		"InfiniteRatio":      {"hippocampus.get_context_window('ada', 'app', 'x', p_memory_ratio => 'Infinity')", "HC007", "p_memory_ratio is Infinity"},
		"InvalidUTF8":        {"hippocampus.remember('ada', 'app', 'a\xffb')", "22021", "0xff"},
		"NULByChr":           {"hippocampus.remember('ada', 'app', 'a' || chr(0))", "54000", "null character"},
		"NULByEscape":        {`hippocampus.remember('ada', 'app', E'a\000b')`, "22021", "0x00"},
		"NULInJSON":          {event(`'{"text": "a\u0000b"}'`), "22P05", ""},
		"NaNEmbedding":       {"hippocampus.remember('ada', 'app', 'x', p_embedding => array_fill('NaN'::real, ARRAY[64])::public.vector)", "22000", "NaN"},
		"NaNLiteral":         {"hippocampus.search_memory('ada', 'app', 'x', '[NaN]'::public.vector)", "22000", "NaN"},
		"RatioOfNaN":         {"hippocampus.get_context_window('ada', 'app', 'x', p_history_ratio => 'NaN')", "HC007", "p_history_ratio is NaN"},
		"RatioOverOne":       {"hippocampus.get_context_window('ada', 'app', 'x', p_memory_ratio => 1.1)", "HC007", "p_memory_ratio is 1.1"},
		"RatiosOverOne":      {"hippocampus.get_context_window('ada', 'app', 'x', p_memory_ratio => 0.8, p_history_ratio => 0.8)", "HC007", "add up to 1.6"},
		"UnknownJobType":     {"hippocampus.enqueue_consolidation('" + thread + "', 'slow')", "HC003", "'slow'"},
		"UnknownThread": {
			"hippocampus.enqueue_consolidation('00000000-0000-0000-0000-000000000001')", "HC002", "00000000-0000-0000-0000-000000000001",
		},
		"UnknownThreadOfAnEvent": {
			"hippocampus.append_event('00000000-0000-0000-0000-000000000001', 'user', 'message', '{}')", "HC002", "00000000-0000-0000-0000-000000000001",
		},
		"WrongDimension":         {"hippocampus.remember('ada', 'app', 'x', p_embedding => '[1,2,3]', p_embedding_model => 'm')", "HC004", "3 dimensions, this deployment 64"},
		"WrongDimensionOfAFact":  {"hippocampus.upsert_fact('ada', 'app', 'custom', 'k', '1', p_embedding => '[1,2,3]')", "HC004", "3 dimensions"},
		"WrongDimensionOfAQuery": {"hippocampus.search_memory('ada', 'app', 'x', '[1,2,3]')", "HC004", "p_query_embedding has 3 dimensions"},
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := pool.Acquire(t.Context())
			require.NoError(t, err)
			defer conn.Release()
			_, err = conn.Conn().PgConn().Exec(t.Context(), "SELECT "+bad.call).ReadAll()
			var pgErr *pgconn.PgError
			require.ErrorAs(t, err, &pgErr)
			require.Equal(t, bad.code, pgErr.Code, pgErr.Message)
			require.Contains(t, pgErr.Message, bad.message)
			if bad.code[:2] == "HC" {
				require.NotEmpty(t, pgErr.Hint)
			}
		})
	}
	require.Equal(t, before, get[string](t, pool, written))
}
