package service_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/service"
)

// rows counts the rows of every table, whatever writes it.
func (b *testBundle) rows(t *testing.T) string {
	t.Helper()
	var counts string
	require.NoError(t, b.admin.QueryRow(t.Context(), `SELECT jsonb_object_agg(c.relname, (xpath('/row/n/text()',
			query_to_xml(format('SELECT count(*) AS n FROM hippocampus.%I', c.relname), false, true, '')))[1]::text)
		FROM pg_class c WHERE c.relnamespace = 'hippocampus'::regnamespace AND c.relkind = 'r'`).Scan(&counts))
	return counts
}

// TestTwins is for the Tx variants that [TestTx] does not call: of documents, experience, truth,
// sharing, sleep and forgetting. Each sees what those before it wrote, and none of it outlives the transaction.
func TestTwins(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	_, err := b.admin.Exec(t.Context(), `SELECT hippocampus.put_consolidation_policy('shop', '{"sharing": true}')`)
	require.NoError(t, err)
	thread := b.thread(t, ada, "The kettle is broken.")
	before := b.rows(t)
	err = b.begin(t, func(tx pgx.Tx) error {
		b.learnAll(t, tx, thread)
		forgotten, err := b.svc.ForgetUserTx(t.Context(), tx, ada)
		require.NoError(t, err)
		require.EqualValues(t, 1, forgotten.Threads)
		require.Positive(t, forgotten.Memories)
		require.Positive(t, forgotten.Facts)
		return errRollback
	})
	require.ErrorIs(t, err, errRollback)
	require.JSONEq(t, before, b.rows(t))
}

func (b *testBundle) learnAll(t *testing.T, tx pgx.Tx, thread uuid.UUID) {
	t.Helper()
	ctx, svc := t.Context(), b.svc
	events, err := svc.ThreadEventsTx(ctx, tx, ada, thread, nil)
	require.NoError(t, err)
	require.Len(t, events, 1)
	saved, err := svc.SaveMemoryTx(ctx, tx, ada, "Descale the kettle each month.", nil)
	require.NoError(t, err)
	newer, err := svc.UpdateKnowledgeBaseTx(ctx, tx, ada, "kitchen", "Kettle", "Descale it each week.", service.TrustUser)
	require.NoError(t, err)
	recalled, err := svc.RecallTx(ctx, tx, ada, nil)
	require.NoError(t, err)
	require.Len(t, recalled, 3) // with the event of short-term memory

	require.NoError(t, svc.SupersedeTx(ctx, tx, ada, saved, newer, nil))
	require.NoError(t, svc.RevertSupersessionTx(ctx, tx, ada, saved))
	require.NoError(t, svc.ShareMemoryTx(ctx, tx, ada, saved, ""))
	was, err := svc.UnshareMemoryTx(ctx, tx, ada, saved)
	require.NoError(t, err)
	require.True(t, was)
	_, err = svc.LoadSkillTx(ctx, tx, ada, "tea", "# Tea\nBoil the water.")
	require.NoError(t, err)

	decision, err := svc.RecordExperienceTx(ctx, tx, ada, &service.TaskExperience{
		Insight: "Ask which tea.", Retries: 1, Steps: new(2), Task: "Make tea.", Trust: service.TrustUser,
	})
	require.NoError(t, err)
	require.True(t, decision.Stored)
	promoted, err := svc.PromoteExperienceTx(ctx, tx, ada, *decision.MemoryID, "tea", "")
	require.NoError(t, err)
	require.Equal(t, 1, promoted.Version)
	withdrawn, err := svc.RollbackInstructionTx(ctx, tx, "shop", "tea", nil)
	require.NoError(t, err)
	require.Equal(t, 2, withdrawn.Version)
	lesson, err := svc.RecordLessonTx(ctx, tx, ada, "Warm the pot first.", nil)
	require.NoError(t, err)
	confidence, err := svc.WeighLessonTx(ctx, tx, ada, lesson.FactID, true, 1)
	require.NoError(t, err)
	require.Greater(t, confidence, 0.8)

	graph := svc.GraphTx(tx, ada)
	_, err = graph.CreateEntities(ctx, []service.Entity{{EntityType: "thing", Name: "kettle", Observations: []string{"It is broken."}}})
	require.NoError(t, err)
	drawn, err := graph.Read(ctx)
	require.NoError(t, err)
	require.Len(t, drawn.Entities, 1)

	documents := svc.Documents()
	require.NoError(t, documents.SetSourcesTx(ctx, tx, ada, []string{"docs"}))
	require.NoError(t, documents.SetDenylistTx(ctx, tx, ada, []string{"kettle"}))
	_, err = svc.EnqueueSleepTx(ctx, tx, ada)
	require.NoError(t, err)
	forgotten, err := svc.ForgetMemoryTx(ctx, tx, ada, "descale the kettle each week", nil)
	require.NoError(t, err)
	require.Positive(t, forgotten.Memories)
}
