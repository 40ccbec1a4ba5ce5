package concurrency_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGraph(t *testing.T) {
	t.Parallel()

	t.Run("ManyWritersOfOneGraph", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		const writers, rounds = 12, 8
		together(t, writers, func(ctx context.Context, i int) error {
			for round := range rounds {
				// All want the hub and each other's names, in different orders; each adds something of its own.
				for _, sql := range []string{
					fmt.Sprintf(`SELECT hippocampus.graph_create_entities('ada', 'app', '[{"name": "n%d", "entityType": "t", "observations": []},
						{"name": "hub", "entityType": "t", "observations": []}, {"name": "n%d", "entityType": "t", "observations": []}]')`,
						(i+round)%writers, (writers-i+round)%writers),
					fmt.Sprintf(`SELECT hippocampus.graph_add_observations('ada', 'app', '[{"entityName": "hub", "contents": ["%d of %d", "round %d"]}]')`,
						round, i, round),
					fmt.Sprintf(`SELECT hippocampus.graph_create_relations('ada', 'app', '[{"from": "hub", "to": "n%d", "relationType": "round %d"}]')`, i, round),
				} {
					if _, err := b.Exec(ctx, sql); err != nil {
						return err
					}
				}
			}
			return nil
		})
		require.Equal(t, writers+1, get[int](t, b, "SELECT count(*) FROM hippocampus.graph_entities"))
		require.Equal(t, writers*rounds, get[int](t, b, "SELECT count(*) FROM hippocampus.graph_relations"))
		require.Equal(t, writers*rounds+rounds, get[int](t, b, "SELECT count(*) FROM hippocampus.graph_observations"))
		for _, table := range []string{"entities", "relations", "observations"} { // an order without ties
			require.True(t, get[bool](t, b, "SELECT count(*) = count(DISTINCT position) FROM hippocampus.graph_"+table), table)
		}
	})

	t.Run("AnEntityIsNotDeletedBetween", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		first, second := b.session(t, "first"), b.session(t, "second")
		first.do(`SELECT hippocampus.graph_create_entities('ada', 'app', '[{"name": "n", "entityType": "t", "observations": []}]')`)
		first.do("BEGIN")
		first.do("SELECT hippocampus.graph_delete_entities('ada', 'app', '{n}')")
		waiting := second.waits(`SELECT hippocampus.graph_add_observations('ada', 'app', '[{"entityName": "n", "contents": ["x"]}]')`)
		first.do("COMMIT")
		waiting.fails(t, "HC011")
	})

	t.Run("OtherUsersDoNotWait", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		first, second := b.session(t, "first"), b.session(t, "second")
		const create = `SELECT hippocampus.graph_create_entities($1, 'app', '[{"name": "n", "entityType": "t", "observations": []}]')`
		first.do("BEGIN")
		first.do(create, "ada")
		second.do(create, "bea")
		first.do("COMMIT")
	})
}
