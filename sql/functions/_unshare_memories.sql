-- Takes back what may no longer be shared, whoever says so and however: a policy that is changed, put in or taken out (an app
-- without one has the deployment's), or a memory that is linked as derived from others, of which it may tell.
CREATE OR REPLACE FUNCTION hippocampus._unshare_memories()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_apps text[];
BEGIN
    IF TG_TABLE_NAME = 'memory_links' THEN
        -- locked, or one that is shared at this moment would not be seen
        PERFORM FROM hippocampus.memories m
        WHERE m.id = NEW.from_id AND m.user_id = NEW.user_id AND m.app_name = NEW.app_name FOR NO KEY UPDATE;
        UPDATE hippocampus.memories m SET visibility = 'private', shared_by = NULL
        WHERE m.id = NEW.from_id AND m.user_id = NEW.user_id AND m.app_name = NEW.app_name AND m.visibility = 'app';
        RETURN NULL;
    END IF;
    v_apps := ARRAY(SELECT DISTINCT a FROM unnest(ARRAY[OLD.app_name, NEW.app_name]) a WHERE a IS NOT NULL ORDER BY a);
    PERFORM pg_advisory_xact_lock(hippocampus._sharing_key(a)) FROM unnest(v_apps) a;
    PERFORM pg_advisory_xact_lock_shared(hashtext('hippocampus.sweep'), b) FROM generate_series(0, 63) b; -- see _sweep_scope
    WITH held AS ( -- in the order in which all lock them
        SELECT m.id, m.user_id, m.app_name FROM hippocampus.memories m
        WHERE m.visibility = 'app' AND (m.app_name = ANY (v_apps) OR '*' = ANY (v_apps))
          AND NOT (SELECT p.sharing FROM hippocampus._consolidation_policy(m.app_name) p)
        ORDER BY m.id FOR NO KEY UPDATE
    )
    UPDATE hippocampus.memories m SET visibility = 'private', shared_by = NULL
    FROM held h WHERE m.id = h.id AND m.user_id = h.user_id AND m.app_name = h.app_name;
    RETURN NULL;
END
$fn$;
COMMENT ON FUNCTION hippocampus._unshare_memories IS 'Trigger: takes back what may no longer be shared.';
REVOKE ALL ON FUNCTION hippocampus._unshare_memories FROM PUBLIC;

CREATE OR REPLACE TRIGGER consolidation_policies_unshare_insert AFTER INSERT ON hippocampus.consolidation_policies
    FOR EACH ROW WHEN (NOT NEW.sharing) EXECUTE FUNCTION hippocampus._unshare_memories();
CREATE OR REPLACE TRIGGER consolidation_policies_unshare AFTER UPDATE OF sharing, app_name ON hippocampus.consolidation_policies
    FOR EACH ROW WHEN (OLD.sharing AND NOT NEW.sharing OR OLD.app_name <> NEW.app_name)
    EXECUTE FUNCTION hippocampus._unshare_memories();
CREATE OR REPLACE TRIGGER consolidation_policies_unshare_delete AFTER DELETE ON hippocampus.consolidation_policies
    FOR EACH ROW WHEN (OLD.sharing) EXECUTE FUNCTION hippocampus._unshare_memories();
CREATE OR REPLACE TRIGGER memory_links_unshare AFTER INSERT OR UPDATE OF link_type, from_id ON hippocampus.memory_links
    FOR EACH ROW WHEN (NEW.link_type = 'derived_from') EXECUTE FUNCTION hippocampus._unshare_memories();
