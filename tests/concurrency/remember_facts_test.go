package concurrency_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// Many draw the same fact from what they have read, at once: it is one row that holds, whatever the pipeline takes
// each of them for, and what each has said is counted.
func TestRememberFactsOfMany(t *testing.T) {
	t.Parallel()
	const writers = 64
	// fact gives the i-th writer's fact; a vector is one of three, of which the first two are 0.85 alike.
	const states = `SELECT action FROM hippocampus.remember_facts('ada', 'app', jsonb_build_array(jsonb_build_object('fact_type', 'preference',
		'key', $1::text, 'value', $2::text, 'embedding', (SELECT jsonb_agg(CASE i WHEN 1 THEN CASE WHEN $3 THEN 1 ELSE 0.85 END
			WHEN 2 THEN CASE WHEN $3 THEN 0 ELSE sqrt(1 - 0.85 * 0.85) END ELSE 0 END ORDER BY i) FROM generate_series(1, 64) i),
		'decisions', CASE WHEN $4::text IS NOT NULL THEN jsonb_build_array(
			jsonb_build_object('old', 'redux: no', 'relation', $4::text, 'reason', 'as told', 'decided_by', 'script'),
			jsonb_build_object('old', 'state: never', 'relation', $4::text, 'reason', 'as told', 'decided_by', 'script')) END)))`
	stated := func(t *testing.T, state func(i int) []any) *testBundle {
		t.Helper()
		b := setup(t)
		together(t, writers, func(ctx context.Context, i int) error {
			_, err := b.Exec(ctx, states, state(i)...)
			return err
		})
		require.Equal(t, writers, get[int](t, b, "SELECT sum(encounter_count) FROM hippocampus.facts"), "nobody's word is lost")
		require.Equal(t, 1, get[int](t, b, "SELECT count(*) FROM hippocampus.facts_as_of('ada', 'app')"))
		return b
	}
	rows := "SELECT count(*) FROM hippocampus.facts"

	t.Run("InTheSameWords", func(t *testing.T) {
		t.Parallel()
		b := stated(t, func(int) []any { return []any{"redux", "no", true, nil} })
		require.Equal(t, 1, get[int](t, b, rows))
	})

	t.Run("UnderOtherKeysWithTheSameMeaning", func(t *testing.T) {
		t.Parallel()
		b := stated(t, func(i int) []any { return []any{fmt.Sprint("key_", i), "no", true, nil} })
		require.Equal(t, 1, get[int](t, b, rows))
	})

	t.Run("InOtherWordsThatAClassifierFoundAlike", func(t *testing.T) {
		t.Parallel()
		b := stated(t, func(i int) []any {
			if i%2 == 0 {
				return []any{"redux", "no", true, "DUPLICATE"}
			}
			return []any{"state", "never", false, "DUPLICATE"}
		})
		require.Equal(t, 1, get[int](t, b, rows))
	})

	t.Run("WithAValueEach", func(t *testing.T) {
		t.Parallel()
		b := stated(t, func(i int) []any { return []any{"redux", fmt.Sprint("version ", i), i%2 == 0, nil} })
		require.Zero(t, get[int](t, b, "SELECT count(*) FROM hippocampus.facts WHERE valid_until IS NOT NULL AND superseded_by IS NULL"))
	})
}
