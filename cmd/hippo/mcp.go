package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hippocampus-memory/hippocampus/internal/command"
	"github.com/hippocampus-memory/hippocampus/service"
	"github.com/hippocampus-memory/hippocampus/service/mcpserver"
	"github.com/hippocampus-memory/hippocampus/service/tools"
	"github.com/hippocampus-memory/hippocampus/worker"
)

// envToken names the one token of a server for one user.
const envToken = "HIPPOCAMPUS_MCP_TOKEN" //nolint:gosec // its name, not its value

const mcpHelp = `Serves the memory to agents over the Model Context Protocol: to the one that
started it over standard input and output, or with --http to many.

Over standard input and output every call is in the scope of --app and --user.
Over HTTP it is in that of the client's bearer token: of ` + envToken + `
(the scope is --app and --user), or of the file of --tokens, which holds
  [{"token": "…", "app": "shop", "user": "ada"}, …]
No argument of a tool names a scope. --http takes a port or an address; it listens
on this machine alone unless the address says otherwise (0.0.0.0:7337).

The log goes to standard error. The server ends with its input, or by a signal.`

// mcpFlags are those of the command mcp.
type mcpFlags struct {
	http    string
	origins []string
	skills  string
	tokens  string
	worker  bool
}

func (a *app) mcp() *cobra.Command {
	var f mcpFlags
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve the memory to agents over the Model Context Protocol",
		Long:  mcpHelp,
		Args:  command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			tokens, err := a.mcpTokens(&f)
			if err != nil {
				return err
			}
			return a.withEngine(cmd.Context(), func(e *engine) error {
				serve := func(*worker.Worker) error { return a.serveMCP(cmd.Context(), e, &f, tokens) }
				if f.worker {
					return a.withWorker(cmd.Context(), e, serve)
				}
				return serve(nil)
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.http, "http", "", "serve over HTTP on a port or address, such as 7337 (default over standard input and output)")
	flags.StringArrayVar(&f.origins, "origin", nil, "a web page's origin that may call, such as https://agent.example; may be given again")
	flags.StringVar(&f.skills, "skills", "", "a folder of skills that load_skill may load: NAME/SKILL.md or NAME.md")
	flags.StringVar(&f.tokens, "tokens", "", "a file of bearer tokens and their scopes")
	flags.BoolVar(&f.worker, "worker", false, "run a worker beside it, which embeds and consolidates")
	return cmd
}

// mcpTools are all that an agent may call. Without a folder of skills there is no load_skill. A
// client over HTTP gets nothing that is of all users: index_memory is for whoever started the server.
func mcpTools(e *engine, f *mcpFlags) []*tools.Tool {
	all := slices.Concat(tools.Memory(e.service), tools.Graph(e.service), tools.Experience(e.service, f.skills), tools.Documents(e.service))
	if f.http == "" {
		return all
	}
	return slices.DeleteFunc(all, func(t *tools.Tool) bool { return t.Name == "index_memory" })
}

func (a *app) serveMCP(ctx context.Context, e *engine, f *mcpFlags, tokens *mcpserver.Tokens) error {
	config := &mcpserver.Config{
		Instructions: "A lasting memory. Recall before you answer what may have been said before; remember what will matter later.",
		Logger:       a.warner(slog.LevelDebug),
		Tools:        mcpTools(e, f),
		Version:      command.Version(),
	}
	if f.http == "" {
		return mcpserver.ServeStdio(ctx, config, a.scope(), a.stdin, a.exact)
	}
	return a.listenMCP(ctx, mcpserver.Handler(config, tokens, f.origins), f.http)
}

// listenMCP serves over HTTP until the context ends, and lets what runs finish.
func (a *app) listenMCP(ctx context.Context, handler http.Handler, address string) error {
	if !strings.Contains(address, ":") {
		address = ":" + address
	}
	if strings.HasPrefix(address, ":") {
		address = "127.0.0.1" + address
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return command.Usagef("--http: %w", err)
	}
	fmt.Fprintf(a.stderr, "hippo: serving on http://%s\n", listener.Addr())
	server := &http.Server{Handler: handler, IdleTimeout: 2 * time.Minute, ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve over HTTP: %w", err)
	case <-ctx.Done():
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if err := server.Shutdown(ending); err != nil {
		return fmt.Errorf("end the calls that run: %w", err)
	}
	return nil
}

// mcpTokens reads the tokens of a server over HTTP, which must have one at least.
func (a *app) mcpTokens(f *mcpFlags) (*mcpserver.Tokens, error) {
	tokens := &mcpserver.Tokens{}
	if f.http == "" {
		if f.tokens != "" || len(f.origins) > 0 {
			return nil, command.Usagef("--tokens and --origin are of --http, which is not given")
		}
		return tokens, nil
	}
	for _, origin := range f.origins {
		if u, err := url.Parse(origin); err != nil || u.Scheme == "" || u.Host == "" || u.Scheme+"://"+strings.ToLower(u.Host) != origin {
			return nil, command.Usagef("--origin is %q, but an origin is a scheme, a host and, unless it is the scheme's own, a port, in lower case: https://agent.example", origin)
		}
	}
	if token := a.getenv(envToken); token != "" {
		if err := tokens.Add(token, a.scope()); err != nil {
			return nil, command.Usagef("%s: %w", envToken, err)
		}
	}
	if f.tokens != "" {
		if err := readTokens(f.tokens, tokens); err != nil {
			return nil, command.Usagef("--tokens: %w", err)
		}
	}
	if tokens.Len() == 0 {
		return nil, command.Usagef("--http needs a bearer token: set " + envToken + ", or name a file with --tokens")
	}
	return tokens, nil
}

// plainJSON says what is wrong with JSON without the names of Go's types.
func plainJSON(err error) string {
	var kind *json.UnmarshalTypeError
	switch {
	case !errors.As(err, &kind):
		return "this is no JSON: " + err.Error()
	case kind.Field == "":
		return "there is a JSON " + kind.Value + " where none may be"
	}
	return kind.Field + " is a JSON " + kind.Value + ", but must be text"
}

func readTokens(path string, tokens *mcpserver.Tokens) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var entries []struct {
		App   string `json:"app"`
		Token string `json:"token"`
		User  string `json:"user"`
	}
	if err := json.Unmarshal(raw, &entries); err != nil {
		return fmt.Errorf(`%s: %s; it must be a list: [{"token": "…", "app": "…", "user": "…"}]`, path, plainJSON(err))
	}
	for i, entry := range entries {
		if entry.App == "" || entry.User == "" {
			return fmt.Errorf("%s: entry %d has no app or no user", path, i+1)
		}
		if err := tokens.Add(entry.Token, service.Scope{AppName: entry.App, UserID: entry.User}); err != nil {
			return fmt.Errorf("%s: entry %d: %w", path, i+1, err)
		}
	}
	return nil
}
