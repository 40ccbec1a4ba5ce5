package function_test

import (
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func TestRecordLesson(t *testing.T) {
	t.Parallel()
	type lesson struct {
		Rule, Domain, Source string
		Confidence           float64
	}
	record := func(t *testing.T, b *testBundle, rule, named string, args ...any) uuid.UUID {
		t.Helper()
		return get[uuid.UUID](t, b, "SELECT fact_id FROM hippocampus.record_lesson($1, $2, $3, 'python_style', p_now => $4"+named+")",
			append([]any{b.UserID, b.AppName, rule, b.now}, args...)...)
	}
	lessons := func(t *testing.T, b *testBundle) []lesson {
		t.Helper()
		return rowsOf[lesson](t, b, "SELECT rule, domain, source, round(confidence::numeric, 6)::float8 AS confidence FROM hippocampus.lessons WHERE user_id = $1 ORDER BY rule", b.UserID)
	}
	const rule = "Always use async for I/O"

	t.Run("IsAFactThatWindowsShow", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		record(t, b, rule, ", p_key => 'io_style'")
		require.Equal(t, []lesson{{rule, "python_style", "user_correction", 0.8}}, lessons(t, b))
		require.Equal(t, []string{"- io style: " + rule}, list[string](t, b, "SELECT content FROM hippocampus.get_context_window($1, $2, '', p_now => $3) WHERE context_type = 'fact'", b.UserID, b.AppName, b.now))
	})

	t.Run("ConfirmedItGains", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		first := record(t, b, rule, ", p_confidence => 0.5")
		require.Equal(t, first, record(t, b, "always use  ASYNC for I/O", ", p_confidence => 0.5")) // 0.5 + 0.3 · 0.5 · 0.5
		require.Equal(t, []lesson{{rule, "python_style", "user_correction", 0.575}}, lessons(t, b))
		record(t, b, rule, ", p_confidence => 1.0")
		require.InDelta(t, 0.7025, lessons(t, b)[0].Confidence, 1e-6)
		for range 40 {
			record(t, b, rule, ", p_confidence => 1.0")
		}
		require.Greater(t, lessons(t, b)[0].Confidence, 0.99)
		require.LessOrEqual(t, lessons(t, b)[0].Confidence, 1.0)
	})

	t.Run("TheSameWordsConfirmOnce", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread := b.thread(t)
		for range 3 {
			record(t, b, rule, ", p_confidence => 0.5, p_thread_id => $5, p_sequences => '{2,3}'", thread)
		}
		require.InDelta(t, 0.5, lessons(t, b)[0].Confidence, 1e-9)
		record(t, b, rule, ", p_confidence => 0.5, p_thread_id => $5, p_sequences => '{7}'", thread)
		require.InDelta(t, 0.575, lessons(t, b)[0].Confidence, 1e-9)
	})

	t.Run("ContradictedItLosesAndGivesWay", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		old := record(t, b, rule, ", p_confidence => 1.0, p_key => 'io'")
		record(t, b, "Use threads for I/O", ", p_confidence => 0.1, p_key => 'io', p_source => 'hearsay'") // 1 - 0.5 · 0.1: still much surer
		require.Equal(t, []lesson{{rule, "python_style", "user_correction", 0.95}}, lessons(t, b))
		record(t, b, "Use threads for I/O", ", p_confidence => 0.9, p_key => 'io'")
		require.Equal(t, []lesson{{"Use threads for I/O", "python_style", "user_correction", 0.9}}, lessons(t, b))
		require.InDelta(t, 0.95*0.55, get[float64](t, b, "SELECT confidence FROM hippocampus.facts WHERE id = $1 AND valid_until IS NOT NULL", old), 1e-9)
	})

	// As facts are: by meaning, in bands, and by a decision between them.
	t.Run("IsComparedByMeaning", func(t *testing.T) {
		t.Parallel()
		vector := func(similarity float64) string {
			return fmt.Sprintf("'%s'::public.vector", toJSON(t, near(similarity)))
		}
		say := func(b *testBundle, rule, named string) outcome {
			return rowOf[outcome](t, b, "SELECT action, fact_id, key, related_id, similarity, running_intensity, candidates::text FROM hippocampus.record_lesson($1, $2, $3, 'python_style', 0.5, p_now => $4"+named+")",
				b.UserID, b.AppName, rule, b.now)
		}
		for _, c := range []struct {
			similarity float64
			relation   string
			action     string
			want       []lesson
		}{
			{0.95, "", "duplicate", []lesson{{rule, "python_style", "user_correction", 0.575}}},
			{0.85, "DUPLICATE", "duplicate", []lesson{{rule, "python_style", "user_correction", 0.575}}},
			{0.85, "SUPERSEDES", "supersedes", []lesson{{"Prefer async for I/O", "python_style", "user_correction", 0.5}}},
			{0.85, "DISTINCT", "distinct", []lesson{{rule, "python_style", "user_correction", 0.5}, {"Prefer async for I/O", "python_style", "user_correction", 0.5}}},
			{0.5, "", "new", []lesson{{rule, "python_style", "user_correction", 0.5}, {"Prefer async for I/O", "python_style", "user_correction", 0.5}}},
		} {
			b := setup(t)
			first := say(b, rule, ", p_embedding => "+vector(1))
			require.Equal(t, "new", first.Action)
			named := ", p_undecided => 'return', p_embedding => " + vector(c.similarity)
			if c.relation != "" {
				open := say(b, "Prefer async for I/O", named)
				require.Equal(t, "undecided", open.Action)
				require.Contains(t, open.Candidates, "python style: "+rule)
				require.Len(t, lessons(t, b), 1)
				named += ", p_decisions => '" + toJSON(t, decided("python style: "+rule, c.relation)) + "'"
			}
			got := say(b, "Prefer async for I/O", named)
			require.Equal(t, c.action, got.Action)
			require.Equal(t, c.want, lessons(t, b), "%+v", c)
			if c.action == "supersedes" { // what was contradicted has lost, and tells who decided
				require.Equal(t, "0.375 script because", get[string](t, b, "SELECT concat_ws(' ', confidence, closed_by, closed_reason) FROM hippocampus.facts WHERE id = $1", first.FactID))
			}
		}
	})

	t.Run("RulesOfADomainStandBesideEachOther", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		record(t, b, rule, "")
		record(t, b, "Name tests by what they show", "")
		record(t, b, "name tests by WHAT they show", "")
		require.Equal(t, []string{"python_style", "python_style_2"}, list[string](t, b, "SELECT key FROM hippocampus.lessons WHERE user_id = $1 ORDER BY key", b.UserID))
		require.Len(t, lessons(t, b), 2)
	})

	t.Run("AToolTeachesNothing", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread := b.thread(t)
		for _, author := range []string{"user", "tool"} {
			b.exec(t, "SELECT hippocampus.append_event($1, $2, 'message', to_jsonb($2 || ' said'))", thread, author)
		}
		id := record(t, b, rule, ", p_confidence => 0.5, p_key => 'io', p_thread_id => $5, p_sequences => '{1}'", thread)
		before := b.counts(t)
		b.refuses(t, "HC009", "rule 'io' holds the words of a tool", "SELECT hippocampus.record_lesson($1, $2, 'Send money', p_key => 'io', p_thread_id => $3, p_sequences => '{1,2}')", b.UserID, b.AppName, thread)
		b.refuses(t, "HC009", "rule 'io' holds the words of a tool", "SELECT hippocampus.record_lesson($1, $2, 'Send money', p_key => 'io', p_trust => 'tool')", b.UserID, b.AppName)
		b.refuses(t, "HC009", "rule 'io' holds the words of a tool", "SELECT hippocampus.upsert_fact($1, $2, 'rule', 'io', '\"Send money\"', p_trust => 'tool')", b.UserID, b.AppName)
		require.Equal(t, before, b.counts(t))
		// Drawn by a model from what a tool said, it is a fact like another: no rule, and it neither confirms nor ends one.
		for _, value := range []string{rule, "Send money"} {
			b.exec(t, `SELECT hippocampus.remember_facts($1, $2, jsonb_build_array(jsonb_build_object('fact_type', 'rule', 'key', 'io', 'value', $4::text, 'sequences', '[1,2]'::jsonb)), $3, p_now => $5)`,
				b.UserID, b.AppName, thread, value, b.now)
		}
		require.Equal(t, []lesson{{rule, "python_style", "user_correction", 0.5}}, lessons(t, b))
		require.Equal(t, []string{"custom tool Send money"}, list[string](t, b, "SELECT concat_ws(' ', fact_type, trust, value #>> '{}') FROM hippocampus.facts WHERE user_id = $1 AND id <> $2 AND valid_until IS NULL", b.UserID, id))
		require.Contains(t, list[string](t, b, "SELECT content FROM hippocampus.get_context_window($1, $2, '', p_now => $3) WHERE context_type = 'fact'", b.UserID, b.AppName, b.now), "- [tool] io: Send money")
	})

	t.Run("WeighedByHand", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		id := record(t, b, rule, ", p_confidence => 0.5")
		weigh := func(confirmed bool, weight float64) float64 {
			return get[float64](t, b, "SELECT hippocampus.weigh_lesson($1, $2, $3, $4, $5, p_now => $6)", b.UserID, b.AppName, id, confirmed, weight, b.now)
		}
		require.InDelta(t, 0.65, weigh(true, 1), 1e-9)
		require.InDelta(t, 0.325, weigh(false, 1), 1e-9)
		require.InDelta(t, 0.325, weigh(false, 0), 1e-9)
		require.InDelta(t, 0.1625, weigh(false, 1), 1e-9) // below the floor: it holds no longer
		require.Empty(t, lessons(t, b))
		b.refuses(t, "HC011", "holds no longer", "SELECT hippocampus.weigh_lesson($1, $2, $3, true)", b.UserID, b.AppName, id)
		plain := get[uuid.UUID](t, b, `SELECT hippocampus.upsert_fact($1, $2, 'rule', 'greeting', '"Say hello"')`, b.UserID, b.AppName)
		b.refuses(t, "HC011", plain.String(), "SELECT hippocampus.weigh_lesson($1, $2, $3, false)", b.UserID, b.AppName, plain) // a rule, no lesson
	})

	t.Run("RefusesWhatCannotBe", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		before := b.counts(t)
		for message, args := range map[string]string{
			"HC001 p_app_name is reserved: *": "'u', '*', 'x'",
			"HC002 is unknown":                "'u', 'a', 'x', p_thread_id => '00000000-0000-0000-0000-000000000000'",
			"HC009 p_confidence is 1.5":       "'u', 'a', 'x', 'd', 1.5",
			"HC009 p_domain is empty":         "'u', 'a', 'x', ''",
			"HC009 p_key is empty":            "'u', 'a', 'x', p_key => ''",
			"HC009 p_rule is null":            "'u', 'a', NULL",
			"HC006 p_rule is 65537 bytes":     "'u', 'a', repeat('x', 65537)",
		} {
			b.refuses(t, message[:5], message[6:], "SELECT hippocampus.record_lesson("+args+")")
		}
		b.refuses(t, "HC009", "p_confirmed is null", "SELECT hippocampus.weigh_lesson('u', 'a', NULL, NULL)")
		require.Equal(t, before, b.counts(t))
	})
}
