package worker

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/hippocampus-memory/hippocampus/model"
)

// scrapeTimeout bounds the queries of a scrape.
const scrapeTimeout = 3 * time.Second

// metrics are what Prometheus is told. No label holds a tenant.
type metrics struct {
	worker *Worker

	callDuration *prometheus.HistogramVec
	counted      prometheus.Counter
	embedded     prometheus.Counter
	jobDuration  *prometheus.HistogramVec
	retained     *prometheus.CounterVec
	rows         *prometheus.CounterVec
	snoozes      *prometheus.CounterVec
	storeSeconds prometheus.Histogram

	consolidations *prometheus.Desc
	paused         *prometheus.Desc
	queued         *prometheus.Desc
	river          *prometheus.Desc
	scrapeError    *prometheus.Desc
}

func newMetrics(w *Worker) *metrics {
	name := func(s string) string { return "hippocampus_worker_" + s }
	return &metrics{
		worker: w,
		callDuration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: name("model_call_seconds"), Help: "Calls of models by operation and outcome.",
			Buckets: []float64{.01, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120},
		}, []string{"operation", "outcome"}),
		counted: prometheus.NewCounter(prometheus.CounterOpts{
			Name: name("tokens_counted_rows_total"), Help: "Rows whose tokens were counted.",
		}),
		embedded: prometheus.NewCounter(prometheus.CounterOpts{
			Name: name("embedded_rows_total"), Help: "Rows that embedding jobs gave a vector.",
		}),
		jobDuration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: name("job_seconds"), Help: "Attempts at jobs by kind and outcome.",
			Buckets: []float64{.005, .025, .1, .5, 1, 5, 15, 60, 300, 1800},
		}, []string{"kind", "outcome"}),
		retained: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: name("retention_rows_total"), Help: "Memories that retention scanned, refreshed and deleted.",
		}, []string{"action"}),
		rows: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: name("consolidated_rows_total"), Help: "Rows that consolidations stored, by sort.",
		}, []string{"sort"}),
		snoozes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: name("snoozes_total"), Help: "Jobs that were put off since a provider asked for patience.",
		}, []string{"kind"}),
		storeSeconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: name("consolidation_store_seconds"), Help: "Transactions that stored what consolidations made.",
			Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 5, 15},
		}),

		consolidations: prometheus.NewDesc("hippocampus_consolidation_jobs", "Consolidations by status.", []string{"status"}, nil),
		paused:         prometheus.NewDesc(name("queue_paused"), "1 while this worker takes no jobs from a queue.", []string{"queue"}, nil),
		queued: prometheus.NewDesc("hippocampus_embedding_queue_rows", "Rows that wait for a vector, by whether they failed before.",
			[]string{"failed"}, nil),
		river: prometheus.NewDesc("hippocampus_river_jobs", "Jobs of River that have not ended, and those that were given up (discarded).", []string{"kind", "state"}, nil),
		scrapeError: prometheus.NewDesc("hippocampus_worker_scrape_errors", "1 if the database could not be asked for this scrape.",
			nil, nil),
	}
}

// own are the metrics that this process counts.
func (m *metrics) own() []prometheus.Collector {
	return []prometheus.Collector{m.callDuration, m.counted, m.embedded, m.jobDuration, m.retained, m.rows, m.snoozes, m.storeSeconds}
}

// Describe is Prometheus's.
func (m *metrics) Describe(ch chan<- *prometheus.Desc) {
	for _, c := range m.own() {
		c.Describe(ch)
	}
	ch <- m.consolidations
	ch <- m.paused
	ch <- m.queued
	ch <- m.river
	ch <- m.scrapeError
}

// Collect is Prometheus's. What stands in the database it asks there, so that every worker says the
// same.
func (m *metrics) Collect(ch chan<- prometheus.Metric) {
	for _, c := range m.own() {
		c.Collect(ch)
	}
	for queue, is := range m.worker.paused.all() {
		paused := 0.0
		if is {
			paused = 1
		}
		ch <- prometheus.MustNewConstMetric(m.paused, prometheus.GaugeValue, paused, queue)
	}
	ctx, cancel := context.WithTimeout(m.worker.ctx, scrapeTimeout)
	defer cancel()
	failed := 0.0
	if err := m.collectDatabase(ctx, ch); err != nil {
		failed = 1
		m.worker.logger.WarnContext(ctx, "can't read the metrics of the database", "error", err)
	}
	ch <- prometheus.MustNewConstMetric(m.scrapeError, prometheus.GaugeValue, failed)
}

