package command

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// untilSignal is done at the first interrupt (Ctrl-C) or SIGTERM. A second one ends the process at once: the
// signals have their default again before the context is done, so that whoever sees it done may send it.
func untilSignal() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		signal.Stop(signals)
		cancel()
	}()
	return ctx
}
