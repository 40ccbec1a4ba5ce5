package function_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"sort"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// hostileValues are values of a type that no caller should give, or only on purpose. All can be read by
// Postgres: what they do is the functions' own affair.
var hostileValues = map[string][]string{
	"bigint":           {"NULL", "-1", "0", "9223372036854775807", "-9223372036854775808"},
	"bigint[]":         {"NULL", "'{}'", "'{NULL}'", "'{{1,2},{3,4}}'", "'{-1,0,9223372036854775807}'", "array_fill(1::bigint, ARRAY[20000])"},
	"boolean":          {"NULL"},
	"bytea":            {"NULL", `'\x'`, `'\x00'`, `decode(repeat('00', 1000), 'hex')`},
	"double precision": {"NULL", "'NaN'", "'Infinity'", "'-Infinity'", "-1", "1e308", "5e-324"},
	"integer":          {"NULL", "-1", "0", "2147483647", "-2147483648"},
	"interval":         {"NULL", "'0'", "'-1 day'", "'178000000 years'", "'-178000000 years'", "'2147483647 days'"},
	"jsonb": {
		"NULL", "'null'", "'[]'", "'{}'", "'7'", "'true'", "'\"x\"'", "'1e400'", "'[null]'", "'[[]]'", "'[{}]'", "'[1e400]'", "'{\"\": null}'",
		"'{\"$x\": [1]}'", "(repeat('[', 5000) || repeat(']', 5000))::jsonb",
	},
	"text": {"NULL", "''", "'*'", "E'\\u200B'", "repeat('ab ', 30000)", "repeat('x', 300)", "'%s %L \\ ''\"$1'"},
	"text[]": {
		"NULL", "'{}'", "'{{a,b},{c,d}}'", "'[5:6]={a,b}'", "'{NULL}'", "'{\"\"}'", "ARRAY[repeat('x', 100000)]",
		"array_fill('x'::text, ARRAY[2000])",
	},
	"timestamp with time zone": {
		"NULL", "'infinity'", "'-infinity'", "'294276-12-31 23:59:59+00'", "'4713-01-01 00:00:00+00 BC'", "'0001-01-02 00:00:00+00'",
		"'9999-12-30 00:00:00+00'", "'0001-01-01 00:00:00+00 BC'", "'10000-01-01 00:00:00+00'",
	},
	"uuid":   {"NULL", "'00000000-0000-0000-0000-000000000000'", "'ffffffff-ffff-ffff-ffff-ffffffffffff'"},
	"uuid[]": {"NULL", "'{}'", "'{NULL}'", "'{{00000000-0000-0000-0000-000000000000,00000000-0000-0000-0000-000000000000}}'"},
	"vector": {
		"NULL", "array_fill(0, ARRAY[64])", "ARRAY[1, 2, 3]::real[]", "array_fill(3e38, ARRAY[64])", "array_fill(1e-45, ARRAY[64])",
	},
	"hippocampus.context_entries[]": {"NULL", "'{}'", "ARRAY[NULL]", "ARRAY[jsonb_populate_record(NULL::hippocampus.context_entries, '{}')]"},
	"hippocampus.store_entries[]": {
		"NULL", "'{}'", "ARRAY[NULL]", "ARRAY[jsonb_populate_record(NULL::hippocampus.store_entries, '{\"namespace\": [[\"a\"]], \"key\": \"\"}')]",
	},
}

// hostileJSON takes the place of each part of a JSON argument that is well formed.
var hostileJSON = []string{"null", "1e400", "-1", "0.5", "3000000000", `"x"`, `""`, `"infinity"`, "[]", "{}", "true", `[1, "x", null]`, `{"$x": null}`}

