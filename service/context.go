package service

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/pgvector/pgvector-go"

	"github.com/hippocampus-memory/hippocampus/assembler"
)

// ContextOptions are the options of [OpenMemoryService.GetContextWindow]. Fields that are pointers
// tell nothing from zero: a budget of 0 tokens is an empty window. The defaults are those of package
// [assembler], which differ from the SQL function's: see [assembler.DefaultMaxTokens].
type ContextOptions struct {
	// FactRatio is the share of facts. Instructions and blocks use what the system prompt left, then
	// whatever is left.
	//
	// Defaults to 0.2.
	FactRatio *float64

	// HistoryRatio is the share of the newest events.
	//
	// Defaults to 0.4.
	HistoryRatio *float64

	// Language is that of the headings: "en" or "zh".
	//
	// Defaults to "en".
	Language string

	// MaxTokens is the budget.
	//
	// Defaults to 8000.
	MaxTokens *int

	// MemoryRatio is the share of the memories that the query finds.
	//
	// Defaults to 0.3.
	MemoryRatio *float64

	// ProjectAnchors asks for the anchor index too: memories and chunks of documents are
	// found by the anchors of the query, and of what is being talked about, whose names it gives. An
	// empty list asks for it without a name.
	//
	// Defaults to nil, without the anchor index.
	ProjectAnchors []string

	// QueryEmbedding is the query's vector, from the deployment's embedding model.
	//
	// Defaults to what the config's Embedder makes of the query.
	QueryEmbedding []float32

	// SkipOmitted leaves the window's Omitted empty, which saves its transfer.
	SkipOmitted bool

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
}

// ContextWindow is what [OpenMemoryService.GetContextWindow] assembled.
type ContextWindow struct {
	assembler.Window
	// Degraded says that the embedder failed, or its vectors were dropped, and memories were found by words alone.
	Degraded bool `json:"degraded"`
}

// GetContextWindow assembles what an agent should see for a query, within a budget of tokens that
// it never exceeds: see package [assembler]. It reads only; count a use of the memories that
// mattered with [OpenMemoryService.RecordAccess].
//
// Errors: those of [assembler.Assemble]; with the config's RequireEmbedding, the embedder's
// *[model.Error].
func (s *OpenMemoryService) GetContextWindow(
	ctx context.Context, scope Scope, query string, opts *ContextOptions,
) (*ContextWindow, error) {
	request, err := s.contextRequest(scope, query, opts)
	if err != nil {
		return nil, err
	}
	var window *assembler.Window
	degraded, err := s.byMeaning(ctx, query, request.QueryEmbedding, func(vector *pgvector.Vector) (err error) {
		request.QueryEmbedding = nil
		if vector != nil {
			request.QueryEmbedding = vector.Slice()
		}
		window, err = assembler.Assemble(ctx, s.bound(scope), s.counter, request)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &ContextWindow{Degraded: degraded, Window: *window}, nil
}

// GetContextWindowTx assembles a window as [OpenMemoryService.GetContextWindow] does.
//
// This variant joins the caller's transaction, so it shows what the transaction has appended and
// not committed. It calls no embedder, since a connection must not wait for one: without a
// QueryEmbedding memories are found by words. See the package's section on transactions.
func (s *OpenMemoryService) GetContextWindowTx(
	ctx context.Context, tx pgx.Tx, scope Scope, query string, opts *ContextOptions,
) (*ContextWindow, error) {
	request, err := s.contextRequest(scope, query, opts)
	if err != nil {
		return nil, err
	}
	window := &ContextWindow{}
	err = s.joinAsModel(ctx, tx, scope, func() error {
		assembled, err := assembler.Assemble(ctx, tx, s.counter, request)
		if err != nil {
			return err
		}
		window.Window = *assembled
		return nil
	})
	if err != nil {
		return nil, err
	}
	return window, nil
}

func (s *OpenMemoryService) contextRequest(scope Scope, query string, opts *ContextOptions) (*assembler.Request, error) {
	if opts == nil {
		opts = &ContextOptions{}
	}
	if err := checkScope(scope); err != nil {
		return nil, err
	}
	if err := checkText("query", query, maxText); err != nil {
		return nil, err
	}
	if err := checkText("SystemPrompt", opts.SystemPrompt, math.MaxInt); err != nil {
		return nil, err
	}
	if err := checkText("Language", opts.Language, math.MaxInt); err != nil {
		return nil, err
	}
	if err := errors.Join(checkVector("QueryEmbedding", opts.QueryEmbedding), checkEach("ProjectAnchors", opts.ProjectAnchors)); err != nil {
		return nil, err
	}
	var now time.Time
	if at := s.now(); at != nil {
		now = *at
	}
	return &assembler.Request{
		AppName: scope.AppName, FactRatio: opts.FactRatio, HistoryRatio: opts.HistoryRatio, Language: opts.Language,
		MaxTokens: opts.MaxTokens, MemoryRatio: opts.MemoryRatio, Now: now, ProjectAnchors: opts.ProjectAnchors, Query: query,
		QueryEmbedding: opts.QueryEmbedding, SkipOmitted: opts.SkipOmitted, SystemOverflow: opts.SystemOverflow,
		SystemPrompt: opts.SystemPrompt, SystemRatio: opts.SystemRatio, ThreadID: opts.ThreadID, UserID: scope.UserID,
	}, nil
}
