package reply_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/hippocampus-memory/hippocampus/model"
	"github.com/hippocampus-memory/hippocampus/model/internal/reply"
)

const fact = `{"type":"profile","key":"location","value":"Berlin","confidence":0.9,"intensity":0.4,"valid_from":null,"sequences":[1]}`

func TestRepair(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ raw, want, err string }{
		"BraceInString":        {"Sure!\n" + `{"a":"}{","b":"\"{"}` + "\nDone.", `{"a":"}{","b":"\"{"}`, ""},
		"ByteOrderMark":        {"\uFEFF{\"a\":1}", `{"a":1}`, ""},
		"Clean":                {`{"a":1}`, `{"a":1}`, ""},
		"CodeFence":            {"```json\n{\"a\":1}\n```", `{"a":1}`, ""},
		"CommaInStringStays":   {"x {\"a\":\",}\",}", `{"a":",}"}`, ""},
		"Empty":                {"  ", "", "no JSON object"},
		"Half":                 {`{"facts":[{"a":1},{"a":`, "", "not complete"},
		"HalfAfterACommaFence": {"```json\n{\"facts\":[{\"a\":1},\n```", "", "not complete"},
		"List":                 {`[{"facts":[],"insights":[]}]`, "", "no JSON object"},
		"MismatchedBrackets":   {`{"a":[1}`, "", "not complete"},
		"Prose":                {`I found nothing.`, "", "no JSON object"},
		"ReasoningDraftOnly":   {`<think>maybe {"a":1}</think>`, "", "no JSON object"},
		"ReasoningThenAnswer":  {"<think>maybe {\"a\":1} or\n{\"a\":2}</think>\n{\"a\":3}", `{"a":3}`, ""},
		"ReasoningUnopened":    {"hmm {not json} </think>\n{\"a\":3}", `{"a":3}`, ""},
		"SingleQuotes":         {`{'a':1}`, "", "not valid JSON"},
		"TagInsideAnswer":      {"```json\n" + `{"a":"</think>{\"a\":2}"}` + "\n```", `{"a":"</think>{\"a\":2}"}`, ""},
		"TrailingCommas":       {`{"a":[1,2, ],"b":{"c":1 , }, }`, `{"a":[1,2 ],"b":{"c":1  } }`, ""},
		"TwoObjects":           {`{"a":1} {"a":2}`, "", "more than one"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, repaired, err := reply.Repair(test.raw)
			if test.err != "" {
				require.ErrorContains(t, err, test.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, test.want, got)
			require.Equal(t, name != "Clean" && name != "ByteOrderMark", repaired)
		})
	}
}

// anyJSON draws a JSON value of bounded depth.
func anyJSON(depth int) *rapid.Generator[any] {
	leaves := []*rapid.Generator[any]{
		rapid.Just[any](nil), rapid.Bool().AsAny(), rapid.Int32().AsAny(),
		rapid.StringOf(rapid.SampledFrom([]rune("ab{}[],:\"\\` \n寿司🍣"))).AsAny(),
	}
	if depth == 0 {
		return rapid.OneOf(leaves...)
	}
	inner := rapid.Deferred(func() *rapid.Generator[any] { return anyJSON(depth - 1) })
	return rapid.OneOf(append(leaves,
		rapid.SliceOfN(inner, 0, 4).AsAny(),
		rapid.MapOfN(rapid.StringMatching(`[a-z{},]{0,3}`), inner, 0, 4).AsAny())...)
}

func drawObject(t *rapid.T) string {
	m := rapid.MapOfN(rapid.StringMatching(`[a-z]{1,4}`), anyJSON(3), 1, 4).Draw(t, "object")
	data, err := json.Marshal(m)
	require.NoError(t, err)
	return string(data)
}

func TestRepair_Properties(t *testing.T) {
	t.Parallel()

	t.Run("AnyReplyIsAnErrorOrAnObject", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(t *rapid.T) {
			raw := rapid.StringOf(rapid.SampledFrom([]rune("{}[]\",:\\ab1`\n\x00</think>"))).Draw(t, "raw")
			got, _, err := reply.Repair(raw)
			if err == nil {
				require.True(t, json.Valid([]byte(got)))
				require.True(t, strings.HasPrefix(got, "{"))
			}
		})
	})

	t.Run("PartOfAnObjectIsNeverAccepted", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(t *rapid.T) {
			whole := drawObject(t)
			cut := rapid.IntRange(0, len(whole)-1).Draw(t, "cut")
			prefix := rapid.SampledFrom([]string{"", "```json\n", "Here you are: "}).Draw(t, "prefix")
			suffix := rapid.SampledFrom([]string{"", "\n```", "…"}).Draw(t, "suffix")
			_, _, err := reply.Repair(prefix + whole[:cut] + suffix)
			require.Error(t, err)
		})
	})

	t.Run("WrappingDoesNotChangeTheMeaning", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(t *rapid.T) {
			whole := drawObject(t)
			prefix := rapid.SampledFrom([]string{"", "```json\n", "```\n", "Here you are: ", "<think>a {b} c</think>\n", "\uFEFF"}).Draw(t, "prefix")
			suffix := rapid.SampledFrom([]string{"", "\n```", "\nAnything else?"}).Draw(t, "suffix")
			got, _, err := reply.Repair(prefix + whole + suffix)
			require.NoError(t, err)
			require.JSONEq(t, whole, got)
		})
	})
}

