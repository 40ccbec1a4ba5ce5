-- Notes a memory that is about to have a role, as the tables of roles refer to memory_roles and not to memories: one
-- that is unknown is refused as it is by a foreign key. TG_ARGV[0] is the column with its id.
CREATE OR REPLACE FUNCTION hippocampus._note_role() RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    INSERT INTO hippocampus.memory_roles (memory_id, user_id, app_name)
    VALUES ((to_jsonb(NEW) ->> TG_ARGV[0])::uuid, NEW.user_id, NEW.app_name)
    ON CONFLICT (memory_id, user_id, app_name) DO NOTHING;
    RETURN NEW;
END
$fn$;
COMMENT ON FUNCTION hippocampus._note_role IS 'Trigger: notes a memory that is a cluster, an experience, has a name, or was made of what has faded.';
REVOKE ALL ON FUNCTION hippocampus._note_role FROM PUBLIC;

CREATE OR REPLACE TRIGGER memory_clusters_role BEFORE INSERT OR UPDATE OF id ON hippocampus.memory_clusters
    FOR EACH ROW EXECUTE FUNCTION hippocampus._note_role('id');
CREATE OR REPLACE TRIGGER experiences_role BEFORE INSERT OR UPDATE OF memory_id ON hippocampus.experiences
    FOR EACH ROW EXECUTE FUNCTION hippocampus._note_role('memory_id');
CREATE OR REPLACE TRIGGER named_memories_role BEFORE INSERT OR UPDATE OF memory_id ON hippocampus.named_memories
    FOR EACH ROW EXECUTE FUNCTION hippocampus._note_role('memory_id');
CREATE OR REPLACE TRIGGER faded_sources_role BEFORE INSERT ON hippocampus.faded_sources
    FOR EACH ROW EXECUTE FUNCTION hippocampus._note_role('memory_id');
