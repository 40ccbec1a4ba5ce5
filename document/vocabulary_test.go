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

// A corpus of ever new words and headings is counted in bounded memory, and not walked through for each row.
func TestVocabularyIsPruned(t *testing.T) {
	t.Parallel()
	const most, rows = 200, 2000
	v := document.NewBoundedVocabulary(most)
	letters := func(n int) string { // a word for a number
		word := []byte("xxxx")
		for ; n > 0; n /= 26 {
			word = append(word, 'a'+byte(n%26))
		}
		return string(word)
	}
	prunedWords, prunedPhrases, lastWords, lastPhrases := 0, 0, 0, 0
	for i := range rows {
		// each new word stands there twice, as runs of Chinese characters often do; one comes again and again
		v.Add(&document.Row{Content: letters(i) + " " + letters(i) + " kubelet", Heading: "On " + letters(i), ID: uuid.New()})
		words, phrases := v.Size()
		require.LessOrEqual(t, max(words, phrases), most)
		if words < lastWords {
			prunedWords++
		}
		if phrases < lastPhrases {
			prunedPhrases++
		}
		lastWords, lastPhrases = words, phrases
	}
	for _, pruned := range []int{prunedWords, prunedPhrases} {
		require.Positive(t, pruned)
		require.LessOrEqual(t, pruned, rows/(most/2)+1)
	}
	for i := range 80 { // so that the word that is in each row tells something
		v.Add(&document.Row{Content: "other things", Heading: "Name " + letters(i), ID: uuid.New(), Name: "Apollo", NameKind: document.KindProject})
	}
	terms, err := v.Terms(1000, func([]string) (map[string]bool, error) { return nil, nil })
	require.NoError(t, err)
	require.Equal(t, "Apollo", terms[0].Term)

	// Names are never dropped: each is a document's.
	for i := range most + 1 {
		v.Add(&document.Row{ID: uuid.New(), Name: "Project " + letters(i), NameKind: document.KindProject})
	}
	_, phrases := v.Size()
	require.Greater(t, phrases, most)
}
