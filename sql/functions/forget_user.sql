-- Deletes all of a user in an app: every row of every table that names both. The tables are the catalog's, so
-- that none can be missed: those without keys to each other first (the indexes of words, vectors and labels), then
-- those that refer to others. What a tenant may not delete by itself (events, jobs) goes with its thread, and what no index
-- finds by its user with what it refers to, or all users' rows would be read for it. The triggers
-- that take a deleted row out of those indexes are told that the user goes whole: row by row, they would read again
-- every vector and word that is gone already.
CREATE OR REPLACE FUNCTION hippocampus.forget_user(
    p_user_id text,
    p_app_name text
) RETURNS SETOF hippocampus.forgotten_counts
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER ROWS 1
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_counts hippocampus.forgotten_counts;
    v_table text;
BEGIN
    PERFORM hippocampus._empty_scope(p_user_id, p_app_name);
    PERFORM FROM hippocampus.threads t -- a consolidation that still writes is waited for, and finds them gone
    WHERE t.user_id = p_user_id AND t.app_name = p_app_name ORDER BY t.id FOR UPDATE;
    v_counts.threads := (SELECT count(*) FROM hippocampus.threads t WHERE t.user_id = p_user_id AND t.app_name = p_app_name);
    v_counts.events := (SELECT count(*) FROM hippocampus.events e WHERE e.user_id = p_user_id AND e.app_name = p_app_name);
    v_counts.memories := (SELECT count(*) FROM hippocampus.memories m WHERE m.user_id = p_user_id AND m.app_name = p_app_name);
    v_counts.facts := (SELECT count(*) FROM hippocampus.facts f WHERE f.user_id = p_user_id AND f.app_name = p_app_name);
    PERFORM set_config('hippocampus.user_goes', 'on', true);
    FOR v_table IN
        WITH RECURSIVE tenant AS (
            SELECT c.oid, c.relname FROM pg_class c
            WHERE c.relnamespace = 'hippocampus'::regnamespace AND c.relkind IN ('r', 'p')
              AND 2 = (SELECT count(*) FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname IN ('user_id', 'app_name') AND NOT a.attisdropped)
        ), depth AS (
            SELECT t.oid, t.relname, 0 AS level FROM tenant t
            UNION ALL SELECT t.oid, t.relname, d.level + 1 FROM depth d
            JOIN pg_constraint n ON n.confrelid = d.oid AND n.contype = 'f' AND n.conrelid <> n.confrelid
            JOIN tenant t ON t.oid = n.conrelid
            WHERE d.level < 16
        )
        SELECT d.relname FROM depth d
        WHERE has_table_privilege(d.oid, 'DELETE') AND (EXISTS (
                SELECT FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
                WHERE i.indrelid = d.oid AND i.indpred IS NULL AND a.attname = 'user_id')
            OR NOT EXISTS (
                SELECT FROM pg_constraint n JOIN tenant t ON t.oid = n.confrelid
                WHERE n.conrelid = d.oid AND n.contype = 'f' AND n.confdeltype = 'c' AND NOT EXISTS (
                    SELECT FROM pg_attribute a WHERE a.attrelid = d.oid AND a.attnum = ANY (n.conkey) AND NOT a.attnotnull)))
        GROUP BY d.oid, d.relname
        ORDER BY EXISTS (SELECT FROM pg_constraint n WHERE n.contype = 'f' AND d.oid IN (n.conrelid, n.confrelid)
                AND 2 = (SELECT count(*) FROM tenant t WHERE t.oid IN (n.conrelid, n.confrelid))),
            max(d.level) DESC, d.relname
    LOOP
        EXECUTE format('DELETE FROM hippocampus.%I WHERE user_id = $1 AND app_name = $2', v_table) USING p_user_id, p_app_name;
    END LOOP;
    PERFORM set_config('hippocampus.user_goes', '', true);
    RETURN NEXT v_counts;
END
$fn$;
COMMENT ON FUNCTION hippocampus.forget_user IS
    'Deletes everything of a user in an app: log, memories, facts, blocks, state, vectors, words, jobs; nothing is left from which it could come back. Of a user large enough for vector indexes of their own, those indexes, empty then, name the user until a worker''s next look at them (an hour at most by default), since no transaction may wait for the lock that dropping one takes; where the caller is not the worker, so does their row in vector_indexes. Returns how much there was.';
REVOKE ALL ON FUNCTION hippocampus.forget_user FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.forget_user TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
