-- A skill's manifest is the operator's text: it is loaded from the operator's files, never from a conversation.
CREATE OR REPLACE FUNCTION hippocampus.load_skill(
    p_user_id text,
    p_app_name text,
    p_skill_name text,
    p_manifest text,
    p_front_matter jsonb DEFAULT '{}',
    p_tags text[] DEFAULT '{}',
    p_embedding public.vector DEFAULT NULL,
    p_embedding_model text DEFAULT NULL,
    p_now timestamptz DEFAULT now()
) RETURNS uuid
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    PERFORM hippocampus._check_size('p_skill_name', p_skill_name, 1, 255);
    RETURN hippocampus._replace_memory(p_user_id, p_app_name, 'skill', '', p_skill_name, p_manifest, '{skill}' || hippocampus._check_tags('p_tags', p_tags),
        jsonb_build_object('skill', p_skill_name,
            'front_matter', hippocampus._check_object('p_front_matter', p_front_matter, 65536)),
        'skill', 'operator', p_embedding, p_embedding_model, p_now);
END
$fn$;
COMMENT ON FUNCTION hippocampus.load_skill IS
    'Loads a skill''s manifest, with its front matter as JSON, into memory, and returns the memory''s id. Loaded again it is the same memory; changed in any part, tags and front matter too, the new one replaces the old one. It stays until it is forgotten: no retention deletes a skill.';
REVOKE ALL ON FUNCTION hippocampus.load_skill FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.load_skill TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
