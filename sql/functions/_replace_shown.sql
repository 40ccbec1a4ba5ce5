-- A text with another one in place of each passage that reads in a prompt as p_old does: whoever was shown a text by
-- _fence_text gives its passages back so. That text and what is shown of it are walked together, since it is as long or
-- shorter: it drops characters, and writes one for a sign or an entity. NULL where no passage reads so.
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
    v_chars text[] := string_to_array(p_text, NULL);
    v_reads text[] := string_to_array(v_shown, NULL);
    v_starts integer[] := '{}'; -- where each character of v_reads stands in v_chars
    v_parts text[] := '{}';
    v_at integer := 1;
    v_kept text;
BEGIN
    IF strpos(v_shown, p_old) = 0 THEN
        RETURN NULL;
    END IF;
    FOR i IN 1 .. cardinality(v_reads) LOOP
        WHILE v_chars[v_at] <> v_reads[i]
            AND (hippocampus._fence_text(v_chars[v_at]) = '' OR v_chars[v_at] ~ '[\ufe00-\ufe0f\U000e0100-\U000e01ef]') LOOP
            v_at := v_at + 1; -- was dropped
        END LOOP;
        v_starts[i] := v_at;
        v_at := v_at + CASE WHEN v_chars[v_at] = '&' AND v_reads[i] = '‹'
            THEN coalesce(length(substring(array_to_string(v_chars[v_at : v_at + 1000], '') FROM '(?i)^&\s*(?:lt|#0*60|#x0*3c)\s*;?')), 1)
            ELSE 1 END;
    END LOOP;
    v_starts[1] := 1;
    v_starts := v_starts || cardinality(v_chars) + 1;
    v_at := 1;
    FOREACH v_kept IN ARRAY string_to_array(v_shown, p_old) LOOP
        v_parts := v_parts || array_to_string(v_chars[v_starts[v_at] : v_starts[v_at + length(v_kept)] - 1], '');
        v_at := v_at + length(v_kept) + length(p_old);
    END LOOP;
    RETURN array_to_string(v_parts, p_new);
END
$fn$;
COMMENT ON FUNCTION hippocampus._replace_shown IS
    'A text with another one in place of each passage that reads in a prompt as p_old does; null where none does.';
REVOKE ALL ON FUNCTION hippocampus._replace_shown FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._replace_shown TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