// sound are arguments with which a function does what it is for; by function and argument, or by
// argument alone. What is not here keeps its default.
var sound = map[string]string{
	"p_access_count": "3", "p_app_name": "'hostile'", "p_author": "'user'", "p_category": "'chat'", "p_chunks": `'[{"content": "Oolong is a tea.", "start_line": 1, "heading": "Tea", "token_count": 4}]'`,
	"p_cluster_id": "$tea", "p_confirmed": "true", "p_content": "'The user drinks oolong.'", "p_delta": `'{"colour": "red"}'`, "p_dimension": "64", "p_embedding": "array_fill(0.2, ARRAY[64])",
	"p_event_type": "'message'", "p_expected_version": "NULL", "p_fact_type": "'custom'", "p_from_id": "$tea", "p_generation": "1", "p_id": "$old", "p_ids": "ARRAY[$tea, $fact]",
	"p_instruction_key": "'style'", "p_job_id": "SELECT max(j.id) FROM hippocampus.river_job j WHERE j.kind = 'index_vectors'", "p_key": "'drink'", "p_last_accessed_at": "now() - interval '3 days'", "p_lesson_id": "$lesson", "p_max_missing": "0",
	"p_memory_id": "$tea", "p_model": "'m'", "p_names": "ARRAY['tea']", "p_namespace": "ARRAY['notes']",
	"p_namespace_prefix": "ARRAY['notes']", "p_new_id": "$tea", "p_old_id": "$lemon", "p_path": "'tea.md'",
	"p_policy": `'{"fill_ratio": 0.8, "window_events": 10, "job_type": "fast_replay", "enabled": true, "target_rate": 0.2}'`, "p_preset": "'busy'",
	"p_query": "'which tea do I drink?'", "p_query_embedding": "array_fill(0.2, ARRAY[64])", "p_row_id": "$tea", "p_rule": "'Warm the pot.'",
	"p_running_intensity": "0.5", "p_skill_name": "'brewing'", "p_manifest": "'Brew for three minutes.'", "p_source": "'docs'", "p_sources": "ARRAY['docs']",
	"p_task": "'brew'", "p_steps": "3", "p_terms": "ARRAY['coffee house']", "p_text": "'last week I drank tea'", "p_thread_id": "$thread", "p_title": "'Tea'", "p_to_id": "$lemon",
	"p_user_id": "'ada'", "p_value": `'{"text": "oolong", "n": 1}'`, "p_start": "now() - interval '1 day'", "p_end": "now()",
	"p_metadata": `'{"domain": "tea", "source": "user", "confidence": 0.5, "tags": ["a"]}'`, "p_context": `'{"mentionedMe": true, "room": "kitchen"}'`,
	"p_front_matter": `'{"name": "brewing", "tags": ["tea"]}'`, "p_trajectory": `'["boil", {"pour": 1}]'`,
	"p_entities":     `'[{"name": "tea", "entityType": "drink", "observations": ["is hot"]}]'`,
	"p_observations": `'[{"entityName": "tea", "contents": ["is hot"]}]'`, "p_deletions": `'[{"entityName": "tea", "observations": ["is hot"]}]'`,
	"p_relations": `'[{"from": "tea", "to": "milk", "relationType": "goes with"}]'`,
	"p_filter":    `'{"text": "oolong", "n": {"$gte": 1}}'`,
	"p_events": `'[{"author": "user", "content": {"text": "I drink oolong", "parts": [{"text": "a"}]}, "text": "a", "event_type": "message", "category": "chat",
		"importance": 0.5, "context": {"mentionedMe": true}, "tags": ["a"], "event_id": "e1", "invocation_id": "i", "branch": "b", "metadata": {"a": 1},
		"token_count": 3, "created_at": "2026-01-01T00:00:00Z"}]'`,
	"p_facts": `'[{"fact_type": "custom", "key": "drink", "value": "oolong", "confidence": 0.9, "intensity": 0.5, "valid_from": "2026-01-01T00:00:00Z",
		"embedding": [` + strings.Repeat("0.3, ", 63) + `0.1], "token_count": 3, "metadata": {"a": 1},
		"decisions": [{"old": "drink: tea", "new": "x", "relation": "SUPERSEDES", "reason": "newer", "decided_by": "m"}]}]'`,

	"append_event.p_content":                 `'{"text": "I drink oolong", "parts": [{"text": "a"}]}'`,
	"append_event.p_metadata":                `'{"a": 1}'`,
	"append_event.p_source":                  "'user'",
	"block_replace.p_new_text":               "'oolong'",
	"block_replace.p_old_text":               "'kind'",
	"block_set.p_value":                      "'Ada likes tea.'",
	"block_append.p_key":                     "'persona'",
	"block_replace.p_key":                    "'persona'",
	"drop_embedding_generation.p_generation": "2",
	"format_context.p_entries":               "ARRAY[jsonb_populate_record(NULL::hippocampus.context_entries, '{\"context_type\": \"memory\", \"content\": \"x\"}')]",
	"promote_experience.p_content":           "'Warm the pot.'",
	"promote_experience.p_memory_id":         "$experience",
	"put_document.p_kind":                    "'text'",
	"put_embedding.p_source":                 "'memory'",
	"put_instruction.p_content":              "'Be brief.'",
	"put_setting.p_key":                      "'ranking'",
	"put_setting.p_value":                    `'{"text": 0.5, "vector": 0.3, "strength": 0.1, "recency": 0.1}'`,
	"queue_reembedding.p_generation":         "2",
	"record_experience.p_steps":              "3",
	"record_lesson.p_source":                 "'user_correction'",
	"remember.p_content":                     "'Tea at four.'",
	"record_lesson.p_rule":                   "'Rinse the cup.'",
	"remember.p_metadata":                    `'{"a": {"b": [1]}}'`,
	"share_memory.p_memory_id":               "$lemon",
	"start_reembedding.p_model":              "'next'",
	"store_put.p_key":                        "'word'",
	"store_get.p_key":                        "'word'",
	"store_delete.p_key":                     "'word'",
	"store_refresh.p_entries":                "ARRAY[jsonb_populate_record(NULL::hippocampus.store_entries, '{\"namespace\": [\"notes\"], \"key\": \"word\"}')]",
	"supersede.p_new_id":                     "$tea",
	"update_knowledge_base.p_category":       "'tea'",
	"upsert_fact.p_value":                    `'{"kind": ["oolong", 1]}'`,
}

