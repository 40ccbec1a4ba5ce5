package worker_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/worker"
)

// Rows that are gone are taken out of the index of words for each user by itself: what one has made of
// its own index by hand stops nobody else's.
func TestFoldTerms(t *testing.T) {
	t.Parallel()
	b := setup(t, &script{}, nil)
	const noted = `SELECT count(*) FROM hippocampus.unindexed_rows`
	_, err := b.pool.Exec(t.Context(), `
		SELECT hippocampus.remember(u, 'app', 'tea ' || i) FROM unnest('{ada,bob,eve}'::text[]) u, generate_series(1, 3) i`)
	require.NoError(t, err)
	_, err = b.pool.Exec(t.Context(), `SELECT hippocampus._fold_terms(u, 'app', 'memory', 1) FROM unnest('{ada,bob,eve}'::text[]) u`)
	require.NoError(t, err)
	// as where somebody else was at their postings
	_, err = b.pool.Exec(t.Context(), `INSERT INTO hippocampus.unindexed_rows (id, row_id, user_id, app_name)
		SELECT r.id, r.row_id, r.user_id, r.app_name FROM hippocampus.row_terms r WHERE 'tea' = ANY (r.terms) AND '2' = ANY (r.terms)`)
	require.NoError(t, err)
	_, err = b.pool.Exec(t.Context(), `UPDATE hippocampus.postings SET counts = '{1}', numbers = '{1}', places = '{NULL}', lengths = '{1}'
		WHERE user_id = 'bob'`)
	require.NoError(t, err)
	_, err = b.pool.Exec(t.Context(), `INSERT INTO hippocampus.row_terms (number, row_id, length, asks, user_id, app_name, source, terms, counts)
		SELECT -i, gen_random_uuid(), 1, false, 'bob', 'app', 'memory', ARRAY['tea'], ARRAY[1::smallint] FROM generate_series(100001, 100020) i
		UNION ALL SELECT (SELECT last_value FROM hippocampus.row_terms_number_seq) + i, gen_random_uuid(), 1, false, 'bob', 'app', 'memory', ARRAY['tea'], ARRAY[1::smallint]
		FROM generate_series(1, 5000) i`)
	require.NoError(t, err)
	require.Equal(t, 3, b.count(t, noted))
	b.start(t)
	inserted, err := b.Client().Insert(t.Context(), worker.FoldTermsArgs{}, nil)
	require.NoError(t, err)
	b.eventually(t, "the attempt's end", func() bool {
		return b.count(t, `SELECT count(*) FROM hippocampus.river_job WHERE id = $1 AND state = 'retryable'`, inserted.Job.ID) == 1
	})
	require.Equal(t, 1, b.count(t, noted), "bob's own")
	require.Equal(t, 1, b.count(t, `SELECT count(*) FROM hippocampus.river_job WHERE id = $1 AND errors[1] ->> 'error' LIKE '%a user of app "app"%' AND errors::text NOT LIKE '%bob%'`, inserted.Job.ID))
	require.Zero(t, b.count(t, `SELECT count(*) FROM hippocampus.postings WHERE term = '2' AND user_id <> 'bob'`))
}

// What a consolidation writes is folded after it, though its transaction, which holds the thread, leaves that.
func TestConsolidationFolds(t *testing.T) {
	t.Parallel()
	b := setup(t, &script{}, nil)
	thread := b.thread(t)
	_, err := b.pool.Exec(t.Context(), `SELECT hippocampus.append_events($1, (SELECT jsonb_agg(jsonb_build_object(
		'author', 'user', 'importance', 0.9, 'content', 'green tea number ' || n)) FROM generate_series(1, 80) n))`, thread)
	require.NoError(t, err)
	id := b.enqueue(t, b.pool, thread, worker.FastReplay)
	b.start(t)
	require.Equal(t, 80, result(t, b.wait(t, id, "completed")).Episodes)
	b.eventually(t, "the folding", func() bool {
		return b.count(t, `SELECT count(*) FROM hippocampus.row_terms WHERE source = 'memory' AND number > 0`) >= 80
	})
}
