CREATE OR REPLACE FUNCTION hippocampus._context_system_price(
    p_system_prompt text,
    p_system_tokens integer,
    p_budget integer,
    p_max_tokens integer,
    p_overflow boolean
) RETURNS integer
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    -- with the blank line after it, which may cost three more after a run of signs
    v_price integer := least(coalesce(p_system_tokens, hippocampus.estimate_tokens(p_system_prompt)), 1000000000) + 4;
BEGIN
    IF coalesce(p_system_prompt, '') = '' THEN
        RETURN 0;
    END IF;
    PERFORM hippocampus._check_range('p_system_tokens', coalesce(p_system_tokens, 0), 0, 2147483600);
    IF v_price > (CASE WHEN p_overflow THEN p_max_tokens ELSE p_budget END) THEN
        RAISE EXCEPTION 'the system prompt takes % tokens, its share is % of %', v_price, p_budget, p_max_tokens
            USING ERRCODE = 'HC010', HINT = 'Shorten it, raise p_max_tokens or p_system_ratio, '
                'or let it take from the other sections with p_system_overflow => true. '
                'p_system_tokens, the exact count, is lower than the estimate used without it.';
    END IF;
    RETURN v_price;
END
$fn$;
COMMENT ON FUNCTION hippocampus._context_system_price IS 'The tokens of a system prompt in a window; HC010 where it is over its share.';
REVOKE ALL ON FUNCTION hippocampus._context_system_price FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._context_system_price
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
