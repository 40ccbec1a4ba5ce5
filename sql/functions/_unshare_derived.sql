-- What turns out to be derived from another memory is no longer shown to others: it may tell of a private one. It is
-- said of a memory that is shared when a sleep draws the same insight again, or a client links it later.
CREATE OR REPLACE FUNCTION hippocampus._unshare_derived()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    UPDATE hippocampus.memories m SET visibility = 'private', shared_by = NULL
    WHERE m.id = NEW.from_id AND m.user_id = NEW.user_id AND m.app_name = NEW.app_name AND m.visibility = 'app';
    RETURN NULL;
END
$fn$;
COMMENT ON FUNCTION hippocampus._unshare_derived IS 'Trigger: takes back a shared memory that is derived from another one.';
REVOKE ALL ON FUNCTION hippocampus._unshare_derived FROM PUBLIC;

CREATE OR REPLACE TRIGGER memory_links_unshare AFTER INSERT ON hippocampus.memory_links
    FOR EACH ROW WHEN (NEW.link_type = 'derived_from') EXECUTE FUNCTION hippocampus._unshare_derived();
