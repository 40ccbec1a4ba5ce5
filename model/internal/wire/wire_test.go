package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/model"
	"github.com/hippocampus-memory/hippocampus/model/internal/gate"
)

const secret = "very-secret/key"

func serve(t *testing.T, status int, body string, header ...string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func get(ctx context.Context, client *http.Client, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	return response.Body.Close()
}

func caller() *Caller {
	return &Caller{
		Provider: "test", Gate: gate.New(1, 0), Retry: model.Retry{MaxAttempts: 1},
		Logger: slog.New(slog.DiscardHandler), Secrets: []string{secret},
	}
}

func TestCaller_Do(t *testing.T) {
	t.Parallel()

	t.Run("BodyTooLarge", func(t *testing.T) {
		t.Parallel()
		url := serve(t, 200, strings.Repeat("x", 101))
		client := NewClient(Options{MaxBody: 100})
		err := caller().Do(t.Context(), "embed", time.Minute, true, func(ctx context.Context) error { return get(ctx, client, url) })
		var failure *model.Error
		require.ErrorAs(t, err, &failure)
		require.Equal(t, model.KindInvalidReply, failure.Kind)
		require.ErrorIs(t, err, ErrBodyTooLarge)
		require.Equal(t, int64(32<<20), int64(MaxBody))
	})

	t.Run("DecodeErrorKeepsTheReply", func(t *testing.T) {
		t.Parallel()
		url := serve(t, 200, "garbage "+secret)
		client := NewClient(Options{})
		for _, keep := range []bool{true, false} {
			err := caller().Do(t.Context(), "reflect", time.Minute, keep, func(ctx context.Context) error {
				require.NoError(t, get(ctx, client, url))
				return errors.New("bad " + secret + strings.Repeat("x", 1000))
			})
			var failure *model.Error
			require.ErrorAs(t, err, &failure)
			require.Equal(t, model.KindInvalidReply, failure.Kind)
			require.Less(t, len(err.Error()), 300)
			require.NotContains(t, err.Error(), secret)
			if keep {
				require.Equal(t, "garbage [key]", failure.RawReply)
			} else {
				require.Empty(t, failure.RawReply)
			}
		}
	})

	t.Run("ErrorsAndLogsHoldNoContent", func(t *testing.T) {
		t.Parallel()
		for _, status := range []int{200, 400, 413, 422, 500, 503} {
			url, client, log := serve(t, status, "ZEBRA said the user"), NewClient(Options{}), &strings.Builder{}
			c := caller()
			c.Logger = slog.New(slog.NewTextHandler(log, nil))
			err := c.Do(t.Context(), "reflect", time.Minute, true, func(ctx context.Context) error {
				if err := get(ctx, client, url); err != nil {
					return err
				}
				return errors.New("invalid character in ZEBRA")
			})
			var failure *model.Error
			require.ErrorAs(t, err, &failure)
			require.NotContains(t, err.Error(), "ZEBRA")
			require.NotContains(t, log.String(), "ZEBRA")
			require.Equal(t, "ZEBRA said the user", failure.RawReply)
		}
	})

	t.Run("NamesTheSettings", func(t *testing.T) {
		t.Parallel()
		const key, address = "; check A_KEY", "; check A_URL, http://here"
		for _, test := range []struct {
			status     int
			body, want string
		}{
			{401, `{"error":{"message":"Incorrect API key"}}`, "rejected (HTTP 401): Incorrect API key" + key},
			{403, "", "rejected (HTTP 403): Forbidden" + key},
			{400, `{"error":{"message":"no","details":[{"reason":"API_KEY_INVALID"}]}}`, "rejected (HTTP 400): Bad Request, API_KEY_INVALID" + key},
			{400, `{"error":{"message":"no"}}`, "rejected (HTTP 400): Bad Request"},
			{404, "", "rejected (HTTP 404): Not Found; check the model's name and A_URL, http://here"},
			{405, "", "rejected (HTTP 405): Method Not Allowed" + address},
			{307, "", "rejected (HTTP 307): redirects are not followed: Temporary Redirect" + address},
			{503, "", "unavailable (HTTP 503): Service Unavailable"},
			{200, "<html>", "invalid reply (HTTP 200): the reply of 6 bytes can't be decoded" + address},
			{200, "{}", "invalid reply (HTTP 200): the reply of 2 bytes can't be decoded"},
		} {
			url, client, c := serve(t, test.status, test.body), NewClient(Options{}), caller()
			c.KeyFrom, c.Address = "A_KEY", "A_URL, http://here"
			err := c.Do(t.Context(), "embed", time.Minute, false, func(ctx context.Context) error {
				if err := get(ctx, client, url); err != nil {
					return err
				}
				return errors.New("no vectors")
			})
			require.EqualError(t, err, "test embed: "+test.want)
		}
	})

	t.Run("HoldsNoPlaceWhileItWaits", func(t *testing.T) {
		t.Parallel()
		url := serve(t, 503, "")
		client, c := NewClient(Options{}), caller()
		waited := 0
		c.Retry = model.Retry{MaxAttempts: 2, Sleep: func(ctx context.Context, _ time.Duration) error {
			waited++
			return c.Gate.Do(ctx, func(context.Context) error { return nil }) // the only place is free
		}}
		err := c.Do(t.Context(), "embed", time.Minute, false, func(ctx context.Context) error { return get(ctx, client, url) })
		require.Error(t, err)
		require.Equal(t, 1, waited)
	})

	t.Run("NothingWasSent", func(t *testing.T) {
		t.Parallel()
		err := caller().Do(t.Context(), "embed", time.Minute, true, func(context.Context) error { return errors.New("no such option " + secret) })
		var failure *model.Error
		require.ErrorAs(t, err, &failure)
		require.Equal(t, model.KindRejected, failure.Kind)
		require.EqualError(t, err, "test embed: rejected: no such option [key]")
	})
}

func TestNewClient(t *testing.T) {
	t.Parallel()

	t.Run("KeyDoesNotFollowARedirect", func(t *testing.T) {
		t.Parallel()
		asked := false
		other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
		t.Cleanup(other.Close)
		client := NewClient(Options{Header: http.Header{"X-Key": {secret}}})
		err := get(t.Context(), client, serve(t, 302, "", "Location", other.URL))
		var status *StatusError
		require.ErrorAs(t, err, &status)
		require.Equal(t, 302, status.Status)
		require.False(t, asked)
	})

	t.Run("SetsHeaders", func(t *testing.T) {
		t.Parallel()
		var got string
		server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.Header.Get("X-Key") }))
		t.Cleanup(server.Close)
		require.NoError(t, get(t.Context(), NewClient(Options{Header: http.Header{"X-Key": {secret}}}), server.URL))
		require.Equal(t, secret, got)
	})
}

