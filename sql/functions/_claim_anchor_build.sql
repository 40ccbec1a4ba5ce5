-- Begins a rebuild of a tenant's anchor index, unless another one is at work: null then. The lease of one that was
-- killed runs out, and what it left behind is deleted.
CREATE OR REPLACE FUNCTION hippocampus._claim_anchor_build(
    p_user_id text,
    p_app_name text,
    p_lease_seconds double precision
) RETURNS uuid
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_token uuid := gen_random_uuid();
BEGIN
    PERFORM hippocampus._write_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_range('p_lease_seconds', p_lease_seconds, 1, 86400);
    INSERT INTO hippocampus.anchor_indexes AS i (user_id, app_name, building, lease_token, lease_until)
    VALUES (p_user_id, p_app_name, 1, v_token, clock_timestamp() + make_interval(secs => p_lease_seconds))
    ON CONFLICT (user_id, app_name) DO UPDATE SET building = coalesce(i.building, i.serving) + 1,
        lease_token = excluded.lease_token, lease_until = excluded.lease_until
        WHERE i.lease_until IS NULL OR i.lease_until < clock_timestamp();
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    DELETE FROM hippocampus.anchor_chunks c USING hippocampus.anchor_indexes i
    WHERE i.user_id = p_user_id AND i.app_name = p_app_name AND c.user_id = p_user_id AND c.app_name = p_app_name
      AND c.generation <> i.serving AND c.generation <> i.building;
    RETURN v_token;
END
$fn$;
COMMENT ON FUNCTION hippocampus._claim_anchor_build IS
    'Begins a rebuild of a tenant''s anchor index and returns its token; null where another one is at work.';
REVOKE ALL ON FUNCTION hippocampus._claim_anchor_build FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._claim_anchor_build
    TO hippocampus_service, hippocampus_worker;
