package concurrency_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/stretchr/testify/require"
)

const (
	appendOne = `SELECT hippocampus.append_event($1, 'user', 'message', '{"text": "we talk about tea"}')`
	enqueue   = "SELECT hippocampus.enqueue_consolidation($1)"
)

// requireGapFree requires a thread's events to be numbered from 1 on.
func requireGapFree(t *testing.T, b *testBundle, thread uuid.UUID, events int) {
	t.Helper()
	require.Equal(t, fmt.Sprintf("%d %d %d %d", events, 1, events, events+1), get[string](t, b, `SELECT concat_ws(' ', count(*), min(e.sequence_num),
		max(e.sequence_num), (SELECT next_seq FROM hippocampus.threads WHERE id = $1)) FROM hippocampus.events e WHERE e.thread_id = $1`, thread))
}

func TestAppend(t *testing.T) {
	t.Parallel()

	t.Run("ExpectedVersionHasOneWinner", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread := b.thread(t, b.ada)
		first, second := b.session(t, "first"), b.session(t, "second")
		const appendAt = "SELECT hippocampus.append_events($1, $2, 1)"
		const events = `[{"author": "user", "content": "x"}]`
		first.do("BEGIN")
		first.do(appendAt, thread, events)
		waiting := second.waits(appendAt, thread, events)
		first.do("COMMIT")
		waiting.fails(t, "HC008")
		requireGapFree(t, b, thread, 1)
	})

	t.Run("ForgottenThreadIsUnknown", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread := b.thread(t, b.ada)
		first, second := b.session(t, "first"), b.session(t, "second")
		first.do("BEGIN")
		first.do("SELECT hippocampus.forget_thread('ada', 'app', $1)", thread)
		waiting := second.waits(appendOne, thread)
		first.do("COMMIT")
		waiting.fails(t, "HC002")
		require.Zero(t, get[int](t, b, "SELECT count(*) FROM hippocampus.events"))
	})

	t.Run("ManyAppendersOfOneThread", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread := b.thread(t, b.ada)
		together(t, 16, func(ctx context.Context, _ int) error {
			for range 10 {
				if _, err := b.Exec(ctx, appendOne, thread); err != nil {
					return err
				}
			}
			return nil
		})
		requireGapFree(t, b, thread, 160)
	})

	t.Run("SameEventIdIsStoredOnce", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread := b.thread(t, b.ada)
		together(t, 16, func(ctx context.Context, _ int) error {
			_, err := b.Exec(ctx, `SELECT hippocampus.append_event($1, 'user', 'message', '"x"', p_event_id => 'e')`, thread)
			return err
		})
		requireGapFree(t, b, thread, 1)
	})

	t.Run("TwoAppendersOfOneThread", func(t *testing.T) {
		t.Parallel()
		for _, end := range []string{"COMMIT", "ROLLBACK"} {
			b := setup(t)
			thread := b.thread(t, b.ada)
			first, second := b.session(t, "first"), b.session(t, "second")
			first.do("BEGIN")
			first.do(appendOne, thread)
			waiting := second.waits(appendOne, thread)
			first.do(end)
			waiting.succeeds(t)
			requireGapFree(t, b, thread, map[string]int{"COMMIT": 2, "ROLLBACK": 1}[end])
		}
	})
}

func TestCreateThread(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ids := make([]uuid.UUID, 32)
	together(t, len(ids), func(ctx context.Context, i int) error {
		return b.QueryRow(ctx, "SELECT hippocampus.create_thread('ada', 'app', 's', p_if_not_exists => true)").Scan(&ids[i])
	})
	for _, id := range ids {
		require.Equal(t, ids[0], id)
	}
}

