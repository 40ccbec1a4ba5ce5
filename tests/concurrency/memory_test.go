package concurrency_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

const rememberTea = "SELECT hippocampus.remember('ada', 'app', $1)"

// memories stores n memories of a year ago.
func (b *testBundle) memories(t *testing.T, n int) []uuid.UUID {
	t.Helper()
	rows, err := b.Query(t.Context(), `SELECT hippocampus.remember('ada', 'app', 'memory ' || n, p_now => now() - interval '1 year')
		FROM generate_series(1, $1) n`, n)
	require.NoError(t, err)
	ids, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	require.NoError(t, err)
	return ids
}

func TestRemember(t *testing.T) {
	t.Parallel()

	t.Run("SameWordsOfManySessions", func(t *testing.T) {
		t.Parallel()
		for _, embedding := range []string{"", ", p_embedding => array_fill(1, ARRAY[64])::public.vector"} {
			b := setup(t)
			ids := make([]uuid.UUID, 64)
			together(t, len(ids), func(ctx context.Context, i int) error {
				text := []string{"I like tea", "i like TEA", " I  like tea "}[i%3]
				return b.QueryRow(ctx, "SELECT hippocampus.remember('ada', 'app', $1"+embedding+")", text).Scan(&ids[i])
			})
			for _, id := range ids {
				require.Equal(t, ids[0], id)
			}
			require.Equal(t, "1 64", get[string](t, b, "SELECT concat_ws(' ', count(*), max(encounter_count)) FROM hippocampus.memories"))
			require.Equal(t, 1, get[int](t, b, "SELECT (SELECT count(*) FROM hippocampus.embeddings) + (SELECT count(*) FROM hippocampus.embedding_queue)"))
			require.Equal(t, 1, get[int](t, b, "SELECT count(*) FROM hippocampus.row_terms"))
		}
	})

	t.Run("SameWordsOfManySnapshots", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		together(t, 12, func(ctx context.Context, _ int) error {
			return retried(ctx, b.Pool, pgx.RepeatableRead, func(tx pgx.Tx) error {
				_, err := tx.Exec(ctx, rememberTea, "tea")
				return err
			})
		})
		require.Equal(t, "1 12", get[string](t, b, "SELECT concat_ws(' ', count(*), max(encounter_count)) FROM hippocampus.memories"))
	})

	t.Run("WhileItIsForgotten", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		id := get[uuid.UUID](t, b, rememberTea, "tea")
		first, second := b.session(t, "first"), b.session(t, "second")
		first.do("BEGIN")
		first.do("SELECT hippocampus.forget('ada', 'app', $1)", []uuid.UUID{id})
		waiting := second.waits(rememberTea, "tea")
		first.do("COMMIT")
		waiting.succeeds(t)
		require.Equal(t, "1 1", get[string](t, b, "SELECT concat_ws(' ', count(*), max(encounter_count)) FROM hippocampus.memories WHERE id <> $1", id))
	})
}

func TestRecordAccess(t *testing.T) {
	t.Parallel()

	t.Run("OverlappingSetsOfManyReaders", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		ids := b.memories(t, 20)
		const readers, times = 64, 3
		together(t, readers, func(ctx context.Context, i int) error {
			random := rand.New(rand.NewPCG(1, uint64(i)))
			for range times {
				set := append([]uuid.UUID(nil), ids...)
				random.Shuffle(len(set), func(i, j int) { set[i], set[j] = set[j], set[i] })
				if _, err := b.Exec(ctx, "SELECT hippocampus.record_access('ada', 'app', $1)", set); err != nil {
					return err
				}
			}
			return nil
		})
		require.Equal(t, "192 192", get[string](t, b, "SELECT concat_ws(' ', min(access_count), max(access_count)) FROM hippocampus.memories"))
		require.Equal(t, float32(0.5), get[float32](t, b, "SELECT max(running_intensity) FROM hippocampus.memories")) // the policy's model knows no intensity
	})

	t.Run("TwoReadersFollowEachOther", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		ids := b.memories(t, 2)
		first, second := b.session(t, "first"), b.session(t, "second")
		first.do("BEGIN")
		first.do("SELECT hippocampus.record_access('ada', 'app', $1)", []uuid.UUID{ids[0], ids[1]})
		waiting := second.waits("SELECT hippocampus.record_access('ada', 'app', $1)", []uuid.UUID{ids[1], ids[0]})
		first.do("COMMIT")
		waiting.succeeds(t)
		require.Equal(t, 4, get[int](t, b, "SELECT sum(access_count) FROM hippocampus.memories"))
	})
}

