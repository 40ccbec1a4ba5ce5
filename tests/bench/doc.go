// Package bench measures the engine on a real Postgres: `make bench`. Figures come as percentiles
// in milliseconds (p50-ms, p95-ms, p99-ms) beside go test's mean. They are of one client on a
// loopback connection, warm, with durable commits, unless a benchmark's name says otherwise.
package bench
