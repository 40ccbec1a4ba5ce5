package concurrency_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/db"
)

const upsertCity = "SELECT hippocampus.upsert_fact($1, $2, 'profile', 'city', to_jsonb($3::text))"

// requireHistory requires one current value, the last of a chain without gaps and overlaps.
func requireHistory(t *testing.T, b *testBundle, scope db.Scope, values int) {
	t.Helper()
	rows, err := b.Query(t.Context(), "SELECT * FROM hippocampus.facts f WHERE f.user_id = $1 ORDER BY f.valid_from, f.valid_until", scope.UserID)
	require.NoError(t, err)
	facts, err := pgx.CollectRows(rows, pgx.RowToStructByName[db.Fact])
	require.NoError(t, err)
	require.Len(t, facts, values)
	byID := map[uuid.UUID]db.Fact{}
	var current []uuid.UUID
	end := time.Time{}
	for _, f := range facts {
		byID[f.ID] = f
		if f.ValidUntil == nil {
			current = append(current, f.ID)
			require.Nil(t, f.SupersededBy)
			continue
		}
		require.NotNil(t, f.SupersededBy)
		if f.ValidUntil.After(f.ValidFrom) {
			require.True(t, end.IsZero() || end.Equal(f.ValidFrom), "a gap or an overlap at %s", f.ValidFrom)
			end = *f.ValidUntil
		}
	}
	require.Len(t, current, 1)
	require.True(t, end.IsZero() || end.Equal(byID[current[0]].ValidFrom))
	for _, f := range facts { // every chain ends with the current value
		for range values {
			if f.SupersededBy == nil {
				break
			}
			f = byID[*f.SupersededBy]
		}
		require.Equal(t, current[0], f.ID)
	}
}

func TestUpsertFact(t *testing.T) {
	t.Parallel()

	t.Run("EarlierTransactionThatWaitedIsNewer", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		first, second := b.session(t, "first"), b.session(t, "second")
		first.do("BEGIN")
		first.do("SELECT now()") // began first …
		second.do(upsertCity, b.ada.UserID, b.ada.AppName, "Berlin")
		first.do(upsertCity, b.ada.UserID, b.ada.AppName, "Paris") // … and spoke last
		first.do("COMMIT")
		require.Equal(t, "Paris", get[string](t, b, "SELECT f.value #>> '{}' FROM hippocampus.facts_as_of($1, $2) f", b.ada.UserID, b.ada.AppName))
		requireHistory(t, b, b.ada, 2)
	})

	t.Run("OtherKeysAndTenantsDoNotWait", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		first, second := b.session(t, "first"), b.session(t, "second")
		first.do("BEGIN")
		first.do(upsertCity, b.ada.UserID, b.ada.AppName, "Berlin")
		second.do(upsertCity, b.bea.UserID, b.bea.AppName, "Berlin")
		second.do("SELECT hippocampus.upsert_fact($1, $2, 'profile', 'street', '1')", b.ada.UserID, b.ada.AppName)
		second.do("SELECT hippocampus.upsert_fact($1, $2, 'custom', 'city', '1')", b.ada.UserID, b.ada.AppName)
		waiting := second.waits(upsertCity, b.ada.UserID, b.ada.AppName, "Paris")
		first.do("COMMIT")
		waiting.succeeds(t)
	})

	t.Run("RolledBackLeavesNothing", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		first, second := b.session(t, "first"), b.session(t, "second")
		first.do("BEGIN")
		first.do(upsertCity, b.ada.UserID, b.ada.AppName, "Berlin")
		waiting := second.waits(upsertCity, b.ada.UserID, b.ada.AppName, "Paris")
		first.do("ROLLBACK")
		waiting.succeeds(t)
		requireHistory(t, b, b.ada, 1)
	})

	for _, level := range []pgx.TxIsoLevel{pgx.ReadCommitted, pgx.RepeatableRead, pgx.Serializable} {
		t.Run("ManyWriters "+string(level), func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			writers := 64
			if level != pgx.ReadCommitted {
				writers = 12 // each tries until it is alone
			}
			together(t, writers, func(ctx context.Context, i int) error {
				return retried(ctx, b.Pool, level, func(tx pgx.Tx) error {
					_, err := tx.Exec(ctx, upsertCity, b.ada.UserID, b.ada.AppName, fmt.Sprintf("city %d", i))
					return err
				})
			})
			requireHistory(t, b, b.ada, writers)
		})
	}

	t.Run("ManyWritersOfOneValue", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		together(t, 64, func(ctx context.Context, _ int) error {
			_, err := b.Exec(ctx, upsertCity, b.ada.UserID, b.ada.AppName, "Berlin")
			return err
		})
		requireHistory(t, b, b.ada, 1)
		require.Equal(t, int32(64), get[int32](t, b, "SELECT encounter_count FROM hippocampus.facts"))
	})

	t.Run("SnapshotThatIsTooOldIsRefused", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		first, second := b.session(t, "first"), b.session(t, "second")
		second.do("BEGIN ISOLATION LEVEL REPEATABLE READ")
		second.do("SELECT count(*) FROM hippocampus.facts")
		first.do(upsertCity, b.ada.UserID, b.ada.AppName, "Berlin")
		_, err := second.conn.Exec(t.Context(), upsertCity, b.ada.UserID, b.ada.AppName, "Paris")
		require.ErrorIs(t, db.Wrap(err), db.ErrConflict)
		second.do("ROLLBACK")
		requireHistory(t, b, b.ada, 1)
	})
}

