// Package catalog_test holds what is true of every object of the schema: its attributes, rights and
// names. The goldens in testdata/ are the exact list; after a wanted change:
//
//	go test ./tests/catalog -update
package catalog_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

var update = flag.Bool("update", false, "write the goldens anew")

// ours are the relations of the schema that are neither River's nor goose's.
const ours = `
	SELECT c.* FROM pg_catalog.pg_class c
	WHERE c.relnamespace = 'hippocampus'::regnamespace AND c.relname NOT LIKE 'river\_%' AND c.relname NOT LIKE 'goose\_%'`

// functions are the functions of the schema that are not River's.
const functions = `
	SELECT p.* FROM pg_catalog.pg_proc p
	WHERE p.pronamespace = 'hippocampus'::regnamespace AND p.proname NOT LIKE 'river\_%'`

// lines gives the lines that a query of one text column makes.
func lines(t *testing.T, sql string, args ...any) []string {
	t.Helper()
	rows, err := dbtest.Tx(t).Query(t.Context(), sql, args...)
	require.NoError(t, err)
	got, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return got
}

// golden compares lines with a file of testdata/.
func golden(t *testing.T, name string, got []string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	text := strings.Join(got, "\n") + "\n"
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o750))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, strings.Split(string(want), "\n"), strings.Split(text, "\n"), "if it is wanted: go test ./tests/catalog -update")
}

// roles are those of a deployment, in the order of the goldens.
const roles = "ARRAY['reader', 'tenant', 'service', 'worker']"

