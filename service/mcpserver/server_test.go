package mcpserver_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/hippocampus-memory/hippocampus/service"
	"github.com/hippocampus-memory/hippocampus/service/mcpserver"
	"github.com/hippocampus-memory/hippocampus/service/tools"
	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

var ada = service.Scope{AppName: "shop", UserID: "ada"}

func config(t *testing.T) *mcpserver.Config {
	t.Helper()
	svc, err := service.New(dbtest.DB(t), nil)
	require.NoError(t, err)
	return &mcpserver.Config{Tools: slices.Concat(tools.Memory(svc), tools.Graph(svc)), Version: "test"}
}

// connect connects a client to a server over pipes, as a program that starts it would.
func connect(t *testing.T, c *mcpserver.Config, scope service.Scope) *mcp.ClientSession {
	t.Helper()
	serverIn, clientOut := io.Pipe()
	clientIn, serverOut := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- mcpserver.ServeStdio(t.Context(), c, scope, serverIn, serverOut) }()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: clientIn, Writer: clientOut}, nil)
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = session.Close()
		require.NoError(t, <-ended)
	})
	return session
}

// call calls a tool that answers, and gives its text.
func call(t *testing.T, session *mcp.ClientSession, name, arguments string) (text string, isError bool) {
	t.Helper()
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: json.RawMessage(arguments)})
	require.NoError(t, err)
	require.Len(t, result.Content, 1)
	return result.Content[0].(*mcp.TextContent).Text, result.IsError
}

func requireCode(t *testing.T, err error, code int64, message string) {
	t.Helper()
	var failure *jsonrpc.Error
	require.ErrorAs(t, err, &failure)
	require.Equal(t, code, failure.Code)
	require.Contains(t, failure.Message, message)
}

