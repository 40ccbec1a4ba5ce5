# Every target is a few commands that can also be typed by hand. Targets that
# need a database start the private one of scripts/postgres, which takes no
# time when it runs already and is a no-op when DATABASE_URL is set.

# The tools have modules of their own, so that their dependencies and ours
# don't decide about each other's versions. sqlc and golangci-lint each want
# their own too. Without cgo they need no C compiler.
SQLC     := CGO_ENABLED=0 go tool -modfile=tools/go.mod sqlc
GOLANGCI := CGO_ENABLED=0 go tool -modfile=tools/lint/go.mod golangci-lint

# Fails when the server does not start; a failing command substitution in front
# of a command would not.
WITH_DATABASE := url=$$(scripts/postgres start) && export DATABASE_URL="$$url" &&

# More arguments for go test, e.g. make test ARGS='-run TestRecall -v'.
ARGS :=

.DEFAULT_GOAL := help

.PHONY: help
help: ## Print this list
	@awk 'BEGIN { FS = ":.*## " } /^[a-z\/]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: setup
setup: ## Fetch the modules and the database server
	go mod download
	scripts/postgres start

.PHONY: build
build: ## Build migrate, worker and hippo into bin/
	go build -o bin/ ./cmd/...

.PHONY: demo
demo: ## See a memory written, embedded and recalled
	@$(WITH_DATABASE) go run ./cmd/migrate up && go run ./cmd/hippo demo

## Database

.PHONY: db/start
db/start: ## Start the private Postgres; print its URL
	@scripts/postgres start

.PHONY: db/stop
db/stop: ## Stop it
	@scripts/postgres stop

.PHONY: db/reset
db/reset: ## Start it anew, without data
	@scripts/postgres stop --delete
	@scripts/postgres start

.PHONY: db/psql
db/psql: ## Open psql on it
	@scripts/postgres start >/dev/null
	@scripts/postgres psql

## Generated files

.PHONY: generate
generate: generate/sqlc generate/docs ## Write all generated files anew

.PHONY: generate/sqlc
generate/sqlc: ## Write the Go code in db/ from sql/
	$(SQLC) generate

.PHONY: generate/docs
generate/docs: ## Write docs/sql-api.md from the comments in sql/
	@$(WITH_DATABASE) go run ./cmd/migrate up >/dev/null && new=$$(go run ./cmd/hippo sql-api) && printf '%s\n' "$$new" >docs/sql-api.md

.PHONY: verify
verify: verify/sqlc verify/docs verify/tidy ## Fail if a generated file is stale

.PHONY: verify/sqlc
verify/sqlc: ## Fail if the Go code in db/ is stale
	$(SQLC) diff

.PHONY: verify/docs
verify/docs: ## Fail if docs/sql-api.md is stale
	@$(WITH_DATABASE) go run ./cmd/migrate up >/dev/null && new=$$(go run ./cmd/hippo sql-api) && printf '%s\n' "$$new" | diff -u docs/sql-api.md -

.PHONY: verify/tidy
verify/tidy: ## Fail if go.mod is not tidy
	go mod tidy -diff

## Code

.PHONY: format
format: ## Format the Go code
	$(GOLANGCI) fmt

.PHONY: lint
lint: ## Check the Go code, and the scripts if shellcheck is installed
	$(GOLANGCI) run ./...
	@if command -v shellcheck >/dev/null; then shellcheck scripts/postgres scripts/test-adk .ci/run; fi

.PHONY: test
test: ## Run all tests
	@$(WITH_DATABASE) go test $(ARGS) ./...

.PHONY: test/race
test/race: ## Run all tests with the race detector
	@$(WITH_DATABASE) CGO_ENABLED=1 go test -race $(ARGS) ./...

.PHONY: test-adk
test-adk: ## Test adk/ against a clone of ADK for Go: make test-adk ADK=folder
	@scripts/test-adk "$(ADK)" $(ARGS)

.PHONY: bench
bench: ## Run the benchmarks, the private Postgres started anew with a quarter of the memory for its buffers
	@scripts/postgres stop && megabytes=$$(($$(getconf _PHYS_PAGES) / 4 * $$(getconf PAGESIZE) / 1048576)) && \
	export HIPPOCAMPUS_POSTGRES_OPTIONS="-c shared_buffers=$${megabytes}MB $$HIPPOCAMPUS_POSTGRES_OPTIONS" && \
	$(WITH_DATABASE) go test -run '^$$' -bench . $(ARGS) ./tests/bench/...

.PHONY: bench/peers
bench/peers: ## Run other memories beside this one, from npm, on one database; PEERS='--rows 1000' for more
	@$(WITH_DATABASE) scripts/postgres psql -qc 'DROP DATABASE IF EXISTS hippocampus_peers' -c 'CREATE DATABASE hippocampus_peers' && \
	export DATABASE_URL=$$(printf %s "$$DATABASE_URL" | sed -E 's#/[^/?]*(\?|$$)#/hippocampus_peers\1#') && \
	go run ./cmd/migrate up --dimension 384 >/dev/null && cd bench/peers && npm ci --no-audit --no-fund --ignore-scripts >/dev/null && npm start --silent -- $(PEERS)

.PHONY: clean
clean: ## Remove what was built; db/reset removes data
	rm -rf bin *.out *.prof *.test coverage.*
