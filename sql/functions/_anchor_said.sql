-- What a text says, for anchors to be looked for in it: the words of its pieces, each with a blank before and after it. In
-- pieces, since _anchor_words reads no long text, nor finds a word again that it has met 255 times. They overlap by more
-- than an anchor is long, without the words that a cut may have fallen into: «smart» says no «art».
CREATE OR REPLACE FUNCTION hippocampus._anchor_said(
    p_text text,
    p_config regconfig
) RETURNS TABLE (words text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER ROWS 2
BEGIN ATOMIC
    SELECT ' ' || array_to_string(hippocampus._anchor_words(
            CASE WHEN p.at = 1 THEN left(p.piece, 300) ELSE regexp_replace(left(p.piece, 300), '^\S+', '') END
            || substr(p.piece, 301, 3400)
            || CASE WHEN p.at + 4000 > char_length(p_text) THEN substr(p.piece, 3701) ELSE regexp_replace(substr(p.piece, 3701), '\S+$', '') END,
        p_config), ' ') || ' '
    FROM (SELECT s.at, substr(p_text, s.at, 4000) AS piece
          FROM generate_series(1, greatest(char_length(p_text) - 1000, 1), 3000) s (at)) p;
END;
COMMENT ON FUNCTION hippocampus._anchor_said IS
    'What a text says: the words of its pieces, which overlap, in dictionary forms, each with a blank before and after it.';
REVOKE ALL ON FUNCTION hippocampus._anchor_said FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._anchor_said
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
