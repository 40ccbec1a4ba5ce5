-- One fact of remember_facts, under the lock of its user's facts: what it is to the facts that are there, and,
-- unless p_dry_run, that done. Nothing is written of one that is undecided.
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
    v_confidence double precision := coalesce((p_fact ->> 'confidence')::double precision, 1);
    v_intensity double precision := coalesce((p_fact ->> 'intensity')::double precision, 0.5);
    v_embedding public.vector := nullif(p_fact -> 'embedding', 'null')::text::public.vector;
    v_old record;
    v_key text; -- the one to store it under
    v_retired jsonb[] := '{}';
BEGIN
    o := ROW (p_position, 'new', NULL, coalesce(p_fact ->> 'fact_type', 'custom'), p_fact ->> 'key', p_fact -> 'value', NULL,
        0, v_intensity, '[]');
    v_key := o.key;
    FOR v_old IN -- a duplicate first: it decides; then what nobody has decided on
        SELECT c.*, bool_or(c.relation IS NULL) OVER () AS open, max(c.similarity) OVER () AS nearest
        FROM hippocampus._fact_candidates(p_user_id, p_app_name, o.key, o.fact_type, o.value, v_embedding, nullif(p_fact -> 'decisions', 'null')) c
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
            IF v_old.same_key THEN -- both hold: each needs a key of its own
                v_key := hippocampus._free_key(p_user_id, p_app_name, o.fact_type, o.key);
            END IF;
        END IF;
    END LOOP;
    o.key := v_key;
    o.fact_id := CASE o.action WHEN 'duplicate' THEN o.related_id END;
    IF o.action = 'undecided' OR p_dry_run THEN
        RETURN o;
    ELSIF o.action = 'duplicate' AND NOT (v_old.same_key AND v_old.same_words) THEN
        PERFORM hippocampus._strengthen_fact(p_user_id, p_app_name, o.fact_id, v_intensity, v_confidence, p_thread_id, p_now);
    ELSE -- to the letter the same, too: its beginning may have been earlier than was known
        o.fact_id := hippocampus.upsert_fact(p_user_id, p_app_name, o.fact_type, v_key, o.value, v_confidence, v_embedding,
            p_embedding_model, v_intensity, (p_fact ->> 'valid_from')::timestamptz, p_thread_id,
            coalesce(nullif(p_fact -> 'metadata', 'null'), '{}'), (p_fact ->> 'token_count')::integer, p_now);
        PERFORM hippocampus._retire_facts(p_user_id, p_app_name, o.fact_id, v_retired, p_now);
    END IF;
    SELECT f.running_intensity INTO o.running_intensity FROM hippocampus.facts f
    WHERE f.id = o.fact_id AND f.user_id = p_user_id AND f.app_name = p_app_name;
    RETURN o;
END
$fn$;
COMMENT ON FUNCTION hippocampus._resolve_fact IS 'What a fact is to the facts that are there: new, duplicate, supersedes, distinct or undecided; and that done.';
REVOKE ALL ON FUNCTION hippocampus._resolve_fact FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._resolve_fact TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
