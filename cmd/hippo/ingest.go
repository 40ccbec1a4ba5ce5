package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/google/uuid"
	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/hippocampus-memory/hippocampus/service"
	"github.com/hippocampus-memory/hippocampus/worker"
)

// waitJobs waits for consolidations, and says which failed and why.
func (e *engine) waitJobs(ctx context.Context, scope service.Scope, jobs []uuid.UUID, done func()) ([]*service.Job, error) {
	var (
		ended  []*service.Job
		failed []error
	)
	for _, id := range jobs {
		job, err := e.service.WaitJob(ctx, scope, id)
		if err != nil {
			return ended, err
		}
		if job.Status == service.JobFailed {
			failed = append(failed, fmt.Errorf("consolidation %s of thread %s failed: %s", job.ID, job.ThreadID, job.Error))
		}
		ended = append(ended, job)
		done()
	}
	return ended, errors.Join(failed...)
}

// consolidated counts the jobs that had something to do: a session in which nothing is new has none.
func consolidated(jobs []*service.Job) int {
	n := 0
	for _, job := range jobs {
		if result(job).Events > 0 {
			n++
		}
	}
	return n
}

// result is what a job says that it made.
func result(job *service.Job) worker.Result {
	var made worker.Result
	if err := json.Unmarshal(job.Result, &made); err != nil {
		return worker.Result{} // of a job that made nothing
	}
	return made
}

// progress draws a bar to standard error, where a person looks on.
func (a *app) progress(total int, what string) *progressbar.ProgressBar {
	out := io.Discard
	if file, ok := a.terminal.(*os.File); ok && !a.json && term.IsTerminal(int(file.Fd())) {
		out = file
	}
	a.bar = progressbar.NewOptions(total, progressbar.OptionSetWriter(out), progressbar.OptionSetDescription(what),
		progressbar.OptionShowCount(), progressbar.OptionSetWidth(30), progressbar.OptionClearOnFinish())
	return a.bar
}

// clearBar takes away the bar of what was broken off.
func (a *app) clearBar() {
	if a.bar != nil && !a.bar.IsFinished() {
		_ = a.bar.Clear()
	}
}

// oneLine folds a text into one line of at most width characters.
func oneLine(text string, width int) string {
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) <= width {
		return string(runes)
	}
	return string(runes[:max(0, width-1)]) + "…"
}
