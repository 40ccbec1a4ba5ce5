package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/model"
)

const (
	harvestBatch     = 20
	harvestRetryBase = time.Minute
	harvestRetryMax  = 6 * time.Hour

	// maxTaskChars and maxStepChars bound what an experience tells of a conversation.
	maxTaskChars = 2_000
	maxStepChars = 500
	maxSteps     = 50
)

// HarvestArgs asks for lessons and experiences from what conversations have that is new. The clock
// enqueues it, by [Config].HarvestInterval.
type HarvestArgs struct{}

// Kind is the name of the kind.
func (HarvestArgs) Kind() string { return "harvest" }

// InsertOpts let one harvest run at a time.
func (HarvestArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{MaxAttempts: 3, Queue: queueMaintenance, UniqueOpts: once()}
}

type harvestWorker struct {
	river.WorkerDefaults[HarvestArgs]
	*Worker
}

// Timeout is the time limit of a job.
func (w *harvestWorker) Timeout(*river.Job[HarvestArgs]) time.Duration {
	return w.config.ConsolidateTimeout
}

type (
	dueHarvest     = db.HarvestListDueRow
	harvestedEvent = db.HarvestListEventsRow
)

// Work reads threads that have corrections or steps of tasks which it has not read, asks the model
// about them without a connection, and stores what came of it with the watermark, in one
// transaction. A thread that fails is tried again later, and does not keep the others from it; where the
// provider asks for patience, none is begun until then. What is left when half of the time is over, the
// next harvest reads.
func (w *harvestWorker) Work(ctx context.Context, job *river.Job[HarvestArgs]) error {
	started := time.Now()
	begin, until := started.Add(w.config.ConsolidateTimeout/2), started.Add(w.config.ConsolidateTimeout*2/3)
	for time.Now().Before(begin) {
		due, err := w.queries.HarvestListDue(ctx, w.pool, &db.HarvestListDueParams{
			MaxRows: harvestBatch, QuietSeconds: w.config.HarvestQuiet.Seconds(),
		})
		if err != nil {
			return w.stopped(ctx, fmt.Errorf("look for conversations to harvest: %w", db.Wrap(err)))
		}
		for _, d := range due {
			if !time.Now().Before(begin) {
				break
			}
			err := w.harvest(ctx, d, until)
			if isCutOff(ctx) {
				return nil // it is found again
			}
			if err == nil {
				continue
			}
			if deferErr := w.putOff(ctx, job, d, err); deferErr != nil || ctx.Err() != nil {
				return deferErr
			}
			if wait, limited := rateLimit(err, 1); limited { // of the next it would ask the same
				return w.snooze(job.Kind, wait)
			}
		}
		if len(due) == 0 {
			break
		}
	}
	promoted, err := w.queries.ExperiencePromoteMany(ctx, w.pool, harvestBatch)
	if err != nil {
		return w.stopped(ctx, fmt.Errorf("promote experiences: %w", db.Wrap(err)))
	}
	if promoted > 0 {
		w.logger.InfoContext(ctx, "experiences became instructions", "job", job.ID, "experiences", promoted)
	}
	return nil
}

// putOff has a thread whose harvest failed tried again later, also where the job's time is over: it must not be the
// first of the next harvest, too.
func (w *harvestWorker) putOff(ctx context.Context, job *river.Job[HarvestArgs], d *dueHarvest, reason error) error {
	w.logger.WarnContext(ctx, "a conversation could not be harvested; will try again", "job", job.ID, "thread", d.ThreadID,
		"attempts", d.Attempts+1, "error", reason)
	wait := backoff(int(d.Attempts)+1, harvestRetryBase, harvestRetryMax)
	var failure *model.Error
	if errors.As(reason, &failure) {
		wait = max(wait, failure.RetryAfter)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), claimTimeout)
	defer cancel()
	err := w.queries.HarvestDefer(ctx, w.pool, &db.HarvestDeferParams{
		AppName: d.AppName, DelaySeconds: wait.Seconds(), Error: model.FirstRunes(model.CleanText(reason.Error()), maxErrorChars),
		ThreadID: d.ThreadID, UserID: d.UserID,
	})
	if err != nil {
		return fmt.Errorf("put off a harvest: %w", db.Wrap(err))
	}
	return nil
}

