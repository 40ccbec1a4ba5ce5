-- The weight of a category, plus adjustments that the context names, clamped to [0, 1].
CREATE OR REPLACE FUNCTION hippocampus.score_importance(
    p_category text,
    p_context jsonb DEFAULT '{}'
) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT least(1.0, greatest(0.0,
        CASE p_category
            WHEN 'chat' THEN 0.6 WHEN 'observation' THEN 0.4 WHEN 'task' THEN 0.7 WHEN 'decision' THEN 0.8
            WHEN 'tool-use' THEN 0.7 WHEN 'error' THEN 0.9 WHEN 'insight' THEN 0.85 ELSE 0.5
        END
        + CASE WHEN p_context -> 'mentionedMe' = 'true' THEN 0.2 ELSE 0 END
        + CASE WHEN p_context -> 'userDirectMessage' = 'true' THEN 0.15 ELSE 0 END
        + CASE WHEN p_context -> 'actionTaken' = 'true' THEN 0.1 ELSE 0 END
        + CASE WHEN p_context -> 'errorRecovered' = 'true' THEN 0.15 ELSE 0 END))::double precision;
END;
COMMENT ON FUNCTION hippocampus.score_importance IS
    'How much an event matters, 0 to 1, for append_event''s p_context or the context of append_events: by category (chat .6, observation .4, task .7, decision .8, tool-use .7, error .9, insight .85, other .5), plus mentionedMe .2, userDirectMessage .15, actionTaken .1, errorRecovered .15.';
REVOKE ALL ON FUNCTION hippocampus.score_importance FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.score_importance
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
