-- Deletes the postings of rows and takes them from the totals of their tenants. An id is unique within its
-- tenant only, and a deletion that cascades is bound by no policy: so rows are named with their tenant.
CREATE OR REPLACE FUNCTION hippocampus._unindex_terms(
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
    WITH gone AS (
        DELETE FROM hippocampus.postings p
        USING unnest(p_ids, p_user_ids, p_app_names) AS o (id, user_id, app_name)
        WHERE p.row_id = o.id AND p.user_id = o.user_id AND p.app_name = o.app_name AND p.source = p_source
        RETURNING p.user_id, p.app_name, p.row_id, CASE WHEN p.term <> '?' THEN p.tf ELSE 0 END AS tf
    )
    INSERT INTO hippocampus.posting_totals (rows, terms, user_id, app_name, source)
    SELECT -count(DISTINCT g.row_id), -sum(g.tf), g.user_id, g.app_name, p_source
    FROM gone g GROUP BY g.user_id, g.app_name;
END
$fn$;
COMMENT ON FUNCTION hippocampus._unindex_terms IS 'Deletes the postings of rows.';
REVOKE ALL ON FUNCTION hippocampus._unindex_terms FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._unindex_terms TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
