-- Refuses what is no array of objects with these texts and these lists of texts, naming the first that is
-- wrong; so that those who take the array apart need not look again.
CREATE OR REPLACE FUNCTION hippocampus._check_graph(
    p_argument text,
    p_items jsonb,
    p_texts text[],
    p_list text DEFAULT NULL
) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_item record;
    v_text record;
    v_name text;
BEGIN
    IF coalesce(jsonb_typeof(p_items), 'null') <> 'array' THEN
        RAISE EXCEPTION '% is a JSON %', p_argument, coalesce(jsonb_typeof(p_items), 'null')
            USING ERRCODE = 'HC009', HINT = 'Give an array of objects.';
    END IF;
    PERFORM hippocampus._check_range('the number of ' || p_argument, jsonb_array_length(p_items), 0, 10000);
    FOR v_item IN SELECT i.value, format('%s[%s]', p_argument, i.ordinality - 1) AS name
                  FROM jsonb_array_elements(p_items) WITH ORDINALITY i LOOP
        FOREACH v_name IN ARRAY p_texts LOOP
            PERFORM hippocampus._check_json_text(v_item.name || '.' || v_name, v_item.value -> v_name,
                CASE WHEN v_name LIKE '%Type' THEN 0 ELSE 1 END, 512);
        END LOOP;
        CONTINUE WHEN p_list IS NULL;
        IF coalesce(jsonb_typeof(v_item.value -> p_list), 'null') <> 'array' THEN
            RAISE EXCEPTION '%.% is a JSON %', v_item.name, p_list, coalesce(jsonb_typeof(v_item.value -> p_list), 'null')
                USING ERRCODE = 'HC009', HINT = 'Give an array of texts, which may be empty.';
        END IF;
        FOR v_text IN SELECT i.value, i.ordinality - 1 AS n
                      FROM jsonb_array_elements(v_item.value -> p_list) WITH ORDINALITY i LOOP
            PERFORM hippocampus._check_json_text(format('%s.%s[%s]', v_item.name, p_list, v_text.n), v_text.value, 0, 65536);
        END LOOP;
    END LOOP;
END
$fn$;
COMMENT ON FUNCTION hippocampus._check_graph IS
    'Raises HC009 where a JSON value is no array of objects with the texts and the list of texts that are named, HC006 where a text is too long.';
REVOKE ALL ON FUNCTION hippocampus._check_graph FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._check_graph TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
