-- Writes the terms of rows. Now and then, and after many at once, what a user has of them is folded into postings, and
-- whenever something is noted as gone, some of that is taken out. Not where the transaction has set hippocampus.fold_later:
-- so does a writer that holds others up, and calls fold_terms when it has committed.
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
DECLARE
    v_user_ids text[];
    v_app_names text[];
BEGIN
    WITH written AS (
        INSERT INTO hippocampus.row_terms (place, row_id, length, asks, user_id, app_name, source, terms, counts)
        SELECT (SELECT h.number * 16777216 + r.seq FROM hippocampus.threads h
                WHERE h.id = r.thread_id AND h.user_id = r.user_id AND h.app_name = r.app_name),
            r.id, t.length, coalesce(r.asks, false), r.user_id, r.app_name, p_source, t.terms, t.counts
        FROM unnest(p_ids, p_user_ids, p_app_names, p_texts, p_thread_ids, p_seqs, p_asks)
            AS r (id, user_id, app_name, text, thread_id, seq, asks)
        JOIN (SELECT a.app_name, hippocampus._text_config(a.app_name) AS config
              FROM (SELECT DISTINCT u.app_name FROM unnest(p_app_names) AS u (app_name)) a) c ON c.app_name = r.app_name
        CROSS JOIN LATERAL (
            SELECT array_agg(x.term) AS terms, array_agg(least(32767, x.tf)::smallint) AS counts,
                least(32767, sum(least(32767, x.tf))) AS length
            FROM hippocampus._text_terms(r.text, c.config) x) t
        WHERE t.terms IS NOT NULL
        RETURNING user_id, app_name, cardinality(terms) AS terms
    )
    SELECT array_agg(w.user_id), array_agg(w.app_name) INTO v_user_ids, v_app_names
    FROM (SELECT r.user_id, r.app_name FROM written r
          GROUP BY r.user_id, r.app_name HAVING sum(r.terms) >= 1000 OR random() < count(*) / 16.0
              OR EXISTS (SELECT FROM hippocampus.unindexed_rows n WHERE n.user_id = r.user_id AND n.app_name = r.app_name)) w;
    IF v_user_ids IS NOT NULL AND current_setting('hippocampus.fold_later', true) IS DISTINCT FROM 'on' THEN
        PERFORM hippocampus._fold_terms(w.user_id, w.app_name, p_source) FROM unnest(v_user_ids, v_app_names) AS w (user_id, app_name);
    END IF;
END
$fn$;
COMMENT ON FUNCTION hippocampus._index_terms IS 'Writes the terms of rows, with counts.';
REVOKE ALL ON FUNCTION hippocampus._index_terms FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._index_terms TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
