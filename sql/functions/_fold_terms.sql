-- Takes some of what is noted as gone out of a user's postings, and folds the rows of a source into them where there
-- are enough to be worth it; unless somebody else is about it. Rows get their numbers here, one after the other, so the
-- lists of a term grow at their end: the rows that are new to a term fill its last block, and go into new ones. What is
-- found once is changed by where it is (ctid); nobody else moves it meanwhile. For a bound login the planner expects one
-- row of a user who is new to its statistics, and would rather read all of their rows for each that is found: so
-- it is told to expect one of these, too, by a condition that always holds (x + 0 = x).
CREATE OR REPLACE FUNCTION hippocampus._fold_terms(
    p_user_id text,
    p_app_name text,
    p_source text,
    p_min_rows integer
) RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $fn$
DECLARE
    v_many boolean := (SELECT count(*) >= p_min_rows OR sum(cardinality(l.terms)) >= greatest(1500, 24 * p_min_rows) FROM ( -- few rows may be long
        SELECT r.terms FROM hippocampus.row_terms r
        WHERE r.user_id = p_user_id AND r.app_name = p_app_name AND r.source = p_source AND r.number < 0 LIMIT p_min_rows) l);
    v_below bigint := 0; -- what is folded leaves dead entries in the index, not to be passed again
    v_batch integer;
    v_folded integer := 0;
BEGIN
    PERFORM hippocampus._clear_terms(p_user_id, p_app_name, 64);
    IF NOT v_many OR NOT hippocampus._hold_postings(p_user_id, p_app_name) THEN
        RETURN 0;
    END IF;
    LOOP
        WITH held AS MATERIALIZED (
            SELECT r.ctid AS at, r.number, cardinality(r.terms) AS terms FROM hippocampus.row_terms r
            WHERE r.user_id = p_user_id AND r.app_name = p_app_name AND r.source = p_source AND r.number < v_below
            ORDER BY r.number DESC LIMIT 512 FOR UPDATE SKIP LOCKED
        ), taken AS MATERIALIZED ( -- of long rows fewer at a time
            SELECT s.at, s.number FROM (SELECT h.*, sum(h.terms) OVER (ORDER BY h.number DESC) - h.terms AS before FROM held h) s
            WHERE s.before < 50000
        ), folded AS (
            UPDATE hippocampus.row_terms r SET number = nextval('hippocampus.row_terms_number_seq') FROM taken t
            WHERE t.number + 0 = t.number AND r.ctid = t.at
            RETURNING r.number, r.place, r.length, r.terms, r.counts
        ), fresh AS MATERIALIZED (
            SELECT u.term, array_agg(f.number ORDER BY f.number) AS numbers, array_agg(f.place ORDER BY f.number) AS places,
                array_agg(u.tf ORDER BY f.number) AS counts, array_agg(f.length ORDER BY f.number) AS lengths
            FROM folded f CROSS JOIN LATERAL unnest(f.terms, f.counts) AS u (term, tf)
            WHERE octet_length(u.term) <= 2046 -- longer ones no text has
            GROUP BY u.term
        ), placed AS MATERIALIZED (
            SELECT f.*, l.at, coalesce(l.room, 0) AS room, cardinality(f.numbers) AS rows FROM fresh f
            LEFT JOIN LATERAL (
                SELECT p.ctid AS at, 64 - cardinality(p.numbers) AS room FROM hippocampus.postings p
                WHERE p.user_id = p_user_id AND p.app_name = p_app_name AND p.source = p_source AND p.term = f.term
                ORDER BY p.block DESC LIMIT 1) l ON true
        ), grown AS (
            UPDATE hippocampus.postings p SET numbers = p.numbers || f.numbers[1:f.room], places = p.places || f.places[1:f.room],
                counts = p.counts || f.counts[1:f.room], lengths = p.lengths || f.lengths[1:f.room]
            FROM placed f WHERE f.room > 0 AND f.room + 0 = f.room AND p.ctid = f.at
        ), begun AS (
            INSERT INTO hippocampus.postings (block, user_id, app_name, source, term, numbers, places, counts, lengths)
            SELECT f.numbers[b.first], p_user_id, p_app_name, p_source, f.term, f.numbers[b.first:b.first + 63],
                f.places[b.first:b.first + 63], f.counts[b.first:b.first + 63], f.lengths[b.first:b.first + 63]
            FROM placed f CROSS JOIN LATERAL generate_series(f.room + 1, f.rows, 64) AS b (first) ORDER BY f.term
        ), counted AS (
            INSERT INTO hippocampus.posting_totals AS t (rows, terms, user_id, app_name, source)
            SELECT count(*), sum(f.length), p_user_id, p_app_name, p_source FROM folded f HAVING count(*) > 0
            ON CONFLICT (user_id, app_name, source) DO UPDATE
            SET rows = least(10000000000, t.rows + excluded.rows), terms = least(10000000000000, t.terms + excluded.terms)
        )
        SELECT count(*), min(t.number) INTO v_batch, v_below FROM taken t;
        v_folded := v_folded + v_batch;
        EXIT WHEN v_batch = 0;
    END LOOP;
    RETURN v_folded;
END
$fn$;
COMMENT ON FUNCTION hippocampus._fold_terms IS
    'Folds the terms of a user''s rows of a source into postings, if there are p_min_rows of them, or 24 times as many terms (1,500 at least); returns how many rows.';
REVOKE ALL ON FUNCTION hippocampus._fold_terms FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._fold_terms TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
