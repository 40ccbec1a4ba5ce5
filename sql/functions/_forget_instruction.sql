-- An experience that is forgotten takes its words with it, where they became an instruction: in that version and in
-- those that brought it back. What a person wrote instead of them is theirs, and stays. Retention leaves such an
-- experience alone (_pinned), so that whatever deletes it means to forget it.
-- SECURITY DEFINER because a tenant, whose experience it is, has no rights on its app's instructions; a trigger
-- cannot be called, and which instruction it was is not the tenant's to write.
CREATE OR REPLACE FUNCTION hippocampus._forget_instruction()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    UPDATE hippocampus.instructions i
    SET content = '(forgotten)', metadata = '{}', restores = 0, token_count = 5, token_count_exact = false
    WHERE i.app_name = OLD.app_name AND i.instruction_key = OLD.instruction_key
      AND OLD.instruction_version IN (i.version, i.restores) AND i.metadata ->> 'source' = 'experience';
    RETURN NULL;
END
$fn$;
COMMENT ON FUNCTION hippocampus._forget_instruction IS
    'Trigger: blanks and withdraws the versions of an instruction that hold the words of an experience that was deleted.';
REVOKE ALL ON FUNCTION hippocampus._forget_instruction FROM PUBLIC;

CREATE OR REPLACE TRIGGER experiences_forget AFTER DELETE ON hippocampus.experiences
    FOR EACH ROW WHEN (OLD.instruction_key IS NOT NULL) EXECUTE FUNCTION hippocampus._forget_instruction();