func TestPutEmbedding(t *testing.T) {
	t.Parallel()
	const put = "SELECT hippocampus.put_embedding('ada', 'app', 'memory', $1, array_fill(1, ARRAY[64])::public.vector)"
	const forget = "SELECT hippocampus.forget('ada', 'app', ARRAY[$1::uuid])"
	for name, order := range map[string][2]string{"ForgetFirst": {forget, put}, "PutFirst": {put, forget}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			id := b.memories(t, 1)[0]
			first, second := b.session(t, "first"), b.session(t, "second")
			first.do("BEGIN")
			first.do(order[0], id)
			waiting := second.waits(order[1], id)
			first.do("COMMIT")
			waiting.succeeds(t)
			// Whoever was first, nothing is left.
			require.Zero(t, get[int](t, b, "SELECT (SELECT count(*) FROM hippocampus.embeddings) + (SELECT count(*) FROM hippocampus.memories)"))
		})
	}
}

// A memory that is being forgotten while another one is put in order is linked with nothing, and waited for by nobody.
func TestTidyMemories(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ids := b.memories(t, 3)
	_, err := b.Exec(t.Context(), `SELECT hippocampus.put_embedding('ada', 'app', 'memory', id, array_fill(1, ARRAY[64])::public.vector)
		FROM unnest($1::uuid[]) AS m (id) ORDER BY id`, ids)
	require.NoError(t, err)
	_, err = b.Exec(t.Context(), "INSERT INTO hippocampus.untidied_memories (memory_id, user_id, app_name) VALUES ($1, 'ada', 'app')", ids[0])
	require.NoError(t, err)
	first, second := b.session(t, "forgets"), b.session(t, "sleeps")
	first.do("BEGIN")
	first.do("SELECT hippocampus.forget('ada', 'app', ARRAY[$1::uuid])", ids[1])
	second.do("SELECT hippocampus.tidy_memories('ada', 'app', NULL, p_duplicate_similarity => 1)")
	first.do("COMMIT")
	require.Equal(t, 1, get[int](t, b, "SELECT count(*) FROM hippocampus.memory_links WHERE ARRAY[from_id, to_id] @> $1 AND source = 'sleep'", []uuid.UUID{ids[0], ids[2]}))
	require.Equal(t, 1, get[int](t, b, "SELECT count(*) FROM hippocampus.memory_links"))
}

