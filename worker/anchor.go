package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/pgvector/pgvector-go"
	"github.com/riverqueue/river"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/document"
)

const (
	// anchorLease is how long a rebuild may be silent before it is taken for dead, even if its session
	// seems to live. It is renewed while a model is waited for.
	anchorLease = 2 * time.Minute

	// anchorPatience is how long a rebuild waits in place for an embedder that asks for patience.
	anchorPatience = time.Minute

	// anchorRenewal is how often the lease is renewed.
	anchorRenewal = anchorLease / 8

	anchorPutBatch  = 500
	anchorFillBatch = 25
)

// AnchorArgs asks for a rebuild of the anchor index of every tenant that has documents. The clock
// enqueues it, by [Config].AnchorSchedule.
type AnchorArgs struct{}

// Kind is the name of the kind.
func (AnchorArgs) Kind() string { return "rebuild_anchors" }

// InsertOpts let one such job exist at a time.
func (AnchorArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{MaxAttempts: 10, Queue: queueMaintenance, UniqueOpts: once()}
}

type anchorWorker struct {
	river.WorkerDefaults[AnchorArgs]
	*Worker
}

// Timeout is the time limit of an attempt.
func (w *anchorWorker) Timeout(*river.Job[AnchorArgs]) time.Duration { return w.config.AnchorTimeout }

// Work rebuilds one tenant after the other. Those that were rebuilt since the job was made are not
// rebuilt again, so another attempt goes on where one was cut off; see [Worker.rescueKilled]. So it does where the
// embedder asks for more patience than the rebuild has.
func (w *anchorWorker) Work(ctx context.Context, job *river.Job[AnchorArgs]) error {
	if wait := w.embedPause.remaining(); wait > 0 {
		return w.snooze(job.Kind, wait)
	}
	life, err := w.holdAnchorJob(ctx, job.ID)
	if w.isOutlived(ctx, err) {
		return w.leaveAnchors(job)
	}
	if err != nil {
		return err
	}
	if life == nil { // another attempt of the same job lives: this one looks later what it has left
		return river.JobSnooze(minSnooze)
	}
	defer life.close(ctx)
	due, err := w.queries.AnchorIndexListDue(ctx, w.pool, &job.CreatedAt)
	if err != nil {
		return fmt.Errorf("look for anchor indexes: %w", db.Wrap(err))
	}
	var failed []error
	for _, i := range due {
		// One that can't be rebuilt does not keep the others from it.
		_, err := w.rebuildAnchors(ctx, life, db.Scope{AppName: i.AppName, UserID: i.UserID})
		if err != nil && !errors.Is(err, ErrAnchorsBusy) {
			failed = append(failed, err)
		}
		if _, limited := rateLimit(err, 1); limited || w.isOutlived(ctx, err) || ctx.Err() != nil { // of the next it would ask the same
			break
		}
	}
	if len(due) > 0 && !w.config.PollOnly { // many anchors have a vector index
		if _, err := w.client.Insert(ctx, IndexArgs{}, nil); err != nil {
			failed = append(failed, fmt.Errorf("enqueue vector indexes: %w", db.Wrap(err)))
		}
	}
	err = errors.Join(failed...)
	if wait, limited := rateLimit(err, snoozes(job.Metadata)+1); limited && ctx.Err() == nil {
		wait = max(wait, w.pauseEmbedding(err))
		w.logger.WarnContext(ctx, "anchor indexes could not all be rebuilt; goes on later", "job", job.ID,
			"wait", wait.Round(time.Millisecond).String(), "error", err)
		return w.snooze(job.Kind, wait)
	}
	if w.isOutlived(ctx, err) {
		return w.leaveAnchors(job)
	}
	return err
}

// leaveAnchors leaves a job to a worker of a model that serves: it has as many attempts left there.
func (w *anchorWorker) leaveAnchors(job *river.Job[AnchorArgs]) error {
	return w.snooze(job.Kind, jitter(embedRetryBase))
}

// ErrAnchorsBusy is a rebuild that finds another one at work on the same index.
var ErrAnchorsBusy = errors.New("another rebuild of the anchor index is under way")

// AnchorResult is what a rebuild made.
type AnchorResult struct {
	// Anchors is how many serve now, Embedded how many of them got their vector from the model.
	Anchors  int `json:"anchors"`
	Embedded int `json:"anchors_embedded"`
	// Rows is how many chunks and memories were read.
	Rows int `json:"rows"`
	// Read, Embed and Fill are the seconds that its parts took.
	Read  float64 `json:"read_seconds"`
	Embed float64 `json:"embed_seconds"`
	Fill  float64 `json:"fill_seconds"`
}

