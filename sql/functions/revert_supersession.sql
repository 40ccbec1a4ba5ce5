-- Takes a supersession back: what was retired holds again. A fact that took its place under the same key is
-- then one that never held, and stays as history; under another key, both hold.
CREATE OR REPLACE FUNCTION hippocampus.revert_supersession(
    p_user_id text,
    p_app_name text,
    p_id uuid,
    p_now timestamptz DEFAULT now()
) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_old hippocampus.facts;
    v_rival hippocampus.facts;
BEGIN
    PERFORM hippocampus._write_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_time('p_now', p_now);
    PERFORM pg_advisory_xact_lock(hashtextextended(format('hippocampus.facts %L %L', p_user_id, p_app_name), 0));
    SELECT f.* INTO v_old FROM hippocampus.facts f
    WHERE f.id = p_id AND f.user_id = p_user_id AND f.app_name = p_app_name FOR NO KEY UPDATE;
    IF v_old.valid_until IS NOT NULL THEN
        PERFORM pg_advisory_xact_lock(hashtextextended(
            format('hippocampus.fact %L %L %L %L', p_user_id, p_app_name, v_old.fact_type, v_old.key), 0));
        SELECT f.* INTO v_rival FROM hippocampus.facts f
        WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.fact_type = v_old.fact_type AND f.key = v_old.key
          AND f.valid_until IS NULL FOR NO KEY UPDATE;
        IF v_rival.id <> v_old.superseded_by OR v_rival.id IS NOT NULL AND v_old.superseded_by IS NULL THEN
            RAISE EXCEPTION 'fact % was followed by others of its key; fact % holds now', p_id, v_rival.id
                USING ERRCODE = 'HC009', HINT = 'Take back the last supersession first, or state the fact anew (upsert_fact).';
        END IF;
        PERFORM hippocampus._close_fact(p_user_id, p_app_name, v_rival.id, p_id, v_rival.valid_from, 'client', 'taken back', p_now);
        UPDATE hippocampus.facts f
        SET valid_until = NULL, closed_at = NULL, superseded_by = NULL, closed_by = NULL, closed_reason = NULL
        WHERE f.id = p_id AND f.user_id = p_user_id AND f.app_name = p_app_name;
        RETURN;
    END IF;
    UPDATE hippocampus.memories m SET superseded_by = NULL
    WHERE m.id = p_id AND m.user_id = p_user_id AND m.app_name = p_app_name AND m.superseded_by IS NOT NULL;
    IF NOT FOUND THEN
        RAISE EXCEPTION '% is not superseded', coalesce(p_id::text, 'null')
            USING ERRCODE = 'HC011', HINT = 'Give the id of a memory or fact of this user that another one has replaced.';
    END IF;
EXCEPTION WHEN unique_violation THEN
    RAISE EXCEPTION 'memory % is there again, in the same words', p_id
        USING ERRCODE = 'HC009', HINT = 'It was stored anew meanwhile; forget the old one, or keep it as it is.';
END
$fn$;
COMMENT ON FUNCTION hippocampus.revert_supersession IS
    'Takes a supersession back: the retired memory or fact holds again; a fact that followed under the same key is kept as one that never held. Raises HC011 for what is not superseded, HC009 where others followed.';
REVOKE ALL ON FUNCTION hippocampus.revert_supersession FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.revert_supersession TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
