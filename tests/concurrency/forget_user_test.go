package concurrency_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

// writes is a statement of each kind that writes a user's memory; $1 is a number. Some are of all users.
var writes = map[string]string{
	"append": `SELECT hippocampus.append_event(hippocampus.create_thread('ada', 'app'), 'user', 'message',
		jsonb_build_object('text', 'tea ' || $1::integer), p_importance => 0.9)`,
	"block":  `SELECT hippocampus.block_append('ada', 'app', 'k' || $1 % 2, 'x')`,
	"delete": `SELECT hippocampus.delete_document('ada', 'app', 'd' || $1 % 3)`,
	"document": `SELECT hippocampus.put_document('ada', 'app', 'd' || $1 % 3, jsonb_build_array(jsonb_build_object('content', 'tea', 'start_line', 1),
		jsonb_build_object('content', 'chunk ' || $1, 'start_line', 2)))`,
	"due":        `SELECT hippocampus.enqueue_due_consolidations(p_now => now() + interval '1 day'), $1::integer`,
	"embed":      `SELECT hippocampus.put_embedding('ada', 'app', 'memory', m.id, array_fill(1 + $1, ARRAY[64])::public.vector) FROM hippocampus.memories m WHERE m.user_id = 'ada' ORDER BY m.id LIMIT 3`,
	"episodes":   `SELECT hippocampus.remember_events('ada', 'app', t.id), $1::integer FROM hippocampus.threads t WHERE t.user_id = 'ada' ORDER BY random() LIMIT 1`,
	"experience": `SELECT hippocampus.record_experience('ada', 'app', 'task ' || $1 % 7, 3, 1, p_insight => 'retry')`,
	"fact":       `SELECT hippocampus.upsert_fact('ada', 'app', 'custom', 'k' || $1 % 3, to_jsonb($1 % 4))`,
	"facts":      `SELECT hippocampus.remember_facts('ada', 'app', jsonb_build_array(jsonb_build_object('key', 'f' || $1 % 3, 'value', $1 % 4)))`,
	"forget":     `SELECT hippocampus.forget('ada', 'app', ARRAY(SELECT m.id FROM hippocampus.memories m WHERE m.user_id = 'ada' ORDER BY random() LIMIT 2)), $1::integer`,
	"graph": `SELECT hippocampus.graph_create_entities('ada', 'app', jsonb_build_array(jsonb_build_object('name', 'n' || $1 % 9, 'entityType', 't', 'observations',
		jsonb_build_array('o')), jsonb_build_object('name', 'hub', 'entityType', 't', 'observations', '[]'::jsonb)))`,
	"job":       `SELECT hippocampus.enqueue_consolidation(t.id), $1::integer FROM hippocampus.threads t WHERE t.user_id = 'ada' ORDER BY random() LIMIT 1`,
	"knowledge": `SELECT hippocampus.update_knowledge_base('ada', 'app', 'c', 't' || $1 % 3, 'note ' || $1)`,
	"lesson":    `SELECT hippocampus.record_lesson('ada', 'app', 'rule ' || $1 % 5)`,
	"link": `SELECT hippocampus.link_memories('ada', 'app', m.ids[1], m.ids[2]), $1::integer
		FROM (SELECT array_agg(l.id ORDER BY random()) AS ids FROM hippocampus.memories l WHERE l.user_id = 'ada') m WHERE m.ids[2] IS NOT NULL`,
	"remember":     `SELECT hippocampus.remember('ada', 'app', 'tea ' || $1 % 20, p_tags => ARRAY['t' || $1 % 3], p_embedding => array_fill(1, ARRAY[64])::public.vector)`,
	"state":        `SELECT hippocampus.user_state_merge('ada', 'app', jsonb_build_object('k', $1::integer))`,
	"store":        `SELECT hippocampus.store_put('ada', 'app', ARRAY['n'], 'k' || $1 % 3, jsonb_build_object('text', 'tea ' || $1), interval '1 hour')`,
	"sweep":        `SELECT hippocampus.cleanup_low_value_memories(1, 0, p_now => now() + interval '10 days'), $1::integer`,
	"sweep store":  `SELECT hippocampus.sweep_store(p_now => now() + interval '2 hours'), $1::integer`,
	"thread":       `SELECT hippocampus.forget_thread('ada', 'app', t.id), $1::integer FROM hippocampus.threads t WHERE t.user_id = 'ada' ORDER BY random() LIMIT 1`,
	"thread state": `SELECT hippocampus.thread_state_merge(t.id, jsonb_build_object('k', $1::integer)) FROM hippocampus.threads t WHERE t.user_id = 'ada' ORDER BY random() LIMIT 1`,
	"tidy":         `SELECT hippocampus.tidy_memories('ada', 'app'), $1::integer`,
	"trim":         `SELECT hippocampus.trim_memories(), $1::integer`,
	"use":          `SELECT hippocampus.record_access('ada', 'app', ARRAY(SELECT m.id FROM hippocampus.memories m WHERE m.user_id = 'ada' UNION SELECT f.id FROM hippocampus.facts f WHERE f.user_id = 'ada')), $1::integer`,
}

