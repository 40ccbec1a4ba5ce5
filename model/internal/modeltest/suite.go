package modeltest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/model"
)

// Suite is what every provider over HTTP must do when things go wrong.
type Suite struct {
	// Key is the API key that must show up nowhere but in a header.
	Key string
	// Open makes the provider's models for a server, with vectors of 4 values.
	Open func(t *testing.T, baseURL string, limits model.Limits) *model.Models
	// Vectors and Text are the bodies of good replies in the provider's form.
	Vectors func(vectors ...[]float32) any
	Text    func(text string) any
	// Truncated, Blocked and NoChoice are the bodies of replies that aren't whole.
	Truncated, Blocked func(text string) any
	NoChoice           any
}

// GoodReflection is a reply with one fact and one insight.
const GoodReflection = `{"facts":[{"type":"profile","key":"location","value":"Berlin","confidence":0.9,"intensity":0.4,"valid_from":null,"sequences":[1]}],` +
	`"insights":[{"content":"They will release on Friday.","importance":"high","sequences":[1]}]}`

// Talk is a conversation of one turn.
func Talk() *model.Conversation {
	return &model.Conversation{Turns: []model.Turn{{Sequence: 1, Author: "user", Text: "I moved to Berlin. We release on Friday."}}}
}

// opened is a provider that waits without waiting.
type opened struct {
	*model.Models
	server *Server
	waits  *Waits
	log    *Log
}

func (s *Suite) open(t *testing.T, limits model.Limits, steps ...Step) *opened {
	t.Helper()
	o := &opened{server: New(t, steps...), waits: &Waits{}, log: &Log{}}
	limits.Logger = o.log.Logger()
	limits.Retry.Sleep = o.waits.Sleep
	o.Models = s.Open(t, o.server.URL, limits)
	t.Cleanup(func() { require.NoError(t, o.Close()) })
	t.Cleanup(func() {
		require.NotContains(t, o.log.String(), s.Key, "the key is in the log")
		for _, r := range o.server.Requests() {
			require.NotContains(t, r.URL, s.Key, "the key is in a URL")
			require.NotContains(t, fmt.Sprint(r.Body), s.Key, "the key is in a body")
			require.Contains(t, fmt.Sprint(r.Header), s.Key, "the key is in no header")
		}
	})
	return o
}

// operations calls every port once; each needs one good reply.
func (s *Suite) operations(o *opened) map[string]func(ctx context.Context) error {
	return map[string]func(ctx context.Context) error{
		"classify": func(ctx context.Context) error {
			_, err := o.Classifier.Classify(ctx, &model.ClassifyInput{Old: "a", New: "b"})
			return err
		},
		"embed": func(ctx context.Context) error {
			_, err := o.Embedder.Embed(ctx, []string{"a"}, model.TaskDocument)
			return err
		},
		"reflect":   func(ctx context.Context) error { _, err := o.Reflector.Reflect(ctx, Talk()); return err },
		"summarize": func(ctx context.Context) error { _, err := o.Summarizer.Summarize(ctx, Talk()); return err },
	}
}

// Run runs the suite.
func (s *Suite) Run(t *testing.T) {
	t.Helper()
	vector := []float32{3, 0, 4, 0}
	good := JSON(s.Vectors(vector))

	for name, test := range map[string]struct {
		steps    []Step
		kind     model.ErrorKind // "": success
		requests int
		status   int
	}{
		"BadRequest":       {[]Step{Body(400, `{"error":{"message":"no such field"}}`)}, model.KindRejected, 1, 400},
		"BrokenConnection": {[]Step{Break()}, model.KindUnavailable, 3, 200},
		"BrokenThenGood":   {[]Step{Break(), good}, "", 2, 0},
		"EmptyBody":        {[]Step{Body(200, "")}, model.KindInvalidReply, 1, 200},
		"EmptyList":        {[]Step{JSON(s.Vectors())}, model.KindInvalidReply, 1, 200},
		"FewerVectors":     {[]Step{JSON(s.Vectors(vector))}, model.KindInvalidReply, 1, 200},
		"Forbidden":        {[]Step{Body(403, "")}, model.KindRejected, 1, 403},
		"Garbage":          {[]Step{Body(200, "<html>a proxy</html>")}, model.KindInvalidReply, 1, 200},
		"HalfJSON":         {[]Step{Body(200, `{"embeddings":[{"values":[0.1,`)}, model.KindInvalidReply, 1, 200},
		"NoSuchModel":      {[]Step{Body(404, `{"error":{"message":"model not found"}}`)}, model.KindRejected, 1, 404},
		"Overloaded":       {[]Step{Body(503, `{"error":{"message":"busy"}}`)}, model.KindUnavailable, 3, 503},
		"RateLimited":      {[]Step{Body(429, `{"error":{"message":"slow down"}}`)}, model.KindRateLimited, 3, 429},
		"RateLimitedOnce":  {[]Step{Body(429, "", "Retry-After", "7"), good}, "", 2, 0},
		"Redirect":         {[]Step{Body(307, "", "Location", "http://127.0.0.1:1/")}, model.KindRejected, 1, 307},
		"ServerError":      {[]Step{Body(500, "oops")}, model.KindUnavailable, 3, 500},
		"ServerErrorTwice": {[]Step{Body(500, ""), Body(502, ""), good}, "", 3, 0},
		"WrongDimension":   {[]Step{JSON(s.Vectors([]float32{1, 2, 3}))}, model.KindInvalidReply, 1, 200},
		"ZeroVector":       {[]Step{JSON(s.Vectors([]float32{0, 0, 0, 0}))}, model.KindInvalidReply, 1, 200},
	} {
		t.Run("Embed"+name, func(t *testing.T) {
			t.Parallel()
			o := s.open(t, model.Limits{}, test.steps...)
			texts := []string{"a"}
			if name == "FewerVectors" {
				texts = append(texts, "b")
			}
			vectors, err := o.Embedder.Embed(t.Context(), texts, model.TaskDocument)
			require.Len(t, o.server.Requests(), test.requests)
			require.Len(t, o.waits.Slept, test.requests-1)
			if test.kind == "" {
				require.NoError(t, err)
				require.InDeltaSlice(t, []float32{0.6, 0, 0.8, 0}, vectors[0], 1e-6)
				return
			}
			require.Nil(t, vectors)
			failure := RequireKind(t, err, test.kind)
			require.Equal(t, test.status, failure.Status)
			require.Equal(t, "embed", failure.Operation)
			require.Empty(t, failure.RawReply)
		})
	}
	s.runChat(t)
	s.runTime(t)
	s.runSecrets(t)
}