func TestEnqueueConsolidation(t *testing.T) {
	t.Parallel()

	// A worker's fetch holds River's row before its trigger has moved the record: until then the record says
	// that the job waits, and is in the way of another one.
	t.Run("JobThatIsBeingFetchedIsWaitedFor", func(t *testing.T) {
		t.Parallel()
		for end, jobs := range map[string]string{"COMMIT": "pending running", "ROLLBACK": "pending"} {
			b := setup(t)
			thread := b.thread(t, b.ada)
			get[uuid.UUID](t, b, enqueue, thread)
			fetch, client := b.session(t, "fetch"), b.session(t, "client")
			fetch.do("BEGIN")
			fetch.do("SELECT FROM hippocampus.river_job WHERE state = 'available' FOR UPDATE SKIP LOCKED")
			waiting := client.waits(enqueue, thread)
			fetch.do("UPDATE hippocampus.river_job SET state = 'running', attempt = attempt + 1, attempted_at = now() WHERE state = 'available'")
			fetch.do(end)
			waiting.succeeds(t)
			require.Equal(t, jobs, get[string](t, b, "SELECT string_agg(status, ' ' ORDER BY status) FROM hippocampus.consolidation_jobs"))
		}
	})

	t.Run("JobThatIsHeldForLongIsAnError", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread := b.thread(t, b.ada)
		get[uuid.UUID](t, b, enqueue, thread)
		holder, client := b.session(t, "holder"), b.session(t, "client")
		holder.do("BEGIN")
		holder.do("SELECT FROM hippocampus.river_job FOR UPDATE")
		client.waits(enqueue, thread).fails(t, "40001")
		require.Equal(t, 1, get[int](t, b, "SELECT count(*) FROM hippocampus.river_job"))
	})

	t.Run("ManyAtOnce", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread := b.thread(t, b.ada)
		ids := make([]uuid.UUID, 32)
		together(t, len(ids), func(ctx context.Context, i int) error {
			return b.QueryRow(ctx, enqueue, thread).Scan(&ids[i])
		})
		for _, id := range ids {
			require.Equal(t, ids[0], id)
		}
		require.Equal(t, "1 1", get[string](t, b, `SELECT concat_ws(' ', (SELECT count(*) FROM hippocampus.consolidation_jobs),
			(SELECT count(*) FROM hippocampus.river_job WHERE kind = 'consolidate'))`))
	})

	t.Run("OfTwoSessionsOnePending", func(t *testing.T) {
		t.Parallel()
		for _, pending := range []bool{false, true} { // the first there is, or one more for one that waits
			b := setup(t)
			thread := b.thread(t, b.ada)
			if pending {
				get[uuid.UUID](t, b, enqueue, thread)
			}
			first, second := b.session(t, "first"), b.session(t, "second")
			first.do("BEGIN")
			first.do(enqueue, thread)
			waiting := second.waits(enqueue, thread)
			first.do("COMMIT")
			waiting.succeeds(t)
			require.Equal(t, 1, get[int](t, b, "SELECT count(*) FROM hippocampus.consolidation_jobs"))
		}
	})

	t.Run("RepeatableRead", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread := b.thread(t, b.ada)
		together(t, 8, func(ctx context.Context, _ int) error {
			return retried(ctx, b.Pool, pgx.RepeatableRead, func(tx pgx.Tx) error {
				_, err := tx.Exec(ctx, enqueue, thread)
				return err
			})
		})
		require.Equal(t, 1, get[int](t, b, "SELECT count(*) FROM hippocampus.consolidation_jobs"))
	})

	// River's own fetch, by several workers, against clients that enqueue as fast as they can.
	t.Run("RacesWorkers", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread := b.thread(t, b.ada)
		var clients atomic.Int32
		clients.Store(6)
		together(t, 9, func(ctx context.Context, i int) error {
			if i < 6 {
				defer clients.Add(-1)
				for range 100 {
					if _, err := b.Exec(ctx, enqueue, thread); err != nil {
						return err
					}
				}
				return nil
			}
			for clients.Load() > 0 {
				jobs, err := riverpgxv5.New(b.Pool).GetExecutor().JobGetAvailable(ctx, &riverdriver.JobGetAvailableParams{
					ClientID: fmt.Sprint("worker", i), MaxAttemptedBy: 100, MaxToLock: 10, Queue: "consolidation", Schema: "hippocampus",
				})
				if err != nil {
					return err
				}
				for _, job := range jobs.Jobs {
					if _, err := b.Exec(ctx, "UPDATE hippocampus.river_job SET state = 'completed', finalized_at = now() WHERE id = $1", job.ID); err != nil {
						return err
					}
				}
			}
			return nil
		})
		require.Zero(t, get[int](t, b, `SELECT count(*) FROM hippocampus.consolidation_jobs j JOIN hippocampus.river_job r ON r.id = j.river_job_id
			WHERE (j.status = 'pending') <> (r.state = 'available')`))
	})

	t.Run("RolledBackIsEnqueuedByTheNext", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread := b.thread(t, b.ada)
		first, second := b.session(t, "first"), b.session(t, "second")
		first.do("BEGIN")
		first.do(enqueue, thread)
		waiting := second.waits(enqueue, thread)
		first.do("ROLLBACK")
		waiting.succeeds(t)
		require.Equal(t, 1, get[int](t, b, "SELECT count(*) FROM hippocampus.consolidation_jobs j JOIN hippocampus.river_job r ON r.id = j.river_job_id"))
	})
}

