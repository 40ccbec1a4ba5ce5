-- Sets a setting of an app, or with '*' the deployment's. What may be set is _guard_setting's, as for a direct write.
CREATE OR REPLACE FUNCTION hippocampus.put_setting(
    p_app_name text,
    p_key text,
    p_value jsonb
) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
BEGIN
    PERFORM hippocampus._check_app(p_app_name, true);
    PERFORM hippocampus._check_setting(p_key, p_value);
    INSERT INTO hippocampus.settings AS s (app_name, key, value) VALUES (p_app_name, p_key, p_value)
    ON CONFLICT (app_name, key) DO UPDATE SET value = excluded.value, updated_at = now();
END
$fn$;
COMMENT ON FUNCTION hippocampus.put_setting IS
    'Sets a setting of an app, or with ''*'' the deployment''s: text_search_config (the name of a text search configuration; only before the first row is written), token_encoding, episodic_turns (1 to 1000), fact_supersede_margin (0 to 1), exact_search_rows, ranking and ranking/MODEL (weights text, vector, strength, recency), evidence (what of around a turn counts, 0 to 1 each: nearby, meaning, session, answer, author, time, question, length, spread; what is left out counts nothing; see docs/recall.md), similarity and similarity/MODEL (duplicate, ask, forget: from which similarity on two facts are one, are compared, and a description means a memory), anchors and anchors/MODEL (per_anchor, theta, semantic_theta, cap, anchor_weight, vocabulary; what a row leaves out, the more general one says). Raises HC009 for a key that is unknown or a value that is not valid.';
REVOKE ALL ON FUNCTION hippocampus.put_setting FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.put_setting TO hippocampus_service, hippocampus_worker;