// hostileSchema gives ids to the fixture's rows, for which $name stands in sound.
var hostileFixture = []struct{ name, sql string }{
	{"thread", "SELECT hippocampus.create_thread('ada', 'hostile', 'a')"},
	{"event", `SELECT (hippocampus.append_event($thread, 'user', 'message', '{"text": "I drink tea"}', p_event_id => 'e')).id`},
	{"tea", "SELECT hippocampus.remember('ada', 'hostile', 'Tea at four.', p_tags => '{tea}', p_embedding => array_fill(0.1, ARRAY[64])::public.vector, p_embedding_model => 'm')"},
	{"lemon", "SELECT hippocampus.remember('ada', 'hostile', 'Lemon in the tea.')"},
	{"old", "SELECT hippocampus.upsert_fact('ada', 'hostile', 'custom', 'place', '\"Rome\"', p_now => now() - interval '9 days')"},
	{"fact", "SELECT hippocampus.upsert_fact('ada', 'hostile', 'custom', 'place', '\"Bern\"', p_embedding => array_fill(0.1, ARRAY[64])::public.vector)"},
	{"drink", "SELECT hippocampus.upsert_fact('ada', 'hostile', 'custom', 'drink', '\"tea\"', p_embedding => array_fill(0.1, ARRAY[64])::public.vector)"},
	{"lesson", "SELECT fact_id FROM hippocampus.record_lesson('ada', 'hostile', 'Rinse the cup.')"},
	{"experience", "SELECT memory_id FROM hippocampus.record_experience('ada', 'hostile', 'boil water', 3, p_insight => 'use a lid')"},
	{"", "SELECT hippocampus.block_set('ada', 'hostile', 'persona', 'Be kind.')"},
	{"", "SELECT hippocampus.put_instruction('hostile', 'style', 'Be short.')"},
	{"", "SELECT hippocampus.put_instruction('hostile', 'style', 'Be shorter.')"},
	{"", "SELECT hippocampus.store_put('ada', 'hostile', '{notes}', 'word', '{\"text\": \"oolong\", \"n\": 1}', p_ttl => '1 year')"},
	{"", "SELECT hippocampus.graph_create_entities('ada', 'hostile', '[{\"name\": \"tea\", \"entityType\": \"drink\", \"observations\": [\"is hot\"]}]')"},
	{"", "SELECT hippocampus.put_document('ada', 'hostile', 'pots.md', '[{\"content\": \"A pot is for tea.\", \"start_line\": 1}]')"},
	{"", "SELECT hippocampus.put_consolidation_policy('hostile', '{\"sharing\": true}')"},
	{"", "SELECT hippocampus.link_memories('ada', 'hostile', $tea, $lemon)"},
	{"", "SELECT hippocampus.start_reembedding('next', 64)"},
	{"", "SELECT hippocampus.index_memory()"},
}