func (s *Suite) runChat(t *testing.T) {
	t.Helper()
	t.Run("ReflectAsksAgain", func(t *testing.T) {
		t.Parallel()
		o := s.open(t, model.Limits{}, JSON(s.Text(GoodReflection[:80])), JSON(s.Text("```json\n"+GoodReflection+"\n```")))
		r, err := o.Reflector.Reflect(t.Context(), Talk())
		require.NoError(t, err)
		require.True(t, r.Repaired)
		require.Len(t, r.Facts, 1)
		require.Len(t, r.Insights, 1)
		requests := o.server.Requests()
		require.Len(t, requests, 2)
		require.Contains(t, fmt.Sprint(requests[1].Body), "the JSON object is not complete")
	})

	for name, test := range map[string]struct {
		body     any
		raw      string
		requests int
		problem  string
	}{
		"Blocked":        {s.Blocked("half"), "half", 1, ""},
		"Empty":          {s.Text(""), "", 2, "asked twice"},
		"Half":           {s.Text(GoodReflection[:80]), GoodReflection[:80], 2, "asked twice: the JSON object is not complete"},
		"NoChoice":       {s.NoChoice, "", 1, ""},
		"NothingButText": {s.Text("I found nothing."), "I found nothing.", 2, "asked twice"},
		"Truncated":      {s.Truncated(GoodReflection[:80]), GoodReflection[:80], 1, "truncated"},
	} {
		t.Run("Reflect"+name, func(t *testing.T) {
			t.Parallel()
			o := s.open(t, model.Limits{}, JSON(test.body))
			_, err := o.Reflector.Reflect(t.Context(), Talk())
			failure := RequireKind(t, err, model.KindInvalidReply)
			require.Equal(t, test.raw, failure.RawReply)
			require.Equal(t, "reflect", failure.Operation)
			require.ErrorContains(t, err, test.problem)
			require.Len(t, o.server.Requests(), test.requests)
			require.Empty(t, o.waits.Slept)
		})
	}

	t.Run("ReflectGarbage", func(t *testing.T) {
		t.Parallel()
		o := s.open(t, model.Limits{}, Body(200, "<html>"+s.Key+"</html>"))
		_, err := o.Reflector.Reflect(t.Context(), Talk())
		failure := RequireKind(t, err, model.KindInvalidReply)
		require.Equal(t, "<html>[key]</html>", failure.RawReply)
	})

	t.Run("SummarizeEmpty", func(t *testing.T) {
		t.Parallel()
		o := s.open(t, model.Limits{}, JSON(s.Text(" ")))
		_, err := o.Summarizer.Summarize(t.Context(), Talk())
		RequireKind(t, err, model.KindInvalidReply)
	})

	t.Run("SummarizeTooLong", func(t *testing.T) {
		t.Parallel()
		o := s.open(t, model.Limits{MaxInputChars: 10}, JSON(s.Text("x")))
		_, err := o.Summarizer.Summarize(t.Context(), Talk())
		RequireKind(t, err, model.KindRejected)
		require.ErrorContains(t, err, "over the limit of 10")
		require.Empty(t, o.server.Requests())
	})

	t.Run("Vectors", func(t *testing.T) {
		t.Parallel()
		o := s.open(t, model.Limits{}, JSON(s.Vectors([]float32{1, 1, 1, 1})))
		vectors, err := o.Embedder.Embed(t.Context(), nil, model.TaskQuery)
		require.NoError(t, err)
		require.Empty(t, vectors)
		_, err = o.Embedder.Embed(t.Context(), []string{"a", " "}, model.TaskQuery)
		RequireKind(t, err, model.KindRejected)
		require.ErrorContains(t, err, "text 1 of 2 is blank")
		_, err = o.Embedder.Embed(t.Context(), []string{"a"}, "song")
		RequireKind(t, err, model.KindRejected)
		require.Empty(t, o.server.Requests())

		vectors, err = o.Embedder.Embed(t.Context(), []string{"bad \xff byte\x00"}, model.TaskQuery)
		require.NoError(t, err)
		require.InDelta(t, 1, math.Hypot(math.Hypot(float64(vectors[0][0]), float64(vectors[0][1])), math.Hypot(float64(vectors[0][2]), float64(vectors[0][3]))), 1e-6)
		require.Equal(t, 4, o.Embedder.Dimension())
	})
}

