-- A bound on the tokens of a text that SQL can know without the tokenizer's vocabulary: a byte-level
-- tokenizer never makes more tokens than bytes, and in some scripts never more than one or two a letter
-- (measured on o200k_base). Exact counts come from Go at the write, or from the count_tokens job after it.
CREATE OR REPLACE FUNCTION hippocampus.estimate_tokens(
    p_text text
) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT SECURITY INVOKER
BEGIN ATOMIC
    SELECT CASE WHEN octet_length(p_text) = char_length(p_text) THEN octet_length(p_text)
        ELSE octet_length(p_text)
            - regexp_count(p_text, '[\u0391-\u03a1\u03a3-\u03a9\u03ac-\u03af\u03b1-\u03c9\u0410-\u044f\u05d0-\u05ea]') -- two bytes, one token at most
            -- three bytes, two tokens at most: Devanagari, Thai, kana, and nine in ten of Han
            - regexp_count(p_text, '[\u0905-\u0939\u0e01-\u0e3a\u3041-\u3096\u30a1-\u30fa'
                '\u4e00-\u5d3f\u5dc0-\u6abf\u6b00-\u877f\u8840-\u977f\u97c0-\u9bbf]')
        END;
END;
COMMENT ON FUNCTION hippocampus.estimate_tokens IS
    'An upper bound of a text''s tokens: never under, for plain English about five times the exact count. What rows hold until they are counted exactly.';
REVOKE ALL ON FUNCTION hippocampus.estimate_tokens FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.estimate_tokens
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