// A transaction that is left open must not stop anybody but those who write the same thing.
func TestOpenTransaction(t *testing.T) {
	t.Parallel()
	// write does everything that a tenant does, in the session's transaction if it has one.
	write := func(s *session, user string, thread uuid.UUID, word string) {
		s.t.Helper()
		s.do(appendOne, thread)
		s.do(enqueue, thread)
		s.do("SELECT hippocampus.remember($1, 'app', $2)", user, word+" memory")
		s.do("SELECT hippocampus.remember($1, 'app', $2, p_embedding => array_fill(1, ARRAY[64])::public.vector)", user, word+" with a vector")
		s.do("SELECT hippocampus.upsert_fact($1, 'app', 'custom', $2, '1')", user, word)
		s.do("SELECT hippocampus.block_append($1, 'app', $2, 'line')", user, word)
		s.do("SELECT hippocampus.record_access($1, 'app', ARRAY(SELECT m.id FROM hippocampus.memories m WHERE m.user_id = $1 AND m.content LIKE $2 || '%'))", user, word)
		s.do("SELECT hippocampus.refresh_retention_scores($1, 'app')", user)
		s.do("SELECT hippocampus.cleanup_low_value_memories(p_user_id => $1, p_app_name => 'app')", user)
		s.do("SELECT hippocampus.forget($1, 'app', ARRAY(SELECT m.id FROM hippocampus.memories m WHERE m.user_id = $1 AND m.content = $2))", user, word+" memory")
	}

	t.Run("OfAnotherTenant", func(t *testing.T) {
		t.Parallel()
		for _, level := range []string{"READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"} {
			b := setup(t)
			mine, theirs := b.thread(t, b.ada), b.thread(t, b.bea)
			first, second := b.session(t, "first"), b.session(t, "second")
			first.do("BEGIN")
			write(first, "bea", theirs, "tea")
			second.do("BEGIN ISOLATION LEVEL " + level)
			write(second, "ada", mine, "tea")
			second.do("COMMIT")
			first.do("COMMIT")
		}
	})

	t.Run("OfAnotherThread", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		one, two := b.thread(t, b.ada), b.thread(t, b.ada)
		first, second := b.session(t, "first"), b.session(t, "second")
		first.do("BEGIN")
		write(first, "ada", one, "tea")
		write(second, "ada", two, "coffee")
		second.do("SELECT hippocampus.forget_thread('ada', 'app', $1)", two)
		first.do("COMMIT")
		requireGapFree(t, b, one, 1)
	})

	t.Run("ThatCommitsDoesNotFailASnapshotOfAnotherTenant", func(t *testing.T) {
		t.Parallel()
		for _, level := range []string{"REPEATABLE READ", "SERIALIZABLE"} {
			b := setup(t)
			mine, theirs := b.thread(t, b.ada), b.thread(t, b.bea)
			first, second := b.session(t, "first"), b.session(t, "second")
			second.do("BEGIN ISOLATION LEVEL " + level)
			second.do("SELECT count(*) FROM hippocampus.threads")
			write(first, "bea", theirs, "tea") // wakes the sweepers, folds totals, and commits
			write(second, "ada", mine, "tea")
			second.do("COMMIT")
		}
	})
}