func (s *Suite) runTime(t *testing.T) {
	t.Helper()
	for _, operation := range []string{"classify", "embed", "reflect", "summarize"} {
		t.Run("Cancel/"+operation, func(t *testing.T) {
			t.Parallel()
			never, asked := Never()
			o := s.open(t, model.Limits{}, never)
			ctx, cancel := context.WithCancel(t.Context())
			go func() { <-asked; cancel() }()
			err := s.operations(o)[operation](ctx)
			require.ErrorIs(t, err, context.Canceled)
			var failure *model.Error
			require.NotErrorAs(t, err, &failure, "a cancelled call is not a failure of the provider")
			require.Len(t, o.server.Requests(), 1)
		})

		t.Run("TimeLimit/"+operation, func(t *testing.T) {
			t.Parallel()
			never, _ := Never()
			limits := model.Limits{ChatTimeout: time.Millisecond, EmbedTimeout: time.Millisecond, Retry: model.Retry{MaxAttempts: 2}}
			o := s.open(t, limits, never)
			err := s.operations(o)[operation](t.Context())
			RequireKind(t, err, model.KindUnavailable)
			require.ErrorContains(t, err, "no answer within 1ms")
			require.Len(t, o.waits.Slept, 1)
		})
	}

	t.Run("DeadlineOfTheCaller", func(t *testing.T) {
		t.Parallel()
		never, _ := Never()
		o := s.open(t, model.Limits{}, never)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		_, err := o.Embedder.Embed(ctx, []string{"a"}, model.TaskDocument)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Empty(t, o.waits.Slept)
	})

	t.Run("RetryAfterIsWaitedFor", func(t *testing.T) {
		t.Parallel()
		told := 0
		limits := model.Limits{Retry: model.Retry{OnRetry: func(context.Context, int, time.Duration, error) { told++ }}}
		o := s.open(t, limits, Body(429, "", "Retry-After", "7"), JSON(s.Vectors([]float32{1, 0, 0, 0})))
		_, err := o.Embedder.Embed(t.Context(), []string{"a"}, model.TaskDocument)
		require.NoError(t, err)
		require.Equal(t, []time.Duration{7 * time.Second}, o.waits.Slept)
		require.Contains(t, o.log.String(), "attempt=1")
		require.Equal(t, 1, told)
	})

	t.Run("RetryAfterTooLongGoesUp", func(t *testing.T) {
		t.Parallel()
		o := s.open(t, model.Limits{}, Body(429, `{"error":{"message":"x","details":[{"retryDelay":"90.5s"}]}}`))
		_, err := o.Embedder.Embed(t.Context(), []string{"a"}, model.TaskDocument)
		failure := RequireKind(t, err, model.KindRateLimited)
		require.Equal(t, 90500*time.Millisecond, failure.RetryAfter)
		require.Len(t, o.server.Requests(), 1)
	})
}

func (s *Suite) runSecrets(t *testing.T) {
	t.Helper()
	t.Run("Unauthorized", func(t *testing.T) {
		t.Parallel()
		o := s.open(t, model.Limits{}, Body(401, `{"error":{"message":"wrong key `+s.Key+` or sk-ab***yz"}}`))
		for name, call := range s.operations(o) {
			failure := RequireKind(t, call(t.Context()), model.KindRejected)
			require.Equal(t, 401, failure.Status)
			require.False(t, failure.Retryable())
			require.NotContains(t, failure.Error(), s.Key, name)
			require.Contains(t, failure.Error(), "wrong key [key] or [key]")
		}
		require.Len(t, o.server.Requests(), 4)
	})

	t.Run("Unreachable", func(t *testing.T) {
		t.Parallel()
		log, waits := &Log{}, &Waits{}
		models := s.Open(t, "http://127.0.0.1:1", model.Limits{Logger: log.Logger(), Retry: model.Retry{Sleep: waits.Sleep}})
		_, err := models.Embedder.Embed(t.Context(), []string{"a"}, model.TaskDocument)
		failure := RequireKind(t, err, model.KindUnavailable)
		require.Zero(t, failure.Status)
		for err := error(failure); err != nil; err = errors.Unwrap(err) {
			require.NotContains(t, err.Error(), s.Key)
		}
		require.NotContains(t, log.String(), s.Key)
	})
}
