// Quickstart is the program of which the README shows the middle.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/service"
)

func main() {
	ctx := context.Background()

	pool, err := db.NewPool(ctx, &db.Config{DatabaseURL: os.Getenv("DATABASE_URL")})
	check(err)
	memory, err := service.New(pool, nil) // finds by words; with an Embedder in its Config, by meaning too
	check(err)
	ada := service.Scope{AppName: "notes", UserID: "ada"}
	thread, err := memory.CreateThread(ctx, ada, &service.CreateThreadOptions{IfNotExists: true, SessionID: "tuesday"})
	check(err)
	_, err = memory.AppendEvent(ctx, ada, thread, &service.EventParams{Author: "user", Text: "I moved to Porto."}, nil)
	check(err)
	_, err = memory.AddSessionToMemory(ctx, ada, "tuesday", service.ConsolidationFull) // a worker does it
	check(err)
	window, err := memory.GetContextWindow(ctx, ada, "where does Ada live?", nil)
	check(err)

	fmt.Println(window.Text)
	pool.Close()
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