// Who folds terms or takes some out has the user's postings to itself; nobody waits for that, and nothing is lost.
func TestPostingsOfAnother(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first, second := b.session(t, "first"), b.session(t, "second")
	rows := func() string { // that are folded, that are not, and that are noted as gone
		return get[string](t, b, `SELECT concat_ws(' ', count(*) FILTER (WHERE number > 0), count(*) FILTER (WHERE number < 0),
			(SELECT count(*) FROM hippocampus.unindexed_rows)) FROM hippocampus.row_terms`)
	}
	finds := func(word string) int {
		return get[int](t, b, "SELECT count(*) FROM hippocampus.search_memory('ada', 'app', $1)", word)
	}
	const forget = "SELECT hippocampus.forget('ada', 'app', ARRAY(SELECT m.id FROM hippocampus.memories m WHERE m.content = $1))"
	const fold = "SELECT hippocampus._fold_terms('ada', 'app', 'memory', 1)"
	for _, word := range []string{"tea", "milk", "cup", "pot", "jug"} {
		first.do("SELECT hippocampus.remember('ada', 'app', $1)", word)
	}
	first.do(fold)
	require.Equal(t, "5 0 0", rows())

	first.do("BEGIN")
	first.do(fold + " WHERE (SELECT hippocampus._hold_postings('ada', 'app'))")
	second.do(forget, "tea") // does not wait, and has it found no more
	require.Equal(t, "5 0 1", rows())
	require.Zero(t, finds("tea"))
	require.Equal(t, 1, finds("milk"))
	second.do("SELECT hippocampus.remember('ada', 'app', 'tea')") // is another row
	require.Equal(t, 1, finds("tea"))
	first.do("COMMIT")
	second.do("SELECT hippocampus.remember('ada', 'app', 'ladle')") // the user's next writer takes out what is noted
	require.Equal(t, "4 2 0", rows())
	require.Equal(t, 1, get[int](t, b, "SELECT count(*) FROM hippocampus.row_terms WHERE terms = '{tea}'"))
	require.Zero(t, get[int](t, b, "SELECT count(*) FROM hippocampus.postings WHERE term = 'tea'"))

	// A row that is being folded when it goes has another number after.
	first.do("BEGIN")
	first.do(fold)
	second.do(forget, "tea")
	require.Zero(t, finds("tea"))
	first.do("COMMIT")
	require.Equal(t, "6 0 1", rows())
	require.Zero(t, finds("tea"))
	require.Equal(t, 0, get[int](t, b, "SELECT hippocampus.fold_terms('ada', 'app')"))
	require.Equal(t, "5 0 0", rows())
	require.Zero(t, get[int](t, b, "SELECT count(*) FROM hippocampus.postings WHERE term = 'tea'"))

	// A snapshot from before another's fold neither folds nor fails.
	second.do("BEGIN ISOLATION LEVEL REPEATABLE READ")
	second.do("SELECT count(*) FROM hippocampus.threads")
	first.do("SELECT hippocampus.remember('ada', 'app', 'apple')")
	first.do(fold)
	second.do("SELECT hippocampus.remember('ada', 'app', 'pear')")
	second.do("DELETE FROM hippocampus.memories WHERE content = 'milk'")
	second.do(forget, "cup")
	second.do("COMMIT")
	require.Equal(t, "6 1 2", rows())
	require.Zero(t, finds("milk"))
	require.Zero(t, finds("cup"))
	require.Equal(t, []int{1, 1}, []int{finds("apple"), finds("pear")})

	// What is undone is undone whole, the lock of a savepoint too.
	second.do("BEGIN")
	second.do("SAVEPOINT here")
	second.do("SELECT hippocampus.remember('ada', 'app', 'saucer')")
	second.do(fold)
	second.do("ROLLBACK TO here")
	require.Equal(t, []bool{true}, []bool{get[bool](t, b, "SELECT hippocampus._hold_postings('ada', 'app')")})
	second.do("COMMIT")
	require.Zero(t, finds("saucer"))
	require.Equal(t, 1, finds("pear"))
}
