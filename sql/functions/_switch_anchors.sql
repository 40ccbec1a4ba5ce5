-- Ends a rebuild: what it built serves from this transaction's commit on, and what served before goes with it.
CREATE OR REPLACE FUNCTION hippocampus._switch_anchors(
    p_user_id text,
    p_app_name text,
    p_token uuid,
    p_now timestamptz DEFAULT now()
) RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_building integer := hippocampus._hold_anchor_build(p_user_id, p_app_name, p_token, 60);
    v_anchors integer;
BEGIN
    DELETE FROM hippocampus.anchor_chunks c
    WHERE c.user_id = p_user_id AND c.app_name = p_app_name AND c.generation < v_building;
    DELETE FROM hippocampus.anchors a WHERE a.user_id = p_user_id AND a.app_name = p_app_name AND a.until < v_building;
    SELECT count(*) INTO v_anchors FROM hippocampus.anchors a WHERE a.user_id = p_user_id AND a.app_name = p_app_name;
    UPDATE hippocampus.anchor_indexes i SET serving = v_building, building = NULL, lease_token = NULL, lease_until = NULL,
        built_at = p_now, anchors = v_anchors
    WHERE i.user_id = p_user_id AND i.app_name = p_app_name;
    RETURN v_anchors;
END
$fn$;
COMMENT ON FUNCTION hippocampus._switch_anchors IS
    'Lets a rebuild serve, and deletes what served before; returns how many anchors there are.';
REVOKE ALL ON FUNCTION hippocampus._switch_anchors FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._switch_anchors
    TO hippocampus_service, hippocampus_worker;
