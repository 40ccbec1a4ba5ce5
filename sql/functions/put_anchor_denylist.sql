-- Sets the anchors that never bring anything, in place of those before.
CREATE OR REPLACE FUNCTION hippocampus.put_anchor_denylist(
    p_user_id text,
    p_app_name text,
    p_terms text[]
) RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_config regconfig := hippocampus._text_config(p_app_name);
    v_term text;
    v_key text;
    v_keys text[] := '{}';
BEGIN
    PERFORM hippocampus._write_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_range('the number of p_terms', cardinality(coalesce(p_terms, '{}')), 0, 10000);
    FOREACH v_term IN ARRAY coalesce(p_terms, '{}') LOOP
        PERFORM hippocampus._check_size('p_terms', v_term, 1, 255);
        v_key := hippocampus._anchor_key(v_term, v_config);
        v_keys := v_keys || v_key;
        IF v_key IS NULL THEN
            RAISE EXCEPTION '% cannot be an anchor', quote_literal(v_term)
                USING ERRCODE = 'HC009', HINT = 'Give one to five words that are not all stop words, or two characters of a script without spaces.';
        END IF;
    END LOOP;
    PERFORM pg_advisory_xact_lock(hashtextextended('hippocampus.anchor_denials ' || p_user_id || E'\n' || p_app_name, 0));
    DELETE FROM hippocampus.anchor_denials d WHERE d.user_id = p_user_id AND d.app_name = p_app_name;
    INSERT INTO hippocampus.anchor_denials (user_id, app_name, key, term)
    SELECT p_user_id, p_app_name, t.key, t.term FROM ROWS FROM (unnest(v_keys), unnest(p_terms)) AS t (key, term)
    ON CONFLICT DO NOTHING;
    RETURN (SELECT count(*) FROM hippocampus.anchor_denials d WHERE d.user_id = p_user_id AND d.app_name = p_app_name);
END
$fn$;
COMMENT ON FUNCTION hippocampus.put_anchor_denylist IS
    'Sets the anchors that never bring anything, in place of those before: in any form of their words, whether a question names them, means them, or they are given as project anchors. Returns how many there are. It holds at once. Raises HC009 for what can be no anchor, and for more than 10,000.';
REVOKE ALL ON FUNCTION hippocampus.put_anchor_denylist FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.put_anchor_denylist
    TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
