-- Writes a user's postings of a source anew, in full blocks, from the terms of the rows that are folded. For who holds
-- these (_hold_postings).
CREATE OR REPLACE FUNCTION hippocampus._write_postings(
    p_user_id text,
    p_app_name text,
    p_source text
) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    DELETE FROM hippocampus.postings p WHERE p.user_id = p_user_id AND p.app_name = p_app_name AND p.source = p_source;
    INSERT INTO hippocampus.postings (block, user_id, app_name, source, term, numbers, places, counts, lengths)
    SELECT min(c.number), p_user_id, p_app_name, p_source, c.term, array_agg(c.number ORDER BY c.number), array_agg(c.place ORDER BY c.number),
        array_agg(c.tf ORDER BY c.number), array_agg(c.length ORDER BY c.number)
    FROM (SELECT u.term, u.tf, r.number, r.place, r.length, (row_number() OVER (PARTITION BY u.term ORDER BY r.number) - 1) / 64 AS part
          FROM hippocampus.row_terms r CROSS JOIN LATERAL unnest(r.terms, r.counts) AS u (term, tf)
          WHERE r.user_id = p_user_id AND r.app_name = p_app_name AND r.source = p_source AND r.number > 0
            AND octet_length(u.term) <= 2046) c -- longer ones no text has
    GROUP BY c.term, c.part;
    UPDATE hippocampus.posting_totals t SET removed = 0
    WHERE t.user_id = p_user_id AND t.app_name = p_app_name AND t.source = p_source;
END
$fn$;
COMMENT ON FUNCTION hippocampus._write_postings IS 'Writes a user''s postings of a source anew, in full blocks.';
REVOKE ALL ON FUNCTION hippocampus._write_postings FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._write_postings TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
