-- Says that one memory or fact takes the place of another, by hand. The old one stays as history: a fact ends
-- at p_at (when the new one began, if not given), a memory is no longer found. A new memory is held as strongly as the
-- old one was, or it might fade before that, which then were found again.
CREATE OR REPLACE FUNCTION hippocampus.supersede(
    p_user_id text,
    p_app_name text,
    p_old_id uuid,
    p_new_id uuid,
    p_reason text DEFAULT NULL,
    p_at timestamptz DEFAULT NULL,
    p_now timestamptz DEFAULT now()
) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_old record;
    v_new record;
    v_row record;
BEGIN
    PERFORM hippocampus._write_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_time('p_now', p_now);
    PERFORM hippocampus._check_time('p_at', coalesce(p_at, p_now));
    PERFORM hippocampus._check_size('p_reason', coalesce(p_reason, ''), 0, 4096);
    PERFORM pg_advisory_xact_lock(hashtextextended(format('hippocampus.facts %L %L', p_user_id, p_app_name), 0));
    -- in the order in which all lock them: what holds, and is there, stays so until the end; and a vector that somebody is
    -- just storing (put_embedding) is waited for, or it would stay behind
    PERFORM FROM hippocampus.memories m
    WHERE m.id IN (p_old_id, p_new_id) AND m.user_id = p_user_id AND m.app_name = p_app_name ORDER BY m.id FOR UPDATE;
    PERFORM FROM hippocampus.facts f -- the current ones: of a key, its writers lock the others in an order of their own
    WHERE f.id IN (p_old_id, p_new_id) AND f.user_id = p_user_id AND f.app_name = p_app_name AND f.valid_until IS NULL
    ORDER BY f.id FOR NO KEY UPDATE;
    FOR v_row IN
        SELECT 'fact' AS source, f.id, f.superseded_by, f.valid_from, f.valid_until IS NULL AS current FROM hippocampus.facts f
        WHERE f.id IN (p_old_id, p_new_id) AND f.user_id = p_user_id AND f.app_name = p_app_name
        UNION ALL SELECT 'memory', m.id, m.superseded_by, NULL, m.superseded_by IS NULL FROM hippocampus.memories m
        WHERE m.id IN (p_old_id, p_new_id) AND m.user_id = p_user_id AND m.app_name = p_app_name
    LOOP
        IF v_row.id = p_old_id THEN v_old := v_row; END IF;
        IF v_row.id = p_new_id THEN v_new := v_row; END IF;
    END LOOP;
    IF v_old IS NULL OR v_new IS NULL THEN
        RAISE EXCEPTION '% % is unknown', CASE WHEN v_old IS NULL THEN 'p_old_id' ELSE 'p_new_id' END,
                coalesce(CASE WHEN v_old IS NULL THEN p_old_id ELSE p_new_id END::text, 'null')
            USING ERRCODE = 'HC011', HINT = 'Give the ids of two memories, or of two facts, of this user.';
    ELSIF p_old_id = p_new_id OR v_old.source <> v_new.source OR NOT v_new.current OR NOT v_old.current THEN
        RAISE EXCEPTION '% % cannot take the place of % %', v_new.source, p_new_id, v_old.source, p_old_id
            USING ERRCODE = 'HC009', HINT = CASE WHEN v_old.source <> v_new.source THEN 'A fact supersedes a fact, a memory a memory.'
                WHEN p_old_id = p_new_id THEN 'Give two different rows.'
                ELSE 'Both must be current; take an older supersession back first (revert_supersession).' END;
    ELSIF v_old.source = 'fact' THEN
        PERFORM hippocampus._close_fact(p_user_id, p_app_name, p_old_id, p_new_id, coalesce(p_at, v_new.valid_from), 'client', p_reason, p_now);
    ELSE
        UPDATE hippocampus.memories m SET superseded_by = p_new_id
        WHERE m.id = p_old_id AND m.user_id = p_user_id AND m.app_name = p_app_name;
        UPDATE hippocampus.memories m SET access_count = greatest(m.access_count, o.access_count), importance = greatest(m.importance, o.importance),
            initial_score = greatest(m.initial_score, o.initial_score), running_intensity = greatest(m.running_intensity, o.running_intensity),
            last_accessed_at = greatest(m.last_accessed_at, o.last_accessed_at)
        FROM hippocampus.memories o
        WHERE m.id = p_new_id AND m.user_id = p_user_id AND m.app_name = p_app_name
          AND o.id = p_old_id AND o.user_id = p_user_id AND o.app_name = p_app_name;
    END IF;
END
$fn$;
COMMENT ON FUNCTION hippocampus.supersede IS
    'Says that a memory or fact (p_new_id) takes the place of another (p_old_id), which stays as history. A fact ends at p_at, by default when the new one began; a memory takes over the strength of the old one. Both must be current: HC009; an unknown id is HC011.';
REVOKE ALL ON FUNCTION hippocampus.supersede FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.supersede TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