// hostileArgument is a parameter of a function.
type hostileArgument struct {
	Name, Type string
	Optional   bool
}

// hostileFunction is one that clients may call.
type hostileFunction struct {
	Name      string
	Writes    bool
	Arguments []hostileArgument
}

// TestHostileArguments calls every public function with hostile values, one argument at a time: what is
// refused is refused with a code of ours, a message and a hint, and what is let through leaves no time
// that is infinite and no number that is none in any row.
func TestHostileArguments(t *testing.T) {
	t.Parallel()
	b := setupAlone(t) // it names the deployment's model
	ids := map[string]string{}
	for _, f := range hostileFixture {
		sql := hostileIDs(f.sql, ids)
		if f.name == "" {
			b.exec(t, sql)
			continue
		}
		ids[f.name] = fmt.Sprintf("'%s'::uuid", get[string](t, b, "SELECT x::text FROM ("+sql+") AS x (x)"))
	}
	// Rows at their limits: a counter that is full.
	b.exec(t, "UPDATE hippocampus.memories SET access_count = 2147483647, encounter_count = 2147483647")
	b.exec(t, "UPDATE hippocampus.facts SET access_count = 2147483647, encounter_count = 2147483647")
	runner := hostileRunner(t, b)
	for _, f := range hostileFunctions(t, b) {
		calls := hostileCalls(t, f, ids)
		rows, err := b.Query(t.Context(), runner, calls, f.Writes)
		require.NoError(t, err, f.Name)
		type outcome struct {
			Call                   int
			State, Message, Hinted string
		}
		outcomes, err := pgx.CollectRows(rows, pgx.RowToStructByPos[outcome])
		require.NoError(t, err, f.Name)
		require.Len(t, outcomes, len(calls), f.Name)
		assert.Equal(t, "00000", outcomes[0].State, "%s\n%s", calls[0], outcomes[0].Message)
		for _, o := range outcomes {
			if o.State == "00000" {
				continue
			}
			if !strings.HasPrefix(o.State, "HC") || o.Hinted == "" {
				t.Errorf("%s\n\t%s: %s (hint: %s)", shortened(calls[o.Call-1]), o.State, o.Message, o.Hinted)
			}
		}
	}
}

// shortened is a call without the end of one that is long.
func shortened(call string) string {
	return call[:min(1500, len(call))]
}

// hostileIDs puts the ids of the fixture in the place of their names.
func hostileIDs(sql string, ids map[string]string) string {
	return regexp.MustCompile(`\$[a-z]+`).ReplaceAllStringFunc(sql, func(name string) string {
		if id, ok := ids[name[1:]]; ok {
			return id
		}
		return name
	})
}

