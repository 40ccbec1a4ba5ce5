package bench

import (
	"context"
	"fmt"
	"regexp"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/hippocampus-memory/hippocampus/service"
)

// threadEvents is after how many events a writer begins another thread.
const threadEvents = 100

// errorPause keeps a client whose every call fails from doing nothing else.
const errorPause = 100 * time.Millisecond

// clients lets readers and writers go for the duration. It returns an error only if the run's own
// context ended before.
func (l *load) clients(ctx context.Context) error {
	bar := l.Progress(int(l.opts.Duration.Seconds()), "reading and writing")
	during, cancel := context.WithTimeout(ctx, l.opts.Duration)
	defer cancel()
	run := time.Now().Format("20060102-150405")
	var wait sync.WaitGroup
	for i := range l.opts.Writers {
		w := &writer{load: l, text: l.speaker(i), user: fmt.Sprintf("%s-%d", run, i)}
		l.users = append(l.users, w.user)
		wait.Go(func() { w.run(during) })
	}
	for i := range l.opts.Readers {
		r := &reader{load: l, source: l.space.source(streamProbes + uint64(i))}
		wait.Go(func() { r.run(during) })
	}
	second := time.NewTicker(time.Second)
	defer second.Stop()
	for during.Err() == nil {
		select {
		case <-during.Done():
		case <-second.C:
			bar.Add(1)
		}
	}
	wait.Wait()
	bar.Finish()
	return ctx.Err()
}

// timed times a call and adds it to a list. It tells whether the call succeeded; an error is counted,
// but not one of the end of the run.
func (l *load) timed(ctx context.Context, what string, list *[]time.Duration, call func() error) bool {
	start := time.Now()
	err := call()
	elapsed := time.Since(start)
	if err != nil && ctx.Err() != nil {
		return false
	}
	l.lock.Lock()
	if err == nil {
		*list = append(*list, elapsed)
	} else {
		l.results.Errors[what+": "+reason(err)]++
	}
	l.lock.Unlock()
	if err != nil {
		pause(ctx, errorPause)
	}
	return err == nil
}

var anyID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// reason is an error without the ids in it, so that errors of one kind are counted as one.
func reason(err error) string { return anyID.ReplaceAllString(err.Error(), "…") }

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// speaker gives what a writer says, one text after the other.
func (l *load) speaker(writer int) func() string {
	texts := l.opts.Texts
	if len(texts) == 0 {
		return l.space.source(uint64(writer)).text
	}
	next := writer * len(texts) / l.opts.Writers
	return func() string {
		next++
		return texts[next%len(texts)]
	}
}

// writer appends the events of a conversation as they come, or a batch of them at once.
type writer struct {
	*load
	text func() string
	user string
}

func (w *writer) run(ctx context.Context) {
	scope := service.Scope{AppName: loadApp, UserID: w.user}
	var thread uuid.UUID
	next := time.Now()
	said, asked, inThread := 0, 0, threadEvents // events, jobs, and the events of the thread
	for ctx.Err() == nil {
		if inThread >= threadEvents {
			var begun []time.Duration
			if !w.timed(ctx, "create thread", &begun, func() (err error) {
				thread, err = w.service.CreateThread(ctx, scope, nil)
				return err
			}) {
				continue
			}
			inThread = 0
		}
		events := make([]*service.EventParams, w.opts.Batch)
		for i := range events {
			events[i] = &service.EventParams{Author: []string{"user", "agent"}[(said+i)%2], Text: w.text()}
		}
		w.timed(ctx, "append", &w.appends, func() error { return w.append(ctx, scope, thread, events) })
		said, inThread = said+len(events), inThread+len(events)
		if w.opts.JobEvery > 0 && said/w.opts.JobEvery > asked {
			asked = said / w.opts.JobEvery
			w.enqueue(ctx, scope, thread)
		}
		if w.opts.Rate > 0 {
			next = next.Add(time.Duration(float64(time.Second) * float64(len(events)) / w.opts.Rate))
			pause(ctx, time.Until(next))
		}
	}
}

func (w *writer) append(ctx context.Context, scope service.Scope, thread uuid.UUID, events []*service.EventParams) (err error) {
	if len(events) == 1 {
		_, err = w.service.AppendEvent(ctx, scope, thread, events[0], nil)
	} else {
		_, err = w.service.AppendEvents(ctx, scope, thread, events, nil)
	}
	return err
}

func (w *writer) enqueue(ctx context.Context, scope service.Scope, thread uuid.UUID) {
	var job uuid.UUID
	asked := w.timed(ctx, "enqueue", &w.enqueues, func() (err error) {
		job, err = w.service.AddSessionToMemory(ctx, scope, thread.String(), service.ConsolidationFast)
		return err
	})
	if !asked {
		return
	}
	committed := time.Now()
	w.lock.Lock()
	defer w.lock.Unlock()
	if _, waits := w.jobs[job]; !waits { // one that waits is returned again
		w.jobs[job] = committed
	}
}

// reader searches the memories of one writer's user after the other's.
type reader struct {
	*load
	source *source
}

func (r *reader) run(ctx context.Context) {
	for n := 0; ctx.Err() == nil; n++ {
		user := "nobody"
		if len(r.users) > 0 {
			user = r.users[n%len(r.users)]
		}
		r.timed(ctx, "search", &r.search, func() error {
			_, err := r.service.SearchMemory(ctx, service.Scope{AppName: loadApp, UserID: user}, r.source.query(), nil)
			return err
		})
	}
}
