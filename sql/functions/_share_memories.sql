-- Keeps shared_memories: what others see of a memory whose visibility is app. Refuses what the app's policy does not
-- allow, and what was made of other memories and may tell of private ones. What is shared already and may no longer
-- be (it was superseded meanwhile, say) is private from then on: a memory that is only used again is no reason for an error. Its
-- words are analysed here, once.
-- SECURITY DEFINER because a tenant may not write what others see in a form of its own choice; a trigger cannot
-- be called, and what it writes is of the row that the tenant's own policies let it write.
CREATE OR REPLACE FUNCTION hippocampus._share_memories()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_hashjoin = off -- or many rows that go would have all rows of all users read
SET enable_mergejoin = off
AS $fn$
DECLARE
    v_fresh boolean := TG_OP = 'INSERT' OR OLD.visibility = 'private';
    v_allowed boolean;
    v_derived boolean;
BEGIN
    IF TG_OP = 'DELETE' THEN
        DELETE FROM hippocampus.shared_memories s USING old_rows o
        WHERE o.visibility = 'app' AND s.memory_id = o.id AND s.user_id = o.user_id AND s.app_name = o.app_name;
        RETURN NULL;
    ELSIF NEW.visibility = 'app' AND NEW.shared_by <> NEW.user_id AND NOT hippocampus._is_trusted() -- superseded too: it may hold again
        AND (v_fresh OR NEW.shared_by IS DISTINCT FROM OLD.shared_by) THEN
        RAISE EXCEPTION 'memory % would be shared by %', NEW.id, quote_literal(left(NEW.shared_by, 100))
            USING ERRCODE = '42501', HINT = 'A bound login shares in its own name; leave p_shared_by out.';
    ELSIF NEW.visibility = 'private' OR NEW.superseded_by IS NOT NULL THEN
        DELETE FROM hippocampus.shared_memories s
        WHERE s.memory_id = NEW.id AND s.user_id = NEW.user_id AND s.app_name = NEW.app_name;
        RETURN NULL;
    END IF;
    -- Not while a policy that no longer allows it commits. It does not wait: that one may wait for rows of this transaction.
    v_allowed := NOT v_fresh OR pg_try_advisory_xact_lock_shared(hippocampus._sharing_key('*'))
        AND pg_try_advisory_xact_lock_shared(hippocampus._sharing_key(NEW.app_name));
    v_allowed := v_allowed AND (SELECT p.sharing FROM hippocampus._consolidation_policy(NEW.app_name) p);
    v_derived := NEW.memory_type = 'summary' OR EXISTS (
        SELECT FROM hippocampus.memory_links l
        WHERE l.from_id = NEW.id AND l.link_type = 'derived_from' AND l.user_id = NEW.user_id AND l.app_name = NEW.app_name) OR EXISTS (
        SELECT FROM hippocampus.faded_sources f
        WHERE f.memory_id = NEW.id AND f.user_id = NEW.user_id AND f.app_name = NEW.app_name);
    IF NOT v_fresh AND (NOT v_allowed OR v_derived) THEN
        UPDATE hippocampus.memories m SET visibility = 'private', shared_by = NULL
        WHERE m.id = NEW.id AND m.user_id = NEW.user_id AND m.app_name = NEW.app_name;
        RETURN NULL;
    ELSIF NOT v_allowed THEN
        RAISE EXCEPTION 'memories of app % are not shared', quote_literal(NEW.app_name)
            USING ERRCODE = 'HC009', HINT = format('Allow it with put_consolidation_policy(%L, ''{"sharing": true}'').', NEW.app_name);
    ELSIF v_derived THEN
        RAISE EXCEPTION 'memory % was made of other memories', NEW.id
            USING ERRCODE = 'HC009', HINT = 'Share those of them that others may see: it may tell of private ones.';
    END IF;
    INSERT INTO hippocampus.shared_memories AS s (occurred_from, generation, importance, memory_id, user_id, app_name, memory_type,
        category, shared_by, trust, content, tags, terms, embedding)
    SELECT NEW.occurred_from, e.generation, NEW.importance, NEW.id, NEW.user_id, NEW.app_name, NEW.memory_type, NEW.category,
        coalesce(NEW.shared_by, NEW.user_id), NEW.trust, NEW.content, NEW.tags, ARRAY(
            SELECT t.term FROM hippocampus._text_terms(hippocampus._memory_words(NEW.memory_type, NEW.content, NEW.occurred_from),
                hippocampus._text_config(NEW.app_name)) t ORDER BY 1), e.embedding
    FROM (SELECT) one
    LEFT JOIN (SELECT v.generation, v.embedding FROM hippocampus.embeddings v
               JOIN hippocampus.embedding_models g ON g.generation = v.generation AND g.status = 'serving'
               WHERE v.row_id = NEW.id AND v.user_id = NEW.user_id AND v.app_name = NEW.app_name AND v.source = 'memory') e ON true
    ON CONFLICT (memory_id, user_id, app_name) DO UPDATE SET importance = excluded.importance, category = excluded.category,
        shared_by = excluded.shared_by, trust = excluded.trust, tags = excluded.tags;
    RETURN NULL;
END
$fn$;
COMMENT ON FUNCTION hippocampus._share_memories IS 'Trigger: keeps what others of the app see of a shared memory.';
REVOKE ALL ON FUNCTION hippocampus._share_memories FROM PUBLIC;

CREATE OR REPLACE TRIGGER memories_share_insert AFTER INSERT ON hippocampus.memories
    FOR EACH ROW WHEN (NEW.visibility = 'app') EXECUTE FUNCTION hippocampus._share_memories();
CREATE OR REPLACE TRIGGER memories_share AFTER UPDATE OF visibility, shared_by, superseded_by, category, importance, tags, trust
    ON hippocampus.memories
    FOR EACH ROW WHEN (OLD.visibility = 'app' OR NEW.visibility = 'app')
    EXECUTE FUNCTION hippocampus._share_memories();
CREATE OR REPLACE TRIGGER memories_unshare AFTER DELETE ON hippocampus.memories
    REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION hippocampus._share_memories();