// harvest reads the next piece of a thread. It waits for a classifier until the given time.
func (w *harvestWorker) harvest(ctx context.Context, d *dueHarvest, until time.Time) error {
	events, err := w.queries.HarvestListEvents(ctx, w.pool, &db.HarvestListEventsParams{
		AfterSeq: d.HarvestedSeq, AppName: d.AppName, MaxRows: maxPieceEvents, MaxTokens: int64(w.config.MaxConversationTokens),
		ThreadID: d.ThreadID, UserID: d.UserID,
	})
	if err != nil {
		return fmt.Errorf("read events: %w", db.Wrap(err))
	}
	events = fitting(events, w.config.MaxConversationChars, func(e *harvestedEvent) (author, text string) {
		author = spokenBy(e.Author, e.Trust)
		e.Text = w.head(e.Text, w.config.MaxConversationTokens, max(1, w.config.MaxConversationChars/2-utf8.RuneCountInString(author)))
		return author, e.Text
	})
	var (
		corrections []*harvestedEvent
		steps       []*harvestedEvent
		turns       []model.Turn
	)
	to := d.HarvestedSeq
	if len(events) == 0 { // all that there was is forgotten
		to = d.LastSeq
	}
	for _, e := range events {
		to = e.SequenceNum
		if e.IsStep {
			steps = append(steps, e)
		}
		if e.IsCorrection && isPersons(e) {
			corrections = append(corrections, e)
		}
		if !isBlank(e.Text) {
			turns = append(turns, model.Turn{At: e.CreatedAt, Author: spokenBy(e.Author, e.Trust), Sequence: e.SequenceNum, Text: e.Text})
		}
	}
	tried := len(steps) >= int(d.MinSteps)
	var reflection *model.Reflection
	if len(turns) > 0 && (len(corrections) > 0 || tried) {
		if reflection, err = w.config.Models.Reflector.Reflect(ctx, &model.Conversation{Turns: turns}); err != nil {
			return fmt.Errorf("reflect on events %d to %d: %w", d.HarvestedSeq+1, to, err)
		}
	}
	lessons := lessonsOf(reflection, events, corrections)
	judge := w.newJudge(ctx, until, "thread", d.ThreadID)
	if err := w.compareLessons(ctx, d, lessons, judge, until); err != nil {
		return err
	}
	experience := experienceOf(d, reflection, events, steps, tried)
	for {
		err := w.storeHarvest(ctx, d, to, lessons, experience, judge.Undecided())
		if w.isOutlived(ctx, err) && dropVectors(lessons) {
			continue
		}
		var open *undecidedError
		if !errors.As(err, &open) {
			return err
		}
		i := slices.IndexFunc(lessons, func(l *newLesson) bool { return &l.statement == open.statement })
		if err := lessons[i].decide(ctx, judge.Again, open.outcome); err != nil { // one like it came up meanwhile
			return err
		}
	}
}

// isPersons is whether a rule may come of an event: words of an agent or a tool are none's
// instruction.
func isPersons(e *harvestedEvent) bool { return e.Trust == "user" || e.Trust == "operator" }

// experienceOf is the task that the events tell of, if it took steps enough: what was asked for first,
// what was done, how often an error was got over, and whether the last step was one.
func experienceOf(d *dueHarvest, r *model.Reflection, events, steps []*harvestedEvent, tried bool) *db.ExperienceRecordParams {
	if !tried || len(steps) == 0 {
		return nil
	}
	p := &db.ExperienceRecordParams{
		AppName: d.AppName, FromSeq: &events[0].SequenceNum, Metadata: json.RawMessage(`{}`), Outcome: "success", Source: "harvest",
		Steps: new(int32(len(steps))), Tags: []string{}, ThreadID: &d.ThreadID, ToSeq: &events[len(events)-1].SequenceNum,
		Trust: "agent", UserID: d.UserID,
	}
	if steps[len(steps)-1].Category == "error" {
		p.Outcome = "failure"
	}
	trajectory := []string{}
	for i, s := range steps {
		if s.Category == "error" && i+1 < len(steps) && steps[i+1].Category != "error" {
			p.Retries++
		}
		if len(trajectory) < maxSteps {
			trajectory = append(trajectory, model.FirstRunes(s.Category+": "+s.Text, maxStepChars))
		}
	}
	text, err := json.Marshal(trajectory)
	if err != nil {
		panic("worker: strings were not encoded: " + err.Error())
	}
	p.Trajectory = text
	for _, e := range events {
		if !isBlank(e.Text) && (p.Task == "" || isPersons(e)) {
			p.Task = strings.TrimSpace(model.FirstRunes(e.Text, maxTaskChars))
			if isPersons(e) {
				break
			}
		}
	}
	if p.Task == "" {
		return nil
	}
	if r != nil {
		weight := map[string]int{model.ImportanceHigh: 3, model.ImportanceMedium: 2, model.ImportanceLow: 1}
		best := 0
		for _, i := range r.Insights {
			if content := model.CleanText(i.Content); weight[i.Importance] > best && !isBlank(content) {
				best = weight[i.Importance]
				p.Insight = new(model.FirstRunes(content, maxTaskChars))
			}
		}
	}
	return p
}

// storeHarvest stores what came of a piece, and moves the watermark. Where another process has read the
// piece meanwhile, or something of the thread was forgotten, nothing is stored, and it is read again.
func (w *harvestWorker) storeHarvest(
	ctx context.Context, d *dueHarvest, to int64, lessons []*newLesson, experience *db.ExperienceRecordParams, undecided string,
) error {
	return w.inModel(ctx, func(tx pgx.Tx) error {
		if _, err := w.queries.ThreadLock(ctx, tx, d.ThreadID); err != nil {
			if errors.Is(err, pgx.ErrNoRows) { // forgotten meanwhile
				return nil
			}
			return fmt.Errorf("lock the thread: %w", db.Wrap(err))
		}
		moved, err := w.queries.HarvestMove(ctx, tx, &db.HarvestMoveParams{
			AfterSeq: d.HarvestedSeq, AppName: d.AppName, Forgettings: d.Forgettings, ThreadID: d.ThreadID, ToSeq: to, UserID: d.UserID,
		})
		if err != nil || moved == 0 {
			return db.Wrap(err)
		}
		for _, l := range lessons {
			if err := w.recordLesson(ctx, tx, l, undecided); err != nil {
				return err
			}
		}
		if experience != nil {
			if _, err := w.queries.ExperienceRecord(ctx, tx, experience); err != nil {
				return fmt.Errorf("record an experience: %w", db.Wrap(err))
			}
		}
		return nil
	})
}
