-- What was made of a memory is forgotten with it, whatever deletes it: the cluster that it was in, since its name may
-- tell of it, and whatever is derived_from it. Fired by the cascade from the memory that is gone; a link or a member
-- that is taken away by hand, while its memory stays, takes nothing along; nor does a memory that has faded, of
-- which faded_sources knows what it told: a thread of that takes along what was made of it (its events: _forgotten_with).
CREATE OR REPLACE FUNCTION hippocampus._forget_derived()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    CASE TG_ARGV[0]
        WHEN 'links' THEN
            DELETE FROM hippocampus.memories m USING old_rows o
            WHERE o.link_type = 'derived_from' AND m.id = o.from_id AND m.user_id = o.user_id AND m.app_name = o.app_name
              AND NOT hippocampus._is_known_source(o.user_id, o.app_name, o.from_id, o.to_id);
        WHEN 'members' THEN
            DELETE FROM hippocampus.memories m USING old_rows o
            WHERE m.id = o.cluster_id AND m.user_id = o.user_id AND m.app_name = o.app_name
              AND NOT hippocampus._is_known_source(o.user_id, o.app_name, o.cluster_id, o.memory_id);
        WHEN 'threads' THEN
            DELETE FROM hippocampus.memories m USING old_rows o
            JOIN hippocampus.faded_sources f ON f.thread_id = o.id AND f.user_id = o.user_id AND f.app_name = o.app_name
            WHERE m.id = f.memory_id AND m.user_id = o.user_id AND m.app_name = o.app_name;
    END CASE;
    RETURN NULL;
END
$fn$;
COMMENT ON FUNCTION hippocampus._forget_derived IS 'Trigger: forgets the clusters and insights that were made of what is forgotten.';
REVOKE ALL ON FUNCTION hippocampus._forget_derived FROM PUBLIC;

CREATE OR REPLACE TRIGGER memory_links_forget AFTER DELETE ON hippocampus.memory_links
    REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION hippocampus._forget_derived('links');
CREATE OR REPLACE TRIGGER memory_cluster_members_forget AFTER DELETE ON hippocampus.memory_cluster_members
    REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION hippocampus._forget_derived('members');
CREATE OR REPLACE TRIGGER threads_forget_derived AFTER DELETE ON hippocampus.threads
    REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION hippocampus._forget_derived('threads');
