-- A text without the characters that are not seen and change what is (controls, overrides of the direction, tags), and
-- of several variation selectors only the first: a letter has one, hidden text has many.
CREATE OR REPLACE FUNCTION hippocampus._fence_seen(
    p_text text
) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT regexp_replace(
        regexp_replace(p_text, '[\u0001-\u0008\u000e-\u001f\u007f-\u0084\u0086-\u009f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]', '', 'g'),
        '([\ufe00-\ufe0f\U000e0100-\U000e01ef])[\ufe00-\ufe0f\U000e0100-\U000e01ef]+', '\1', 'g');
END;
COMMENT ON FUNCTION hippocampus._fence_seen IS 'A text without the characters that are not seen and change what is.';
REVOKE ALL ON FUNCTION hippocampus._fence_seen FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._fence_seen
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
