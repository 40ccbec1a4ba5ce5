package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hippocampus-memory/hippocampus/service"
)

// maxLine bounds a message, in bytes: more than any argument that a tool takes.
const maxLine = 16 << 20

// ServeStdio serves one client, in one scope, until the input ends or the context does. Nothing but
// messages is written to out. A line that is no message is answered with a protocol's error, and the
// next one is read.
func ServeStdio(ctx context.Context, config *Config, scope service.Scope, in io.Reader, out io.Writer) error {
	server := newServer(config, func(*mcp.CallToolRequest) (service.Scope, error) { return scope, nil })
	answers := &answerWriter{answered: make(chan struct{}, 1), open: map[jsonrpc.ID]bool{}, out: out}
	pipe, messages := io.Pipe()
	go func() {
		err := sieve(in, messages, answers)
		answers.wait(ctx) // a client may end its input and still want the answers
		messages.CloseWithError(err)
	}()
	err := server.Run(ctx, &mcp.IOTransport{MaxLineLength: maxLine + 1, Reader: pipe, Writer: answers})
	_ = pipe.Close() // never fails; what is still read goes nowhere
	switch {
	case ctx.Err() != nil, err == nil, errors.Is(err, io.EOF):
		return nil //nolint:nilerr // to be ended is no failure
	default:
		return fmt.Errorf("serve a client on standard input: %w", err)
	}
}

// sieve passes on the lines that are messages, and answers those that are none.
func sieve(in io.Reader, messages io.Writer, answers *answerWriter) error {
	reader := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := readLine(reader)
		if len(bytes.TrimSpace(line)) > 0 || errors.Is(err, errLong) {
			var failure error
			answer := refuse(line, err)
			if answer == nil && !answers.expect(line) {
				answer = refusal(json.RawMessage("null"), jsonrpc.CodeInvalidRequest, "the id is that of a request that was not answered yet")
			}
			if answer != nil {
				failure = answers.refuse(answer)
			} else {
				_, failure = messages.Write(append(bytes.TrimSpace(line), '\n'))
			}
			if failure != nil {
				return failure
			}
		}
		if err != nil && !errors.Is(err, errLong) {
			return err // io.EOF at the end
		}
	}
}

var errLong = fmt.Errorf("a message may have %d bytes", maxLine)

// readLine reads a line, or passes over one that is too long.
func readLine(reader *bufio.Reader) ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := reader.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxLine; !long {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if long {
			return nil, errors.Join(errLong, err)
		}
		return line, err
	}
}

// refuse makes the answer to a line that is no message, and nil for one that is.
func refuse(line []byte, err error) []byte {
	id, code := json.RawMessage("null"), int64(jsonrpc.CodeInvalidRequest)
	var message string
	switch {
	case errors.Is(err, errLong):
		message = errLong.Error()
	case !json.Valid(line):
		code, message = jsonrpc.CodeParseError, "the line is no JSON"
	default:
		_, err := jsonrpc.DecodeMessage(bytes.TrimSpace(line))
		if err == nil {
			return nil
		}
		message = "the line is no JSON-RPC 2.0 message: " + err.Error()
		var named struct {
			ID json.RawMessage `json:"id"`
		}
		if json.Unmarshal(line, &named) == nil && len(named.ID) > 0 && (named.ID[0] == '"' || named.ID[0] >= '0' && named.ID[0] <= '9') {
			id = named.ID
		}
	}
	return refusal(id, code, message)
}

// refusal makes an answer that is a protocol's error.
func refusal(id json.RawMessage, code int64, message string) []byte {
	answer, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": code, "message": message},
	})
	if err != nil { // which an id that was read from JSON can't cause
		return []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"internal error"}}`)
	}
	return answer
}

// lastAnswers bounds how long answers are waited for when the input has ended.
const lastAnswers = 30 * time.Second

// answerWriter keeps answers whole, and the ids of those that are still to come.
type answerWriter struct {
	answered chan struct{} // a token when the last one has come
	out      io.Writer

	mu   sync.Mutex
	open map[jsonrpc.ID]bool
}

func (w *answerWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.out.Write(p)
	if message, decodeErr := jsonrpc.DecodeMessage(bytes.TrimSpace(p)); decodeErr == nil {
		if response, ok := message.(*jsonrpc.Response); ok && response.ID.IsValid() {
			w.close(response.ID)
		}
	}
	return n, err
}

// refuse writes an answer that was not expected.
func (w *answerWriter) refuse(answer []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err := w.out.Write(append(answer, '\n'))
	return err
}

// expect keeps the id of a message that is a request until its answer has come, and is false for an id that is kept:
// of two requests of one id only one would be answered.
func (w *answerWriter) expect(line []byte) bool {
	message, err := jsonrpc.DecodeMessage(bytes.TrimSpace(line))
	if err != nil {
		return true
	}
	request, ok := message.(*jsonrpc.Request)
	if !ok || !request.IsCall() {
		return true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open[request.ID] {
		return false
	}
	w.open[request.ID] = true
	return true
}

func (w *answerWriter) close(id jsonrpc.ID) {
	delete(w.open, id)
	if len(w.open) == 0 {
		select {
		case w.answered <- struct{}{}:
		default:
		}
	}
}

// wait returns when all answers have been written, or it has taken too long.
func (w *answerWriter) wait(ctx context.Context) {
	limit := time.After(lastAnswers)
	for {
		w.mu.Lock()
		open := len(w.open)
		w.mu.Unlock()
		if open == 0 {
			return
		}
		select {
		case <-w.answered:
		case <-ctx.Done():
			return
		case <-limit:
			return
		}
	}
}

// Close leaves the output open: it is not the server's.
func (w *answerWriter) Close() error { return nil }