func TestStdio(t *testing.T) {
	t.Parallel()

	t.Run("ListsTheToolsWithTheirSchemas", func(t *testing.T) {
		t.Parallel()
		listed, err := connect(t, config(t), ada).ListTools(t.Context(), nil)
		require.NoError(t, err)
		for _, tool := range listed.Tools {
			raw, err := json.Marshal(tool)
			require.NoError(t, err)
			for _, scope := range []string{`"user_id"`, `"app_name"`, `"user":`, `"app":`} {
				require.NotContains(t, string(raw), scope, tool.Name) // which is never the model's to say
			}
			require.NotEmpty(t, tool.Description)
			require.NotNil(t, tool.OutputSchema)
			require.Equal(t, strings.HasPrefix(tool.Name, "delete_") || strings.HasPrefix(tool.Name, "replace_") || tool.Name == "forget_memory",
				*tool.Annotations.DestructiveHint, tool.Name)
			require.False(t, tool.Annotations.ReadOnlyHint && *tool.Annotations.DestructiveHint, tool.Name)
		}
	})

	t.Run("RefusesWhatIsMalformed", func(t *testing.T) {
		t.Parallel()
		session := connect(t, config(t), ada)
		for _, bad := range []struct{ name, arguments, message string }{
			{"append_memory_block", `{"key": "human"}`, "text"},
			{"append_memory_block", `{"key": 3, "text": "x"}`, "3"},
			{"append_memory_block", `{"key": "", "text": "x"}`, "minLength"},
			{"append_memory_block", `{"key": "human", "text": "x", "user_id": "bea"}`, "user_id"},
			{"recall_memories", `{"query": "x", "app_name": "bank"}`, "app_name"},
			{"create_entities", `{"entities": {}}`, "entities"},
			{"store_memory", `[1]`, "no JSON object"},
			{"no_such_tool", `{}`, "no_such_tool"},
		} {
			_, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: bad.name, Arguments: json.RawMessage(bad.arguments)})
			requireCode(t, err, jsonrpc.CodeInvalidParams, bad.message)
		}
		text, isError := call(t, session, "recall_memory_block", `{"key": "human"}`) // it still serves
		require.False(t, isError)
		require.Contains(t, text, "null")
	})

	t.Run("TellsHowFarAnIndexCame", func(t *testing.T) {
		t.Parallel()
		pool := dbtest.DB(t)
		svc, err := service.New(pool, nil)
		require.NoError(t, err)
		serverIn, clientOut := io.Pipe()
		clientIn, serverOut := io.Pipe()
		ended := make(chan error, 1)
		go func() {
			ended <- mcpserver.ServeStdio(t.Context(), &mcpserver.Config{Tools: tools.Experience(svc, "")}, ada, serverIn, serverOut)
		}()
		told := make(chan *mcp.ProgressNotificationParams, 100)
		client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
			ProgressNotificationHandler: func(_ context.Context, request *mcp.ProgressNotificationClientRequest) { told <- request.Params },
		})
		session, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: clientIn, Writer: clientOut}, nil)
		require.NoError(t, err)
		params := &mcp.CallToolParams{Name: "index_memory", Arguments: json.RawMessage(`{}`)}
		params.SetProgressToken("p")
		answered := make(chan error, 1)
		go func() { _, err := session.CallTool(t.Context(), params); answered <- err }()
		require.Equal(t, 0.0, (<-told).Progress) // it is queued
		for _, step := range []struct{ set, done string }{
			{`metadata = '{"progress": {"done": 1, "total": 2}}'`, "1/2"}, // as a worker does
			{`state = 'completed', finalized_at = now(), metadata = '{"progress": {"done": 2, "total": 2}}'`, "2/2"},
		} {
			_, err = pool.Exec(t.Context(), "UPDATE hippocampus.river_job SET "+step.set+" WHERE kind = 'index_vectors'")
			require.NoError(t, err)
			p := <-told
			require.Equal(t, "p "+step.done, fmt.Sprintf("%v %v/%v", p.ProgressToken, p.Progress, p.Total))
		}
		require.NoError(t, <-answered)
		require.NoError(t, session.Close())
		require.NoError(t, <-ended)
	})

	// A worker that tries again begins again; the protocol wants what is told to grow.
	t.Run("TellsProgressThatGrows", func(t *testing.T) {
		t.Parallel()
		type none struct{}
		tool := tools.New(tools.Spec{Name: "count"}, func(ctx context.Context, _ service.Scope, _ *none) (*none, error) {
			for _, done := range []int{0, 0, 1, 0, 2, 2, 1, 3} {
				tools.Progress(ctx)(done, min(3, 3*done))
			}
			return &none{}, nil
		})
		serverIn, clientOut := io.Pipe()
		clientIn, serverOut := io.Pipe()
		ended := make(chan error, 1)
		go func() {
			ended <- mcpserver.ServeStdio(t.Context(), &mcpserver.Config{Tools: []*tools.Tool{tool}}, ada, serverIn, serverOut)
		}()
		told := make(chan float64, 100)
		client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
			ProgressNotificationHandler: func(_ context.Context, request *mcp.ProgressNotificationClientRequest) {
				told <- request.Params.Progress
			},
		})
		session, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: clientIn, Writer: clientOut}, nil)
		require.NoError(t, err)
		params := &mcp.CallToolParams{Name: "count", Arguments: json.RawMessage(`{}`)}
		params.SetProgressToken("p")
		_, err = session.CallTool(t.Context(), params)
		require.NoError(t, err)
		for _, want := range []float64{0, 1, 2, 3} {
			require.Equal(t, want, <-told)
		}
		require.NoError(t, session.Close())
		require.NoError(t, <-ended)
		require.Empty(t, told)
	})

	t.Run("AnswersLinesThatAreNoMessage", func(t *testing.T) {
		t.Parallel()
		var out strings.Builder
		in := strings.Join([]string{
			"not json", "", `{"id": 7}`, `[1]`, strings.Repeat("x", 17<<20),
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`,
			`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
			`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"read_graph","arguments":{}}}`,
		}, "\n")
		require.NoError(t, mcpserver.ServeStdio(t.Context(), config(t), ada, strings.NewReader(in), &out))
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		require.Len(t, lines, 6)
		require.Contains(t, lines[0], "-32700")
		require.Contains(t, lines[1], `"id":7`)
		for _, line := range lines[1:4] {
			require.Contains(t, line, "-32600")
		}
		require.Contains(t, lines[5], `\"entities\": []`, "the last call is answered, though the input has ended")
	})

	// Of two requests of one id only one would be answered, and the server would wait for the other answer at the end.
	t.Run("RefusesAnIdThatIsNotAnsweredYet", func(t *testing.T) {
		t.Parallel()
		pool := dbtest.DB(t)
		svc, err := service.New(pool, nil)
		require.NoError(t, err)
		serverIn, clientOut := io.Pipe()
		clientIn, serverOut := io.Pipe()
		ended := make(chan error, 1)
		go func() {
			ended <- mcpserver.ServeStdio(t.Context(), &mcpserver.Config{Tools: tools.Graph(svc)}, ada, serverIn, serverOut)
		}()
		answers := bufio.NewReader(clientIn)
		send := func(line string) {
			_, err := io.WriteString(clientOut, line+"\n")
			require.NoError(t, err)
		}
		read := func() string {
			line, err := answers.ReadString('\n')
			require.NoError(t, err)
			return line
		}
		send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
		require.Contains(t, read(), `"id":1`)
		send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		writer, err := pool.Begin(t.Context()) // who holds the graph, so that the call waits
		require.NoError(t, err)
		_, err = writer.Exec(t.Context(), "SELECT hippocampus._lock_graph('ada', 'shop')")
		require.NoError(t, err)
		create := `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"create_entities","arguments":{"entities":[{"name":"n","entityType":"t","observations":[]}]}}}`
		send(create)
		send(create)
		refused := read()
		require.Contains(t, refused, "-32600")
		require.Contains(t, refused, `"id":null`)
		require.NoError(t, writer.Rollback(t.Context()))
		require.Contains(t, read(), `"id":5,"result"`)
		send(create) // answered by now, so the id is free
		require.Contains(t, read(), `"id":5,"result"`)
		require.NoError(t, clientOut.Close())
		require.NoError(t, <-ended)
	})

	t.Run("TwoClientsAtOnceLoseNothing", func(t *testing.T) {
		t.Parallel()
		c := config(t)
		const rounds = 20
		sessions := []*mcp.ClientSession{connect(t, c, ada), connect(t, c, ada)}
		call(t, sessions[0], "create_entities", `{"entities": [{"name": "hub", "entityType": "t", "observations": []}]}`)
		group, ctx := errgroup.WithContext(t.Context())
		for i, session := range sessions {
			group.Go(func() error {
				for round := range rounds {
					for name, arguments := range map[string]string{
						"add_observations":    fmt.Sprintf(`{"observations": [{"entityName": "hub", "contents": ["%d of %d"]}]}`, round, i),
						"append_memory_block": fmt.Sprintf(`{"key": "log", "text": "%d of %d"}`, round, i),
						"store_memory":        fmt.Sprintf(`{"content": "memory %d of %d"}`, round, i),
					} {
						result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: json.RawMessage(arguments)})
						if err != nil || result.IsError {
							return fmt.Errorf("%s: %v: %w", name, result, err)
						}
					}
				}
				return nil
			})
		}
		require.NoError(t, group.Wait())
		block, _ := call(t, sessions[0], "recall_memory_block", `{"key": "log"}`)
		graph, _ := call(t, sessions[1], "read_graph", `{}`)
		for i := range sessions {
			for round := range rounds {
				require.Contains(t, block, fmt.Sprintf("%d of %d", round, i))
				require.Contains(t, graph, fmt.Sprintf(`"%d of %d"`, round, i))
			}
		}
	})
}

