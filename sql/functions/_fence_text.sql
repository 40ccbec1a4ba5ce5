-- A text that stands between other text in a prompt, such that it cannot end what it stands in. This is the one rule
-- for all that was recalled. It changes as little as it can:
--   characters that are not seen and change what is (controls, overrides of the direction, tags) are dropped, and
--   of several variation selectors all but the first: a letter has one, hidden text has many;
--   where, folded, the text names the fence, whatever looks like < becomes ‹, so that no tag can begin in it, also
--   one that is spelled with full-width letters, Cyrillic ones, small capitals, accents, white space, or nothing
--   seen between;
--   the marks with which chat templates begin and end a turn become text.
CREATE OR REPLACE FUNCTION hippocampus._fence_text(
    p_text text
) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    c_brackets CONSTANT text := E'<＜﹤〈\u2329⟨❬❮❰ᐸ˂≺⧼⦑《⟪«‹';
    v_text text := regexp_replace(p_text,
        '[\u0001-\u0008\u000e-\u001f\u007f-\u0084\u0086-\u009f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]', '', 'g');
BEGIN
    v_text := regexp_replace(v_text, '([\ufe00-\ufe0f\U000e0100-\U000e01ef])[\ufe00-\ufe0f\U000e0100-\U000e01ef]+', '\1', 'g');
    IF v_text !~* '[<＜﹤〈\u2329⟨❬❮❰ᐸ˂≺⧼⦑《⟪«]|&\s*(lt|#)|\[/?(inst|system_prompt|available_tools|tool_calls|tool_results)\]' THEN
        RETURN v_text;
    END IF;
    IF regexp_replace(hippocampus._plain_letters(v_text),
            '[\s\u0080-\u009f\u00ad\u0300-\u036f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u1ab0-\u1aff\u1dc0-\u1dff\u200b-\u200f'
            '\u2028-\u202f\u2060-\u206f\u20d0-\u20ff\u2800\u3164\ufe00-\ufe0f\ufe20-\ufe2f\ufeff\uffa0\ufff0-\ufffb'
            '\U0001bca0-\U0001bca3\U0001d165-\U0001d169\U0001d16d-\U0001d182\U000e0000-\U000e0fff]',
            '', 'g') ~* 'recalled.{0,3}memor' THEN
        v_text := regexp_replace(translate(v_text, c_brackets, repeat('‹', length(c_brackets))),
            '&\s*(lt|#0*60|#x0*3c)\s*;?', '‹', 'gi');
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
