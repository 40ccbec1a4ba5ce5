package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/model"
)

const (
	sleepAttempts = 3
	sleepTimeout  = 10 * time.Minute
	// maxSleepRows is how many episodes a sleep looks at; what is left, the next one does.
	maxSleepRows = 2000
)

// SleepArgs asks for a sleep: a user's memories are put in order. Its record in sleep_reports says
// whose, so that the job's arguments tell nothing of a user. enqueue_sleep makes both.
type SleepArgs struct {
	ReportID uuid.UUID `json:"report_id"`
}

// Kind is the name of the kind.
func (SleepArgs) Kind() string { return "sleep" }

// InsertOpts are those of enqueue_sleep.
func (SleepArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{MaxAttempts: sleepAttempts, Queue: queueSleep}
}

type sleepWorker struct {
	river.WorkerDefaults[SleepArgs]
	*Worker
}

// Timeout is the time limit of an attempt.
func (w *sleepWorker) Timeout(*river.Job[SleepArgs]) time.Duration { return sleepTimeout }

// Work links, tags and merges memories, which needs no model, and then makes clusters of episodes and
// draws insights from them, as far as the policy's budget of model calls goes. Each cluster is stored
// in a transaction of its own: an attempt that is cut off loses none, and the next one goes on. The report's status
// is the job's, which the database sees to.
func (w *sleepWorker) Work(ctx context.Context, job *river.Job[SleepArgs]) error {
	report, err := w.queries.SleepGet(ctx, w.pool, job.Args.ReportID)
	if errors.Is(err, pgx.ErrNoRows) { // the user was forgotten
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the report: %w", db.Wrap(err))
	}
	s := &sleep{sleepWorker: w, id: job.Args.ReportID, report: report, until: time.Now().Add(sleepTimeout * 2 / 3)}
	err = s.run(ctx)
	if wait, limited := rateLimit(err, snoozes(job.Metadata)+1); limited && ctx.Err() == nil {
		w.logger.InfoContext(ctx, "the provider asks for patience", "job", job.ID, "wait", wait.Round(time.Millisecond).String(), "error", err)
		s.note(ctx, err)
		return w.snooze(job.Kind, wait)
	}
	return err
}

type sleep struct {
	*sleepWorker
	id     uuid.UUID
	report *db.SleepGetRow
	calls  int       // of models, left
	until  time.Time // when it stops waiting for a model
}

// note writes down why a sleep waits, which River doesn't.
func (s *sleep) note(ctx context.Context, reason error) {
	err := s.queries.SleepSetError(ctx, s.pool, &db.SleepSetErrorParams{Error: model.CleanText(reason.Error()), ID: s.id})
	if err != nil {
		s.logger.WarnContext(ctx, "can't write down why a sleep waits", "report", s.id, "error", db.Wrap(err))
	}
}

func (s *sleep) run(ctx context.Context) error {
	policy, err := s.queries.PolicyGet(ctx, s.pool, s.report.AppName)
	if err != nil {
		return fmt.Errorf("read the policy: %w", db.Wrap(err))
	}
	s.calls = int(policy.SleepModelCalls - s.report.ModelCalls)
	if err := s.tidy(ctx); err != nil {
		return err
	}
	if s.calls <= 0 {
		return nil
	}
	rows, err := s.queries.SleepListClusterable(ctx, s.pool, &db.SleepListClusterableParams{
		AppName: s.report.AppName, MaxRows: maxSleepRows, UserID: s.report.UserID,
	})
	if err != nil {
		return fmt.Errorf("list episodes: %w", db.Wrap(err))
	}
	for len(rows) > 0 && s.calls > 0 {
		n := 1
		for n < len(rows) && rows[n].Run == rows[0].Run {
			n++
		}
		if err := s.cluster(ctx, rows[:n]); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// tidy is the part that needs no model. What is left when half of the time is over, the next sleep
// does.
func (s *sleep) tidy(ctx context.Context) error {
	since := &s.report.Since
	for start := time.Now(); time.Since(start) < sleepTimeout/2; since = nil {
		if lookedAt, err := s.tidyBatch(ctx, since); err != nil || lookedAt == 0 {
			return err
		}
	}
	return nil
}

func (s *sleep) tidyBatch(ctx context.Context, since *time.Time) (lookedAt int, err error) {
	err = pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		text, err := s.queries.SleepTidy(ctx, tx, &db.SleepTidyParams{
			AppName: s.report.AppName, Since: since, UserID: s.report.UserID,
		})
		if err != nil {
			return err
		}
		var changes struct {
			ChangedIDs            []uuid.UUID `json:"changed_ids"`
			LookedAt              int         `json:"looked_at"`
			Links, Merged, Tagged int32
		}
		if err := json.Unmarshal(text, &changes); err != nil {
			return err
		}
		lookedAt = changes.LookedAt
		return s.queries.SleepRecord(ctx, tx, &db.SleepRecordParams{
			ChangedIds: changes.ChangedIDs, ID: s.id, Links: changes.Links, Merged: changes.Merged, Tagged: changes.Tagged,
		})
	})
	if err != nil {
		return 0, fmt.Errorf("put memories in order: %w", db.Wrap(err))
	}
	return lookedAt, nil
}

