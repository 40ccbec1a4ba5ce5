package concurrency_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStateMerge(t *testing.T) {
	t.Parallel()

	t.Run("ExpectedVersionHasOneWinner", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		const merge = `SELECT hippocampus.user_state_merge('ada', 'app', '{"a": 1}', 0)`
		first, second := b.session(t, "first"), b.session(t, "second")
		first.do("BEGIN")
		first.do(merge)
		waiting := second.waits(merge)
		first.do("COMMIT")
		waiting.fails(t, "HC008")
	})

	t.Run("LosesNoKey", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread := b.thread(t, b.ada)
		together(t, 16, func(ctx context.Context, i int) error {
			_, err := b.Exec(ctx, `SELECT hippocampus.user_state_merge('ada', 'app', jsonb_build_object($1::text, $2::int)),
				hippocampus.app_state_merge('app', jsonb_build_object($1::text, $2::int)),
				hippocampus.thread_state_merge($3, jsonb_build_object($1::text, $2::int))`, string(rune('a'+i)), i, thread)
			return err
		})
		require.Equal(t, []int64{16, 16, 16}, get[[]int64](t, b, `SELECT ARRAY[
			(SELECT count(*) FROM hippocampus.user_state s, jsonb_object_keys(s.state) WHERE s.version = 16),
			(SELECT count(*) FROM hippocampus.app_state s, jsonb_object_keys(s.state) WHERE s.version = 16),
			(SELECT count(*) FROM hippocampus.threads s, jsonb_object_keys(s.state) WHERE s.version = 17)]`))
	})
}
