-- Takes a supersession back: what was retired holds again. A fact that took its place under the same key stays as
-- history, up to where the other one begins: one that had begun later never held. Under another key, both hold. The key
-- is locked before its rows, as whoever states it does, and these in the order of their ids.
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
    v_next_id uuid; -- of another value of its key that held since
BEGIN
    PERFORM hippocampus._write_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_time('p_now', p_now);
    PERFORM pg_advisory_xact_lock(hashtextextended(format('hippocampus.facts %L %L', p_user_id, p_app_name), 0));
    SELECT f.* INTO v_old FROM hippocampus.facts f
    WHERE f.id = p_id AND f.user_id = p_user_id AND f.app_name = p_app_name;
    IF FOUND THEN
        PERFORM pg_advisory_xact_lock(hashtextextended(
            format('hippocampus.fact %L %L %L %L', p_user_id, p_app_name, v_old.fact_type, v_old.key), 0));
        PERFORM FROM hippocampus._facts_of_key(p_user_id, p_app_name, v_old.fact_type, v_old.key) k
        JOIN hippocampus.facts f ON f.id = k.id AND f.user_id = p_user_id AND f.app_name = p_app_name
        WHERE f.id = p_id OR f.valid_until IS NULL ORDER BY f.id FOR NO KEY UPDATE OF f;
        SELECT f.* INTO v_old FROM hippocampus.facts f WHERE f.id = p_id AND f.user_id = p_user_id AND f.app_name = p_app_name;
    END IF;
    IF v_old.valid_until IS NOT NULL THEN
        SELECT f.* INTO v_rival FROM hippocampus._facts_of_key(p_user_id, p_app_name, v_old.fact_type, v_old.key) f WHERE f.valid_until IS NULL;
        SELECT f.id INTO v_next_id FROM hippocampus._facts_of_key(p_user_id, p_app_name, v_old.fact_type, v_old.key) f
        WHERE f.valid_until > f.valid_from AND f.id <> p_id AND (f.valid_until > v_old.valid_from OR f.id = v_old.superseded_by)
        ORDER BY f.valid_from DESC LIMIT 1;
        v_next_id := CASE WHEN v_rival.id IS NULL OR v_rival.id = v_old.superseded_by THEN v_next_id ELSE v_rival.id END;
        IF v_next_id IS NOT NULL THEN
            RAISE EXCEPTION 'fact % was followed by others of its key, such as fact %', p_id, v_next_id
                USING ERRCODE = 'HC009', HINT = 'Take back the last supersession first, or state the fact anew (upsert_fact).';
        END IF;
        PERFORM hippocampus._close_fact(p_user_id, p_app_name, v_rival.id, p_id, v_old.valid_from, 'client', 'taken back', p_now);
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
    'Takes a supersession back: the retired memory or fact holds again; a fact that replaced it under the same key is kept as history, up to where this one begins. Raises HC011 for what is not superseded, HC009 where others followed.';
REVOKE ALL ON FUNCTION hippocampus.revert_supersession FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.revert_supersession TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
