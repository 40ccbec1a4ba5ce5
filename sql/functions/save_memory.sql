-- remember, with what a client knows of a memory in one JSON object. Who says it is the caller's to know, not the
-- object's: a source 'user' that an agent wrote is the agent's word.
CREATE OR REPLACE FUNCTION hippocampus.save_memory(
    p_user_id text,
    p_app_name text,
    p_content text,
    p_metadata jsonb DEFAULT '{}',
    p_trust text DEFAULT 'user',
    p_embedding public.vector DEFAULT NULL,
    p_embedding_model text DEFAULT NULL,
    p_token_count integer DEFAULT NULL,
    p_now timestamptz DEFAULT now()
) RETURNS uuid
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_metadata jsonb := hippocampus._check_object('p_metadata', p_metadata, 262144);
    v_confidence double precision := hippocampus._json_number(v_metadata -> 'confidence');
    v_bad record;
    v_source text;
BEGIN
    SELECT t.key, v_metadata -> t.key AS value, t.type INTO v_bad
    FROM (VALUES ('domain', 'string'), ('source', 'string'), ('confidence', 'number'), ('tags', 'array')) AS t (key, type)
    WHERE jsonb_typeof(v_metadata -> t.key) NOT IN (t.type, 'null')
       OR t.key = 'tags' AND jsonb_path_exists(v_metadata -> 'tags', 'strict $[*] ? (@.type() <> "string")', silent => true) LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'p_metadata.% is %', v_bad.key, left(v_bad.value::text, 100)
            USING ERRCODE = 'HC009', HINT = CASE v_bad.key WHEN 'tags' THEN 'Give an array of strings.'
                ELSE format('Give a JSON %s.', v_bad.type) END;
    END IF;
    PERFORM hippocampus._check_range('p_metadata.confidence', coalesce(v_confidence, 1), 0, 1);
    PERFORM hippocampus._check_size('p_metadata.domain', coalesce(v_metadata ->> 'domain', 'none'), 1, 255);
    v_source := coalesce(nullif(v_metadata ->> 'source', ''), 'client');
    RETURN hippocampus.remember(p_user_id, p_app_name, p_content, 'semantic', 'insight',
        p_tags => ARRAY(SELECT DISTINCT t.tag FROM (
            SELECT jsonb_array_elements_text(CASE jsonb_typeof(v_metadata -> 'tags') WHEN 'array' THEN v_metadata -> 'tags' ELSE '[]' END)
            UNION ALL SELECT v_metadata ->> 'domain' WHERE v_metadata ->> 'domain' IS NOT NULL) AS t (tag) ORDER BY 1),
        p_metadata => v_metadata, p_embedding => p_embedding, p_embedding_model => p_embedding_model, p_source => v_source,
        p_intensity => coalesce(v_confidence, 0.5),
        p_initial_score => 1.0, p_token_count => p_token_count, p_now => p_now,
        p_trust => hippocampus._least_trust(ARRAY[p_trust, CASE v_source WHEN 'tool' THEN 'tool' WHEN 'agent' THEN 'agent' END]));
END
$fn$;
COMMENT ON FUNCTION hippocampus.save_memory IS
    'Stores what was learned and returns the memory''s id. p_metadata may say domain (which becomes a tag), source, confidence (0 to 1) and tags; whatever else it says is kept. p_trust is who says it: user, agent, tool or operator.';
REVOKE ALL ON FUNCTION hippocampus.save_memory FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.save_memory TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