func FuzzRepair(f *testing.F) {
	f.Add(`{"facts":[` + fact + `],"insights":[]}`)
	f.Add("```json\n{\"a\":1,}\n```")
	f.Fuzz(func(t *testing.T, raw string) {
		got, _, err := reply.Repair(raw)
		if err == nil && !json.Valid([]byte(got)) {
			t.Fatalf("not JSON: %q", got)
		}
		if r, err := reply.Reflection(raw, []int64{1}); err == nil {
			for _, fact := range r.Facts {
				if !json.Valid(fact.Value) || fact.Key == "" || len(fact.Key) > model.MaxKeyBytes {
					t.Fatalf("bad fact %+v", fact)
				}
			}
		}
	})
}

func TestReflection(t *testing.T) {
	t.Parallel()
	with := func(field, value string) string {
		var o map[string]json.RawMessage
		if err := json.Unmarshal([]byte(fact), &o); err != nil {
			panic(err)
		}
		if value == "" {
			delete(o, field)
		} else {
			o[field] = json.RawMessage(value)
		}
		data, err := json.Marshal(o)
		if err != nil {
			panic(err)
		}
		return `{"facts":[` + fact + `,` + string(data) + `],"insights":[]}`
	}

	for name, test := range map[string]struct{ raw, want string }{
		"ConfidenceMissing": {with("confidence", ""), "facts[1].confidence: must be a number"},
		"ConfidenceText":    {with("confidence", `"high"`), "facts[1].confidence: must be a number"},
		"FactsMissing":      {`{"insights":[]}`, "facts: must be a list"},
		"FactsNull":         {`{"facts":null,"insights":[]}`, "facts: must be a list"},
		"FactsTwice":        {`{"facts":[` + fact + `],"facts":[],"insights":[]}`, `the field "facts" twice`},
		"ImportanceUnknown": {`{"facts":[],"insights":[{"content":"x","importance":"vital"}]}`, "insights[0].importance"},
		"InsightBlank":      {`{"facts":[],"insights":[{"content":" ","importance":"low"}]}`, "insights[0].content: must not be empty"},
		"IntensityMissing":  {with("intensity", ""), "facts[1].intensity"},
		"ItemIsText":        {`{"facts":["x"],"insights":[]}`, "facts[0]"},
		"KeyBlank":          {with("key", `" "`), "facts[1].key: must not be empty"},
		"KeyOnlySigns":      {with("key", `"--"`), `facts[1].key: gives no identifier`},
		"KeyTooLong":        {with("key", `"`+strings.Repeat("好", 86)+`"`), "facts[1].key"},
		"SequencesText":     {with("sequences", `["a"]`), "facts[1].sequences"},
		"ValidFromGarbage":  {with("valid_from", `"soon"`), "facts[1].valid_from"},
		"ValueEmpty":        {with("value", `""`), "facts[1].value: must not be empty"},
		"ValueHugeNumber":   {with("value", `1e999`), "facts[1].value: a number is out of range"},
		"ValueMissing":      {with("value", ""), "facts[1].value: must be given"},
		"ValueNull":         {with("value", "null"), "facts[1].value: must be given"},
		"ValueTooLong":      {with("value", `"`+strings.Repeat("x", 17000)+`"`), "facts[1].value: has"},
	} {
		t.Run("Invalid"+name, func(t *testing.T) {
			t.Parallel()
			_, err := reply.Reflection(test.raw, []int64{1})
			require.ErrorContains(t, err, test.want)
		})
	}

	t.Run("ErrorsQuoteNothing", func(t *testing.T) {
		t.Parallel()
		const marker = "ZEBRA"
		for _, raw := range []string{
			marker, `{"` + marker, `{"facts":` + marker + `}`, "```json\n{'" + marker + "':1}\n```", `{"` + marker + `":1,"` + marker + `":2}`,
			with("confidence", `"`+marker+`"`), with("intensity", `"`+marker+`"`), with("key", `"`+marker+strings.Repeat("x", 300)+`"`),
			with("key", `{"`+marker+`":1}`), with("sequences", `["`+marker+`"]`), with("valid_from", `"`+marker+`"`),
			with("value", `{"`+marker+`":1e999}`), with(marker, `1e999`) + marker + "{",
			`{"facts":["` + marker + `"],"insights":[{"content":"` + marker + `","importance":"` + marker + `"}]}`,
			`{"facts":[{"` + marker + `":1,"` + marker + `":1}],"insights":[]}`,
		} {
			_, err := reply.Reflection(raw, []int64{1})
			require.Error(t, err, raw)
			require.NotContains(t, err.Error(), marker)
		}
		_, err := reply.Classification(`{"relation":"` + marker + `"}`)
		require.Error(t, err)
		require.NotContains(t, err.Error(), marker)
	})

	t.Run("ManyProblemsAreCounted", func(t *testing.T) {
		t.Parallel()
		raw := `{"facts":[` + strings.TrimSuffix(strings.Repeat("{},", 20), ",") + `],"insights":[]}`
		_, err := reply.Reflection(raw, nil)
		require.ErrorContains(t, err, "and 90 more")
	})

	t.Run("NumbersThatAreNoShareAreBroughtToOne", func(t *testing.T) {
		t.Parallel()
		for number, want := range map[string]float64{
			"1e-300": 0, "1e-400": 0, "-0.1": 0, "1.4": 1, "95": 1, "1e400": 1, "-1e400": 0, "0.25": 0.25,
		} {
			got, err := reply.Reflection(strings.NewReplacer(`"confidence":0.9`, `"confidence":`+number, `"intensity":0.4`, `"intensity":`+number,
				`"value":"Berlin"`, `"value":[1e-400, 1.50]`).Replace(`{"facts":[`+fact+`],"insights":[]}`), []int64{1})
			require.NoError(t, err, number)
			require.InDelta(t, want, got.Facts[0].Confidence, 0, number)
			require.InDelta(t, want, got.Facts[0].Intensity, 0, number)
			require.JSONEq(t, `[0, 1.50]`, string(got.Facts[0].Value))
		}
	})

	t.Run("NothingToLearnIsValid", func(t *testing.T) {
		t.Parallel()
		r, err := reply.Reflection(`{"facts":[],"insights":[]}`, nil)
		require.NoError(t, err)
		require.Empty(t, r.Facts)
		require.Empty(t, r.Insights)
		require.False(t, r.Repaired)
	})

	t.Run("Normalizes", func(t *testing.T) {
		t.Parallel()
		r, err := reply.Reflection("```json\n"+`{"facts":[
			{"type":"Hobby","key":"Food Preference","value":{"b":"a\u0000\ud800","a":[1.50,"x"]},"confidence":1,"intensity":0,"valid_from":"2026-03","sequences":[9,3,3,77,1.5]},
			`+fact+`,`+fact+`,
		],"insights":[{"content":" Ships on Friday\u0000 ","importance":"HIGH","sequences":null}]}`+"\n```", []int64{3, 9})
		require.NoError(t, err)
		require.True(t, r.Repaired)
		require.Len(t, r.Facts, 2, "a word-for-word repetition is dropped")
		got := r.Facts[0]
		require.Equal(t, model.FactCustom, got.Type)
		require.Equal(t, "food_preference", got.Key)
		require.Equal(t, `{"a":[1.50,"x"],"b":"a`+"\uFFFD"+`"}`, string(got.Value))
		require.Equal(t, time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), *got.ValidFrom)
		require.Equal(t, []int64{3, 9}, got.Sequences)
		require.Equal(t, []model.Insight{{Content: "Ships on Friday", Importance: model.ImportanceHigh}}, r.Insights)
	})
}

