-- A text that stands between other text in a prompt, such that it cannot end what it stands in. This is the one rule
-- for all that was recalled. It changes as little as it can:
--   characters that are not seen and change what is are dropped (_fence_seen);
--   what looks like < becomes ‹ wherever the name of the fence could follow, so that no tag can begin there. No list
--   of letters that look alike is ever whole, so none is asked: what is not ASCII may be taken for any letter, and a
--   name of plain letters is one that does not begin with reca, whatever white space and strokes stand between.
--   Quotation marks of living languages (« 《 〈) keep the letters of those, unless
--   the text names the fence, as far as letters of other scripts, accents, white space and what is not seen can be
--   folded: then whatever looks like < becomes ‹ throughout;
--   the marks with which chat templates begin and end a turn become text.
CREATE OR REPLACE FUNCTION hippocampus._fence_text(
    p_text text
) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    c_signs CONSTANT text := E'<＜﹤≮\u2329⟨❬❮❰ᐸᚲ˂≺⧼⦑\U0001d236';
    c_quotes CONSTANT text := '〈《⟪«';
    c_entity CONSTANT text := hippocampus._fence_entity();
    -- a name of which a letter, before it is another one, is ~; of the fence's letters, the first that it could have
    c_name CONSTANT text := '[\s/_-]*(?:~|r[\s/_-]*(?:~|[e3][\s/_-]*(?:~|c[\s/_-]*(?:~';
    c_foreign CONSTANT text := '[^\u0001-\u007f‹]';
    -- beyond the alphabets, syllabaries, ideographs, punctuation and pictures that are written today
    c_odd CONSTANT text := '[^\u0001-\u024f\u0300-\u109f\u10d0-\u139f\u1780-\u18af\u1e00-\u206f\u20a0-\u20cf\u2190-\u245f'
        '\u2500-\u2bff\u3000-\ua4cf\uac00-\ud7ff\uf900-\ufaff\U0001f300-\U0001faff\U00020000-\U0003ffff]';
    v_text text;
BEGIN
    IF p_text !~* hippocampus._fence_signs() THEN
        RETURN p_text;
    END IF;
    v_text := hippocampus._fence_seen(p_text);
    IF regexp_replace(hippocampus._plain_letters(v_text),
            '[\s\u0080-\u009f\u00ad\u0300-\u036f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u1ab0-\u1aff\u1dc0-\u1dff\u200b-\u200f'
            '\u2028-\u202f\u2060-\u206f\u20d0-\u20ff\u2800\u3164\ufe00-\ufe0f\ufe20-\ufe2f\ufeff\uffa0\ufff0-\ufffb'
            '\U0001bca0-\U0001bca3\U0001d165-\U0001d169\U0001d16d-\U0001d182\U000e0000-\U000e0fff]',
            '', 'g') ~* 'recalled.{0,3}memor' THEN
        v_text := regexp_replace(v_text, '[' || c_signs || c_quotes || ']|' || c_entity, '‹', 'gi');
    ELSE
        v_text := regexp_replace(v_text, '(?:[' || c_signs || ']|' || c_entity || ')(?=' || replace(c_name, '~', c_foreign) || '|[a4@])))))'
            || '|[' || c_quotes || '](?=' || replace(c_name, '~', c_odd) || ')))))', '‹', 'gi');
    END IF;
    RETURN regexp_replace(regexp_replace(v_text, '<([|｜][\w ▁.:/-]{1,60}[|｜]>|</?SYS>>|/?(s|bos|eos|start_of_turn|end_of_turn)>)', '‹\1', 'g'),
        '\[(/?(INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS))\]', '(\1)', 'g');
END
$fn$;
COMMENT ON FUNCTION hippocampus._fence_text IS
    'A recalled text that cannot end what it stands in: no tag of the fence, no mark of a chat template, no unseen character that changes the direction.';
REVOKE ALL ON FUNCTION hippocampus._fence_text FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._fence_text
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
