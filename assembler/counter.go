package assembler

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/tiktoken-go/tokenizer"

	"github.com/hippocampus-memory/hippocampus/db"
)

// DefaultEncoding is the encoding of OpenAI's models since GPT-4o.
const DefaultEncoding = "o200k_base"

// Counter counts tokens. It is safe for concurrent use.
type Counter struct {
	blank    func() *blankCounter // nil where the library cuts white space as it should
	codec    tokenizer.Codec
	encoding string
}

// NewCounter makes a counter for an encoding: o200k_base (the default, for ""), cl100k_base,
// p50k_base, p50k_edit or r50k_base. [CounterOf] makes one for a
// deployment's encoding. The vocabulary is built once a process, in some tens of milliseconds.
//
// Errors: [db.ErrInvalidArgument] for an encoding that is not known.
func NewCounter(encoding string) (*Counter, error) {
	if encoding == "" {
		encoding = DefaultEncoding
	}
	codec, err := tokenizer.Get(tokenizer.Encoding(encoding))
	if err != nil {
		return nil, fmt.Errorf("%w: token encoding %q is not known; there are o200k_base, cl100k_base, p50k_base, "+
			"p50k_edit and r50k_base", db.ErrInvalidArgument, encoding)
	}
	counter := &Counter{codec: codec, encoding: encoding}
	if pattern, ok := patterns[encoding]; ok {
		counter.blank = sync.OnceValue(func() *blankCounter { return newBlankCounter(codec, pattern) })
	}
	return counter, nil
}

// CounterOf makes a counter for the deployment's encoding, which is the setting token_encoding.
//
// Errors: [db.ErrInvalidArgument] for a setting that is no name of an encoding.
func CounterOf(ctx context.Context, conn db.DBTX) (*Counter, error) {
	raw, err := db.New().SettingGet(ctx, conn, &db.SettingGetParams{AppName: "*", Key: "token_encoding"})
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return nil, fmt.Errorf("read the setting token_encoding: %w", db.Wrap(err))
	}
	var encoding string
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &encoding); err != nil {
			return nil, fmt.Errorf("read the setting token_encoding: %w: it is %s, not a name", db.ErrInvalidArgument, raw)
		}
	}
	counter, err := NewCounter(encoding)
	if err != nil {
		return nil, fmt.Errorf("read the setting token_encoding: %w", err)
	}
	return counter, nil
}

// Encoding is the name of the encoding.
func (c *Counter) Encoding() string { return c.encoding }

// Count is the number of tokens of a text. Its time grows with the text's length alone, whatever
// the text is: a megabyte takes half a second at most.
func (c *Counter) Count(text string) int {
	if c.blank != nil && hasBlankLine(text) {
		return c.blank().count(text, c.countPlain)
	}
	return c.countPlain(text)
}

func (c *Counter) countPlain(text string) int {
	n, err := c.codec.Count(text)
	if err != nil {
		return len(text) // a byte-level tokenizer never makes more tokens than bytes
	}
	return n
}