func TestPutInstruction(t *testing.T) {
	t.Parallel()
	b := setup(t)
	together(t, 32, func(ctx context.Context, i int) error {
		_, err := b.Exec(ctx, "SELECT hippocampus.put_instruction('app', 'style', $1)", fmt.Sprintf("version %d", i))
		return err
	})
	require.Equal(t, "32 32 32", get[string](t, b, "SELECT concat_ws(' ', count(*), count(DISTINCT version), max(version)) FROM hippocampus.instructions"))
}

func TestBlocks(t *testing.T) {
	t.Parallel()
	value := func(t *testing.T, b *testBundle) string {
		t.Helper()
		return get[string](t, b, "SELECT hippocampus.block_get('ada', 'app', 'notes')")
	}

	t.Run("AppendLosesNoLine", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		const sessions, linesEach = 16, 8
		together(t, sessions, func(ctx context.Context, i int) error {
			for j := range linesEach {
				_, err := b.Exec(ctx, "SELECT hippocampus.block_append('ada', 'app', 'notes', $1)", fmt.Sprintf("%d/%d", i, j))
				if err != nil {
					return err
				}
			}
			return nil
		})
		require.Equal(t, int64(sessions*linesEach), get[int64](t, b, "SELECT count(DISTINCT l) FROM regexp_split_to_table($1, E'\n') l", value(t, b)))
		require.Equal(t, int64(sessions*linesEach), get[int64](t, b, "SELECT version FROM hippocampus.memory_blocks"))
	})

	t.Run("AppendWaitsForANewBlock", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		first, second := b.session(t, "first"), b.session(t, "second")
		first.do("BEGIN")
		first.do("SELECT hippocampus.block_set('ada', 'app', 'notes', 'set')")
		waiting := second.waits("SELECT hippocampus.block_append('ada', 'app', 'notes', 'appended')")
		first.do("COMMIT")
		waiting.succeeds(t)
		require.Equal(t, "set\nappended", value(t, b))
	})

	t.Run("NewBlockIsMadeOnce", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		first, second := b.session(t, "first"), b.session(t, "second")
		first.do("BEGIN")
		first.do("SELECT hippocampus.block_set('ada', 'app', 'notes', 'first', p_expected_version => 0)")
		waiting := second.waits("SELECT hippocampus.block_set('ada', 'app', 'notes', 'second', p_expected_version => 0)")
		first.do("COMMIT")
		waiting.fails(t, "HC008")
		require.Equal(t, "first", value(t, b))
	})

	t.Run("OptimisticWritersLoseNothing", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		_, err := b.Exec(t.Context(), "SELECT hippocampus.block_set('ada', 'app', 'notes', '0')")
		require.NoError(t, err)
		together(t, 8, func(ctx context.Context, _ int) error {
			for { // read, add one, write unless somebody else wrote
				var n int
				var version int64
				err := b.QueryRow(ctx, "SELECT value::integer, version FROM hippocampus.memory_blocks").Scan(&n, &version)
				if err != nil {
					return err
				}
				_, err = b.Exec(ctx, "SELECT hippocampus.block_set('ada', 'app', 'notes', $1, p_expected_version => $2)", fmt.Sprint(n+1), version)
				if !errors.Is(db.Wrap(err), db.ErrVersionConflict) {
					return err
				}
			}
		})
		require.Equal(t, "8", value(t, b))
	})

	t.Run("OtherBlocksDoNotWait", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		first, second := b.session(t, "first"), b.session(t, "second")
		first.do("BEGIN")
		first.do("SELECT hippocampus.block_append('ada', 'app', 'notes', 'x')")
		second.do("SELECT hippocampus.block_append('ada', 'app', 'other', 'x')")
		second.do("SELECT hippocampus.block_append('bea', 'app', 'notes', 'x')")
		first.do("COMMIT")
		first.do("BEGIN")
		first.do("SELECT hippocampus.block_replace('ada', 'app', 'notes', 'x', 'y')")
		second.do("SELECT hippocampus.block_replace('ada', 'app', 'other', 'x', 'y')")
		waiting := second.waits("SELECT hippocampus.block_replace('ada', 'app', 'notes', 'x', 'z')")
		first.do("COMMIT")
		waiting.fails(t, "HC012") // the text it looked for is another by now
	})
}
