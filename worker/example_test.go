package worker_test

import (
	"context"
	"log"
	"os"
	"os/signal"

	"github.com/hippocampus-memory/hippocampus/assembler"
	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/model/provider"
	"github.com/hippocampus-memory/hippocampus/service"
	"github.com/hippocampus-memory/hippocampus/worker"
)

// An application may run the worker in its own process instead of beside it: what its transactions enqueue is then
// worked on here, until an interrupt, by the models that the environment names (see model/provider). The service that
// it remembers and searches by has the same ones, since vectors of two models can't be compared.
func Example() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	pool, err := db.NewPool(ctx, &db.Config{DatabaseURL: os.Getenv("DATABASE_URL")}) // a login with hippocampus_worker
	if err != nil {
		log.Fatal(err)
	}
	config, err := provider.FromEnv(os.Getenv)
	if err != nil {
		log.Fatal(err)
	}
	serving, err := db.New().EmbeddingModelServing(ctx, pool)
	if err != nil {
		log.Fatal(db.Wrap(err))
	}
	config.Dimension = int(serving.Dimension) // of the vectors that the database holds
	models, err := provider.Open(ctx, config)
	if err != nil {
		log.Fatal(err)
	}
	defer models.Close() //nolint:errcheck // the program ends
	counter, err := assembler.CounterOf(ctx, pool)
	if err != nil {
		log.Fatal(err)
	}
	w, err := worker.New(pool, &worker.Config{Counter: counter, Models: models})
	if err != nil {
		log.Fatal(err)
	}
	if err := w.Start(ctx); err != nil {
		log.Fatal(err)
	}
	memory, err := service.New(pool, &service.Config{
		Classifier: models.Classifier, Counter: counter, Embedder: models.Embedder, MaxEmbedChars: models.MaxEmbedChars,
		Reflector: models.Reflector,
	})
	if err != nil {
		log.Fatal(err)
	}
	ada := service.Scope{AppName: "notes", UserID: "ada"}
	_, err = memory.AddMessages(ctx, ada, "monday", []service.Message{{Role: "user", Text: "I moved to Porto."}},
		&service.AddMessagesOptions{Consolidate: service.ConsolidationFull}) // the worker above does it
	if err != nil {
		log.Fatal(err)
	}
	<-ctx.Done()
	if err := w.Stop(context.WithoutCancel(ctx)); err != nil {
		log.Fatal(err)
	}
}
