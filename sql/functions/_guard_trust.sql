-- Refuses the trust of an operator to what a bound login writes: a window shows it as the deployment's own words. Holds for
-- every writer, also one that inserts or updates rows without a function.
CREATE OR REPLACE FUNCTION hippocampus._guard_trust()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_what text := format('a %s of the trust operator', CASE TG_TABLE_NAME WHEN 'facts' THEN 'fact' ELSE 'memory' END);
    v_hint text := 'give user, agent or tool.';
BEGIN
    IF hippocampus._is_trusted() THEN
        RETURN NEW;
    ELSIF TG_TABLE_NAME = 'events' THEN -- expressions of their own: the others have no event_type
        IF hippocampus._trust(NEW.author, NEW.event_type, NEW.category, NEW.content) <> 'operator' THEN
            RETURN NEW;
        END IF;
        v_what := 'an event of the author ' || quote_literal(left(NEW.author, 100));
        v_hint := 'name another author: user, agent, tool, or a name.';
    END IF;
    RAISE EXCEPTION '% would be the words of an operator', v_what
        USING ERRCODE = '42501',
        HINT = 'Only a login with hippocampus_service, hippocampus_worker or hippocampus_owner speaks for the operator; ' || v_hint;
END
$fn$;
COMMENT ON FUNCTION hippocampus._guard_trust IS 'Trigger: raises 42501 where a bound login claims the trust of an operator.';
REVOKE ALL ON FUNCTION hippocampus._guard_trust FROM PUBLIC;

CREATE OR REPLACE TRIGGER events_trust BEFORE INSERT ON hippocampus.events
    FOR EACH ROW WHEN (lower(NEW.author) IN ('system', 'operator', 'developer')) EXECUTE FUNCTION hippocampus._guard_trust();
CREATE OR REPLACE TRIGGER memories_trust_insert BEFORE INSERT ON hippocampus.memories
    FOR EACH ROW WHEN (NEW.trust = 'operator') EXECUTE FUNCTION hippocampus._guard_trust();
CREATE OR REPLACE TRIGGER memories_trust BEFORE UPDATE OF trust ON hippocampus.memories
    FOR EACH ROW WHEN (NEW.trust = 'operator' AND OLD.trust <> 'operator') EXECUTE FUNCTION hippocampus._guard_trust();
CREATE OR REPLACE TRIGGER facts_trust_insert BEFORE INSERT ON hippocampus.facts
    FOR EACH ROW WHEN (NEW.trust = 'operator') EXECUTE FUNCTION hippocampus._guard_trust();
CREATE OR REPLACE TRIGGER facts_trust BEFORE UPDATE OF trust ON hippocampus.facts
    FOR EACH ROW WHEN (NEW.trust = 'operator' AND OLD.trust <> 'operator') EXECUTE FUNCTION hippocampus._guard_trust();