func TestFunctions(t *testing.T) {
	t.Parallel()

	t.Run("Attributes", func(t *testing.T) {
		t.Parallel()
		golden(t, "functions.txt", lines(t, `
			SELECT format('%s: %s %s%s%s', p.proname, CASE p.provolatile WHEN 'i' THEN 'immutable' WHEN 's' THEN 'stable' ELSE 'volatile' END,
				CASE p.proparallel WHEN 's' THEN 'safe' WHEN 'r' THEN 'restricted' ELSE 'unsafe' END,
				CASE WHEN p.proisstrict THEN ' strict' END, CASE WHEN p.prosecdef THEN ' definer' END)
			FROM (`+functions+`) p ORDER BY p.proname COLLATE "C"`))
	})

	t.Run("CannotBeExecutedByPublic", func(t *testing.T) {
		t.Parallel()
		require.Empty(t, lines(t, `SELECT p.oid::regprocedure::text FROM pg_catalog.pg_proc p
			WHERE p.pronamespace = 'hippocampus'::regnamespace AND has_function_privilege('public', p.oid, 'EXECUTE')`))
	})

	t.Run("DefinersAreFew", func(t *testing.T) {
		t.Parallel()
		require.Equal(t, []string{"_drop_river_job", "_enqueue_river", "_forget_events", "_forget_instruction", "_hold_river_job", "_name_embedding_model", "_share_memories", "_wake_sweeper"}, lines(t, `
			SELECT p.proname::text FROM pg_catalog.pg_proc p
			WHERE p.pronamespace = 'hippocampus'::regnamespace AND p.prosecdef ORDER BY 1`))
	})

	t.Run("DoNotCallWhatIsLessThanThey", func(t *testing.T) {
		t.Parallel()
		// A function is no more than the least of those that it calls: immutable calls no stable one, safe no unsafe one.
		require.Empty(t, lines(t, `
			WITH f AS (`+functions+`), call AS (
				SELECT a.proname AS caller, b.proname AS callee, array_position('{i,s,v}', a.provolatile::text) AS av,
					array_position('{i,s,v}', b.provolatile::text) AS bv, array_position('{s,r,u}', a.proparallel::text) AS ap,
					array_position('{s,r,u}', b.proparallel::text) AS bp
				FROM f a JOIN f b ON a.oid <> b.oid
					AND coalesce(pg_get_function_sqlbody(a.oid), a.prosrc) ~ ('hippocampus\.' || b.proname || '\s*\(')
			)
			SELECT caller || ' calls ' || callee FROM call WHERE av < bv OR ap < bp ORDER BY 1`))
	})

	t.Run("DoNotOverload", func(t *testing.T) {
		t.Parallel()
		require.Empty(t, lines(t, `SELECT p.proname::text FROM (`+functions+`) p GROUP BY p.proname HAVING count(*) > 1`))
	})

	t.Run("HaveAComment", func(t *testing.T) {
		t.Parallel()
		require.Empty(t, lines(t, `SELECT p.proname::text FROM (`+functions+`) p WHERE obj_description(p.oid, 'pg_proc') IS NULL`))
	})

	t.Run("HaveArgumentsThatSayP", func(t *testing.T) {
		t.Parallel()
		require.Empty(t, lines(t, `SELECT p.proname || ' ' || a.name FROM (`+functions+`) p
			CROSS JOIN LATERAL unnest(p.proargnames[1:p.pronargs]) AS a (name) WHERE a.name NOT LIKE 'p\_%'`))
	})

	t.Run("ArePinnedOrAtomic", func(t *testing.T) {
		t.Parallel()
		require.Empty(t, lines(t, `SELECT p.proname::text FROM (`+functions+`) p
			WHERE p.prosqlbody IS NULL AND coalesce('search_path=pg_catalog, pg_temp' <> ALL (p.proconfig), true)`))
		require.Empty(t, lines(t, `SELECT p.proname::text FROM (`+functions+`) p
			WHERE p.prosqlbody IS NOT NULL AND p.proconfig IS NOT NULL`)) // or it would not be inlined
	})

	t.Run("AreShort", func(t *testing.T) {
		t.Parallel()
		require.Empty(t, lines(t, `SELECT format('%s: %s lines', p.proname, l.lines) FROM (`+functions+`) p
			CROSS JOIN LATERAL (SELECT regexp_count(coalesce(pg_get_function_sqlbody(p.oid), p.prosrc), E'\n') AS lines) l
			WHERE l.lines > CASE WHEN p.proname IN ('_evidence', 'get_context_window') THEN 150 ELSE 80 END -- that hold one idea each`))
	})

	t.Run("Rights", func(t *testing.T) {
		t.Parallel()
		golden(t, "function_rights.txt", lines(t, `
			SELECT format('%s: %s', p.proname, coalesce(string_agg(r.role, ' ' ORDER BY r.n)
				FILTER (WHERE has_function_privilege('hippocampus_' || r.role, p.oid, 'EXECUTE')), 'nobody'))
			FROM (`+functions+`) p CROSS JOIN unnest(`+roles+`) WITH ORDINALITY AS r (role, n)
			GROUP BY p.oid, p.proname ORDER BY p.proname COLLATE "C"`))
	})

	t.Run("TriggersCannotBeCalled", func(t *testing.T) {
		t.Parallel()
		require.Empty(t, lines(t, `SELECT p.proname || ' ' || r.role FROM (`+functions+`) p CROSS JOIN unnest(`+roles+`) AS r (role)
			WHERE p.prorettype = 'trigger'::regtype AND has_function_privilege('hippocampus_' || r.role, p.oid, 'EXECUTE')`))
	})
}

