-- The tokens that an entry costs at most: its text's own count, its frame (prefix and line break), and what
-- its surroundings can do to that count. A tokenizer cuts a text into pieces before it merges bytes, so only
-- the pieces at a border change, and by how much at most was measured for every token of o200k_base that
-- could stand there (assembler's tests keep watch):
--
--   a space before it (p_spaced): 5, or 3 before an ordinary word
--   a line break after a run of signs, in it or at its end: 3
--   a line break in it, which sets the next line in by two spaces: 2, and before text 4 or 6 in all
--   a slash at its start, which joins the line break before it: 3
--   a character that _fence_text drops or replaces: 8
--   a long run of signs at the start of a line, whose pieces all move: 2, and 1 for each 16 of them
CREATE OR REPLACE FUNCTION hippocampus._context_price(
    p_token_count integer,
    p_frame integer,
    p_text text,
    p_spaced boolean
) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT least(p_token_count, 1000000000) + p_frame
        + CASE WHEN NOT p_spaced THEN CASE WHEN starts_with(p_text, '/') THEN 3 ELSE 0 END
            WHEN p_text ~ '^[A-Za-z0-9](?![A-Za-z]{15})' THEN 3 ELSE 5 END
        + CASE WHEN right(p_text, 2) ~ '([!-/:-@\[-`{-~]{2}|[\u2000-\u2bff])$' THEN 3 ELSE 0 END
        + CASE WHEN p_text ~ '[\n\r\u000b\u000c\u0085\u2028\u2029]' THEN
            2 * regexp_count(p_text, '\r\n|[\n\r\u000b\u000c\u0085\u2028\u2029]')
            + 3 * regexp_count(p_text, '([!-/:-@\[-`{-~]{2}|[\u2000-\u2bff])[\n\r\u000b\u000c\u0085\u2028\u2029]')
            + 4 * regexp_count(p_text, '[\n\r\u000b\u000c\u0085\u2028\u2029][^ \t\n\r\u000b\u000c\u0085\u2028\u2029]')
            - 2 * regexp_count(p_text, '[\n\r\u000b\u000c\u0085\u2028\u2029][A-Za-z0-9](?![A-Za-z]{15})')
            ELSE 0 END
        + CASE WHEN p_text ~ '[!-/:-@\[-`{-~\u2000-\u2bff]{8}' THEN
            regexp_count(p_text, '[!-/:-@\[-`{-~\u2000-\u2bff]{16}')
            + 2 * regexp_count(p_text, '(^|[\n\r\u000b\u000c\u0085\u2028\u2029])[!-/:-@\[-`{-~\u2000-\u2bff]{8}')
            ELSE 0 END
        + CASE WHEN p_text ~ hippocampus._fence_signs() AND hippocampus._fence_text(p_text) <> p_text
            THEN 8 * regexp_count(p_text, hippocampus._fence_signs()) ELSE 0 END;
END;
COMMENT ON FUNCTION hippocampus._context_price IS
    'The tokens that an entry of a window costs at most, printed and altered as _context_line does.';
REVOKE ALL ON FUNCTION hippocampus._context_price FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._context_price
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
