-- Begins a rebuild of a tenant's anchor index, unless another one is at work: null then. What one that was killed
-- left behind is deleted. That it was killed is known at once where its session held a lock for it (p_held), which
-- goes with the session; and else, or should its machine have vanished without a word, when its lease has run out.
CREATE OR REPLACE FUNCTION hippocampus._claim_anchor_build(
    p_user_id text,
    p_app_name text,
    p_lease_seconds double precision,
    p_held boolean DEFAULT false
) RETURNS uuid
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_token uuid := gen_random_uuid();
BEGIN
    PERFORM hippocampus._write_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_range('p_lease_seconds', p_lease_seconds, 1, 86400);
    INSERT INTO hippocampus.anchor_indexes AS i (user_id, app_name, building, lease_token, lease_until, held)
    VALUES (p_user_id, p_app_name, 1, v_token, clock_timestamp() + make_interval(secs => p_lease_seconds), p_held)
    ON CONFLICT (user_id, app_name) DO UPDATE SET building = coalesce(i.building, i.serving) + 1,
        lease_token = excluded.lease_token, lease_until = excluded.lease_until, held = excluded.held
        WHERE i.lease_until IS NULL OR i.lease_until < clock_timestamp()
           OR i.held AND NOT hippocampus._is_held('hippocampus.anchors ' || i.lease_token);
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    IF p_held THEN -- before the commit that shows the token
        PERFORM pg_advisory_lock(hashtextextended('hippocampus.anchors ' || v_token, 0));
    END IF;
    DELETE FROM hippocampus.anchor_chunks c USING hippocampus.anchor_indexes i
    WHERE i.user_id = p_user_id AND i.app_name = p_app_name AND c.user_id = p_user_id AND c.app_name = p_app_name
      AND c.generation <> i.serving AND c.generation <> i.building;
    RETURN v_token;
END
$fn$;
COMMENT ON FUNCTION hippocampus._claim_anchor_build IS
    'Begins a rebuild of a tenant''s anchor index and returns its token; null where another one is at work. p_held: this session lasts as long as the rebuild, and its end says that the rebuild died.';
REVOKE ALL ON FUNCTION hippocampus._claim_anchor_build FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._claim_anchor_build
    TO hippocampus_service, hippocampus_worker;