// hostileFunctions are the public functions, from the catalog.
func hostileFunctions(t *testing.T, b *testBundle) []hostileFunction {
	t.Helper()
	var functions []hostileFunction
	require.NoError(t, json.Unmarshal([]byte(get[string](t, b, `
		SELECT json_agg(json_build_object('Name', p.proname, 'Writes', p.provolatile = 'v', 'Arguments', (
			SELECT coalesce(json_agg(json_build_object('Name', p.proargnames[a.n], 'Type', CASE WHEN a.type = 'public.vector'::regtype
				THEN 'vector' ELSE format_type(a.type, NULL) END, 'Optional', a.n > p.pronargs - p.pronargdefaults) ORDER BY a.n), '[]')
			FROM unnest(p.proargtypes) WITH ORDINALITY AS a (type, n))) ORDER BY p.proname)::text
		FROM pg_catalog.pg_proc p
		WHERE p.pronamespace = 'hippocampus'::regnamespace AND p.proname !~ '^(_|river_)' AND p.prorettype <> 'trigger'::regtype`)), &functions))
	require.Greater(t, len(functions), 100)
	return functions
}

// hostileCalls are the calls of a function: the sound one first, then one for each hostile value of each argument.
func hostileCalls(t *testing.T, f hostileFunction, ids map[string]string) []string {
	t.Helper()
	values := map[string]string{}
	for _, a := range f.Arguments {
		value, ok := sound[f.Name+"."+a.Name]
		if !ok && !a.Optional {
			value, ok = sound[a.Name]
			require.True(t, ok, "%s: no sound value for %s %s", f.Name, a.Name, a.Type)
		}
		if ok {
			values[a.Name] = value
		}
	}
	written := func(changed hostileArgument, value string) string {
		var named []string
		for _, a := range f.Arguments {
			v, ok := values[a.Name]
			if a.Name == changed.Name {
				v, ok = value, true
			}
			if ok {
				named = append(named, fmt.Sprintf("%s => (%s)::%s", a.Name, hostileIDs(v, ids), strings.Replace(a.Type, "vector", "public.vector", 1)))
			}
		}
		return fmt.Sprintf("SELECT to_jsonb(f) FROM hippocampus.%s(%s) f", f.Name, strings.Join(named, ", "))
	}
	calls := []string{written(hostileArgument{}, "")}
	for _, a := range f.Arguments {
		require.Contains(t, hostileValues, a.Type, "%s: no hostile value for %s", f.Name, a.Name)
		for _, value := range hostileValues[a.Type] {
			calls = append(calls, written(a, value))
		}
		if a.Type == "jsonb" {
			for _, changed := range hostileDocuments(t, or(values[a.Name], sound[a.Name])) {
				calls = append(calls, written(a, "'"+strings.ReplaceAll(changed, "'", "''")+"'"))
			}
		}
	}
	return calls
}

func or(value, otherwise string) string {
	if value != "" {
		return value
	}
	return otherwise
}

// hostileDocuments are a JSON document with each of its parts replaced in turn.
func hostileDocuments(t *testing.T, literal string) []string {
	t.Helper()
	var document any
	if literal = strings.Trim(literal, "'"); literal != "" {
		require.NoError(t, json.Unmarshal([]byte(literal), &document), literal)
	}
	var changed []string
	var walk func(part any, put func(any))
	walk = func(part any, put func(any)) {
		for _, value := range hostileJSON {
			put(json.RawMessage(value))
			changed = append(changed, toJSON(t, document))
		}
		put(part)
		switch part := part.(type) {
		case map[string]any:
			keys := make([]string, 0, len(part))
			for key := range part {
				keys = append(keys, key)
			}
			sort.Strings(keys)
			for _, key := range keys {
				walk(part[key], func(v any) { part[key] = v })
			}
			part["$unknown"] = 1
			changed = append(changed, toJSON(t, document))
			delete(part, "$unknown")
		case []any:
			for i := range part[:min(2, len(part))] { // a vector's first numbers stand for all
				walk(part[i], func(v any) { part[i] = v })
			}
		}
	}
	switch document := document.(type) {
	case map[string]any:
		walk(document, func(any) {})
	case []any:
		walk(document, func(any) {})
	}
	return changed
}

