-- What makes two texts «the same words»: NFKC, lower case, white space folded; in the database's collation,
-- not the caller's: an argument that comes from a "C" column would bring it along, and fold ASCII only.
CREATE OR REPLACE FUNCTION hippocampus._content_hash(
    p_content text
) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT SECURITY INVOKER
BEGIN ATOMIC
    SELECT sha256(convert_to(btrim(regexp_replace(lower(normalize(p_content, NFKC) COLLATE "default"), '\s+', ' ', 'g')), 'UTF8'));
END;
COMMENT ON FUNCTION hippocampus._content_hash IS 'SHA-256 of a text in NFKC, lower case, with white space folded.';
REVOKE ALL ON FUNCTION hippocampus._content_hash FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._content_hash TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
