-- What holds for rows however they are written: a bound login may insert and update its own without a function,
-- and what it writes is read by clean-ups that go over all tenants.

-- +goose Up
-- +goose StatementBegin
-- No time that is infinite, or that clients cannot read: see _check_time.
DO $times$
DECLARE
    v_table record;
BEGIN
    FOR v_table IN
        SELECT c.relname, string_agg(format('%I BETWEEN %L AND %L', a.attname, '0001-01-02 00:00:00+00', '9999-12-30 00:00:00+00'),
            ' AND ' ORDER BY a.attnum) AS checks
        FROM pg_catalog.pg_class c
        JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.atttypid = 'timestamptz'::regtype
        WHERE c.relnamespace = 'hippocampus'::regnamespace AND c.relkind = 'r' AND c.relname !~ '^(river|goose)_'
          AND (has_column_privilege('hippocampus_tenant', c.oid, a.attnum, 'INSERT')
            OR has_column_privilege('hippocampus_tenant', c.oid, a.attnum, 'UPDATE'))
        GROUP BY c.relname
    LOOP
        EXECUTE format('ALTER TABLE hippocampus.%I ADD CONSTRAINT %I CHECK (%s)', v_table.relname, v_table.relname || '_clock_check', v_table.checks);
    END LOOP;
END
$times$;
-- What a memory was made of stays known while both are there: forgetting follows it, and sharing refuses by it.
CREATE POLICY memory_links_derived ON hippocampus.memory_links AS RESTRICTIVE FOR DELETE TO hippocampus_tenant
    USING (link_type <> 'derived_from');
-- +goose StatementEnd

-- +goose Down
-- +goose StatementBegin
DROP POLICY memory_links_derived ON hippocampus.memory_links;
DO $times$
DECLARE
    v_table record;
BEGIN
    FOR v_table IN
        SELECT k.conrelid::regclass AS name, k.conname FROM pg_catalog.pg_constraint k
        WHERE k.connamespace = 'hippocampus'::regnamespace AND k.conname LIKE '%\_clock\_check'
    LOOP
        EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', v_table.name, v_table.conname);
    END LOOP;
END
$times$;
-- +goose StatementEnd
