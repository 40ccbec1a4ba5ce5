-- Takes rows that are noted as gone out of a user's postings, at most p_rows; null: all. Unless somebody else is at these
-- (_hold_postings). A number is in the last block of its term that does not begin after it. Where a quarter of a source is
-- to go, or has gone since its lists were last written whole, these are written anew from the rows that stay: blocks
-- with few rows would hide what lies behind them, as a search reads so many blocks. Rows are changed by where they
-- are, as in _fold_terms.
CREATE OR REPLACE FUNCTION hippocampus._clear_terms(
    p_user_id text,
    p_app_name text,
    p_rows bigint DEFAULT NULL
) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $fn$
DECLARE
    v_sparse text[];
    v_source text;
BEGIN
    IF NOT EXISTS (SELECT FROM hippocampus.unindexed_rows n WHERE n.user_id = p_user_id AND n.app_name = p_app_name)
        OR NOT hippocampus._hold_postings(p_user_id, p_app_name) THEN
        RETURN;
    END IF;
    WITH noted AS MATERIALIZED (
        SELECT n.ctid AS at, n.id, n.row_id FROM hippocampus.unindexed_rows n
        WHERE n.user_id = p_user_id AND n.app_name = p_app_name LIMIT p_rows
    ), ended AS (
        DELETE FROM hippocampus.unindexed_rows n USING noted o WHERE o.id + 0 = o.id AND n.ctid = o.at
    ), found AS MATERIALIZED (
        SELECT l.at, n.id FROM noted n CROSS JOIN LATERAL (
            SELECT r.ctid AS at FROM hippocampus.row_terms r
            WHERE r.row_id = n.row_id AND r.id = n.id AND r.user_id = p_user_id AND r.app_name = p_app_name LIMIT 1) l
    ), gone AS MATERIALIZED (
        DELETE FROM hippocampus.row_terms r USING found f WHERE f.id + 0 = f.id AND r.ctid = f.at RETURNING r.source, r.number, r.length, r.terms
    ), less AS MATERIALIZED (
        SELECT g.source, count(*) AS rows, sum(g.length) AS terms, coalesce(4 * (count(*) + t.removed) >= greatest(256, t.rows), true) AS most
        FROM gone g LEFT JOIN hippocampus.posting_totals t ON t.user_id = p_user_id AND t.app_name = p_app_name AND t.source = g.source
        WHERE g.number > 0 GROUP BY g.source, t.removed, t.rows
    ), touched AS MATERIALIZED (
        SELECT DISTINCT b.at
        FROM gone g JOIN less l ON l.source = g.source AND NOT l.most
        CROSS JOIN LATERAL unnest(g.terms) AS u (term)
        CROSS JOIN LATERAL (
            SELECT p.ctid AS at FROM hippocampus.postings p
            WHERE p.user_id = p_user_id AND p.app_name = p_app_name AND p.source = g.source AND p.term = u.term AND p.block <= g.number
            ORDER BY p.block DESC LIMIT 1) b
        WHERE g.number > 0
    ), kept AS MATERIALIZED (
        SELECT t.at, k.gone, k.numbers, k.places, k.counts, k.lengths
        FROM touched t
        CROSS JOIN LATERAL (
            SELECT count(*) FILTER (WHERE u.gone) AS gone, array_agg(u.number) FILTER (WHERE NOT u.gone) AS numbers,
                array_agg(u.place) FILTER (WHERE NOT u.gone) AS places, array_agg(u.tf) FILTER (WHERE NOT u.gone) AS counts,
                array_agg(u.length) FILTER (WHERE NOT u.gone) AS lengths
            FROM (SELECT e.*, e.number IN (SELECT g.number FROM gone g) AS gone
                  FROM hippocampus.postings p
                  CROSS JOIN LATERAL unnest(p.numbers, p.places, p.counts, p.lengths) AS e (number, place, tf, length)
                  WHERE p.ctid = t.at OFFSET 0) u -- once an element
        ) k
        WHERE k.gone > 0
    ), emptied AS (
        DELETE FROM hippocampus.postings p USING kept k WHERE k.numbers IS NULL AND p.ctid = k.at
    ), shrunk AS (
        UPDATE hippocampus.postings p SET numbers = k.numbers, places = k.places, counts = k.counts, lengths = k.lengths
        FROM kept k WHERE k.numbers IS NOT NULL AND k.gone + 0 = k.gone AND p.ctid = k.at
    ), counted AS (
        UPDATE hippocampus.posting_totals t SET rows = greatest(0, t.rows - l.rows), terms = greatest(0, t.terms - l.terms),
            removed = least(10000000000, t.removed + l.rows)
        FROM less l WHERE t.user_id = p_user_id AND t.app_name = p_app_name AND t.source = l.source
    )
    SELECT array_agg(l.source) INTO v_sparse FROM less l WHERE l.most;
    FOREACH v_source IN ARRAY coalesce(v_sparse, '{}') LOOP
        PERFORM hippocampus._write_postings(p_user_id, p_app_name, v_source);
    END LOOP;
END
$fn$;
COMMENT ON FUNCTION hippocampus._clear_terms IS 'Takes rows that are noted as gone out of a user''s terms and postings.';
REVOKE ALL ON FUNCTION hippocampus._clear_terms FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._clear_terms TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