// cluster names a run of episodes, and draws insights from it where the budget allows another call.
func (s *sleep) cluster(ctx context.Context, rows []*db.SleepListClusterableRow) error {
	conversation := &model.Conversation{}
	ids := make([]uuid.UUID, len(rows))
	chars := 0
	for i, r := range rows {
		ids[i] = r.ID
		if chars > s.config.MaxConversationChars {
			continue // it is of the cluster, but no model reads it
		}
		turn := model.Turn{At: r.OccurredFrom, Author: "memory", Sequence: int64(i + 1), Text: model.FirstRunes(s.embeddable(r.Content), s.config.MaxConversationChars-len("memory"))}
		if chars += utf8.RuneCountInString(turn.Author) + utf8.RuneCountInString(turn.Text); chars <= s.config.MaxConversationChars {
			conversation.Turns = append(conversation.Turns, turn)
		}
	}
	if len(conversation.Turns) == 0 {
		return nil
	}
	calls := 1
	summary, err := s.config.Models.Summarizer.Summarize(ctx, conversation)
	if err != nil {
		if _, limited := rateLimit(err, 1); limited { // which cost nothing
			calls = 0
		}
		return errors.Join(fmt.Errorf("name a cluster: %w", err), s.spend(ctx, calls))
	}
	name := model.CleanText(summary.Content)
	var insights []model.Insight
	if s.calls > 1 {
		calls++
		var reflection *model.Reflection
		err := s.patiently(ctx, s.until, func() (err error) { // or the name would have to be paid again
			reflection, err = s.config.Models.Reflector.Reflect(ctx, conversation)
			return err
		})
		if err != nil {
			return errors.Join(fmt.Errorf("draw insights from a cluster: %w", err), s.spend(ctx, calls))
		}
		insights = reflection.Insights
	}
	s.calls -= calls
	if isBlank(name) {
		return s.spend(ctx, calls)
	}
	drawn, err := s.drawn(insights)
	if err != nil {
		return errors.Join(fmt.Errorf("write down insights: %w", err), s.spend(ctx, calls))
	}
	return s.store(ctx, &db.SleepStoreClusterParams{
		AppName: s.report.AppName, Insights: drawn, MemoryIds: ids, Model: &summary.Model, Name: name,
		TokenCount: int32(s.config.Counter.Count(name)), UserID: s.report.UserID,
	}, calls)
}

// store stores a cluster with its insights. An episode that was forgotten meanwhile, or that another
// sleep was faster with, leaves nothing of it.
func (s *sleep) store(ctx context.Context, cluster *db.SleepStoreClusterParams, calls int) error {
	err := pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		ids, err := s.queries.SleepStoreCluster(ctx, tx, cluster)
		if err != nil {
			return err
		}
		record := &db.SleepRecordParams{ChangedIds: ids, ID: s.id, ModelCalls: int32(calls)}
		if len(ids) > 0 {
			record.Clusters, record.Insights = 1, int32(len(ids)-1)
		}
		return s.queries.SleepRecord(ctx, tx, record)
	})
	if err != nil {
		return errors.Join(fmt.Errorf("store a cluster: %w", db.Wrap(err)), s.spend(ctx, calls))
	}
	return nil
}

// drawnInsight is an insight as SleepStoreCluster reads it.
type drawnInsight struct {
	Content    string  `json:"content"`
	Score      float64 `json:"score"`
	TokenCount int     `json:"token_count"`
}

// drawn gives what a model drew from a cluster, but for what is blank.
func (s *sleep) drawn(insights []model.Insight) ([]byte, error) {
	drawn := []drawnInsight{}
	for _, insight := range insights {
		content := model.CleanText(insight.Content)
		if isBlank(content) {
			continue
		}
		score, known := insightScores[insight.Importance]
		if !known {
			score = insightScores[model.ImportanceMedium]
		}
		drawn = append(drawn, drawnInsight{Content: content, Score: score, TokenCount: s.config.Counter.Count(content)})
	}
	return json.Marshal(drawn)
}

// spend writes down calls that came to nothing: they cost all the same.
func (s *sleep) spend(ctx context.Context, calls int) error {
	err := s.queries.SleepRecord(context.WithoutCancel(ctx), s.pool, &db.SleepRecordParams{
		ChangedIds: []uuid.UUID{}, ID: s.id, ModelCalls: int32(calls),
	})
	if err != nil {
		return fmt.Errorf("write down what it cost: %w", db.Wrap(err))
	}
	return nil
}
