-- A text with another one in place of each passage that reads in a prompt as p_old does: whoever was shown a text by
-- _fence_text gives its passages back so. The text, what is seen of it and what is shown of it are walked together, once:
-- what is seen is what is left of the text, and what is shown has one character for each of it, but for an entity. NULL
-- where no passage reads so.
CREATE OR REPLACE FUNCTION hippocampus._replace_shown(
    p_text text,
    p_old text,
    p_new text
) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_shown text := hippocampus._fence_text(p_text);
    v_seen text := hippocampus._fence_seen(p_text);
    v_chars text[] := string_to_array(p_text, NULL);
    v_left text[] := string_to_array(v_seen, NULL);
    v_reads text[] := string_to_array(v_shown, NULL);
    v_entities integer[] := ARRAY(SELECT coalesce(length(m[1]), 1) FROM regexp_matches(v_seen, '(' || hippocampus._fence_entity() || ')|&', 'gi') m);
    v_starts integer[] := '{}'; -- where each character of v_reads stands in v_chars
    v_at integer := 0;
    v_next integer := 1; -- in v_left
    v_entity integer := 0;
    v_kept text;
BEGIN
    IF strpos(v_shown, p_old) = 0 THEN
        RETURN NULL;
    END IF;
    FOR i IN 1 .. cardinality(v_reads) LOOP
        FOR j IN 1 .. CASE WHEN v_left[v_next] = '&' AND v_reads[i] = '‹' THEN v_entities[v_entity + 1] ELSE 1 END LOOP
            v_at := v_at + 1;
            WHILE v_chars[v_at] <> v_left[v_next] LOOP
                v_at := v_at + 1; -- is not seen
            END LOOP;
            v_starts[i] := coalesce(v_starts[i], v_at);
            v_entity := v_entity + (v_left[v_next] = '&')::integer;
            v_next := v_next + 1;
        END LOOP;
    END LOOP;
    v_starts[1] := 1;
    v_starts := v_starts || cardinality(v_chars) + 1;
    v_next := 1; -- in v_reads
    FOREACH v_kept IN ARRAY string_to_array(v_shown, p_old) LOOP
        v_next := v_next + length(v_kept) + length(p_old);
        EXIT WHEN v_next > cardinality(v_starts); -- nothing stands between the last part and the end
        FOR i IN v_starts[v_next - length(p_old)] .. v_starts[v_next] - 1 LOOP
            v_chars[i] := '';
        END LOOP;
        v_chars[v_starts[v_next - length(p_old)]] := p_new;
    END LOOP;
    RETURN array_to_string(v_chars, '');
END
$fn$;
COMMENT ON FUNCTION hippocampus._replace_shown IS
    'A text with another one in place of each passage that reads in a prompt as p_old does; null where none does.';
REVOKE ALL ON FUNCTION hippocampus._replace_shown FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._replace_shown TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