// lost is an error of one who came too late for what another session deleted, which is no fault.
func lost(err error) bool {
	var pgErr *pgconn.PgError
	return errors.As(err, &pgErr) && slices.Contains([]string{"HC002", "HC011", "23503"}, pgErr.Code)
}

func TestForgetUser(t *testing.T) {
	t.Parallel()

	t.Run("AmongWritersOfEveryKind", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		_, err := b.Exec(t.Context(), `INSERT INTO hippocampus.consolidation_policies (app_name, enabled) VALUES ('app', true)`)
		require.NoError(t, err)
		_, err = b.Exec(t.Context(), `UPDATE hippocampus.retention_policies SET max_per_user = 10`)
		require.NoError(t, err)
		kinds := make([]string, 0, len(writes))
		for kind := range writes {
			kinds = append(kinds, kind)
		}
		slices.Sort(kinds)
		for i, kind := range append(slices.Clone(kinds), kinds...) { // each of them works
			_, err := b.Exec(t.Context(), writes[kind], i)
			require.NoError(t, err, kind)
		}
		done := make(chan struct{})
		forgets := errgroup.Group{}
		for range 2 {
			forgets.Go(func() error {
				for {
					select {
					case <-done:
						return nil
					default:
					}
					if _, err := b.Exec(t.Context(), "SELECT * FROM hippocampus.forget_user('ada', 'app')"); err != nil {
						return fmt.Errorf("forget_user: %w", err)
					}
				}
			})
		}
		const writers, steps = 10, 40
		together(t, writers, func(ctx context.Context, i int) error {
			random := rand.New(rand.NewPCG(7, uint64(i)))
			for step := range steps {
				// One statement, or two in one transaction that take no row in common with another writer's two.
				chosen := []string{kinds[random.IntN(len(kinds))]}
				if step%3 == 0 {
					chosen = []string{"append", "remember"}
					random.Shuffle(2, func(i, j int) { chosen[i], chosen[j] = chosen[j], chosen[i] })
				}
				err := pgx.BeginFunc(ctx, b.Pool, func(tx pgx.Tx) error {
					for _, kind := range chosen {
						if _, err := tx.Exec(ctx, writes[kind], random.IntN(1000)); err != nil {
							return fmt.Errorf("%s: %w", kind, err)
						}
					}
					return nil
				})
				if err != nil && !lost(err) {
					return err
				}
			}
			return nil
		})
		close(done)
		require.NoError(t, forgets.Wait())
		_, err = b.Exec(t.Context(), "SELECT * FROM hippocampus.forget_user('ada', 'app')")
		require.NoError(t, err)
		for _, table := range get[[]string](t, b, `SELECT array_agg(DISTINCT c.relname::text) FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
			WHERE c.relnamespace = 'hippocampus'::regnamespace AND c.relkind = 'r' AND a.attname = 'user_id'`) {
			require.Zero(t, get[int](t, b, "SELECT count(*) FROM hippocampus."+table+" WHERE user_id = 'ada'"), table)
		}
		require.Zero(t, get[int](t, b, "SELECT count(*) FROM hippocampus.river_job WHERE kind = 'consolidate' AND state <> 'running'"))
	})

	t.Run("WaitsForWritersAndTheyForIt", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread := b.thread(t, b.ada)
		writer, forgetter, sweeper := b.session(t, "writer"), b.session(t, "forgetter"), b.session(t, "sweeper")
		b.memories(t, 3)
		writer.do("BEGIN")
		writer.do("SELECT hippocampus.append_event($1, 'user', 'message', '{\"text\": \"tea\"}')", thread)
		forgetting := forgetter.waits("SELECT * FROM hippocampus.forget_user('ada', 'app')")
		writer.do(rememberTea, "also in this transaction") // does not wait for one who waits for it
		writer.do("COMMIT")
		forgetting.succeeds(t)
		forgetter.do("BEGIN")
		forgetter.do("SELECT * FROM hippocampus.forget_user('ada', 'app')")
		waiting := writer.waits(rememberTea, "after it")
		sweeper.do("SELECT hippocampus.cleanup_low_value_memories()") // passes over the user
		sweeper.do("SELECT hippocampus.remember('bea', 'app', 'tea')")
		forgetter.do("COMMIT")
		waiting.succeeds(t)
		require.Equal(t, 1, get[int](t, b, "SELECT count(*) FROM hippocampus.memories WHERE user_id = 'ada'"))
	})
}
