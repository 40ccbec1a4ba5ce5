// Package worker_test runs the worker as its users do: as a process that may be killed.
package worker_test
