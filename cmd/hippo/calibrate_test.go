package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/internal/command"
	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

func TestCalibrate(t *testing.T) {
	t.Parallel()
	r := newRunner(t, dbtest.DatabaseURL(dbtest.DB(t)))
	require.Contains(t, r.fails(command.ExitFailed, "calibrate"), "it takes 100")
	var lines []string
	topics := strings.Fields("gardens violins bicycles volcanoes penguins pottery chess railways bakeries glaciers")
	for _, topic := range topics {
		for i, form := range []string{
			"I read a long book about %s and how they came to be", "What do you like best of %s, after all these years?",
			"The best of %s is that nobody is ever in a hurry", "Then let us visit the museum of %s in the spring",
			"My sister wrote to me that %s are what she dreams of", "Do they sell tickets for %s at the door, or before?",
			"At the door, and %s are free for children on Sundays", "I shall ask my uncle, who knows all there is of %s",
			"He told me that %s were forbidden in his village once", "Forbidden %s! One could make a film of that",
			"A film of %s would bore everybody but the two of us", "Good night then, and may you dream of %s",
		} {
			lines = append(lines, fmt.Sprintf(`{"session_id":%q,"author":%q,"text":%q}`, topic, []string{"Ida", "Otto"}[i%2], fmt.Sprintf(form, topic)))
		}
	}
	r.ok("import", write(t, "talks.jsonl", lines...))
	var c struct {
		Applied  bool                          `json:"applied"`
		Model    string                        `json:"model"`
		Settings map[string]map[string]float64 `json:"settings"`
	}
	r.json(&c, "calibrate")
	require.False(t, c.Applied)
	bands, ranking := c.Settings["similarity/"+c.Model], c.Settings["ranking/"+c.Model]
	require.Less(t, bands["ask"], bands["duplicate"])
	require.Greater(t, bands["forget"], 0.0)
	require.InDelta(t, 0.94, ranking["text"]+ranking["vector"], 0.011)
	require.InDelta(t, 0.03, ranking["recency"], 1e-9)
	require.GreaterOrEqual(t, ranking["vector"], 0.05*0.94-0.005)
	origin, _ := r.ok("search", "--explain", "pottery")
	require.Contains(t, origin, "from the setting ranking/"+c.Model+" of app *")

	table, _ := r.ok("calibrate", "--apply")
	require.Regexp(t, `SETTING OF APP hippo +SET\nsimilarity/`+c.Model, table)
	explained, _ := r.ok("search", "--explain", "what does Ida say of pottery?")
	require.Regexp(t, `(?m)^potteri +13 +\d\.\d+ +yes$`, explained)
	require.Contains(t, explained, "from the setting ranking/"+c.Model+" of app hippo")
	require.Regexp(t, `(?m)^0\.\d+ .*potteri .*Ida: `, explained)
	var raw map[string]any
	r.json(&raw, "search", "--explain", "pottery")
	require.Contains(t, raw, "hits")
}
