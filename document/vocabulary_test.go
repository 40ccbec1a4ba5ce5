package document_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/document"
)

func TestVocabulary(t *testing.T) {
	t.Parallel()
	v := document.NewVocabulary()
	add := func(heading, content, name string) uuid.UUID {
		r := &document.Row{Content: content, Heading: heading, ID: uuid.New(), Name: name}
		if name != "" {
			r.NameKind = document.KindProject
		}
		v.Add(r)
		return r.ID
	}
	first := add("Guide > Liveness probes", "the **rolling update** of kubelet, kubelet. 滚动更新的容器", "")
	second := add("Guide > Other", "the kubelet once more; 滚动更新 again.\n```\n**not bold**\n```", "")
	add("Apollo > Why", "unique of all", "Apollo")
	for range 80 {
		add("", "the filler", "")
	}
	for range 9 { // a row that says it twice counts once
		add("Exit codes", "**exit codes** of foo_bar, naïve Café", "")
	}
	terms, err := v.Terms(50, func([]string) (map[string]bool, error) { return map[string]bool{"the": true}, nil })
	require.NoError(t, err)
	found := map[string]*document.Term{}
	for _, term := range terms {
		found[term.Term] = term
	}
	require.Equal(t, document.KindHeading, found["Liveness probes"].Kind)
	require.Equal(t, []uuid.UUID{first}, found["Liveness probes"].Witnesses)
	require.Equal(t, document.KindBold, found["rolling update"].Kind)
	require.Equal(t, 2, found["kubelet"].DF)
	require.Equal(t, []uuid.UUID{first, second}, found["kubelet"].Witnesses)
	require.Equal(t, document.KindProject, terms[0].Kind)
	require.Equal(t, "Apollo", terms[0].Term)
	require.Equal(t, 9, found["Exit codes"].DF)
	require.Empty(t, found["Exit codes"].Witnesses)
	require.Subset(t, slices.Collect(maps.Keys(found)), []string{"滚动更新", "foo_bar", "naïve", "café"})
	for _, absent := range []string{"the", "filler", "unique", "not bold", "滚动", "更新"} { // stop word, too common, once, code, parts
		require.NotContains(t, found, absent)
	}
	few, err := v.Terms(2, func([]string) (map[string]bool, error) { return nil, nil })
	require.NoError(t, err)
	require.Len(t, few, 2)
}
