-- One fact of remember_facts, under its lock: what it is to those that are there, and, unless p_dry_run, that done.
CREATE OR REPLACE FUNCTION hippocampus._resolve_fact(
    p_user_id text,
    p_app_name text,
    p_position integer,
    p_fact jsonb,
    p_thread_id uuid,
    p_embedding_model text,
    p_undecided text,
    p_dry_run boolean,
    p_now timestamptz
) RETURNS hippocampus.fact_outcomes
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    o hippocampus.fact_outcomes;
    v_trust text := hippocampus._fact_trust(p_user_id, p_app_name, p_fact, p_thread_id, p_now);
    v_type text := coalesce(p_fact ->> 'fact_type', 'custom');
    v_rules boolean := v_trust <> 'tool' AND (p_fact -> 'metadata' ? 'domain' OR coalesce(hippocampus._claimed_by(p_fact), 'user') <> 'agent') IS TRUE;
    v_shared boolean := coalesce((nullif(p_fact -> 'shared_key', 'null'))::boolean, false);
    v_old record;
    v_taken boolean := false; -- the key is another one's, which holds as well
    v_retired jsonb[] := '{}';
BEGIN
    -- a tool neither lays down a rule nor confirms or ends one, nor does an agent by its own word; and a lesson is told
    -- by rules alone
    o := ROW (p_position, 'new', NULL, CASE WHEN v_type = 'rule' AND NOT v_rules THEN 'custom' ELSE v_type END,
        p_fact ->> 'key', p_fact -> 'value', NULL, 0, coalesce((p_fact ->> 'intensity')::double precision, 0.5), '[]');
    FOR v_old IN -- a duplicate first: it decides; then what nobody has decided on
        SELECT c.*, bool_or(c.relation IS NULL) OVER () AS open, max(c.similarity) OVER () AS nearest
        FROM hippocampus._fact_candidates(p_user_id, p_app_name, o.key, o.fact_type, o.value,
            nullif(p_fact -> 'embedding', 'null')::text::public.vector, nullif(p_fact -> 'decisions', 'null'),
            CASE WHEN NOT v_rules THEN ARRAY['preference', 'profile', 'custom']
                WHEN v_type = 'rule' AND p_fact -> 'metadata' ? 'domain' THEN ARRAY['rule']
                ELSE ARRAY['preference', 'profile', 'custom', 'rule'] END, v_shared) c
        ORDER BY c.relation = 'DUPLICATE' DESC NULLS LAST, c.same_key DESC, c.similarity DESC, c.id
    LOOP
        o.similarity := v_old.nearest;
        IF v_old.relation = 'DUPLICATE' THEN
            o.action := 'duplicate';
            o.related_id := v_old.id;
            EXIT;
        ELSIF v_old.open AND p_undecided = 'return' THEN
            o.action := 'undecided';
            IF v_old.relation IS NULL THEN
                o.candidates := o.candidates || jsonb_build_object('id', v_old.id, 'text', v_old.fact_text, 'similarity', v_old.similarity);
            END IF;
        ELSIF coalesce(v_old.relation, CASE WHEN v_old.same_key THEN 'SUPERSEDES' END) = 'SUPERSEDES' THEN
            o.related_id := CASE o.action WHEN 'supersedes' THEN o.related_id ELSE v_old.id END;
            o.action := 'supersedes';
            v_retired := v_retired || to_jsonb(v_old);
        ELSIF coalesce(v_old.relation, 'DISTINCT') = 'DISTINCT' THEN
            IF o.action = 'new' THEN
                o.action := 'distinct';
                o.related_id := v_old.id;
            END IF;
            v_taken := v_taken OR v_old.same_key; -- both hold: each needs a key of its own
        END IF;
    END LOOP;
    IF o.action <> 'duplicate' AND (v_taken OR v_shared AND EXISTS (SELECT FROM hippocampus.facts f WHERE f.user_id = p_user_id
            AND f.app_name = p_app_name AND f.fact_type = o.fact_type AND f.key = o.key AND f.valid_until IS NULL)) THEN
        o.key := hippocampus._free_key(p_user_id, p_app_name, o.fact_type, o.key);
    END IF;
    o.fact_id := CASE o.action WHEN 'duplicate' THEN o.related_id END;
    IF o.action = 'undecided' OR p_dry_run THEN
        RETURN o;
    ELSIF o.action = 'duplicate' THEN
        PERFORM hippocampus._repeat_fact(p_user_id, p_app_name, o.fact_id, p_fact, v_old.same_key, v_old.same_words, v_trust,
            p_thread_id, p_embedding_model, p_now);
    ELSE
        o.fact_id := hippocampus._replace_facts(p_user_id, p_app_name, o.fact_type, o.key, p_fact, v_retired,
            v_trust, p_thread_id, p_embedding_model, p_now);
    END IF;
    SELECT f.running_intensity, f.key INTO o.running_intensity, o.key FROM hippocampus.facts f
    WHERE f.id = o.fact_id AND f.user_id = p_user_id AND f.app_name = p_app_name;
    RETURN o;
END
$fn$;
COMMENT ON FUNCTION hippocampus._resolve_fact IS 'What a fact is to the facts that are there: new, duplicate, supersedes, distinct or undecided; and that done.';
REVOKE ALL ON FUNCTION hippocampus._resolve_fact FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._resolve_fact TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