// bearer is a round tripper with a token and, where it has one, an origin.
type bearer struct{ token, origin string }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if b.token != "" {
		r.Header.Set("Authorization", "Bearer "+b.token)
	}
	if b.origin != "" {
		r.Header.Set("Origin", b.origin)
	}
	return http.DefaultTransport.RoundTrip(r)
}

func TestHTTP(t *testing.T) { //nolint:tparallel // its subtests share a server, and are few
	t.Parallel()
	const adas, beas = "token-of-ada-0123456789", "token-of-bea-0123456789"
	tokens := &mcpserver.Tokens{}
	require.Error(t, tokens.Add("short", ada))
	require.NoError(t, tokens.Add(adas, ada))
	require.NoError(t, tokens.Add(beas, service.Scope{AppName: "shop", UserID: "bea"}))
	require.Error(t, tokens.Add(adas, ada))
	server := httptest.NewServer(mcpserver.Handler(config(t), tokens, []string{"https://agent.example"}))
	t.Cleanup(server.Close)
	dial := func(b bearer) (*mcp.ClientSession, error) {
		client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
		session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{
			Endpoint: server.URL, HTTPClient: &http.Client{Transport: b}, MaxRetries: -1,
		}, nil)
		if err == nil {
			t.Cleanup(func() { _ = session.Close() })
		}
		return session, err
	}

	t.Run("EachTokenHasItsScope", func(t *testing.T) {
		a, err := dial(bearer{token: adas})
		require.NoError(t, err)
		b, err := dial(bearer{token: beas, origin: "https://agent.example"})
		require.NoError(t, err)
		call(t, a, "append_memory_block", `{"key": "human", "text": "I am Ada"}`)
		text, _ := call(t, b, "recall_memory_block", `{"key": "human"}`)
		require.Contains(t, text, "null")
		text, _ = call(t, a, "recall_memory_block", `{"key": "human"}`)
		require.Contains(t, text, "I am Ada")
		_, err = a.CallTool(t.Context(), &mcp.CallToolParams{Name: "recall_memory_block", Arguments: json.RawMessage(`{"key": "human", "user": "bea"}`)})
		requireCode(t, err, jsonrpc.CodeInvalidParams, "user")
	})

	t.Run("RefusesStrangers", func(t *testing.T) {
		for name, b := range map[string]struct {
			bearer
			status int
		}{
			"NoToken":     {bearer{}, http.StatusUnauthorized},
			"WrongToken":  {bearer{token: "token-of-eve-0123456789"}, http.StatusUnauthorized},
			"OtherOrigin": {bearer{token: adas, origin: "https://evil.example"}, http.StatusForbidden},
			"NullOrigin":  {bearer{token: adas, origin: "null"}, http.StatusForbidden},
		} {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, strings.NewReader(`{}`))
			require.NoError(t, err)
			response, err := b.RoundTrip(request)
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			require.Equal(t, b.status, response.StatusCode, name)
			_, err = dial(b.bearer)
			require.Error(t, err, name)
		}
	})

	// A browser asks first, without the token, and gives a page only what it may read.
	t.Run("PagesMayCall", func(t *testing.T) {
		send := func(method, origin, token string, more map[string]string) (status int, answer http.Header) {
			request, err := http.NewRequestWithContext(t.Context(), method, server.URL,
				strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
			require.NoError(t, err)
			request.Header.Set("Content-Type", "application/json")
			request.Header.Set("Accept", "application/json, text/event-stream")
			for name, value := range more {
				request.Header.Set(name, value)
			}
			response, err := bearer{token: token, origin: origin}.RoundTrip(request)
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			return response.StatusCode, response.Header
		}
		preflight := map[string]string{
			"Access-Control-Request-Headers": "authorization,content-type,mcp-protocol-version", "Access-Control-Request-Method": "POST",
			"Access-Control-Request-Private-Network": "true",
		}
		for _, origin := range []string{"https://agent.example", "http://localhost:5173"} {
			status, asked := send(http.MethodOptions, origin, "", preflight)
			require.Equal(t, http.StatusNoContent, status)
			require.Equal(t, origin, asked.Get("Access-Control-Allow-Origin"))
			require.Contains(t, asked.Get("Access-Control-Allow-Methods"), "POST")
			require.Equal(t, preflight["Access-Control-Request-Headers"], asked.Get("Access-Control-Allow-Headers"))
			require.Equal(t, "true", asked.Get("Access-Control-Allow-Private-Network"))
			for token, want := range map[string]int{adas: http.StatusOK, "": http.StatusUnauthorized} {
				status, answered := send(http.MethodPost, origin, token, nil)
				require.Equal(t, want, status)
				require.Equal(t, origin, answered.Get("Access-Control-Allow-Origin"))
				require.Contains(t, answered.Get("Access-Control-Expose-Headers"), "Mcp-Session-Id")
				require.Contains(t, answered.Values("Vary"), "Origin")
			}
		}
		status, answered := send(http.MethodOptions, "https://evil.example", "", preflight)
		require.Equal(t, http.StatusForbidden, status)
		require.Empty(t, answered.Get("Access-Control-Allow-Origin"))
		status, _ = send(http.MethodOptions, "", "", nil)
		require.Equal(t, http.StatusUnauthorized, status, "what is no browser's question needs the token")
		_, answered = send(http.MethodPost, "", adas, nil)
		require.Empty(t, answered.Get("Access-Control-Allow-Origin"))
	})
}
