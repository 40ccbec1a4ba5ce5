CREATE OR REPLACE FUNCTION hippocampus.update_knowledge_base(
    p_user_id text,
    p_app_name text,
    p_category text,
    p_title text,
    p_content text,
    p_trust text DEFAULT 'agent',
    p_embedding public.vector DEFAULT NULL,
    p_embedding_model text DEFAULT NULL,
    p_now timestamptz DEFAULT now()
) RETURNS uuid
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    PERFORM hippocampus._check_size('p_category', p_category, 1, 255);
    PERFORM hippocampus._check_size('p_title', p_title, 1, 255);
    PERFORM hippocampus._check_size('p_content', p_content, 1, 1048000);
    RETURN hippocampus._replace_memory(p_user_id, p_app_name, 'note', p_category, p_title, p_title || E'\n' || p_content,
        ARRAY[p_category], jsonb_build_object('domain', p_category, 'title', p_title), 'note_taker', p_trust,
        p_embedding, p_embedding_model, p_now);
END
$fn$;
COMMENT ON FUNCTION hippocampus.update_knowledge_base IS
    'Writes a note of a category under a title, in place of the one that stands there, which is deleted and not forgotten (the conversation that told it stays), and returns the memory''s id. It is tagged with its category.';
REVOKE ALL ON FUNCTION hippocampus.update_knowledge_base FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.update_knowledge_base TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
