-- Whether a text of a graph contains another one, which is in lower case, as it is or as a prompt shows it. Few texts are
-- shown otherwise than they are, so the others are told by their signs.
CREATE OR REPLACE FUNCTION hippocampus._graph_says(
    p_text text,
    p_query text
) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT strpos(lower(p_text), p_query) > 0
        OR p_text ~ hippocampus._fence_signs() AND strpos(lower(hippocampus._fence_text(p_text)), p_query) > 0;
END;
COMMENT ON FUNCTION hippocampus._graph_says IS
    'Whether a text of a graph contains another one, given in lower case, as it is or as a prompt shows it.';
REVOKE ALL ON FUNCTION hippocampus._graph_says FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._graph_says
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
