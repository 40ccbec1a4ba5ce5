-- A deleted memory is no longer to be put in order.
CREATE OR REPLACE FUNCTION hippocampus._drop_untidied() RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    DELETE FROM hippocampus.untidied_memories u USING old_rows o
    WHERE NOT hippocampus._user_goes() AND u.memory_id = o.id AND u.user_id = o.user_id AND u.app_name = o.app_name;
    RETURN NULL;
END
$fn$;
COMMENT ON FUNCTION hippocampus._drop_untidied IS 'Trigger: takes deleted memories out of those that a sleep has to put in order.';
REVOKE ALL ON FUNCTION hippocampus._drop_untidied FROM PUBLIC;

CREATE OR REPLACE TRIGGER memories_drop_untidied AFTER DELETE ON hippocampus.memories
    REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION hippocampus._drop_untidied();
