-- What every reader counts on: settings are valid, the deployment has one of each, and the words of rows that are
-- indexed were stemmed as those of a query will be.
CREATE OR REPLACE FUNCTION hippocampus._guard_setting()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fn$
DECLARE
    v_row hippocampus.settings := CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END;
    v_value jsonb := CASE WHEN TG_OP = 'DELETE' THEN hippocampus._setting('*', OLD.key) ELSE NEW.value END;
BEGIN
    IF TG_OP = 'UPDATE' AND (NEW.app_name, NEW.key) <> (OLD.app_name, OLD.key)
        OR TG_OP = 'DELETE' AND OLD.app_name = '*' AND OLD.key IN ('text_search_config', 'token_encoding', 'episodic_turns',
            'fact_supersede_margin', 'exact_search_rows', 'evidence', 'ranking', 'similarity', 'anchors') THEN
        RAISE EXCEPTION 'the setting % of app % cannot go', quote_literal(OLD.key), quote_literal(OLD.app_name)
            USING ERRCODE = 'HC009', HINT = 'Change its value with put_setting; the deployment (*) needs one of each.';
    END IF;
    IF TG_OP <> 'DELETE' THEN
        PERFORM hippocampus._check_setting(NEW.key, NEW.value);
        IF NEW.app_name = '*' AND NEW.key = 'anchors' AND NOT NEW.value ?& ARRAY['per_anchor', 'theta', 'semantic_theta', 'cap',
                'anchor_weight', 'vocabulary'] THEN
            RAISE EXCEPTION 'the deployment''s setting anchors leaves out parts: %', NEW.value
                USING ERRCODE = 'HC009', HINT = 'Give all of per_anchor, theta, semantic_theta, cap, anchor_weight and vocabulary; an app''s, and anchors/MODEL, may leave some out.';
        END IF;
    END IF;
    IF v_row.key = 'text_search_config' THEN
        IF (v_value #>> '{}')::regconfig <> (hippocampus._setting(v_row.app_name, v_row.key) #>> '{}')::regconfig AND EXISTS (
            SELECT FROM hippocampus.row_terms r
            WHERE r.app_name = v_row.app_name OR v_row.app_name = '*' AND NOT EXISTS (
                SELECT FROM hippocampus.settings s WHERE s.app_name = r.app_name AND s.key = 'text_search_config')) THEN
            RAISE EXCEPTION 'text_search_config of app % cannot become %: rows are indexed with another', quote_literal(v_row.app_name), v_value
                USING ERRCODE = 'HC009', HINT = 'Their words would no longer be found. Set it before an app''s first row is written; '
                    'an app that has rows keeps what they were indexed with.';
        END IF;
    END IF;
    RETURN v_row;
END
$fn$;
COMMENT ON FUNCTION hippocampus._guard_setting IS
    'Trigger: refuses (HC009) a setting that is not valid, the loss of one that is needed, and another text_search_config for rows that are indexed.';
REVOKE ALL ON FUNCTION hippocampus._guard_setting FROM PUBLIC;

CREATE OR REPLACE TRIGGER settings_guard BEFORE INSERT OR UPDATE OR DELETE ON hippocampus.settings
    FOR EACH ROW EXECUTE FUNCTION hippocampus._guard_setting();
