// Package model holds the ports to language models: turning text into vectors
// ([Embedder]), a conversation into a summary ([Summarizer]) or into facts and
// insights ([Reflector]), and telling whether two statements agree
// ([Classifier]).
//
// It contains no provider. Providers live beside it and are chosen by
// configuration in package provider:
//
//   - gemini:  Google's Gemini API
//   - openai:  OpenAI and every server that speaks its protocol (Ollama, vLLM, …)
//   - offline: no key, no network; deterministic and honest about being weaker
//
// Every method of every port is safe for concurrent use and bounded in time.
// A failure is an [*Error], which says whether trying again can help, except
// that a call ended by its own context returns that context's error, wrapped.
// Calls may take a minute: never make one while holding a database connection.
//
// Text that comes back from a model is valid UTF-8 without NUL, so that
// Postgres takes it.
package model
