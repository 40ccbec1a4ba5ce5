package tenant_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/db"
)

// function is one that a tenant may call.
type function struct {
	Name      string
	Arguments []string
	Types     []string
}

// callable are all functions that a tenant may call, helpers included.
func callable(t *testing.T, b *testBundle) []function {
	t.Helper()
	found, err := b.admin.Query(t.Context(), `
		SELECT p.proname::text AS name, coalesce(p.proargnames[1:p.pronargs], '{}') AS arguments,
			ARRAY(SELECT format_type(a.type, NULL) FROM unnest(p.proargtypes) WITH ORDINALITY AS a (type, n) ORDER BY a.n) AS types
		FROM pg_catalog.pg_proc p
		WHERE p.pronamespace = 'hippocampus'::regnamespace AND p.prorettype <> 'trigger'::regtype
		  AND has_function_privilege('hippocampus_tenant', p.oid, 'EXECUTE')
		ORDER BY 1`)
	require.NoError(t, err)
	functions, err := pgx.CollectRows(found, pgx.RowToStructByName[function])
	require.NoError(t, err)
	require.Greater(t, len(functions), 40)
	return functions
}

// call is a call with another tenant's ids wherever an id is asked for, and with something sensible else.
func call(t *testing.T, f function, scope db.Scope, theirs rows) (sql string, args []any) {
	t.Helper()
	values := map[string]string{
		"p_after_id": "'00000000-0000-0000-0000-000000000000'", "p_after_user_id": "''", "p_after_app_name": "''", "p_after_created_at": "'-infinity'",
		"p_allowed": "ARRAY['x']", "p_author": "'user'", "p_budget": "100", "p_categories": "NULL", "p_category": "'chat'", "p_config": "'english'",
		"p_confidence": "1", "p_content": "'harmless'", "p_embedding": "array_fill(1, ARRAY[64])::public.vector", "p_errcode": "'HC009'",
		"p_event_type": "'message'", "p_events": "'[{\"author\": \"user\", \"content\": \"harmless\"}]'", "p_expected_version": "NULL",
		"p_extra": "0", "p_fact_type": "'custom'", "p_index_name": "'x'", "p_initial_score": "1", "p_intensity": "1", "p_importance": "1",
		"p_job_type": "'fast_replay'", "p_key": "'word'", "p_language": "'en'", "p_memory_type": "NULL", "p_memory_types": "NULL", "p_metadata": "'{}'",
		"p_min_age_days": "0", "p_now": "(now() + interval '400 days')", "p_policy": "NULL", "p_preset": "'busy'", "p_profile": "'default'",
		"p_source": "'memory'", "p_tags": "NULL", "p_threshold": "1", "p_fact_ratio": "NULL", "p_system_ratio": "0.1", "p_memory_ratio": "0.3",
		"p_history_ratio": "0.3", "p_value": "'7'", "p_old_text": "'harmless'", "p_state": "'{}'", "p_dimension": "64", "p_terms": "ARRAY['tea', 'said']",
		"p_query": "'memory of tea'", "p_system_prompt": "NULL", "p_system_tokens": "NULL", "p_context": "'{}'", "p_author_name": "'x'",
		"p_user_ids": fmt.Sprintf("ARRAY['%s']", scope.UserID), "p_app_names": fmt.Sprintf("ARRAY['%s']", scope.AppName), "p_texts": "ARRAY['tea']",
		"p_seqs": "ARRAY[1::bigint]", "p_thread_ids": fmt.Sprintf("ARRAY['%s'::uuid]", theirs.thread), "p_if_not_exists": "true",
		"p_namespace": "ARRAY['notes']", "p_namespace_prefix": "'{}'", "p_prefix": "'{}'", "p_suffix": "'{}'", "p_index": "NULL", "p_filter": "'{}'",
		"p_pattern": "'{*}'", "p_entries": "NULL", "p_ttl": "NULL",
		"p_outcome": "'success'", "p_trajectory": "'[]'", "p_trust": "'agent'", "p_kind": "'note'", "p_shared_by": "NULL", "p_insight": "'harmless'",
		"p_deletions": `'[{"entityName": "tea", "observations": ["harmless observation", "other observation"]}]'`,
		"p_entities":  `'[{"name": "tea", "entityType": "drink", "observations": ["harmless"]}]'`,
		"p_names":     "ARRAY['tea', 'harmless relation']", "p_observations": `'[{"entityName": "tea", "contents": ["harmless"]}]'`,
		"p_relations": `'[{"from": "tea", "to": "harmless relation", "relationType": "is"}]'`, "p_list": "NULL",
		"p_chunks": "'[{\"content\": \"harmless\", \"start_line\": 1}]'", "p_path": "'harmless.md'", "p_title": "'x'",
		"p_content_hash": "NULL", "p_sources": "NULL", "p_tiers": "'{semantic,episodic}'", "p_project_anchors": "ARRAY['harmless']", "p_origin": "'memory'",
		"p_lease_seconds": "60", "p_words": "ARRAY['x']",
		"p_session_id": "'harmless session'", "p_dry_run": "false", "p_query_embedding": "array_fill(1, ARRAY[64])::public.vector",
		"p_log": "'erase'", "p_undecided": "'resolve'", "p_retired": "'{}'", "p_decisions": "NULL",
		"p_fact": `'{"key": "word", "value": "harmless"}'`, "p_facts": `'[{"key": "word", "value": "harmless"}]'`,
	}
	named := []string{}
	for i, name := range f.Arguments {
		kind := f.Types[i]
		value, ok := values[name]
		switch {
		case name == "p_user_id":
			args = append(args, scope.UserID)
			value = fmt.Sprintf("$%d", len(args))
		case name == "p_app_name":
			args = append(args, scope.AppName)
			value = fmt.Sprintf("$%d", len(args))
		case kind == "uuid" && !ok:
			id := map[string]uuid.UUID{"p_thread_id": theirs.thread, "p_job_id": theirs.job}[name]
			if id == uuid.Nil {
				id = theirs.memory
			}
			args = append(args, id)
			value = fmt.Sprintf("$%d", len(args))
		case kind == "uuid[]" && !ok:
			args = append(args, []uuid.UUID{theirs.memory, theirs.fact, theirs.event, theirs.thread})
			value = fmt.Sprintf("$%d::uuid[]", len(args))
		case kind == "hippocampus.events[]":
			value = `ARRAY(SELECT jsonb_populate_record(NULL::hippocampus.events, '{"author": "user", "content": "harmless"}'))`
		case kind == "hippocampus.context_entries[]":
			value = "'{}'"
		case kind == "hippocampus.retention_policies":
			value = "(SELECT p FROM hippocampus._retention_policy('shop', 'semantic', 'chat') p)"
		case kind == "hippocampus.facts":
			value = "(SELECT f FROM hippocampus.facts f LIMIT 1)"
		case kind == "hippocampus.threads":
			value = "(SELECT t FROM hippocampus.threads t LIMIT 1)"
		case name == "p_kind" && f.Name == "put_document":
			value = "'text'"
		case name == "p_content" && kind == "jsonb":
			value = `'"harmless"'`
		case name == "p_value" && strings.HasPrefix(f.Name, "store_"):
			value = `'{"text": "harmless tea"}'`
		case name == "p_pattern" && kind == "boolean":
			value = "true"
		case ok:
			value += "::" + kind
		case strings.HasPrefix(kind, "timestamp"):
			value = "NULL::" + kind
		case kind == "integer" || kind == "bigint":
			value = "1"
		case kind == "double precision":
			value = "0"
		case kind == "boolean":
			value = "true"
		case kind == "text":
			value = "'harmless'"
		default:
			value = "NULL::" + kind
		}
		named = append(named, name+" => "+value)
	}
	return fmt.Sprintf("SELECT to_jsonb(f)::text FROM hippocampus.%s(%s) f", f.Name, strings.Join(named, ", ")), args
}