// RebuildAnchors makes the anchor index of a tenant anew, beside the one that serves, and lets it
// serve in one transaction at the end. Cut off at any moment, it leaves the old one serving, and the
// next one may begin at once. It holds no connection of the pool while the model works, but has one of
// its own, whose end tells others that it died, unless the config says PollOnly.
//
// Errors: [ErrAnchorsBusy] where another rebuild is at work; [db.ErrVersionConflict] where this one
// was silent for two minutes and another one began; [db.ErrEmbeddingModel] and [db.ErrDimension] where the deployment
// has not all vectors of this worker's model; those of the embedder.
func (w *Worker) RebuildAnchors(ctx context.Context, scope db.Scope) (*AnchorResult, error) {
	life, err := w.openAnchorLife(ctx)
	if err != nil {
		return nil, fmt.Errorf("rebuild anchors: %w", err)
	}
	defer life.close(ctx)
	return w.rebuildAnchors(ctx, life, scope)
}

func (w *Worker) rebuildAnchors(ctx context.Context, life *anchorLife, scope db.Scope) (*AnchorResult, error) {
	token, err := life.claim(ctx, scope)
	if err != nil {
		return nil, fmt.Errorf("rebuild anchors: %w", err)
	}
	defer life.leave(ctx, token)
	b := &anchorBuild{Worker: w, scope: scope, token: token}
	if err := b.run(ctx); err != nil {
		release, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		releaseErr := w.queries.AnchorReleaseBuild(release, w.pool, &db.AnchorReleaseBuildParams{
			AppName: scope.AppName, Token: &token, UserID: scope.UserID,
		})
		return nil, fmt.Errorf("rebuild anchors: %w", errors.Join(db.Wrap(err), releaseErr))
	}
	w.logger.InfoContext(ctx, "an anchor index was rebuilt", "anchors", b.result.Anchors, "embedded", b.result.Embedded,
		"rows", b.result.Rows, "read", b.result.Read, "embed", b.result.Embed, "fill", b.result.Fill)
	return &b.result, nil
}

// anchorBuild is a rebuild at work.
type anchorBuild struct {
	*Worker
	held   time.Time
	result AnchorResult
	scope  db.Scope
	token  uuid.UUID
}

func (b *anchorBuild) run(ctx context.Context) error {
	started := time.Now()
	terms, err := b.read(ctx)
	if err != nil {
		return err
	}
	b.result.Read = time.Since(started).Seconds()
	started = time.Now()
	if err := b.put(ctx, terms); err != nil {
		return err
	}
	b.result.Embed = time.Since(started).Seconds()
	started = time.Now()
	after := uuid.Nil
	for {
		var last uuid.UUID
		err := b.inModel(ctx, func(tx pgx.Tx) (err error) {
			last, err = b.queries.AnchorFill(ctx, tx, &db.AnchorFillParams{
				AfterID: after, AppName: b.scope.AppName, LeaseSeconds: anchorLease.Seconds(), MaxRows: anchorFillBatch,
				Token: b.token, UserID: b.scope.UserID,
			})
			return err
		})
		if err != nil {
			return err
		}
		if last == uuid.Nil {
			break
		}
		after = last
	}
	anchors, err := b.queries.AnchorSwitch(ctx, b.pool, &db.AnchorSwitchParams{
		AppName: b.scope.AppName, Token: b.token, UserID: b.scope.UserID,
	})
	b.result.Anchors = int(anchors)
	b.result.Fill = time.Since(started).Seconds()
	return err
}

// hold renews the lease where a statement of its own does not.
func (b *anchorBuild) hold(ctx context.Context) error {
	if time.Since(b.held) < anchorRenewal {
		return nil
	}
	b.held = time.Now()
	_, err := b.queries.AnchorHoldBuild(ctx, b.pool, &db.AnchorHoldBuildParams{
		AppName: b.scope.AppName, LeaseSeconds: anchorLease.Seconds(), Token: b.token, UserID: b.scope.UserID,
	})
	return err
}

// whileHeld does what may take longer than the lease, and renews that meanwhile. Where it is lost, that is cut short.
func (b *anchorBuild) whileHeld(ctx context.Context, do func(context.Context) error) error {
	doing, cancel := context.WithCancel(ctx)
	defer cancel()
	lost := make(chan error, 1)
	go func() {
		ticker := time.NewTicker(anchorRenewal)
		defer ticker.Stop()
		for {
			select {
			case <-doing.Done():
				lost <- nil
				return
			case <-ticker.C:
			}
			if err := b.hold(ctx); err != nil {
				lost <- err
				cancel()
				return
			}
		}
	}()
	err := do(doing)
	cancel()
	if lease := <-lost; lease != nil {
		return lease
	}
	return err
}

