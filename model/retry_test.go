package model_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/model"
)

// attempts runs a Retry against errors in order (nil for success; the last is
// repeated) in a bubble of fake time.
func attempts(ctx context.Context, r model.Retry, errs ...error) (starts []time.Duration, err error) {
	begin := time.Now()
	err = r.Do(ctx, func(context.Context) error {
		starts = append(starts, time.Since(begin))
		return errs[min(len(starts), len(errs))-1]
	})
	return starts, err
}

func TestRetry_Do(t *testing.T) {
	t.Parallel()
	busy := &model.Error{Kind: model.KindUnavailable}
	limited := func(after time.Duration) error {
		return fmt.Errorf("embed: %w", &model.Error{Kind: model.KindRateLimited, RetryAfter: after})
	}

	t.Run("BacksOffWithJitter", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			starts, err := attempts(t.Context(), model.Retry{MaxAttempts: 6, BaseDelay: time.Second, MaxDelay: 4 * time.Second}, busy)
			require.ErrorIs(t, err, busy)
			require.Len(t, starts, 6)
			for i, base := range []int{1, 2, 4, 8, 8} { // capped at 4 s after jitter
				wait := starts[i+1] - starts[i]
				require.GreaterOrEqual(t, wait, min(time.Duration(base)*time.Second/2, 4*time.Second))
				require.LessOrEqual(t, wait, min(time.Duration(base)*time.Second*3/2, 4*time.Second))
			}
		})
	})

	t.Run("CancelEndsTheWait", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			defer cancel()
			starts, err := attempts(ctx, model.Retry{}, busy)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.Len(t, starts, 1)
		})
	})

	t.Run("CancelledBefore", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		starts, err := attempts(ctx, model.Retry{}, busy)
		require.ErrorIs(t, err, context.Canceled)
		require.Empty(t, starts)
	})

	t.Run("DefaultsToThree", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			starts, err := attempts(t.Context(), model.Retry{}, busy)
			require.ErrorIs(t, err, busy)
			require.Len(t, starts, 3)
		})
	})

	t.Run("HonoursRetryAfter", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			var told []int
			r := model.Retry{OnRetry: func(_ context.Context, attempt int, wait time.Duration, err error) {
				told = append(told, attempt)
				require.Equal(t, 15*time.Second, wait)
				require.Error(t, err)
			}}
			starts, err := attempts(t.Context(), r, limited(15*time.Second), nil)
			require.NoError(t, err)
			require.Equal(t, []time.Duration{0, 15 * time.Second}, starts)
			require.Equal(t, []int{1}, told)
		})
	})

	t.Run("OtherFailuresGoUpAtOnce", func(t *testing.T) {
		t.Parallel()
		for _, err := range []error{errPlain, &model.Error{Kind: model.KindRejected}, &model.Error{Kind: model.KindInvalidReply}} {
			starts, got := attempts(t.Context(), model.Retry{}, err)
			require.ErrorIs(t, got, err)
			require.Len(t, starts, 1)
		}
	})

	t.Run("RetryAfterOverTheBoundGoesUp", func(t *testing.T) {
		t.Parallel()
		starts, err := attempts(t.Context(), model.Retry{}, limited(21*time.Second))
		var failure *model.Error
		require.ErrorAs(t, err, &failure)
		require.Equal(t, 21*time.Second, failure.RetryAfter)
		require.Len(t, starts, 1)
	})

	t.Run("TotalTimeIsBounded", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			starts, err := attempts(t.Context(), model.Retry{MaxAttempts: 100, MaxElapsed: 25 * time.Second}, limited(10*time.Second))
			require.Error(t, err)
			require.Equal(t, []time.Duration{0, 10 * time.Second, 20 * time.Second}, starts)
		})
	})
}
