-- What was made of a memory goes with it: the cluster that it was in, since its name may tell of it, and whatever
-- is derived_from it. Fired by the cascade from the memory that is gone; a link or a member that is taken away
-- by hand, while its memory stays, takes nothing along.
CREATE OR REPLACE FUNCTION hippocampus._forget_derived()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    IF TG_ARGV[0] = 'links' THEN
        DELETE FROM hippocampus.memories m USING old_rows o
        WHERE o.link_type = 'derived_from' AND m.id = o.from_id AND m.user_id = o.user_id AND m.app_name = o.app_name
          AND NOT EXISTS (SELECT FROM hippocampus.memories g WHERE g.id = o.to_id AND g.user_id = o.user_id AND g.app_name = o.app_name);
    ELSE
        DELETE FROM hippocampus.memories m USING old_rows o
        WHERE m.id = o.cluster_id AND m.user_id = o.user_id AND m.app_name = o.app_name
          AND NOT EXISTS (SELECT FROM hippocampus.memories g WHERE g.id = o.memory_id AND g.user_id = o.user_id AND g.app_name = o.app_name);
    END IF;
    RETURN NULL;
END
$fn$;
COMMENT ON FUNCTION hippocampus._forget_derived IS 'Trigger: forgets the clusters and insights that were made of a memory that is gone.';
REVOKE ALL ON FUNCTION hippocampus._forget_derived FROM PUBLIC;

CREATE OR REPLACE TRIGGER memory_links_forget AFTER DELETE ON hippocampus.memory_links
    REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION hippocampus._forget_derived('links');
CREATE OR REPLACE TRIGGER memory_cluster_members_forget AFTER DELETE ON hippocampus.memory_cluster_members
    REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION hippocampus._forget_derived('members');
