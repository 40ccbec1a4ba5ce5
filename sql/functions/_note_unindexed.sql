-- Notes rows as gone from the index of words, which ends their being found; _clear_terms takes them out. An id is
-- unique within its tenant only, and a deletion that cascades is bound by no policy: so rows are named with their
-- tenant. What is noted already is not noted again: somebody may be taking it out, for whom this would wait.
CREATE OR REPLACE FUNCTION hippocampus._note_unindexed(
    p_source text,
    p_ids uuid[],
    p_user_ids text[],
    p_app_names text[]
) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET enable_hashjoin = off -- or many rows that go would have all rows of all users read
SET enable_mergejoin = off
AS $fn$
BEGIN
    INSERT INTO hippocampus.unindexed_rows (id, row_id, user_id, app_name)
    SELECT r.id, r.row_id, r.user_id, r.app_name
    FROM unnest(p_ids, p_user_ids, p_app_names) AS o (id, user_id, app_name)
    JOIN hippocampus.row_terms r ON r.row_id = o.id AND r.user_id = o.user_id AND r.app_name = o.app_name AND r.source = p_source
    WHERE NOT EXISTS (SELECT FROM hippocampus.unindexed_rows n WHERE n.user_id = r.user_id AND n.app_name = r.app_name AND n.id = r.id)
    ON CONFLICT DO NOTHING;
END
$fn$;
COMMENT ON FUNCTION hippocampus._note_unindexed IS 'Notes rows as gone from the index of words.';
REVOKE ALL ON FUNCTION hippocampus._note_unindexed FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._note_unindexed TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
