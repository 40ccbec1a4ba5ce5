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
    -- one mostly, which is known without a query
    v_apps text[] := CASE WHEN p_app_names[1] = ALL (p_app_names) THEN p_app_names[:1] ELSE ARRAY(SELECT DISTINCT unnest(p_app_names)) END;
    v_app text;
    -- each write of a list is worth more, the more rows it takes in; a log is written often, and searched seldom
    v_fold_at integer := CASE p_source WHEN 'event' THEN 256 ELSE 64 END;
    v_config regconfig;
    v_user_ids text[];
BEGIN
    FOREACH v_app IN ARRAY v_apps LOOP
        v_config := hippocampus._text_config(v_app);
        WITH written AS (
            INSERT INTO hippocampus.row_terms (place, row_id, length, asks, user_id, app_name, source, terms, counts)
            SELECT (SELECT h.number * 16777216 + r.seq FROM hippocampus.threads h
                    WHERE h.id = r.thread_id AND h.user_id = r.user_id AND h.app_name = v_app),
                r.id, t.length, coalesce(r.asks, false), r.user_id, v_app, p_source, t.terms, t.counts
            FROM unnest(p_ids, p_user_ids, p_app_names, p_texts, p_thread_ids, p_seqs, p_asks)
                AS r (id, user_id, app_name, text, thread_id, seq, asks)
            CROSS JOIN LATERAL (
                SELECT array_agg(x.term) AS terms, array_agg(least(32767, x.tf)::smallint) AS counts,
                    least(32767, sum(least(32767, x.tf))) AS length
                FROM hippocampus._text_terms(r.text, v_config) x) t
            WHERE r.app_name = v_app AND t.terms IS NOT NULL
            RETURNING user_id, cardinality(terms) AS terms
        )
        SELECT array_agg(w.user_id) INTO v_user_ids
        FROM (SELECT r.user_id FROM written r
              GROUP BY r.user_id HAVING sum(r.terms) >= 1000 OR random() < count(*) / 16.0
                  OR EXISTS (SELECT FROM hippocampus.unindexed_rows n WHERE n.user_id = r.user_id AND n.app_name = v_app)) w;
        IF v_user_ids IS NOT NULL AND current_setting('hippocampus.fold_later', true) IS DISTINCT FROM 'on' THEN
            PERFORM hippocampus._fold_terms(w.user_id, v_app, p_source, v_fold_at) FROM unnest(v_user_ids) AS w (user_id);
        END IF;
    END LOOP;
END
$fn$;
COMMENT ON FUNCTION hippocampus._index_terms IS 'Writes the terms of rows, with counts.';
REVOKE ALL ON FUNCTION hippocampus._index_terms FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._index_terms TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
