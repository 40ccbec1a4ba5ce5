-- Whether a text may correct somebody or lay down a rule: the cheap look that decides whether a model is asked. It
-- rather lets one through too many. English and Chinese; what has neither is not looked at.
CREATE OR REPLACE FUNCTION hippocampus._is_correction(
    p_text text
) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT left(p_text, 4000) ~* '\m(no|nope|not|wrong|incorrect|mistake|don[''’]?t|do not|never|always|instead|rather than|use|stop|from now on|must|should have)\M'
        OR left(p_text, 4000) ~ '不对|不是|错了|有误|不要|不能|别再|别用|别这|应该|应当|改用|改成|换成|而不是|不用|以后|今后|总是|必须|一律|永远|请用|使用|别忘';
END;
COMMENT ON FUNCTION hippocampus._is_correction IS 'Whether a text may correct somebody or lay down a rule, by its words; English and Chinese.';
REVOKE ALL ON FUNCTION hippocampus._is_correction FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._is_correction TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