// read reads the corpus and gives its vocabulary.
func (b *anchorBuild) read(ctx context.Context) ([]*document.Term, error) {
	var raw json.RawMessage
	err := b.inModel(ctx, func(tx pgx.Tx) (err error) {
		raw, err = b.queries.AnchorSettings(ctx, tx, b.scope.AppName)
		return err
	})
	if err != nil {
		return nil, err
	}
	var settings struct {
		Vocabulary int `json:"vocabulary"`
	}
	if err := json.Unmarshal(raw, &settings); err != nil {
		return nil, fmt.Errorf("read the setting anchors: %w", err)
	}
	vocabulary := document.NewVocabulary()
	if err := b.readChunks(ctx, vocabulary); err != nil {
		return nil, err
	}
	if err := b.readMemories(ctx, vocabulary); err != nil {
		return nil, err
	}
	return vocabulary.Terms(settings.Vocabulary, func(words []string) (map[string]bool, error) {
		stop, err := b.queries.AnchorStopWords(ctx, b.pool, words)
		if err != nil {
			return nil, err
		}
		is := make(map[string]bool, len(stop))
		for _, w := range stop {
			is[w] = true
		}
		return is, nil
	})
}

func (b *anchorBuild) readChunks(ctx context.Context, vocabulary *document.Vocabulary) error {
	after := &db.AnchorListChunksParams{AppName: b.scope.AppName, UserID: b.scope.UserID}
	for {
		if err := b.hold(ctx); err != nil {
			return err
		}
		rows, err := b.queries.AnchorListChunks(ctx, b.pool, after)
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, r := range rows {
			row := &document.Row{Content: r.Content, Heading: r.Heading, ID: r.ID}
			if r.Kind != "text" {
				row.Name, row.NameKind = r.Title, r.Kind
			}
			vocabulary.Add(row)
			after.AfterPath, after.AfterPosition = r.Path, r.Position
		}
		b.result.Rows += len(rows)
	}
}

func (b *anchorBuild) readMemories(ctx context.Context, vocabulary *document.Vocabulary) error {
	after := &db.AnchorListMemoriesParams{AppName: b.scope.AppName, UserID: b.scope.UserID}
	for {
		if err := b.hold(ctx); err != nil {
			return err
		}
		rows, err := b.queries.AnchorListMemories(ctx, b.pool, after)
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, r := range rows {
			vocabulary.Add(&document.Row{Content: r.Content, ID: r.ID})
			after.AfterID = r.ID
		}
		b.result.Rows += len(rows)
	}
}

// put writes the vocabulary, and gives each anchor that is new its vector.
func (b *anchorBuild) put(ctx context.Context, terms []*document.Term) error {
	type termJSON struct {
		DF        int         `json:"df"`
		Kind      string      `json:"kind"`
		Term      string      `json:"term"`
		Witnesses []uuid.UUID `json:"witnesses"`
	}
	for batch := range slices.Chunk(terms, anchorPutBatch) {
		list := make([]termJSON, len(batch))
		for i, t := range batch {
			list[i] = termJSON{DF: t.DF, Kind: t.Kind, Term: t.Term, Witnesses: t.Witnesses}
		}
		raw, err := json.Marshal(list)
		if err != nil {
			return fmt.Errorf("write anchors: %w", err)
		}
		var missing []*db.AnchorPutRow
		err = b.inModel(ctx, func(tx pgx.Tx) (err error) {
			missing, err = b.queries.AnchorPut(ctx, tx, &db.AnchorPutParams{
				AppName: b.scope.AppName, LeaseSeconds: anchorLease.Seconds(), Terms: raw, Token: b.token, UserID: b.scope.UserID,
			})
			return err
		})
		if err != nil {
			return err
		}
		for len(missing) > 0 {
			part := missing[:min(len(missing), b.callSize())]
			if err := b.embed(ctx, part); errors.Is(err, errTooSlow) {
				continue // with fewer
			} else if err != nil {
				return err
			}
			missing = missing[len(part):]
		}
	}
	return nil
}

func (b *anchorBuild) embed(ctx context.Context, anchors []*db.AnchorPutRow) error {
	if err := b.hold(ctx); err != nil {
		return err
	}
	texts := make([]string, len(anchors))
	for i, a := range anchors {
		texts[i] = a.Term
	}
	var vectors [][]float32
	err := b.whileHeld(ctx, func(ctx context.Context) error {
		return b.patiently(ctx, time.Now().Add(anchorPatience), func() (err error) {
			ctx, cancel := context.WithTimeout(ctx, b.config.EmbedTimeout) // one call, as an embedding job has for it
			defer cancel()
			vectors, err = b.call(ctx, texts)
			return err
		})
	})
	if err != nil {
		return err
	}
	slices.SortFunc(anchors, func(a, b *db.AnchorPutRow) int { return bytes.Compare(a.ID[:], b.ID[:]) })
	vector := make(map[string][]float32, len(texts))
	for i, text := range texts {
		vector[text] = vectors[i]
	}
	b.result.Embedded += len(anchors)
	return pgx.BeginTxFunc(ctx, b.pool, pgx.TxOptions{}, func(tx pgx.Tx) error {
		for _, a := range anchors {
			err := b.queries.EmbeddingPut(ctx, tx, &db.EmbeddingPutParams{
				AppName: b.scope.AppName, Embedding: pgvector.NewVector(vector[a.Term]), Model: b.config.Models.Embedder.Name(), RowID: a.ID,
				Source: "anchor", UserID: b.scope.UserID,
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}
