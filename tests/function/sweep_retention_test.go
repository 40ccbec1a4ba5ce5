package function_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSweepRetention(t *testing.T) {
	t.Parallel()

	t.Run("BatchesVisitEachRowOnce", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		// Three users of two apps, several rows a moment: the order has ties in every column but the last.
		const total = 3 * 2 * 7
		for user := range 3 {
			for app := range 2 {
				for i := range 7 {
					b.exec(t, "SELECT hippocampus.remember($1, $2, $3, p_now => $4)", fmt.Sprintf("%s-%d", b.UserID, user),
						fmt.Sprintf("%s-%d", b.AppName, app), fmt.Sprintf("memory %d", i), b.now.Add(-time.Duration(i/3)*10*day))
				}
			}
		}
		for _, limit := range []int{1, 2, 5, total - 1, total, total + 1} {
			scanned, refreshed, deleted, batches := 0, 0, 0, 0
			last := swept{}
			attempt, err := b.Begin(t.Context())
			require.NoError(t, err)
			for {
				last = rowOf[swept](t, attempt, `SELECT * FROM hippocampus.sweep_retention($1, $2, $3, $4, $5, p_now => $6)`,
					last.AfterUserID, last.AfterAppName, last.AfterCreatedAt, last.AfterID, limit, b.now)
				scanned += int(last.Scanned)
				refreshed += int(last.Refreshed)
				deleted += int(last.Deleted)
				batches++
				if last.AfterID == nil {
					break
				}
				require.Equal(t, int32(limit), last.Scanned)
			}
			require.Equal(t, total, scanned, limit)
			require.Equal(t, 3*2*4, deleted, limit) // of 10 and 20 days: 0.2 · exp(-1) is below 0.1
			require.Zero(t, refreshed, limit)
			require.Equal(t, total/limit+1, batches, limit)
			require.NoError(t, attempt.Rollback(t.Context()))
		}
	})

	t.Run("OfOneTenantOnly", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		users := []string{b.UserID + "-a", b.UserID + "-b", b.UserID + "-c"}
		for _, user := range users {
			for i := range 3 {
				b.exec(t, "SELECT hippocampus.remember($1, $2, $3, p_now => $4)", user, b.AppName, fmt.Sprintf("m %d", i), b.now)
			}
		}
		sweep := func(after swept) swept {
			return rowOf[swept](t, b, `SELECT * FROM hippocampus.sweep_retention($1, $2, $3, $4, 2, p_user_id => $5, p_app_name => $6, p_now => $7)`,
				after.AfterUserID, after.AfterAppName, after.AfterCreatedAt, after.AfterID, users[1], b.AppName, b.now)
		}
		first := sweep(swept{})
		require.Equal(t, int32(2), first.Scanned)
		require.Equal(t, users[1], *first.AfterUserID)
		second := sweep(first)
		require.Equal(t, int32(1), second.Scanned)
		require.Nil(t, second.AfterID)
	})

	t.Run("OnlyRefreshesOrOnlyDeletes", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.now = b.now.Add(-20 * day)
		b.remember(t, "old")
		b.now = b.now.Add(20 * day)
		sweep := func(refresh, remove bool) swept {
			return rowOf[swept](t, b, `SELECT * FROM hippocampus.sweep_retention(p_user_id => $1, p_refresh => $2, p_delete => $3, p_now => $4)`,
				b.UserID, refresh, remove, b.now)
		}
		require.Equal(t, swept{Scanned: 1}, clearAfter(sweep(false, false)))
		require.Equal(t, swept{Scanned: 1, Refreshed: 1}, clearAfter(sweep(true, false)))
		require.Equal(t, swept{Scanned: 1, Deleted: 1}, clearAfter(sweep(false, true)))
		require.Equal(t, swept{}, clearAfter(sweep(true, true)))
	})

	t.Run("RefusesWhatIsOutOfRange", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.refuses(t, "HC009", "p_limit is 0", "SELECT hippocampus.sweep_retention(p_limit => 0)")
		b.refuses(t, "HC009", "p_limit is null", "SELECT hippocampus.sweep_retention(p_limit => NULL)")
		b.refuses(t, "HC009", "p_threshold is 2", "SELECT hippocampus.sweep_retention(p_threshold => 2)")
		b.refuses(t, "HC009", "p_min_age_days is -1", "SELECT hippocampus.sweep_retention(p_min_age_days => -1)")
	})

	t.Run("SameIdOfAnotherTenantStays", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.now = b.now.Add(-20 * day)
		id := b.remember(t, "old and unread")
		// Ids are unique within a tenant only, and a tenant may choose them.
		b.exec(t, `INSERT INTO hippocampus.memories (id, user_id, app_name, content, content_hash, token_count, created_at, last_accessed_at,
			access_count, retention_score) VALUES ($1, $2, $3, 'another''s, old and well read', sha256('x'), 1, $4, $5, 50, 0.1)`,
			id, b.UserID+"-z", b.AppName, b.now, b.now.Add(20*day))
		b.now = b.now.Add(20 * day)
		got := rowOf[swept](t, b, "SELECT * FROM hippocampus.sweep_retention(p_app_name => $1, p_now => $2)", b.AppName, b.now)
		require.Equal(t, swept{Scanned: 2, Deleted: 1, Refreshed: 1}, clearAfter(got))
		require.Equal(t, []string{b.UserID + "-z"}, list[string](t, b, "SELECT user_id FROM hippocampus.memories WHERE id = $1", id))
		require.NotZero(t, get[int](t, b, "SELECT count(*) FROM hippocampus.row_terms WHERE user_id = $1", b.UserID+"-z"))
	})
}

// clearAfter leaves what a batch did.
func clearAfter(s swept) swept {
	return swept{Scanned: s.Scanned, Refreshed: s.Refreshed, Deleted: s.Deleted}
}