func TestClassification(t *testing.T) {
	t.Parallel()
	c, err := reply.Classification(`{"relation":"supersedes","reason":"moved"}`)
	require.NoError(t, err)
	require.Equal(t, model.RelationSupersedes, c.Relation)
	require.Equal(t, "moved", c.Reason)

	c, err = reply.Classification(`{"relation":"DISTINCT","reason":""}`)
	require.NoError(t, err)
	require.Equal(t, model.RelationDistinct, c.Relation)

	_, err = reply.Classification(`{"relation":"SAME"}`)
	require.ErrorContains(t, err, `relation: must be DUPLICATE, SUPERSEDES or DISTINCT`)
	_, err = reply.Classification(`{}`)
	require.ErrorContains(t, err, "relation: must be a string")
}

func TestKey(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"  Food-Preference! ": "food_preference", "foodPreference": "food_preference", "food__preference": "food_preference",
		"喜欢的 食物": "喜欢的_食物", "Ünïcode Ａ": "ünïcode_a", "!!": "", "": "", "9 lives": "9_lives", "userID": "user_id",
	} {
		require.Equal(t, want, reply.Key(name), name)
	}
	rapid.Check(t, func(t *rapid.T) {
		key := reply.Key(rapid.String().Draw(t, "name"))
		require.Equal(t, key, reply.Key(key), "a key is its own key")
	})
}

func TestText(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		" Anna moved.\x00\n":            "Anna moved.",
		"```\nAnna moved.\n```":         "Anna moved.",
		"```text\nAnna moved.\n```":     "Anna moved.",
		"<think>hm</think>\nAnna moved": "Anna moved",
		"<think>hm</think>":             "",
		"Use ```go``` there":            "Use ```go``` there",
	} {
		require.Equal(t, want, reply.Text(raw))
	}
}