// hostileRunner gives the query that runs calls, each undone, and tells how each ended: 00000 where it did
// not fail and left no impossible value.
func hostileRunner(t *testing.T, b *testBundle) string {
	t.Helper()
	impossible := get[string](t, b, `
		SELECT string_agg(format('EXISTS (SELECT FROM hippocampus.%I x WHERE %s)', c.name, c.tests), ' OR ')
		FROM (SELECT c.relname AS name, string_agg(CASE WHEN a.atttypid = 'timestamptz'::regtype THEN format('NOT isfinite(x.%I)', a.attname)
				ELSE format('x.%I IN (''NaN'', ''Infinity'', ''-Infinity'')', a.attname) END, ' OR ') AS tests
			FROM pg_catalog.pg_class c JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
			WHERE c.relnamespace = 'hippocampus'::regnamespace AND c.relkind = 'r' AND c.relname !~ '^goose'
			  AND a.atttypid IN ('timestamptz'::regtype, 'float8'::regtype, 'float4'::regtype)
			GROUP BY c.relname) c`)
	b.exec(t, `CREATE FUNCTION pg_temp.run(p_calls text[], p_writes boolean, OUT n integer, OUT state text, OUT message text, OUT hinted text)
		RETURNS SETOF record LANGUAGE plpgsql AS $$
		BEGIN
			FOR v_call IN 1..cardinality(p_calls) LOOP
				n := v_call;
				BEGIN
					EXECUTE p_calls[n];
					IF p_writes THEN
						IF `+impossible+` THEN
							RAISE EXCEPTION 'a row holds an infinite time, or a number that is none';
						END IF;
					END IF;
					RAISE EXCEPTION USING ERRCODE = '00001', MESSAGE = 'undo';
				EXCEPTION WHEN OTHERS THEN
					GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, hinted = PG_EXCEPTION_HINT;
					state := CASE state WHEN '00001' THEN '00000' ELSE state END;
				END;
				RETURN NEXT;
			END LOOP;
		END $$`)
	return "SELECT r.n, r.state, r.message, coalesce(r.hinted, '') FROM pg_temp.run($1, $2) r ORDER BY r.n"
}

// TestHostileKinds are values whose harm is another one than a raw error.
func TestHostileKinds(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for message, sql := range map[string]string{
		"p_filter asks for the field '$or'": `SELECT hippocampus.store_search($1, $2, p_filter => '{"$or": [{"a": 1}]}')`,
		"the number of p_terms is 10001":    "SELECT hippocampus.put_anchor_denylist($1, $2, array_fill('green tea'::text, ARRAY[10001]))",
		"the number of p_sources is 10001":  "SELECT hippocampus.put_source_allowlist($1, $2, array_fill('docs'::text, ARRAY[10001]))",
		"p_tags has 2 dimensions":           "SELECT hippocampus.remember($1, $2, 'x', p_tags => '{{a,b},{c,d}}')",
		"event 1 of the batch":              `SELECT hippocampus.append_events(hippocampus.create_thread($1, $2), '[{"author": "user", "content": "x", "tags": [["a"]]}]')`,
		"the time that p_ttl ends is":       `SELECT hippocampus.store_put($1, $2, '{a}', 'k', '{"a": 1}', '99 years', p_now => '9990-01-01')`,
		"p_content_hash is 3 bytes long":    `SELECT hippocampus.put_document($1, $2, 'a.md', '[{"content": "x", "start_line": 1}]', p_content_hash => '\x010203')`,
		"p_link_type is 'derived_from'":     "SELECT hippocampus.unlink_memories($1, $2, gen_random_uuid(), gen_random_uuid(), 'derived_from')",
	} {
		b.refuses(t, "HC009", message, sql, b.UserID, b.AppName)
	}
	b.refuses(t, "HC011", "there is no generation 99", "SELECT hippocampus.queue_reembedding(99)")
	require.Equal(t, 1, get[int](t, b, "SELECT hippocampus.put_anchor_denylist($1, $2, array_fill('green teas'::text, ARRAY[100]))", b.UserID, b.AppName))
}
