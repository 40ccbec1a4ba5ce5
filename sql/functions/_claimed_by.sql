-- Who a fact of remember_facts says that it is of: the least of its trust and its author. Null where it says nothing.
CREATE OR REPLACE FUNCTION hippocampus._claimed_by(
    p_fact jsonb
) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT hippocampus._least_trust(ARRAY[p_fact ->> 'trust',
        CASE WHEN p_fact ->> 'author' IS NOT NULL THEN hippocampus._trust(p_fact ->> 'author') END]);
END;
COMMENT ON FUNCTION hippocampus._claimed_by IS 'Whose words a stated fact says that it holds, by its trust and its author.';
REVOKE ALL ON FUNCTION hippocampus._claimed_by FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._claimed_by TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
