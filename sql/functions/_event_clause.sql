-- The event by which a question tells a time, and how the two relate: {before, «i moved»} of «Where did I live before I
-- moved?», {after, 结婚} of «结婚以后我们去了哪里？», {around, «i was in japan»} of «What did I eat while I was in Japan?».
-- Null where it tells none: a «when» that asks, a «before» that only says earlier, an age («when I was a kid»), a count of days
-- («三天之前», which resolve_time knows); and where it asks how long something took, as what answers that stands at both ends.
-- Where the question counts how far away, it has that, too: {before, «my wedding», -3, day} of «three days before my wedding».
CREATE OR REPLACE FUNCTION hippocampus._event_clause(
    p_text text
) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    c_relations CONSTANT text := 'before|after|since|until|till|when|while|during';
    c_asks CONSTANT text := 'did|do|does|was|were|is|are|am|will|would|has|had|have|can|could|should|shall|might|must|may(?! \d)|to';
    v_text text := left(lower(p_text COLLATE "default"), 2000);
    v_parts text[]; -- the word that relates, the event
    v_count text[];
    v_before text; -- the clause
BEGIN
    -- Most questions hold none of these, and one expression finds that out, as in resolve_time.
    IF (v_text ~ '\m(before|after|since|until|till|when|while|during)\M|[前后後]|以[来來]|[时時]候|之[时時]|期[间間]') IS NOT TRUE THEN
        RETURN NULL;
    ELSIF v_text ~ '\mhow (long|soon|many (minutes|hours|days|nights|weeks|months|years)|much (time|longer|earlier|later))\M|多久|多[长長]时间|(多少|[几幾])[个個]?(小时|小時|天|周|星期|月|年)' THEN
        RETURN NULL;
    END IF;
    v_parts := regexp_match(v_text, '\m(' || c_relations || ')\M (?!(?:' || c_asks || ')\M)([^,.;:?!]+)');
    IF v_parts IS NOT NULL THEN -- up to where the question goes on
        v_before := left(v_text, strpos(v_text, v_parts[1] || ' ' || v_parts[2]) - 1);
        v_count := CASE WHEN v_before ~ '\mthe (day|night|evening|morning) $' THEN ARRAY['one', 'day'] WHEN v_before ~ '\mthe week $' THEN ARRAY['one', 'the week']
            WHEN v_before !~ '\m(times|once|twice) an? \S+ $' THEN hippocampus._time_count(v_before, '$', NULL) END;
        v_parts[2] := regexp_replace(v_parts[2], '\m(' || c_relations || '|what|where|which|who|whom|why|how|did|does)\M.*', '');
    ELSE -- 之前 and 目前, 以后 and 最后: where no event comes before them, it only says earlier or later
        v_parts := regexp_match(v_text, '(?:^|[，。？！；：、,.?!;:\s])([^，。？！；：、,.?!;:\s]{2,40}?)'
            '(之前|以前|(?<![之以目提])前(?![天年面往来來])|之[后後]|以[后後]|(?<![之以最然])[后後](?![来來天面])|以[来來]|的[时時]候|之[时時]|期[间間])');
        v_count := coalesce(hippocampus._time_count(v_parts[1], NULL, '#$'), CASE WHEN v_parts[2] ~ '^之?[前后後]$' THEN
            hippocampus._time_count(substr(v_text, strpos(v_text, v_parts[1] || v_parts[2]) + length(v_parts[1] || v_parts[2])), NULL, '^的?#') END);
        v_parts[1] := regexp_replace(v_parts[1], '的?[\d一二两兩三四五六七八九十几幾]+[个個]?(天|[周週]|星期|[礼禮]拜|月|年)$', '');
        v_parts := ARRAY[v_parts[2], regexp_replace(regexp_replace(v_parts[1],
            '^(.*([请請][问問]|[记記]得|知道|告[诉訴]我))?(自[从從]?|[从從]|[当當])?(我[们們]?|咱[们們]?|你|您|他|她)?(在|[刚剛])?', ''), '[了过過着著]', '', 'g')];
    END IF;
    IF coalesce(v_parts[2], '') ~ '^\s*$|^(now|then|today|date|recently|that|this|all)\s*$|\m(young|younger|little|small|kids?|child|children|boy|girl|teenager)\s*$'
        '|^[\d一二两兩三四五六七八九十几幾半]+[个個]?(小时|小時|分[钟鐘]|天|日|周|星期|[礼禮]拜|月|年)$' THEN
        RETURN NULL;
    END IF;
    v_parts[1] := CASE WHEN v_parts[1] ~ 'before|til|前' THEN 'before' WHEN v_parts[1] ~ 'after|since|[后後来來]' THEN 'after' ELSE 'around' END;
    RETURN ARRAY[v_parts[1], btrim(v_parts[2])] || CASE WHEN v_count IS NOT NULL AND v_parts[1] <> 'around' THEN ARRAY[
        (hippocampus._small_number(v_count[1]) * CASE v_parts[1] WHEN 'before' THEN -1 ELSE 1 END)::text, v_count[2]] END;
END
$fn$;
COMMENT ON FUNCTION hippocampus._event_clause IS
    'The event by which a question tells a time: {before, after or around, its words}, with {a number below 0 for before, its unit} where it is counted from there; null where it tells none.';
REVOKE ALL ON FUNCTION hippocampus._event_clause FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._event_clause
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