func TestSweep(t *testing.T) {
	t.Parallel()
	const clean = "SELECT hippocampus.cleanup_low_value_memories()"
	left := func(t *testing.T, b *testBundle) int {
		t.Helper()
		return get[int](t, b, "SELECT count(*) FROM hippocampus.memories")
	}

	t.Run("DuringWrites", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		old := b.memories(t, 200)
		kept := old[:20]
		const steps = 12
		_, err := b.Exec(t.Context(), "SELECT hippocampus.record_access('ada', 'app', $1)", kept)
		require.NoError(t, err)
		done := make(chan struct{})
		sweeps := errgroup.Group{}
		for range 2 {
			sweeps.Go(func() error {
				for {
					select {
					case <-done:
						return nil
					default:
					}
					if _, err := b.Exec(t.Context(), clean); err != nil {
						return err
					}
					if _, err := b.Exec(t.Context(), "SELECT hippocampus.refresh_retention_scores(p_now => now() + random() * interval '3 days')"); err != nil {
						return err
					}
				}
			})
		}
		together(t, 8, func(ctx context.Context, i int) error {
			for j := range steps {
				for _, step := range []struct {
					sql  string
					args []any
				}{
					{rememberTea, []any{fmt.Sprintf("new %d %d", i, j)}},
					{rememberTea, []any{fmt.Sprintf("new %d", j)}},
					{"SELECT hippocampus.record_access('ada', 'app', $1)", []any{kept}},
					{"SELECT hippocampus.forget('ada', 'app', $1)", []any{[]uuid.UUID{old[20+(i*steps+j)%180], old[20+(i*steps+j*7)%180]}}},
				} {
					if _, err := b.Exec(ctx, step.sql, step.args...); err != nil {
						return err
					}
				}
			}
			return nil
		})
		close(done)
		require.NoError(t, sweeps.Wait())
		_, err = b.Exec(t.Context(), clean)
		require.NoError(t, err)
		// All that was used or is new is there, all else is gone, and the index of words agrees.
		require.Equal(t, len(kept), get[int](t, b, "SELECT count(*) FROM hippocampus.memories WHERE id = ANY ($1)", kept))
		require.Equal(t, 8*steps+steps, get[int](t, b, "SELECT count(*) FROM hippocampus.memories WHERE content LIKE 'new%'"))
		require.Equal(t, len(kept)+8*steps+steps, left(t, b))
		_, err = b.Exec(t.Context(), "SELECT hippocampus.fold_terms('ada', 'app')")
		require.NoError(t, err)
		require.Equal(t, left(t, b), get[int](t, b, "SELECT count(*) FROM hippocampus.row_terms"))
		require.Equal(t, left(t, b), get[int](t, b, "SELECT rows::integer FROM hippocampus._indexed_rows('ada', 'app', 'memory')"))
		require.Equal(t, 8, get[int](t, b, "SELECT min(encounter_count) FROM hippocampus.memories WHERE content ~ '^new [0-9]+$'"))
	})

	t.Run("LeavesWhatIsHeld", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		ids := b.memories(t, 3)
		first, second := b.session(t, "first"), b.session(t, "second")
		first.do("BEGIN")
		first.do("SELECT hippocampus.record_access('ada', 'app', $1)", ids[:1])
		second.do(clean) // does not wait
		require.Equal(t, 1, left(t, b))
		first.do("COMMIT")
		second.do(clean)
		require.Equal(t, 1, left(t, b)) // it has been used since
	})

	t.Run("LeavesWhatWasUsedMeanwhile", func(t *testing.T) {
		t.Parallel()
		for _, sweep := range []string{"SELECT hippocampus.cleanup_low_value_memories(0.2)", "SELECT hippocampus.trim_memories()"} {
			b := setup(t)
			ids := b.memories(t, 3)
			user, sweeper := b.session(t, "user"), b.session(t, "sweeper")
			user.do("UPDATE hippocampus.retention_policies SET max_per_user = 1")
			// Scores are nothing, and take as long to compute as the test wants.
			user.do(`CREATE OR REPLACE FUNCTION hippocampus._retention(p_policy hippocampus.retention_policies, p_initial_score double precision,
					p_running_intensity double precision, p_access_count integer, p_last_accessed_at timestamptz, p_created_at timestamptz,
					p_now timestamptz) RETURNS double precision LANGUAGE plpgsql STABLE AS $$
				BEGIN
					PERFORM pg_catalog.pg_advisory_lock_shared(42), pg_catalog.pg_advisory_unlock_shared(42);
					RETURN 0;
				END $$`)
			user.do("SELECT pg_advisory_lock(42)")
			waiting := sweeper.waits(sweep) // it has seen the rows, and computes
			user.do("SELECT hippocampus.record_access('ada', 'app', $1)", ids)
			user.do("SELECT pg_advisory_unlock(42)")
			waiting.succeeds(t)
			require.Equal(t, 3, left(t, b), sweep)
		}
	})

	t.Run("LeavesWhatWasUsedSinceItWasPredicted", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		ids := b.memories(t, 3)
		user, sweeper := b.session(t, "user"), b.session(t, "sweeper")
		user.do("BEGIN")
		user.do("SELECT hippocampus.record_access('ada', 'app', $1)", ids[:1])
		sweeper.do("BEGIN")
		require.Equal(t, 2, get[int](t, sweeper.conn, clean)) // does not wait for the one that is held
		user.do("COMMIT")
		require.Zero(t, get[int](t, sweeper.conn, clean))
		sweeper.do("COMMIT")
		require.Equal(t, 1, left(t, b))
	})

	t.Run("TwoSweepsShareTheWork", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.memories(t, 3)
		first, second := b.session(t, "first"), b.session(t, "second")
		first.do("BEGIN")
		require.Equal(t, 3, get[int](t, first.conn, clean))
		require.Zero(t, get[int](t, second.conn, clean))
		first.do("COMMIT")
		require.Zero(t, left(t, b))
	})
}
