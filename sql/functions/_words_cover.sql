-- Rows of a source that hold the words of a text: the share of its words that stand in them, each weighed by
-- how rare it is among the user's rows. A word that no row has counts for nothing. Terms beyond 64, and rows
-- that hold a term which more than 5,000 rows have and no rarer one, are passed over. Beside the share, how many of its
-- words these are. Looked up are the rarest of its words, without which the others do not make the share: so what all of many
-- rows say costs each of them nothing.
CREATE OR REPLACE FUNCTION hippocampus._words_cover(
    p_user_id text,
    p_app_name text,
    p_source text,
    p_text text,
    p_min double precision
) RETURNS TABLE (row_id uuid, place bigint, cover double precision, words double precision)
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 20
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_rows double precision := (SELECT i.rows FROM hippocampus._indexed_rows(p_user_id, p_app_name, p_source) i);
    v_terms text[];
    v_idf double precision[];
    v_breadth double precision[];
    v_all double precision;
    v_rest double precision; -- what the words weigh that are not looked up
    v_looked integer;
BEGIN
    SELECT array_agg(w.term ORDER BY w.idf DESC, w.term) FILTER (WHERE w.df <= 5000), array_agg(w.idf ORDER BY w.idf DESC, w.term) FILTER (WHERE w.df <= 5000),
        array_agg(hippocampus._term_breadth(w.term) ORDER BY w.idf DESC, w.term) FILTER (WHERE w.df <= 5000), sum(w.idf)
    INTO v_terms, v_idf, v_breadth, v_all
    FROM hippocampus._term_weights(p_user_id, p_app_name, p_source,
        (hippocampus._query_terms(p_app_name, p_text))[:64], v_rows, true) w;
    SELECT coalesce(min(r.n), cardinality(v_idf)), coalesce(max(r.rest), 0) INTO v_looked, v_rest FROM (
        SELECT i.n, coalesce(sum(i.idf) OVER (ORDER BY i.n ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING), 0) AS rest
        FROM unnest(v_idf) WITH ORDINALITY AS i (idf, n)) r
    WHERE r.rest < p_min * v_all;
    RETURN QUERY
    SELECT r.row_id, c.place, h.idf / v_all, h.breadth
    FROM (SELECT h.number, h.place
          FROM hippocampus._term_hits(p_user_id, p_app_name, p_source, v_terms[:v_looked]) h
          GROUP BY h.number, h.place HAVING sum(v_idf[h.n]) >= p_min * v_all - v_rest - 1e-9) c
    CROSS JOIN LATERAL hippocampus._term_row(p_user_id, p_app_name, p_source, c.number) r
    CROSS JOIN LATERAL (
        SELECT sum(v_idf[q.n]) AS idf, sum(v_breadth[q.n]) AS breadth
        FROM unnest(v_terms) WITH ORDINALITY AS q (term, n) WHERE q.term = ANY (r.terms)) h
    WHERE h.idf >= p_min * v_all - 1e-9;
END
$fn$;
COMMENT ON FUNCTION hippocampus._words_cover IS 'Rows that hold at least the share p_min of a text''s words, weighed by rarity, and how many words of it they hold.';
REVOKE ALL ON FUNCTION hippocampus._words_cover FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._words_cover
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
