package assembler

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/google/uuid"
	"github.com/pgvector/pgvector-go"

	"github.com/hippocampus-memory/hippocampus/db"
)

// The shares of a window's budget, where a [Request] gives none. What a section leaves, the next
// may use. They are the sources' for Go; those of the SQL function get_context_window differ, as their
// sources do: 4000 tokens, half of them for history, and facts what the others leave.
const (
	DefaultMaxTokens    = 8000
	DefaultSystemRatio  = 0.1
	DefaultMemoryRatio  = 0.3
	DefaultHistoryRatio = 0.4
	DefaultFactRatio    = 0.2
)

// Request is what a window is made for. Fields that are pointers tell nothing from zero: a budget
// of 0 tokens is an empty window, and a ratio of 0 leaves a section only what others leave.
type Request struct {
	// AppName is the app whose memory it is. Required.
	AppName string

	// FactRatio is the share of facts. Instructions and blocks have none of their own: they stand
	// before facts, use what the system prompt left of its share, and then whatever is left.
	//
	// Defaults to 0.2.
	FactRatio *float64

	// HistoryRatio is the share of the conversation's newest events.
	//
	// Defaults to 0.4.
	HistoryRatio *float64

	// Language is that of the headings: "en" or "zh".
	//
	// Defaults to "en".
	Language string

	// MaxTokens is the budget, 0 to 10,000,000.
	//
	// Defaults to 8000.
	MaxTokens *int

	// MemoryRatio is the share of the memories that search finds for Query.
	//
	// Defaults to 0.3.
	MemoryRatio *float64

	// Now is the clock by which memories have faded.
	//
	// Defaults to the database's.
	Now time.Time

	// SkipOmitted leaves [Window.Omitted] empty, which saves its transfer.
	SkipOmitted bool

	// ProjectAnchors asks for the anchor index too: memories and chunks of documents are
	// found by the anchors of the query, and of what is being talked about, whose names it gives. An
	// empty list asks for it without a name.
	//
	// Defaults to nil, without the anchor index.
	ProjectAnchors []string

	// Query is what the memories should be about. Empty, the strongest and newest are taken.
	Query string

	// QueryEmbedding is the query's vector, of the deployment's embedding model.
	//
	// Defaults to none: memories are found by words.
	QueryEmbedding []float32

	// SystemOverflow lets a system prompt that is over its share take from the other sections.
	//
	// Defaults to false: such a prompt is [db.ErrSystemPromptOverBudget].
	SystemOverflow bool

	// SystemPrompt stands first.
	//
	// Defaults to none.
	SystemPrompt string

	// SystemRatio is the share of the system prompt.
	//
	// Defaults to 0.1.
	SystemRatio *float64

	// ThreadID is the conversation whose history is shown.
	//
	// Defaults to the newest events of all of the user's conversations.
	ThreadID *uuid.UUID

	// UserID is the user whose memory it is. Required.
	UserID string
}

// Assemble makes a window, in one statement. The caller's transaction, connection or pool gives
// the rights: a bound one (see [db.WithScope]) can't see another tenant's rows, whatever the
// request says. A nil counter counts in the default encoding.
//
// Errors: [db.ErrInvalidScope]; [db.ErrInvalidBudget] for a budget or ratios that can't be;
// [db.ErrSystemPromptOverBudget]; [db.ErrInvalidArgument] for another language;
// [db.ErrInvalidText]; [db.ErrDimension] and [db.ErrInvalidEmbedding] for a vector that is no
// embedding of this deployment's.
func Assemble(ctx context.Context, conn db.DBTX, counter *Counter, request *Request) (*Window, error) {
	if counter == nil {
		var err error
		if counter, err = NewCounter(""); err != nil {
			return nil, err
		}
	}
	params, err := request.params(counter)
	if err != nil {
		return nil, err
	}
	rows, err := db.New().ContextAssemble(ctx, conn, params)
	if err != nil {
		return nil, fmt.Errorf("assemble a context window: %w", db.WrapGo(err))
	}
	return newWindow(rows, params, counter)
}

func (r *Request) params(counter *Counter) (*db.ContextAssembleParams, error) {
	maxTokens := or(r.MaxTokens, DefaultMaxTokens)
	if maxTokens < math.MinInt32 || maxTokens > math.MaxInt32 {
		return nil, fmt.Errorf("%w: MaxTokens is %d", db.ErrInvalidBudget, maxTokens)
	}
	params := &db.ContextAssembleParams{
		AppName:        r.AppName,
		FactRatio:      or(r.FactRatio, DefaultFactRatio),
		HistoryRatio:   or(r.HistoryRatio, DefaultHistoryRatio),
		IncludeOmitted: !r.SkipOmitted,
		Language:       r.Language,
		MaxTokens:      int32(maxTokens),
		MemoryRatio:    or(r.MemoryRatio, DefaultMemoryRatio),
		ProjectAnchors: r.ProjectAnchors,
		Query:          r.Query,
		SystemOverflow: r.SystemOverflow,
		SystemRatio:    or(r.SystemRatio, DefaultSystemRatio),
		ThreadID:       r.ThreadID,
		UserID:         r.UserID,
	}
	if params.Language == "" {
		params.Language = "en"
	}
	if !r.Now.IsZero() {
		params.Now = &r.Now
	}
	if r.SystemPrompt != "" {
		params.SystemPrompt = &r.SystemPrompt
		params.SystemTokens = new(int32(counter.Count(r.SystemPrompt)))
	}
	if r.QueryEmbedding != nil {
		params.QueryEmbedding = new(pgvector.NewVector(r.QueryEmbedding))
	}
	return params, nil
}

func or[T any](value *T, otherwise T) T {
	if value == nil {
		return otherwise
	}
	return *value
}

// budgets reads the shares that SQL computed.
func budgets(raw json.RawMessage) (map[string]int, error) {
	shares := map[string]int{}
	if err := json.Unmarshal(raw, &shares); err != nil {
		return nil, fmt.Errorf("read the budgets of a context window: %w", err)
	}
	return shares, nil
}