func TestObjects(t *testing.T) {
	t.Parallel()

	t.Run("AreThese", func(t *testing.T) {
		t.Parallel()
		golden(t, "objects.txt", lines(t, `
			WITH ours AS (`+ours+`)
			SELECT o.line FROM (
				SELECT format('%s %s', CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' WHEN 'i' THEN 'index' WHEN 'S' THEN 'sequence'
					ELSE c.relkind::text END, c.relname) AS line
				FROM ours c
				UNION ALL SELECT format('column %s.%s %s%s%s%s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod),
					CASE WHEN a.attnotnull THEN ' not null' END, CASE WHEN a.attgenerated <> '' THEN ' generated' END,
					CASE WHEN a.attidentity <> '' THEN ' identity' END)
				FROM ours c JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
				WHERE c.relkind IN ('r', 'v')
				UNION ALL SELECT format('constraint %s %s', n.conname, pg_get_constraintdef(n.oid))
				FROM pg_catalog.pg_constraint n JOIN ours c ON c.oid = n.conrelid
				UNION ALL SELECT format('policy %s on %s', p.polname, c.relname) FROM pg_catalog.pg_policy p JOIN ours c ON c.oid = p.polrelid
				UNION ALL SELECT format('trigger %s', regexp_replace(pg_get_triggerdef(g.oid), '^CREATE (CONSTRAINT )?TRIGGER ', ''))
				FROM pg_catalog.pg_trigger g JOIN pg_catalog.pg_proc p ON p.oid = g.tgfoid
				WHERE p.pronamespace = 'hippocampus'::regnamespace AND NOT g.tgisinternal
				UNION ALL SELECT format('function %s(%s) %s', p.proname, pg_get_function_arguments(p.oid), pg_get_function_result(p.oid))
				FROM (`+functions+`) p
			) o ORDER BY o.line COLLATE "C"`))
	})

	t.Run("BelongToTheOwner", func(t *testing.T) {
		t.Parallel()
		require.Empty(t, lines(t, `
			SELECT format('%s %s', o.name, pg_get_userbyid(o.owner)) FROM (
				SELECT c.relname AS name, c.relowner AS owner FROM pg_catalog.pg_class c WHERE c.relnamespace = 'hippocampus'::regnamespace
				UNION ALL SELECT p.proname, p.proowner FROM pg_catalog.pg_proc p WHERE p.pronamespace = 'hippocampus'::regnamespace
				UNION ALL SELECT n.nspname, n.nspowner FROM pg_catalog.pg_namespace n WHERE n.nspname = 'hippocampus'
			) o WHERE pg_get_userbyid(o.owner) <> 'hippocampus_owner'`))
	})

	t.Run("HaveTypesThatSayWhatTheyMean", func(t *testing.T) {
		t.Parallel()
		require.Empty(t, lines(t, `SELECT c.relname || '.' || a.attname FROM (`+ours+`) c
			JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
			WHERE c.relkind = 'r' AND a.atttypid IN ('timestamp'::regtype, 'time'::regtype, 'varchar'::regtype, 'bpchar'::regtype,
				'json'::regtype, 'money'::regtype)`))
	})

	t.Run("NamesOfKeysCompareByByte", func(t *testing.T) {
		t.Parallel()
		require.Empty(t, lines(t, `SELECT c.relname || '.' || a.attname FROM (`+ours+`) c
			JOIN pg_catalog.pg_index i ON i.indrelid = c.oid
			JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY (i.indkey)
			WHERE a.atttypid = 'text'::regtype AND a.attcollation::regcollation::text <> '"C"'`))
	})

	t.Run("RolesCannotLogIn", func(t *testing.T) {
		t.Parallel()
		require.Equal(t, []string{"hippocampus_owner", "hippocampus_reader", "hippocampus_service", "hippocampus_tenant", "hippocampus_worker"},
			lines(t, `SELECT r.rolname::text FROM pg_catalog.pg_roles r
				WHERE r.rolname = ANY (SELECT 'hippocampus_' || x FROM unnest(`+roles+` || 'owner'::text) x)
				AND NOT (r.rolcanlogin OR r.rolsuper OR r.rolbypassrls OR r.rolcreaterole OR r.rolcreatedb OR r.rolreplication) ORDER BY 1`))
	})
}

