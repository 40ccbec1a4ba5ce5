-- Writes the postings of rows and adds them to the totals of their tenants. A turn that only asks gets the term ?,
-- which counts in no total (see _evidence).
CREATE OR REPLACE FUNCTION hippocampus._index_terms(
    p_source text,
    p_ids uuid[],
    p_user_ids text[],
    p_app_names text[],
    p_texts text[],
    p_thread_ids uuid[],
    p_seqs bigint[],
    p_asks boolean[]
) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
AS $fn$
BEGIN
    WITH rows AS MATERIALIZED (
        SELECT r.id, r.user_id, r.app_name, r.asks, t.term, t.tf, least(32767, sum(t.tf) OVER (PARTITION BY r.id)) AS length,
            (SELECT h.number * 16777216 + r.seq FROM hippocampus.threads h
             WHERE h.id = r.thread_id AND h.user_id = r.user_id AND h.app_name = r.app_name) AS place
        FROM unnest(p_ids, p_user_ids, p_app_names, p_texts, p_thread_ids, p_seqs, p_asks)
            AS r (id, user_id, app_name, text, thread_id, seq, asks)
        JOIN (SELECT a.app_name, hippocampus._text_config(a.app_name) AS config
              FROM (SELECT DISTINCT u.app_name FROM unnest(p_app_names) AS u (app_name)) a) c ON c.app_name = r.app_name
        CROSS JOIN LATERAL (SELECT x.term, least(32767, x.tf) AS tf FROM hippocampus._text_terms(r.text, c.config) x) t
    ), written AS (
        INSERT INTO hippocampus.postings (tf, length, place, row_id, user_id, app_name, source, term)
        SELECT r.tf, r.length, r.place, r.id, r.user_id, r.app_name, p_source, r.term FROM rows r
        UNION ALL -- no text has this term, so no query looks it up
        SELECT DISTINCT 1, r.length, r.place, r.id, r.user_id, r.app_name, p_source, '?' FROM rows r WHERE r.asks
    )
    INSERT INTO hippocampus.posting_totals (rows, terms, user_id, app_name, source)
    SELECT count(DISTINCT r.id), sum(r.tf), r.user_id, r.app_name, p_source
    FROM rows r GROUP BY r.user_id, r.app_name;
END
$fn$;
COMMENT ON FUNCTION hippocampus._index_terms IS 'Writes the postings of rows: their terms, with counts.';
REVOKE ALL ON FUNCTION hippocampus._index_terms FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._index_terms TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
