package mcpserver

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/service"
)

// minToken is how many bytes a token must have, so that it can't be guessed.
const minToken = 16

// Tokens are the bearer tokens of a server's clients and the scope of each.
type Tokens struct {
	// by hash, so that looking one up takes the same time whatever of it is right
	scopes map[[sha256.Size]byte]service.Scope
}

// Add lets a token into a scope.
//
// Errors: [db.ErrInvalidArgument] for one that is too short or there already.
func (t *Tokens) Add(token string, scope service.Scope) error {
	if len(token) < minToken {
		return fmt.Errorf("%w: a token has %d bytes, but must have %d at least", db.ErrInvalidArgument, len(token), minToken)
	}
	hash := sha256.Sum256([]byte(token))
	if _, known := t.scopes[hash]; known {
		return fmt.Errorf("%w: a token is given twice", db.ErrInvalidArgument)
	}
	if t.scopes == nil {
		t.scopes = map[[sha256.Size]byte]service.Scope{}
	}
	t.scopes[hash] = scope
	return nil
}

// Len is the number of tokens.
func (t *Tokens) Len() int { return len(t.scopes) }

func (t *Tokens) verify(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
	scope, known := t.scopes[sha256.Sum256([]byte(token))]
	if !known {
		return nil, auth.ErrInvalidToken
	}
	return &auth.TokenInfo{Extra: map[string]any{"scope": scope}}, nil
}

// Handler serves clients over streamable HTTP, each in the scope of its bearer token. It keeps no
// session, so that any number of servers may stand behind one address. A page of this machine, or of
// one of origins (such as https://agent.example), may call it from a browser; what a browser sends from
// any other page is refused, so that no web page can speak to a local server.
func Handler(config *Config, tokens *Tokens, origins []string) http.Handler {
	server := newServer(config, func(request *mcp.CallToolRequest) (service.Scope, error) {
		if request.Extra != nil && request.Extra.TokenInfo != nil {
			if scope, ok := request.Extra.TokenInfo.Extra["scope"].(service.Scope); ok {
				return scope, nil
			}
		}
		return service.Scope{}, errOutside
	})
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server },
		&mcp.StreamableHTTPOptions{JSONResponse: true, Logger: config.Logger, MaxRequestBodyBytes: maxLine, Stateless: true})
	authenticated := auth.RequireBearerToken(tokens.verify, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(handler)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origin := r.Header.Get("Origin")
		if origin != "" && !isLocal(origin) && !slices.Contains(origins, origin) {
			http.Error(w, "requests from the origin "+origin+" are refused", http.StatusForbidden)
			return
		}
		if origin != "" && allowPage(w.Header(), origin, r) {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		authenticated.ServeHTTP(w, r)
	})
}

// allowPage tells a browser that a page may send the request and read its answer, refusals included. It is true for
// the question whether it may (a preflight), which browsers ask without the token: that is the whole answer then.
func allowPage(answer http.Header, origin string, r *http.Request) (preflight bool) {
	answer.Add("Vary", "Origin")
	answer.Set("Access-Control-Allow-Origin", origin)
	answer.Set("Access-Control-Expose-Headers", "Mcp-Protocol-Version, Mcp-Session-Id, Www-Authenticate")
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	answer.Set("Access-Control-Allow-Methods", "DELETE, GET, POST")
	// Whatever a client's library sends: a page gets in by its token, not by what a browser adds.
	if asked := r.Header.Get("Access-Control-Request-Headers"); asked != "" {
		answer.Add("Vary", "Access-Control-Request-Headers")
		answer.Set("Access-Control-Allow-Headers", asked)
	}
	if r.Header.Get("Access-Control-Request-Private-Network") == "true" { // a page of the internet, a server of this network
		answer.Set("Access-Control-Allow-Private-Network", "true")
	}
	answer.Set("Access-Control-Max-Age", "600")
	return true
}

// isLocal says whether a page comes from this machine.
func isLocal(origin string) bool {
	u, err := url.Parse(origin)
	return err == nil && slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, u.Hostname())
}