func TestTables(t *testing.T) {
	t.Parallel()

	t.Run("ForceRowLevelSecurity", func(t *testing.T) {
		t.Parallel()
		require.Empty(t, lines(t, `SELECT c.relname::text FROM (`+ours+`) c
			WHERE c.relkind IN ('r', 'p') AND NOT (c.relrowsecurity AND c.relforcerowsecurity)`))
		// No policy is for everybody, or for a role that is not ours.
		require.Empty(t, lines(t, `SELECT p.polname || ' to ' || r.role::regrole FROM pg_catalog.pg_policy p JOIN (`+ours+`) c ON c.oid = p.polrelid
			CROSS JOIN LATERAL unnest(p.polroles) AS r (role)
			WHERE r.role::regrole::text NOT IN ('hippocampus_owner', 'hippocampus_reader', 'hippocampus_service', 'hippocampus_tenant', 'hippocampus_worker')`))
		// What binds a tenant names the user, wherever a row has one; a restrictive policy only takes away.
		require.Empty(t, lines(t, `SELECT p.polname::text FROM pg_catalog.pg_policy p JOIN (`+ours+`) c ON c.oid = p.polrelid
			JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attname = 'user_id'
			WHERE p.polpermissive AND 'hippocampus_tenant'::regrole::oid = ANY (p.polroles)
				AND (pg_get_expr(p.polqual, p.polrelid) NOT LIKE '%user_id%app_name%'
					OR coalesce(pg_get_expr(p.polwithcheck, p.polrelid), 'user_id app_name') NOT LIKE '%user_id%app_name%')`))
	})

	t.Run("AreReachedByForgetUser", func(t *testing.T) {
		t.Parallel()
		// A tenant may delete its rows, or they go with those that it may delete.
		require.Equal(t, []string{
			"shared_memories", // which go with the memory by its trigger
			"vector_indexes",  // which says that a user's index is to be built; the worker drops it with the index when the rows are gone
		}, lines(t, `
			WITH RECURSIVE tenant AS (
				SELECT c.oid, c.relname FROM (`+ours+`) c WHERE c.relkind IN ('r', 'p') AND 2 = (
					SELECT count(*) FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND a.attname IN ('user_id', 'app_name') AND NOT a.attisdropped)
			), reached AS (
				SELECT t.oid FROM tenant t WHERE has_table_privilege('hippocampus_tenant', t.oid, 'DELETE')
				UNION SELECT n.conrelid FROM reached r JOIN pg_catalog.pg_constraint n ON n.confrelid = r.oid AND n.contype = 'f' AND n.confdeltype = 'c'
			)
			SELECT t.relname::text FROM tenant t WHERE t.oid NOT IN (SELECT r.oid FROM reached r) ORDER BY 1`))
	})

	t.Run("GoWithTheMemoryThatTheyName", func(t *testing.T) {
		t.Parallel()
		// What names a memory or a fact as its own is deleted with it.
		require.Equal(t, []string{
			"anchor_chunks.memory_id", // deleted by triggers of memories; who writes it holds the memory's row
			"memory_labels.memory_id",
			"shared_memories.memory_id",
			"untidied_memories.memory_id",
		}, lines(t, `SELECT c.relname || '.' || a.attname FROM (`+ours+`) c
			JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
			WHERE c.relkind = 'r' AND a.attname ~ '(^|_)(memory|fact)_id$' AND NOT EXISTS (
				SELECT FROM pg_catalog.pg_constraint n WHERE n.conrelid = c.oid AND n.contype = 'f' AND a.attnum = ANY (n.conkey) AND n.confdeltype = 'c') ORDER BY 1`))
	})

	t.Run("HaveAComment", func(t *testing.T) {
		t.Parallel()
		require.Empty(t, lines(t, `SELECT c.relname::text FROM (`+ours+`) c
			WHERE c.relkind IN ('r', 'p', 'v', 'm') AND obj_description(c.oid, 'pg_class') IS NULL`))
	})

	t.Run("IndexForeignKeys", func(t *testing.T) {
		t.Parallel()
		// An index that begins with the key's first column, and has every row that has one.
		require.Equal(t, []string{
			"embeddings_generation_fkey", // of a table that loses rows by hand only, one generation at a time
		}, lines(t, `SELECT n.conname::text FROM pg_catalog.pg_constraint n JOIN (`+ours+`) c ON c.oid = n.conrelid
			WHERE n.contype = 'f' AND NOT EXISTS (
				SELECT FROM pg_catalog.pg_index i JOIN pg_catalog.pg_attribute a ON a.attrelid = n.conrelid AND a.attnum = n.conkey[1]
				WHERE i.indrelid = n.conrelid AND i.indkey[0] = n.conkey[1]
				  AND (i.indpred IS NULL OR pg_get_expr(i.indpred, i.indrelid) = format('(%s IS NOT NULL)', a.attname)))
			ORDER BY 1`))
	})

	t.Run("KeysContainTheTenant", func(t *testing.T) {
		t.Parallel()
		// So that any table can be distributed by user_id, and no tenant can collide with another.
		require.Empty(t, lines(t, `SELECT x.relname::text FROM (`+ours+`) c
			JOIN pg_catalog.pg_index i ON i.indrelid = c.oid AND i.indisunique
			JOIN pg_catalog.pg_class x ON x.oid = i.indexrelid
			CROSS JOIN LATERAL (SELECT array_agg(a.attname::text) AS names FROM pg_catalog.pg_attribute a
				WHERE a.attrelid = c.oid AND a.attnum = ANY (i.indkey[0:i.indnkeyatts - 1])) k
			CROSS JOIN LATERAL (SELECT array_agg(a.attname::text) AS names FROM pg_catalog.pg_attribute a
				WHERE a.attrelid = c.oid AND a.attname IN ('user_id', 'app_name')) t
			WHERE NOT k.names @> t.names`))
	})

	t.Run("NameTheirConstraintsAndIndexes", func(t *testing.T) {
		t.Parallel()
		require.Empty(t, lines(t, `
			SELECT x.relname::text FROM (`+ours+`) c JOIN pg_catalog.pg_index i ON i.indrelid = c.oid
			JOIN pg_catalog.pg_class x ON x.oid = i.indexrelid
			WHERE x.relname !~ ('^' || c.relname || '_([a-z_]+_)?(pkey|key|idx)$')
			UNION ALL SELECT n.conname FROM pg_catalog.pg_constraint n JOIN (`+ours+`) c ON c.oid = n.conrelid
			WHERE n.contype IN ('c', 'f', 'p', 'u') AND n.conname !~ ('^' || c.relname || '_([a-z_]+_)?(pkey|key|fkey|check)$')`))
	})

	t.Run("Rights", func(t *testing.T) {
		t.Parallel()
		golden(t, "table_rights.txt", lines(t, `
			SELECT format('%s %s: %s', c.relname, r.role, coalesce(string_agg(
				CASE WHEN has_table_privilege('hippocampus_' || r.role, c.oid, v.right) THEN lower(v.right)
				ELSE format('%s (%s)', lower(v.right), (SELECT string_agg(a.attname, ', ' ORDER BY a.attnum) FROM pg_catalog.pg_attribute a
					WHERE a.attrelid = c.oid AND a.attnum > 0 AND has_column_privilege('hippocampus_' || r.role, c.oid, a.attnum, v.right))) END,
				', ' ORDER BY v.n) FILTER (WHERE has_table_privilege('hippocampus_' || r.role, c.oid, v.right)
					OR v.right NOT IN ('DELETE', 'TRUNCATE', 'TRIGGER') AND has_any_column_privilege('hippocampus_' || r.role, c.oid, v.right)), 'nothing'))
			FROM pg_catalog.pg_class c CROSS JOIN unnest(`+roles+`) WITH ORDINALITY AS r (role, n)
			CROSS JOIN unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER']) WITH ORDINALITY AS v ("right", n)
			WHERE c.relnamespace = 'hippocampus'::regnamespace AND c.relkind = 'r'
			GROUP BY c.relname, r.role, r.n ORDER BY c.relname COLLATE "C", r.n`))
	})

	t.Run("ShowPublicNothing", func(t *testing.T) {
		t.Parallel()
		require.Empty(t, lines(t, `SELECT c.relname::text FROM pg_catalog.pg_class c
			WHERE c.relnamespace = 'hippocampus'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm')
				AND (has_table_privilege('public', c.oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
					OR has_any_column_privilege('public', c.oid, 'SELECT, INSERT, UPDATE, REFERENCES'))`))
		require.Empty(t, lines(t, `SELECT c.relname::text FROM pg_catalog.pg_class c
			WHERE c.relnamespace = 'hippocampus'::regnamespace AND CASE c.relkind WHEN 'S' THEN has_sequence_privilege('public', c.oid, 'USAGE, SELECT, UPDATE') END`))
		require.Equal(t, []string{"false"}, lines(t, `SELECT has_schema_privilege('public', 'hippocampus', 'USAGE, CREATE')::text`))
	})

	t.Run("ViewsRunAsTheirCaller", func(t *testing.T) {
		t.Parallel()
		require.Empty(t, lines(t, `SELECT c.relname::text FROM (`+ours+`) c
			WHERE c.relkind IN ('v', 'm') AND coalesce('security_invoker=true' <> ALL (c.reloptions), true)`))
	})
}
