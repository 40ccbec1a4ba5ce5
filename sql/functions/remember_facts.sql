-- States facts that a model drew from a text, and finds out what each is to those that are there, by the five
-- nearest in meaning and the one of its key:
--   duplicate   nearer than the band duplicate, or decided so: strengthens the one that is there
--   supersedes  decided so, or of the same key: the old one ends, linked, with the reason, and stays as history
--   distinct    decided so, or undecided under another key: both hold
--   new         nothing near
-- Between the bands, and for another value of a key, somebody must read both: a model, which SQL does not call.
-- So a client asks first (p_undecided 'return', p_dry_run), lets its classifier compare the candidates of what is
-- undecided, and calls again with the decisions: [{"old": its text, "relation": …, "reason": …, "decided_by": …}].
-- A decision is about texts, so it holds for whatever row has that text by then; a candidate that came up
-- meanwhile makes the fact undecided again. Writers of one user's facts follow each other here, so that the
-- same fact drawn by many at once is one row.
-- The sequences of a fact are the events of p_thread_id that it was drawn from, which memory_sources keeps, with the job
-- and the model: forgetting them reaches the fact. Its trust is the least of theirs, and
-- what is known from these very events is not strengthened by them. A rule of a tool's words, or by an agent's own word
-- (trust or author; an application that records a lesson vouches for it), becomes a custom fact.
CREATE OR REPLACE FUNCTION hippocampus.remember_facts(
    p_user_id text,
    p_app_name text,
    p_facts jsonb,
    p_thread_id uuid DEFAULT NULL,
    p_embedding_model text DEFAULT NULL,
    p_undecided text DEFAULT 'resolve',
    p_dry_run boolean DEFAULT false,
    p_job_id uuid DEFAULT NULL,
    p_model text DEFAULT NULL,
    p_now timestamptz DEFAULT now()
) RETURNS SETOF hippocampus.fact_outcomes
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER ROWS 10
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_fact record;
    v_outcome hippocampus.fact_outcomes;
BEGIN
    PERFORM hippocampus._write_scope(p_user_id, p_app_name);
    PERFORM hippocampus._check_one_of('p_undecided', p_undecided, ARRAY['resolve', 'return']);
    PERFORM hippocampus._check_time('p_now', p_now);
    PERFORM hippocampus._check_size('p_model', coalesce(p_model, ''), 0, 255);
    PERFORM hippocampus._check_origin(p_user_id, p_app_name, p_thread_id);
    IF p_facts IS NULL OR jsonb_typeof(p_facts) <> 'array' OR jsonb_array_length(p_facts) > 1000 THEN
        RAISE EXCEPTION 'p_facts is %', CASE WHEN jsonb_typeof(p_facts) = 'array'
                THEN jsonb_array_length(p_facts) || ' facts' ELSE coalesce(left(p_facts::text, 100), 'null') END
            USING ERRCODE = 'HC009', HINT = 'Give an array of at most 1000 facts: [{"key": "location", "value": "Berlin"}].';
    END IF;
    FOR v_fact IN SELECT f.value, f.n::integer AS position FROM jsonb_array_elements(p_facts) WITH ORDINALITY AS f (value, n) LOOP
        PERFORM hippocampus._check_fact(v_fact.position, v_fact.value);
    END LOOP;
    IF NOT coalesce(p_dry_run, false) THEN
        PERFORM pg_advisory_xact_lock(hashtextextended(format('hippocampus.facts %L %L', p_user_id, p_app_name), 0));
    END IF;
    FOR v_fact IN SELECT f.value, f.n::integer AS position FROM jsonb_array_elements(p_facts) WITH ORDINALITY AS f (value, n) LOOP
        v_outcome := hippocampus._resolve_fact(p_user_id, p_app_name, v_fact.position, v_fact.value, p_thread_id,
            p_embedding_model, p_undecided, coalesce(p_dry_run, false), p_now);
        IF v_outcome.action <> 'undecided' AND NOT coalesce(p_dry_run, false) AND p_thread_id IS NOT NULL THEN
            INSERT INTO hippocampus.memory_sources (created_at, from_seq, to_seq, fact_id, thread_id, job_id, user_id, app_name, model)
            SELECT p_now, min(q.seq), max(q.seq), v_outcome.fact_id, p_thread_id, p_job_id, p_user_id, p_app_name, nullif(p_model, '')
            FROM unnest(hippocampus._fact_sequences(v_fact.value)) AS q (seq)
            HAVING NOT EXISTS (SELECT FROM hippocampus.memory_sources s WHERE s.fact_id = v_outcome.fact_id AND s.user_id = p_user_id
                AND s.app_name = p_app_name AND s.thread_id = p_thread_id AND s.from_seq <= min(q.seq) AND s.to_seq >= max(q.seq)) AND count(*) > 0;
        END IF;
        RETURN NEXT v_outcome;
    END LOOP;
END
$fn$;
COMMENT ON FUNCTION hippocampus.remember_facts IS
    'States facts ({fact_type, key, value, confidence, intensity, valid_from, embedding, token_count, metadata, decisions, trust or author, sequences of p_thread_id, shared_key}) and returns what became of each: new, duplicate (the one that is there is strengthened), supersedes (the old one ends and stays as history), distinct, or, with p_undecided ''return'', undecided, which writes nothing and names the candidates that a classifier should compare it with. sequences become its sources (memory_sources, with p_job_id and p_model), so that it goes with them. A valid_from that names no time zone is UTC. The bands are the setting similarity. A fact that a tool told, or an agent by its own word (its trust or author), is never a rule, and never ends or confirms one. p_dry_run writes nothing at all.';
REVOKE ALL ON FUNCTION hippocampus.remember_facts FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus.remember_facts TO hippocampus_tenant, hippocampus_service, hippocampus_worker;
