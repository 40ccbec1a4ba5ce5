package concurrency_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Two who set fields of a policy at once both have their way, also where the app has no row yet; and so has what moves
// its threshold.
func TestPutConsolidationPolicy(t *testing.T) {
	t.Parallel()
	const enable = `SELECT hippocampus.put_consolidation_policy('app', '{"enabled": true}')`
	const share = `SELECT hippocampus.put_consolidation_policy('app', '{"sharing": true}')`
	const move = `UPDATE hippocampus.consolidation_policies SET min_importance = 0.65 WHERE app_name = 'app'`
	for name, steps := range map[string]struct {
		before, first string
		want          string
	}{
		"NoRowYet":       {"SELECT 1", enable, "true true 0.6"},
		"ARow":           {`SELECT hippocampus.put_consolidation_policy('app', '{}')`, enable, "true true 0.6"},
		"ItMovesBetween": {`SELECT hippocampus.put_consolidation_policy('app', '{"enabled": true}')`, move, "true true 0.65"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			_, err := b.Exec(t.Context(), steps.before)
			require.NoError(t, err)
			first, second := b.session(t, "first"), b.session(t, "second")
			first.do("BEGIN")
			first.do(steps.first)
			done := second.waits(share)
			first.do("COMMIT")
			done.succeeds(t)
			require.Equal(t, steps.want, get[string](t, b, `SELECT enabled || ' ' || sharing || ' ' || min_importance
				FROM hippocampus.consolidation_policies WHERE app_name = 'app'`))
		})
	}
}
