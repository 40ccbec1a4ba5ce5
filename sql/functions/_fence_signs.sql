-- What _fence_text may alter, as a regular expression: a text that has none of it stands as it is.
CREATE OR REPLACE FUNCTION hippocampus._fence_signs() RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT '[\u0001-\u0008\u000e-\u001f\u007f-\u0084\u0086-\u009f\u202a-\u202e\u2066-\u2069\ufe00-\ufe0f\U000e0000-\U000e01ef<＜﹤≮〈\u2329⟨❬❮❰ᐸᚲ˂≺⧼⦑\U0001d236《⟪«]|&\s*([lL][tT]|#)|\[/?(INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS)\]';
END;
COMMENT ON FUNCTION hippocampus._fence_signs IS 'What _fence_text may alter, as a regular expression.';
REVOKE ALL ON FUNCTION hippocampus._fence_signs FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._fence_signs
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
