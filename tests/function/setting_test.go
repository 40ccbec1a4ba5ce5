package function_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPutSetting(t *testing.T) {
	t.Parallel()

	t.Run("DeploymentKeepsOneOfEach", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		for _, key := range []string{
			"text_search_config", "token_encoding", "episodic_turns", "fact_supersede_margin", "exact_search_rows", "ranking",
		} {
			b.refuses(t, "HC009", "cannot go", "DELETE FROM hippocampus.settings WHERE app_name = '*' AND key = $1", key)
			b.refuses(t, "HC009", "cannot go", "UPDATE hippocampus.settings SET app_name = 'x' WHERE app_name = '*' AND key = $1", key)
		}
		b.refuses(t, "HC009", "(*, *, *) cannot go", "DELETE FROM hippocampus.retention_policies")
		b.refuses(t, "HC009", "(*, *, *) cannot go", "UPDATE hippocampus.retention_policies SET app_name = 'x' WHERE app_name = '*'")
		b.exec(t, "SELECT hippocampus.put_setting($1, 'episodic_turns', '2')", b.AppName)
		b.exec(t, "DELETE FROM hippocampus.settings WHERE app_name = $1", b.AppName) // an app's own may go
		b.exec(t, "SELECT hippocampus.apply_retention_preset($1, 'busy')", b.AppName)
		b.exec(t, "DELETE FROM hippocampus.retention_policies WHERE app_name = $1", b.AppName)
	})

	t.Run("RefusesWhatIsNotValid", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		for _, c := range []struct{ key, value, message string }{
			{"text_search_confg", `"english"`, "the setting 'text_search_confg' is unknown"},
			{"ranking/", `{"text": 1}`, "is unknown"},
			{"text_search_config", `"klingon"`, `configuration "klingon" is unknown`},
			{"text_search_config", `"-"`, `configuration "-" is unknown`},
			{"text_search_config", `1`, "is 1"},
			{"token_encoding", `""`, "token_encoding"},
			{"episodic_turns", `0`, "episodic_turns is 0"},
			{"episodic_turns", `1.5`, "is 1.5"},
			{"episodic_turns", `"1"`, `is "1"`},
			{"fact_supersede_margin", `1.1`, "fact_supersede_margin is 1.1"},
			{"exact_search_rows", `1e400`, "exact_search_rows is"},
			{"ranking", `{"txt": 1}`, "is 'txt'"},
			{"ranking", `{"text": "1"}`, "the weight text of the setting ranking is null"},
			{"ranking", `{"text": -0.1}`, "is -0.1"},
			{"ranking/m", `{"text": 0}`, "no weight of the setting 'ranking/m' is above 0"},
			{"ranking", `[]`, "is []"},
		} {
			b.refuses(t, "HC009", c.message, "SELECT hippocampus.put_setting($1, $2, $3)", b.AppName, c.key, c.value)
			b.refuses(t, "HC009", c.message, "INSERT INTO hippocampus.settings (app_name, key, value) VALUES ($1, $2, $3)", b.AppName, c.key, c.value)
		}
		b.refuses(t, "HC009", "is null", "SELECT hippocampus.put_setting($1, 'ranking', NULL)", b.AppName)
		b.refuses(t, "HC009", "the setting null is unknown", "SELECT hippocampus.put_setting($1, NULL, '1')", b.AppName)
		b.refuses(t, "HC001", "p_app_name is empty", "SELECT hippocampus.put_setting('', 'ranking', '{}')")
		b.refuses(t, "HC001", "p_app_name is null", "SELECT hippocampus.apply_retention_preset(NULL, 'busy')")
	})

	t.Run("SetsAndChanges", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		for key, value := range map[string]string{
			"episodic_turns": "3", "exact_search_rows": "500", "fact_supersede_margin": "0.25", "ranking": `{"text": 1, "vector": 2}`,
			"ranking/m": `{"recency": 0.5}`, "text_search_config": `"german"`, "token_encoding": `"cl100k_base"`,
		} {
			for range 2 {
				b.exec(t, "SELECT hippocampus.put_setting($1, $2, $3)", b.AppName, key, value)
			}
			require.JSONEq(t, value, get[string](t, b, "SELECT hippocampus._setting($1, $2)", b.AppName, key))
		}
	})

	t.Run("WordsStayAsTheyWereIndexed", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.exec(t, `SELECT hippocampus.put_setting($1, 'text_search_config', '"german"')`, b.AppName)
		b.exec(t, `SELECT hippocampus.put_setting($1, 'text_search_config', '"simple"')`, b.AppName) // nothing is indexed yet
		id := b.remember(t, "tea")
		b.exec(t, `SELECT hippocampus.put_setting($1, 'text_search_config', '"pg_catalog.simple"')`, b.AppName) // the same one
		b.refuses(t, "HC009", "rows are indexed with another", `SELECT hippocampus.put_setting($1, 'text_search_config', '"german"')`, b.AppName)
		b.refuses(t, "HC009", "rows are indexed with another", "DELETE FROM hippocampus.settings WHERE app_name = $1", b.AppName)
		b.exec(t, `UPDATE hippocampus.settings SET value = '"german"' WHERE app_name = '*' AND key = 'text_search_config'`) // has its own
		b.exec(t, `UPDATE hippocampus.settings SET value = '"english"' WHERE app_name = '*' AND key = 'text_search_config'`)
		b.exec(t, "SELECT hippocampus.forget($1, $2, ARRAY[$3::uuid])", b.UserID, b.AppName, id)
		b.exec(t, "DELETE FROM hippocampus.settings WHERE app_name = $1", b.AppName)
		b.remember(t, "tea")
		b.refuses(t, "HC009", "of app '*' cannot become", `SELECT hippocampus.put_setting('*', 'text_search_config', '"german"')`)
	})
}
