package migrate_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"regexp"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/pgvector/pgvector-go"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/db"
	sqlfiles "github.com/hippocampus-memory/hippocampus/sql"
	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

func TestExtension(t *testing.T) {
	t.Parallel()

	t.Run("FilesNameItsSchemaForNothingElse", func(t *testing.T) {
		t.Parallel()
		allowed := regexp.MustCompile(`^public\.(vector|halfvec|sparsevec|[a-z0-9]*_?(dims|norm|distance|product|similarity)|` +
			`(vector|halfvec)_[a-z0-9]+_ops|l2_normalize|binary_quantize|<|-|\+|\*)`)
		token := regexp.MustCompile(`\bpublic\..{0,20}`)
		for _, fsys := range []fs.FS{sqlfiles.Functions, sqlfiles.Schema} {
			err := fs.WalkDir(fsys, ".", func(path string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				body, err := fs.ReadFile(fsys, path)
				for _, use := range token.FindAllString(string(body), -1) {
					require.Regexp(t, allowed, use, path)
				}
				return err
			})
			require.NoError(t, err)
		}
	})

	t.Run("QueriesNameNoSchemaOfIt", func(t *testing.T) {
		t.Parallel()
		// What programs ask is not rewritten, as the files of functions and migrations are.
		queries := os.DirFS("../../sql/queries")
		schemaName := regexp.MustCompile(`\bpublic\..{0,20}`)
		names, err := fs.Glob(queries, "*.sql")
		require.NoError(t, err)
		require.NotEmpty(t, names)
		for _, name := range names {
			body, err := fs.ReadFile(queries, name)
			require.NoError(t, err)
			require.Empty(t, schemaName.FindString(string(body)), name)
		}
	})

	for _, schema := range []string{"extensions", "My Extensions"} {
		t.Run("InSchema "+schema, func(t *testing.T) {
			t.Parallel()
			databaseURL := dbtest.Empty(t, "")
			quoted := pgx.Identifier{schema}.Sanitize()
			execute(t, databaseURL, "CREATE SCHEMA "+quoted+"; CREATE EXTENSION vector SCHEMA "+quoted+"; DROP SCHEMA public")
			report := up(t, databaseURL, 3)
			require.Equal(t, 3, report.Dimension)
			require.NoError(t, migrator(t, databaseURL, 3).Validate(t.Context()))
			require.Empty(t, up(t, databaseURL, 0).Applied)

			// The types are known to a pool whatever its search_path, and the roles may use them.
			pool, err := db.NewPool(t.Context(), &db.Config{DatabaseURL: databaseURL + "&search_path="})
			require.NoError(t, err)
			defer pool.Close()
			scope := db.Scope{AppName: "shop", UserID: "ada"}
			vector, half := pgvector.NewVector([]float32{1, 2, 3}), pgvector.NewHalfVector([]float32{4, 5, 6})
			err = db.WithScope(t.Context(), pool, scope, func(tx pgx.Tx) error {
				var gotVector pgvector.Vector
				var gotHalf []pgvector.HalfVector
				err := tx.QueryRow(t.Context(), "SELECT $1::"+quoted+".vector, $2::"+quoted+".halfvec[]",
					vector, []pgvector.HalfVector{half}).Scan(&gotVector, &gotHalf)
				require.NoError(t, err)
				require.Equal(t, vector, gotVector)
				require.Equal(t, []pgvector.HalfVector{half}, gotHalf)
				return nil
			})
			require.NoError(t, err)
			consolidate(t, pool, scope)

			_, err = migrator(t, databaseURL, 0).Down(t.Context(), 0)
			require.NoError(t, err)
			up(t, databaseURL, 0)
		})
	}

	t.Run("MovesLater", func(t *testing.T) {
		t.Parallel()
		databaseURL := dbtest.Empty(t, "")
		up(t, databaseURL, 0)
		execute(t, databaseURL, "CREATE SCHEMA extensions; ALTER EXTENSION vector SET SCHEMA extensions")
		require.ErrorIs(t, migrator(t, databaseURL, 0).Validate(t.Context()), db.ErrInvalidSchema)
		require.NotZero(t, up(t, databaseURL, 0).Functions)
		require.NoError(t, migrator(t, databaseURL, 0).Validate(t.Context()))
	})
}

// consolidate stores an episode with its vector and asks what a sleep and a calibration ask.
func consolidate(t *testing.T, pool *pgxpool.Pool, scope db.Scope) {
	t.Helper()
	queries, now := db.New(), time.Now()
	thread, err := queries.ThreadCreate(t.Context(), pool, &db.ThreadCreateParams{AppName: scope.AppName, State: []byte("{}"), UserID: scope.UserID})
	require.NoError(t, err)
	var episodes []map[string]any
	for i, text := range []string{"Ada moved to Porto", "Ada has a cat", "Ada moved to Porto"} { // the last is there already
		episodes = append(episodes, map[string]any{
			"category": "other", "content": text, "from_seq": 1 + i%2, "importance": 0.5, "initial_score": 0.5, "occurred_from": now,
			"occurred_until": now, "source": "fast_replay", "tags": []string{}, "to_seq": 1 + i%2, "token_count": 3,
		})
	}
	text, err := json.Marshal(episodes)
	require.NoError(t, err)
	model := "a-model"
	ids, err := queries.MemoryRememberEpisodes(t.Context(), pool, &db.MemoryRememberEpisodesParams{
		AppName: scope.AppName, EmbeddingModel: &model, Embeddings: []float32{1, 0, 0, 0, 1, 0, 0, 0, 1},
		Episodes: text, ThreadID: thread, UserID: scope.UserID,
	})
	require.NoError(t, err)
	require.Equal(t, ids[0], ids[2])
	var stored []pgvector.HalfVector
	err = pool.QueryRow(t.Context(), "SELECT array_agg(e.embedding ORDER BY m.content) FROM hippocampus.embeddings e JOIN hippocampus.memories m ON m.id = e.row_id").Scan(&stored)
	require.NoError(t, err)
	cat, moved := pgvector.NewHalfVector([]float32{0, 1, 0}), pgvector.NewHalfVector([]float32{0, 0, 1})
	require.Equal(t, []pgvector.HalfVector{cat, moved}, stored)
	_, err = queries.SleepListClusterable(t.Context(), pool, &db.SleepListClusterableParams{AppName: scope.AppName, MaxRows: 10, UserID: scope.UserID})
	require.NoError(t, err)
	_, err = queries.AnchorSample(t.Context(), pool, &db.AnchorSampleParams{AppName: scope.AppName, MaxRows: 10, UserID: scope.UserID})
	require.NoError(t, err)
}
