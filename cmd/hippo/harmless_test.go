package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

func TestHarmless(t *testing.T) {
	t.Parallel()
	const (
		title  = "tea \x1b]0;owned\a\x1b[2J\u009b31m\u202eevil\u2066\r\b\x7f t\u200bh\u00ade\ufeff\u2028 \U000e0041\u3164end"
		family = "👩‍👩‍👧 שלום 你好" // joined and written from right to left, as it should be
	)
	pool := dbtest.DB(t)
	_, err := pool.Exec(t.Context(), "SELECT hippocampus.remember('me', 'hippo', $1), hippocampus.upsert_fact('me', 'hippo', 'custom', 'tea', to_jsonb($1::text)), hippocampus.remember('me', 'hippo', $2)",
		title, "tea "+family)
	require.NoError(t, err)
	hippo := func(args ...string) string {
		var out, errs bytes.Buffer
		code := run(context.WithoutCancel(t.Context()), append(args, "--database-url", dbtest.DatabaseURL(pool)), &out, &errs, func(name string) string {
			if name == "HOME" {
				return os.Getenv("HOME")
			}
			return ""
		})
		require.Zero(t, code, errs.String())
		return out.String() + errs.String()
	}
	for _, args := range [][]string{{"search", "tea"}, {"context", "tea"}, {"context", "--max-tokens", "40", "--ledger", "tea"}} {
		shown := hippo(args...)
		require.Contains(t, shown, "tea", "%v", args)
		require.NotRegexp(t, "[\x00-\x08\x0b-\x1f\x7f\u0080-\u009f\u202a-\u202e\u2066-\u2069\u00ad\u200b\u2028\ufeff\u3164\U000e0041]", shown, "%v", args)
	}
	require.Contains(t, hippo("search", "tea"), family)
	var found struct{ Memories []struct{ Content string } }
	require.NoError(t, json.Unmarshal([]byte(hippo("search", "--json", "tea")), &found))
	require.Contains(t, []string{found.Memories[0].Content, found.Memories[1].Content}, title)
}