func (m *metrics) collectDatabase(ctx context.Context, ch chan<- prometheus.Metric) error {
	w := m.worker
	jobs, err := w.queries.JobCountByStatus(ctx, w.pool)
	if err != nil {
		return err
	}
	queue, err := w.queries.EmbeddingCountQueued(ctx, w.pool)
	if err != nil {
		return err
	}
	rows, err := w.pool.Query(ctx, `SELECT r.kind, r.state::text, count(*) FROM hippocampus.river_job r
		WHERE r.state IN ('available', 'pending', 'retryable', 'running', 'scheduled') OR r.state = 'discarded' AND NOT r.metadata ? 'unique_key_conflict'
		GROUP BY r.kind, r.state`)
	if err != nil {
		return err
	}
	byStatus := map[string]int64{"failed": 0, "pending": 0, "running": 0}
	for _, j := range jobs {
		byStatus[j.Status] = j.Jobs
	}
	for status, n := range byStatus {
		ch <- prometheus.MustNewConstMetric(m.consolidations, prometheus.GaugeValue, float64(n), status)
	}
	ch <- prometheus.MustNewConstMetric(m.queued, prometheus.GaugeValue, float64(queue.Failed), "true")
	ch <- prometheus.MustNewConstMetric(m.queued, prometheus.GaugeValue, float64(queue.Fresh), "false")
	defer rows.Close()
	for rows.Next() {
		var (
			kind, state string
			n           int64
		)
		if err := rows.Scan(&kind, &state, &n); err != nil {
			return err
		}
		ch <- prometheus.MustNewConstMetric(m.river, prometheus.GaugeValue, float64(n), kind, state)
	}
	return rows.Err()
}

func (m *metrics) snoozed(kind string) { m.snoozes.WithLabelValues(kind).Inc() }

func (m *metrics) stored(l *learned) {
	m.rows.WithLabelValues("episode").Add(float64(len(l.episodes)))
	m.rows.WithLabelValues("fact").Add(float64(len(l.facts)))
	m.rows.WithLabelValues("insight").Add(float64(len(l.insights)))
	m.rows.WithLabelValues("summary").Add(float64(len(l.summaries)))
}

// jobMeter measures every attempt at a job.
type jobMeter struct {
	river.MiddlewareDefaults
	*metrics
}

// Work is around a job.
func (m *jobMeter) Work(ctx context.Context, job *rivertype.JobRow, inner func(context.Context) error) error {
	started := time.Now()
	outcome := "panic"
	defer func() {
		m.jobDuration.WithLabelValues(job.Kind, outcome).Observe(time.Since(started).Seconds())
	}()
	err := inner(ctx)
	outcome = jobOutcome(ctx, err)
	return err
}

func jobOutcome(ctx context.Context, err error) string {
	var (
		cancel *rivertype.JobCancelError
		snooze *rivertype.JobSnoozeError
	)
	switch {
	case err == nil:
		return "completed"
	case errors.As(err, &snooze):
		return "snoozed"
	case errors.As(err, &cancel), ctx.Err() != nil:
		return "cancelled"
	}
	return "failed"
}

// instrument puts meters around models.
func (m *metrics) instrument(models *model.Models) {
	if models.Classifier != nil {
		models.Classifier = &meteredClassifier{models.Classifier, m}
	}
	models.Embedder = &meteredEmbedder{models.Embedder, m}
	models.Reflector = &meteredReflector{models.Reflector, m}
	models.Summarizer = &meteredSummarizer{models.Summarizer, m}
}

// called measures a call of a model.
func (m *metrics) called(operation string, started time.Time, err error) {
	outcome := "ok"
	var failure *model.Error
	switch {
	case err == nil:
	case errors.As(err, &failure):
		outcome = string(failure.Kind)
	case errors.Is(err, context.Canceled):
		outcome = "cancelled"
	default:
		outcome = "error"
	}
	m.callDuration.WithLabelValues(operation, outcome).Observe(time.Since(started).Seconds())
}

type meteredClassifier struct {
	model.Classifier
	metrics *metrics
}

// Classify measures the classifier's.
func (c *meteredClassifier) Classify(ctx context.Context, in *model.ClassifyInput) (*model.Classification, error) {
	started := time.Now()
	classification, err := c.Classifier.Classify(ctx, in)
	c.metrics.called("classify", started, err)
	return classification, err
}

type meteredEmbedder struct {
	model.Embedder
	metrics *metrics
}

// Embed measures the embedder's.
func (e *meteredEmbedder) Embed(ctx context.Context, texts []string, task model.Task) ([][]float32, error) {
	started := time.Now()
	vectors, err := e.Embedder.Embed(ctx, texts, task)
	e.metrics.called("embed", started, err)
	return vectors, err
}

type meteredReflector struct {
	model.Reflector
	metrics *metrics
}

// Reflect measures the reflector's.
func (r *meteredReflector) Reflect(ctx context.Context, c *model.Conversation) (*model.Reflection, error) {
	started := time.Now()
	reflection, err := r.Reflector.Reflect(ctx, c)
	r.metrics.called("reflect", started, err)
	return reflection, err
}

type meteredSummarizer struct {
	model.Summarizer
	metrics *metrics
}

// Summarize measures the summarizer's.
func (s *meteredSummarizer) Summarize(ctx context.Context, c *model.Conversation) (*model.Summary, error) {
	started := time.Now()
	summary, err := s.Summarizer.Summarize(ctx, c)
	s.metrics.called("summarize", started, err)
	return summary, err
}
