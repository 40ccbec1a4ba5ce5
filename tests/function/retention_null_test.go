package function_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/db"
)

// What was left unsaid deletes nothing, and no clock is out of this world.
func TestRetentionDeletesOnlyWhenTold(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.rememberWith(t, "green tea", "p_embedding => $5", vector(1))
	count := func() int {
		return list[int](t, b, "SELECT count(*)::integer FROM hippocampus.memories m WHERE m.user_id = $1 AND m.app_name = $2", b.UserID, b.AppName)[0]
	}
	b.exec(t, `SELECT hippocampus.cleanup_low_value_memories(1, 0, $1, $2, p_dry_run => NULL, p_now => now() + interval '1 year')`, b.UserID, b.AppName)
	require.Equal(t, 1, count())
	b.exec(t, `SELECT hippocampus.sweep_retention(p_delete => NULL, p_threshold => 1, p_min_age_days => 0, p_now => now() + interval '1 year')`)
	require.Equal(t, 1, count())
	for _, now := range []string{"infinity", "-infinity"} {
		_, err := b.Exec(t.Context(), `SAVEPOINT s`)
		require.NoError(t, err)
		_, err = b.Exec(t.Context(), `SELECT hippocampus.cleanup_low_value_memories(0.1, 7, $1, $2, false, $3::timestamptz)`, b.UserID, b.AppName, now)
		require.ErrorIs(t, db.Wrap(err), db.ErrInvalidArgument)
		require.ErrorContains(t, err, "p_now is "+now)
		_, err = b.Exec(t.Context(), `ROLLBACK TO s`)
		require.NoError(t, err)
	}
	require.Equal(t, 1, count())
}
