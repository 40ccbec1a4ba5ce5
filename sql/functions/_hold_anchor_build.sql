-- Renews the lease of a rebuild and returns the generation that it builds. One that lost it, since it was taken for
-- dead, is stopped here: each of its transactions begins with this.
CREATE OR REPLACE FUNCTION hippocampus._hold_anchor_build(
    p_user_id text,
    p_app_name text,
    p_token uuid,
    p_lease_seconds double precision
) RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_building integer;
BEGIN
    PERFORM hippocampus._write_scope(p_user_id, p_app_name);
    UPDATE hippocampus.anchor_indexes i SET lease_until = clock_timestamp() + make_interval(secs => p_lease_seconds)
    WHERE i.user_id = p_user_id AND i.app_name = p_app_name AND i.lease_token = p_token
    RETURNING i.building INTO v_building;
    IF v_building IS NULL THEN
        RAISE EXCEPTION 'the rebuild % of the anchor index is no longer under way', p_token
            USING ERRCODE = 'HC008', HINT = 'It was taken for dead and another one began; let that one work.';
    END IF;
    RETURN v_building;
END
$fn$;
COMMENT ON FUNCTION hippocampus._hold_anchor_build IS
    'Renews the lease of a rebuild; raises HC008 where it was lost.';
REVOKE ALL ON FUNCTION hippocampus._hold_anchor_build FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._hold_anchor_build
    TO hippocampus_service, hippocampus_worker;
