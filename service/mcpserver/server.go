// Package mcpserver serves tools over the Model Context Protocol: to one client over standard input
// and output ([ServeStdio]), to many over HTTP ([Handler]).
//
// The scope of every call, app and user, is the server's to know: of its configuration over stdio,
// of the client's bearer token over HTTP. It is never an argument.
package mcpserver

import (
	"context"
	"errors"
	"log/slog"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hippocampus-memory/hippocampus/service"
	"github.com/hippocampus-memory/hippocampus/service/tools"
)

// Config is what a server offers.
type Config struct {
	// Instructions tell a client's model what the server is for.
	//
	// Defaults to none.
	Instructions string

	// Logger is told what went wrong that a model can do nothing about.
	//
	// Defaults to no log.
	Logger *slog.Logger

	// Tools are what a client may call. Their names differ.
	Tools []*tools.Tool

	// Version is this program's.
	Version string
}

// errOutside marks a request that came without a scope. It can't come from a client.
var errOutside = errors.New("the request has no scope")

// newServer makes a server whose calls run in the scope that scopeOf gives.
func newServer(config *Config, scopeOf func(*mcp.CallToolRequest) (service.Scope, error)) *mcp.Server {
	logger := config.Logger
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "hippocampus", Title: "Hippocampus", Version: config.Version},
		&mcp.ServerOptions{Instructions: config.Instructions, Logger: logger})
	for _, tool := range config.Tools {
		server.AddTool(&mcp.Tool{
			Annotations: &mcp.ToolAnnotations{
				DestructiveHint: new(tool.Destructive), IdempotentHint: tool.Idempotent, OpenWorldHint: new(false),
				ReadOnlyHint: tool.ReadOnly, Title: tool.Title,
			},
			Description: tool.Description, InputSchema: tool.Input, Name: tool.Name, OutputSchema: tool.Output, Title: tool.Title,
		}, func(ctx context.Context, request *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			scope, err := scopeOf(request)
			if err != nil {
				return nil, err
			}
			return call(ctx, logger, tool, scope, request)
		})
	}
	return server
}

// call answers with a result, with a tool's error that the model can read, or with a protocol's error
// for arguments that the tool's schema does not allow.
func call(
	ctx context.Context, logger *slog.Logger, tool *tools.Tool, scope service.Scope, request *mcp.CallToolRequest,
) (*mcp.CallToolResult, error) {
	if token := request.Params.GetProgressToken(); token != nil {
		ctx = tools.WithProgress(ctx, func(done, total int) {
			err := request.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
				Progress: float64(done), ProgressToken: token, Total: float64(total),
			})
			if err != nil { // the call itself fails where the client is gone
				logger.WarnContext(ctx, "mcp: a client was not told of progress", "tool", tool.Name, "error", err)
			}
		})
	}
	result, err := tool.Call(ctx, scope, request.Params.Arguments)
	if err == nil {
		return &mcp.CallToolResult{
			Content: []mcp.Content{&mcp.TextContent{Text: result.Text}}, StructuredContent: result.Structured,
		}, nil
	}
	var told *tools.Error
	if !errors.As(err, &told) {
		logger.ErrorContext(ctx, "mcp: a tool failed", "tool", tool.Name, "error", err)
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: tool.Name + " failed; the server's log says why"}
	}
	if told.Code == tools.CodeMalformed {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: tool.Name + ": " + told.Error()}
	}
	if cause := errors.Unwrap(told); cause != nil {
		logger.DebugContext(ctx, "mcp: a tool refused", "tool", tool.Name, "error", cause)
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(told.JSON())}}, IsError: true}, nil
}
