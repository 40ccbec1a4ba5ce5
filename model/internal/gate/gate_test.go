package gate_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/model/internal/gate"
)

func TestGate_Do(t *testing.T) {
	t.Parallel()

	t.Run("ContextEndsWhileWaitingForAPlace", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			g := gate.New(1, 0)
			release := make(chan struct{})
			go func() {
				_ = g.Do(context.Background(), func(context.Context) error { <-release; return nil })
			}()
			synctest.Wait()
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			err := g.Do(ctx, func(context.Context) error { return errors.New("ran") })
			require.ErrorIs(t, err, context.DeadlineExceeded)
			close(release)
		})
	})

	t.Run("HoldsConcurrency", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			g := gate.New(2, 0)
			var running, most atomic.Int32
			done := make(chan struct{})
			for range 6 {
				go func() {
					_ = g.Do(context.Background(), func(context.Context) error {
						n := running.Add(1)
						for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
						}
						time.Sleep(time.Second)
						running.Add(-1)
						return nil
					})
					done <- struct{}{}
				}()
			}
			for range 6 {
				<-done
			}
			require.EqualValues(t, 2, most.Load())
		})
	})

	t.Run("HoldsRate", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			g := gate.New(100, 2)
			start := time.Now()
			for range 6 { // a burst of 2, then two a second
				require.NoError(t, g.Do(t.Context(), func(context.Context) error { return nil }))
			}
			require.Equal(t, 2*time.Second, time.Since(start).Round(time.Millisecond))
		})
	})

	t.Run("WaitLongerThanDeadline", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			g := gate.New(1, 1)
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			require.NoError(t, g.Do(ctx, func(context.Context) error { return nil }))
			require.ErrorIs(t, g.Do(ctx, func(context.Context) error { return nil }), context.DeadlineExceeded)
		})
	})
}
