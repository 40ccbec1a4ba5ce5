package migrate_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/db"
)

// migrator opens a Migrator that is closed when the test ends.
func migrator(t *testing.T, databaseURL string, dimension int) *db.Migrator {
	t.Helper()
	m, err := db.NewMigrator(t.Context(), databaseURL, &db.MigratorConfig{Dimension: dimension})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, m.Close()) })
	return m
}

// up migrates a database.
func up(t *testing.T, databaseURL string, dimension int) *db.MigrationReport {
	t.Helper()
	report, err := migrator(t, databaseURL, dimension).Up(t.Context())
	require.NoError(t, err)
	return report
}

// execute runs statements in a database.
func execute(t *testing.T, databaseURL string, statements ...string) {
	t.Helper()
	conn := connect(t, databaseURL)
	for _, statement := range statements {
		_, err := conn.PgConn().Exec(t.Context(), statement).ReadAll()
		require.NoError(t, err)
	}
}

func connect(t *testing.T, databaseURL string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), databaseURL)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	return conn
}

// snapshot describes all that is in the schema, and its rights, one thing a line, so that two
// databases can be compared.
func snapshot(t *testing.T, databaseURL string) string {
	t.Helper()
	rows, err := connect(t, databaseURL).Query(t.Context(), snapshotQuery)
	require.NoError(t, err)
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Greater(t, len(lines), 100)
	return strings.Join(lines, "\n")
}

// The rights of an object are sorted, as their order in the catalog is that of the GRANTs.
const snapshotQuery = `
WITH ours AS (SELECT oid FROM pg_namespace WHERE nspname = 'hippocampus'),
line (text) AS (
    SELECT format('schema %s owner %s', n.nspname, n.nspowner::regrole) FROM pg_namespace n WHERE n.oid IN (TABLE ours)
    UNION ALL
    SELECT format('right on schema: %s', a) FROM pg_namespace n, aclexplode(n.nspacl) AS a WHERE n.oid IN (TABLE ours)
    UNION ALL
    SELECT format('default right %s %s: %s', d.defaclrole::regrole, d.defaclobjtype, a)
    FROM pg_default_acl d, aclexplode(d.defaclacl) AS a
    UNION ALL
    SELECT format('relation %s %s owner %s rls %s %s options %s persistence %s', c.oid::regclass, c.relkind,
                  c.relowner::regrole, c.relrowsecurity, c.relforcerowsecurity, c.reloptions, c.relpersistence)
    FROM pg_class c WHERE c.relnamespace IN (TABLE ours)
    UNION ALL
    SELECT format('right on %s: %s', c.oid::regclass, a)
    FROM pg_class c, aclexplode(c.relacl) AS a WHERE c.relnamespace IN (TABLE ours)
    UNION ALL
    SELECT format('column %s %s %s %s not null %s default %s identity %s generated %s storage %s collation %s',
                  c.oid::regclass, row_number() OVER (PARTITION BY c.oid ORDER BY a.attnum), a.attname,
                  format_type(a.atttypid, a.atttypmod), a.attnotnull, pg_get_expr(d.adbin, d.adrelid), a.attidentity,
                  a.attgenerated, a.attstorage, a.attcollation::regcollation)
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum WHERE c.relnamespace IN (TABLE ours)
    UNION ALL
    SELECT format('right on %s.%s: %s', t.attrelid::regclass, t.attname, a)
    FROM pg_class c JOIN pg_attribute t ON t.attrelid = c.oid AND NOT t.attisdropped, aclexplode(t.attacl) AS a
    WHERE c.relnamespace IN (TABLE ours)
    UNION ALL
    SELECT format('information_schema %s.%s %s %s', c.table_name, c.column_name, c.data_type, c.is_nullable)
    FROM information_schema.columns c WHERE c.table_schema = 'hippocampus'
    UNION ALL
    SELECT format('constraint %s on %s: %s', c.conname, c.conrelid::regclass, pg_get_constraintdef(c.oid))
    FROM pg_constraint c WHERE c.connamespace IN (TABLE ours)
    UNION ALL
    SELECT pg_get_indexdef(i.indexrelid) FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
    WHERE c.relnamespace IN (TABLE ours)
    UNION ALL
    SELECT format('policy %s', p) FROM pg_policies p WHERE p.schemaname = 'hippocampus'
    UNION ALL
    SELECT format('view %s: %s', c.oid::regclass, pg_get_viewdef(c.oid))
    FROM pg_class c WHERE c.relkind = 'v' AND c.relnamespace IN (TABLE ours)
    UNION ALL
    SELECT pg_get_triggerdef(t.oid) FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
    WHERE NOT t.tgisinternal AND c.relnamespace IN (TABLE ours)
    UNION ALL
    SELECT format('owner %s: %s', p.proowner::regrole, pg_get_functiondef(p.oid))
    FROM pg_proc p WHERE p.pronamespace IN (TABLE ours) AND p.prokind IN ('f', 'p')
    UNION ALL
    SELECT format('right on %s: %s', p.oid::regprocedure, a)
    FROM pg_proc p, aclexplode(p.proacl) AS a WHERE p.pronamespace IN (TABLE ours)
    UNION ALL
    SELECT format('enum %s: %s', e.enumtypid::regtype, string_agg(e.enumlabel, ', ' ORDER BY e.enumsortorder))
    FROM pg_enum e JOIN pg_type t ON t.oid = e.enumtypid WHERE t.typnamespace IN (TABLE ours) GROUP BY e.enumtypid
    UNION ALL
    SELECT format('comment on %s %s: %s', i.type, i.identity, d.description)
    FROM pg_description d, pg_identify_object(d.classoid, d.objoid, d.objsubid) AS i
    WHERE i.schema = 'hippocampus' OR i.identity = 'hippocampus' OR i.identity LIKE '% on hippocampus.%'
    UNION ALL
    SELECT format('setting %s %s: %s', s.app_name, s.key, s.value) FROM hippocampus.settings s
    UNION ALL
    SELECT format('version %s', v.version_id) FROM hippocampus.goose_db_version v
)
SELECT l.text FROM line l WHERE l.text IS NOT NULL ORDER BY l.text COLLATE "C"`
