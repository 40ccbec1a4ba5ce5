// Package service is the Go API of Hippocampus.
package service