func TestStatusError(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		status  int
		body    string
		header  string
		message string
		wait    time.Duration
		kind    model.ErrorKind
	}{
		"Bare":           {429, "", "", "Too Many Requests", 0, model.KindRateLimited},
		"Date":           {503, "", "Fri, 27 Nov 2026 12:00:30 GMT", "Service Unavailable", 30 * time.Second, model.KindUnavailable},
		"DateInThePast":  {503, "", "Fri, 27 Nov 2026 11:00:30 GMT", "Service Unavailable", 0, model.KindUnavailable},
		"FlatError":      {400, `{"error":"bad things"}`, "", "bad things", 0, model.KindRejected},
		"FlatMessage":    {404, `{"message":"gone"}`, "", "gone", 0, model.KindRejected},
		"Garbage":        {500, "<h1>oops</h1>\x00", "soon", "<h1>oops</h1>", 0, model.KindUnavailable},
		"Google":         {429, `{"error":{"code":429,"message":"quota","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.5s"}]}}`, "", "quota", 34500 * time.Millisecond, model.KindRateLimited},
		"GoogleList":     {429, `[{"error":{"message":"quota"}}]`, "1", `[{"error":{"message":"quota"}}]`, time.Second, model.KindRateLimited},
		"Long":           {400, strings.Repeat("好", 400), "", strings.Repeat("好", 166) + "…", 0, model.KindRejected},
		"Overloaded":     {529, "", "2.5", "", 2500 * time.Millisecond, model.KindUnavailable},
		"QuotesKey":      {401, `{"error":{"message":"Incorrect API key: ` + secret + `, sk-abc***xyz, AIzaSyABC, Bearer abc.def"}}`, "", "Incorrect API key: [key], [key], [key], [key]", 0, model.KindRejected},
		"RequestTimeout": {408, "", "-1", "Request Timeout", 0, model.KindUnavailable},
		"TooFarAway":     {429, "", "999999", "Too Many Requests", 24 * time.Hour, model.KindRateLimited},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			response := &http.Response{StatusCode: test.status, Header: http.Header{}}
			if test.header != "" {
				response.Header.Set("Retry-After", test.header)
			}
			e := newStatusError(response, []byte(test.body), []string{secret}, now)
			if e.told() || e.Message == "" {
				require.Equal(t, test.message, e.Error())
			} else {
				require.Equal(t, test.message, e.Message)
				require.Equal(t, http.StatusText(test.status), e.Error())
			}
			require.Equal(t, test.wait, e.RetryAfter)
			require.Equal(t, test.kind, kindOf(e.Status))
			require.NotContains(t, fmt.Sprintf("%+v", e), secret)
		})
	}

	t.Run("CodesAreTold", func(t *testing.T) {
		t.Parallel()
		for body, want := range map[string]string{
			`{"error":{"message":"ZEBRA","code":"context_length_exceeded","type":"invalid_request_error"}}`:                                      "Bad Request, context_length_exceeded, invalid_request_error",
			`{"error":{"message":"ZEBRA","code":400,"status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"},{"reason":"a ZEBRA"}]}}`: "Bad Request, INVALID_ARGUMENT, API_KEY_INVALID",
		} {
			e := newStatusError(&http.Response{StatusCode: http.StatusBadRequest, Header: http.Header{}}, []byte(body), nil, now)
			require.Equal(t, want, e.Error())
			require.Equal(t, "ZEBRA", e.Message)
		}
	})

	t.Run("Milliseconds", func(t *testing.T) {
		t.Parallel()
		response := &http.Response{StatusCode: http.StatusTooManyRequests, Header: http.Header{"Retry-After-Ms": {"1500"}, "Retry-After": {"60"}}}
		require.Equal(t, 1500*time.Millisecond, newStatusError(response, nil, nil, now).RetryAfter)
	})
}
