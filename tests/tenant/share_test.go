package tenant_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

// TestSharedMemories is about what Bea shows Ada: that one memory, and not by way of any other table.
func TestSharedMemories(t *testing.T) { //nolint:tparallel // its subtests share a database, and are few
	t.Parallel()
	b := setup(t)

	t.Run("AreSeenByBoundUsersOfTheApp", func(t *testing.T) {
		for _, role := range []string{"hippocampus_reader", "hippocampus_tenant"} {
			pool := dbtest.As(t, b.admin, role, &ada)
			require.Equal(t, []string{"bea"}, query[string](t, pool, `SELECT r.shared_by FROM hippocampus.recall('ada', 'shop', p_include_shared => true) r
				WHERE r.tier = 'shared'`), role)
			require.Equal(t, []string{"bea"}, query[string](t, pool, `SELECT r.shared_by FROM hippocampus.recall_similar('ada', 'shop', 'lesson',
				p_include_shared => true) r WHERE r.tier = 'shared'`), role)
			require.Empty(t, query[string](t, pool, `SELECT r.content FROM hippocampus.recall('bea', 'shop', p_include_shared => true) r WHERE r.tier <> 'shared'`), role)
			// as herself, not as what the words and the vector of its row would tell
			for _, table := range []string{"memories", "memory_labels", "row_terms", "postings", "embeddings", "memory_sources", "embedding_queue"} {
				require.Empty(t, query[string](t, pool, "SELECT x::text FROM hippocampus."+table+" x WHERE x.user_id <> 'ada' OR x.app_name <> 'shop'"), table)
			}
			require.Empty(t, query[string](t, pool, "SELECT x::text FROM hippocampus.shared_memories x WHERE strpos(x::text, '"+secret+"') > 0"), role)
		}
		require.Empty(t, query[string](t, dbtest.As(t, b.admin, "hippocampus_tenant", nil), "SELECT x::text FROM hippocampus.shared_memories x"))
	})

	t.Run("AreToldApartByTheirUsers", func(t *testing.T) {
		pool := dbtest.As(t, b.admin, "hippocampus_tenant", &db.Scope{UserID: "cyd", AppName: "shop"})
		_, err := pool.Exec(t.Context(), `INSERT INTO hippocampus.memories (id, user_id, app_name, memory_type, content, content_hash, token_count, visibility, shared_by, occurred_from, occurred_until)
			SELECT $1, 'cyd', 'shop', 'semantic', 'another lesson', sha256('another lesson'), 100, 'app', 'cyd', now(), now()`, b.bea.shared)
		require.NoError(t, err) // an id is unique within its tenant only
		require.ElementsMatch(t, []string{"bea", "cyd"}, query[string](t, dbtest.As(t, b.admin, "hippocampus_tenant", &ada),
			"SELECT r.shared_by FROM hippocampus.recall_similar('ada', 'shop', 'lesson', p_include_shared => true) r WHERE r.tier = 'shared'"))
		_, err = pool.Exec(t.Context(), "DELETE FROM hippocampus.memories WHERE id = $1", b.bea.shared)
		require.NoError(t, err)
	})

	t.Run("CannotBeChangedByOthers", func(t *testing.T) {
		pool := dbtest.As(t, b.admin, "hippocampus_tenant", &ada)
		for _, sql := range []string{
			"UPDATE hippocampus.shared_memories SET content = 'x'", "DELETE FROM hippocampus.shared_memories",
			"UPDATE hippocampus.shared_memories SET shared_by = 'ada' WHERE user_id = 'ada'", "DELETE FROM hippocampus.shared_memories WHERE user_id = 'ada'",
			"SELECT FROM hippocampus.shared_memories FOR UPDATE",
			`INSERT INTO hippocampus.shared_memories (occurred_from, importance, memory_id, user_id, app_name, memory_type, category, shared_by, content, tags, terms)
				SELECT now(), 1, gen_random_uuid(), 'bea', 'shop', 'semantic', 'other', 'bea', 'forged', '{}', '{}'`,
			"UPDATE hippocampus.consolidation_policies SET sharing = true", `SELECT hippocampus.put_consolidation_policy('shop', '{"sharing": true}')`,
		} {
			_, err := try(t.Context(), pool, sql)
			requireCode(t, err, sql, "42501")
		}
		before := query[string](t, b.admin, "SELECT m::text FROM hippocampus.memories m WHERE m.id = $1", b.bea.shared)
		for _, sql := range []string{
			"SELECT hippocampus.record_access('ada', 'shop', ARRAY[$1::uuid])", "SELECT hippocampus.forget('ada', 'shop', ARRAY[$1::uuid])",
			"SELECT hippocampus.unshare_memory('ada', 'shop', $1)", "UPDATE hippocampus.memories SET tags = '{x}' WHERE id = $1",
			"DELETE FROM hippocampus.memories WHERE id = $1",
		} {
			_, err := pool.Exec(t.Context(), sql, b.bea.shared)
			require.NoError(t, err, sql)
		}
		require.Equal(t, before, query[string](t, b.admin, "SELECT m::text FROM hippocampus.memories m WHERE m.id = $1", b.bea.shared))
		_, err := try(t.Context(), pool, "SELECT hippocampus.share_memory('ada', 'shop', $1)", b.bea.memory)
		requireCode(t, err, "share", "HC011")
		_, err = try(t.Context(), pool, "SELECT hippocampus.share_memory('bea', 'shop', $1)", b.bea.memory)
		requireCode(t, err, "share", "42501")
	})

	t.Run("OneSharesAndTakesBackOnesOwn", func(t *testing.T) {
		pool := dbtest.As(t, b.admin, "hippocampus_tenant", &ada)
		id := query[uuid.UUID](t, pool, "SELECT hippocampus.remember('ada', 'shop', 'my own lesson')")[0]
		_, err := pool.Exec(t.Context(), "SELECT hippocampus.share_memory('ada', 'shop', $1)", id)
		require.NoError(t, err)
		theirs := dbtest.As(t, b.admin, "hippocampus_reader", &bea)
		const seen = "SELECT count(*) FROM hippocampus.shared_memories WHERE user_id = 'ada' AND content = 'my own lesson'"
		require.Equal(t, 1, query[int](t, theirs, seen)[0])
		require.Zero(t, query[int](t, dbtest.As(t, b.admin, "hippocampus_reader", &namesake), seen)[0], "another app")
		require.Equal(t, []bool{true}, query[bool](t, pool, "SELECT hippocampus.unshare_memory('ada', 'shop', $1)", id))
		require.Zero(t, query[int](t, theirs, seen)[0])
	})
}
