package service

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/pgvector/pgvector-go"

	"github.com/hippocampus-memory/hippocampus/db"
)

// ChunkSearchOptions are the options of [Documents.Search].
type ChunkSearchOptions struct {
	// Limit is the greatest number of chunks, 1 to 10,000.
	//
	// Defaults to the config's MaxSearchResults.
	Limit int

	// QueryEmbedding is the query's vector, from the deployment's embedding model.
	//
	// Defaults to what the config's Embedder makes of the query.
	QueryEmbedding []float32

	// Sources are those of which a document must have one.
	//
	// Defaults to all that are allowed.
	Sources []string
}

// ChunkHit is a chunk that was found, with every part of its score.
type ChunkHit struct {
	ChunkID     uuid.UUID `json:"chunk_id"`
	DocumentID  uuid.UUID `json:"document_id"`
	Path        string    `json:"path"`
	Source      string    `json:"source"`
	Title       string    `json:"title"`
	Heading     string    `json:"heading"`
	StartLine   int       `json:"start_line"`
	Content     string    `json:"content"`
	Score       float64   `json:"score"`
	TextScore   float64   `json:"text_score"`
	VectorScore float64   `json:"vector_score"`
	TokenCount  int       `json:"token_count"`
}

// Search finds chunks by their words and, where there is an embedder or a vector, by their meaning.
//
// Errors: [db.ErrInvalidScope]; [db.ErrInvalidArgument], [db.ErrInvalidText]; [db.ErrDimension] and
// [db.ErrInvalidEmbedding]; with RequireEmbedding, the embedder's.
func (d *Documents) Search(ctx context.Context, scope Scope, query string, opts *ChunkSearchOptions) ([]*ChunkHit, error) {
	if opts == nil {
		opts = &ChunkSearchOptions{}
	}
	if err := errors.Join(checkScope(scope), checkText("query", query, maxText), checkVector("QueryEmbedding", opts.QueryEmbedding),
		checkEach("Sources", opts.Sources)); err != nil {
		return nil, err
	}
	limit, err := checkLimit(opts.Limit, d.s.config.MaxSearchResults)
	if err != nil {
		return nil, err
	}
	var rows []*db.ChunkHit
	_, err = d.s.byMeaning(ctx, query, opts.QueryEmbedding, func(vector *pgvector.Vector) (err error) {
		rows, err = d.s.queries.DocumentSearch(ctx, d.s.bound(scope), &db.DocumentSearchParams{
			AppName: scope.AppName, MaxRows: limit, Query: query, QueryEmbedding: vector, Sources: opts.Sources, UserID: scope.UserID,
		})
		return db.WrapGo(err)
	})
	if err != nil {
		return nil, fmt.Errorf("search documents: %w", err)
	}
	hits := make([]*ChunkHit, len(rows))
	for i, r := range rows {
		hits[i] = &ChunkHit{
			ChunkID: r.ChunkID, Content: r.Content, DocumentID: r.DocumentID, Heading: r.Heading, Path: r.Path, Score: r.Score,
			Source: r.Source, StartLine: int(r.StartLine), TextScore: r.TextScore, Title: r.Title, TokenCount: int(r.TokenCount),
			VectorScore: r.VectorScore,
		}
	}
	return hits, nil
}

// LookupOptions are the options of [Documents.Lookup].
type LookupOptions struct {
	// AnchorWeight is how much of the score is the anchor's, 0 to 1; the rest is the cosine of query
	// and chunk. 1 is no re-ranking.
	//
	// Defaults to the setting anchors' anchor_weight, 0.5.
	AnchorWeight *float64

	// MaxChunks is the greatest number of hits, 1 to 100.
	//
	// Defaults to 30.
	MaxChunks int

	// NightlyOnly leaves out what was stored since the last rebuild.
	NightlyOnly bool

	// ProjectAnchors are the names of what is being talked about, for what pronouns stand for.
	ProjectAnchors []string

	// QueryEmbedding is the query's vector, from the deployment's embedding model.
	//
	// Defaults to what the config's Embedder makes of the query.
	QueryEmbedding []float32

	// SemanticTheta is the least cosine of query and anchor for the query to mean it, 0 to 1.
	//
	// Defaults to the setting anchors' semantic_theta.
	SemanticTheta *float64
}

// AnchorHit is a chunk or a memory that anchors brought.
type AnchorHit struct {
	// Origin is chunk or memory; RowID is its id, and Path is empty for a memory.
	Origin      string    `json:"origin"`
	RowID       uuid.UUID `json:"row_id"`
	Path        string    `json:"path,omitempty"`
	Source      string    `json:"source"`
	Heading     string    `json:"heading"`
	StartLine   int       `json:"start_line"`
	Content     string    `json:"content"`
	Score       float64   `json:"score"`
	AnchorScore float64   `json:"anchor_score"`
	QueryScore  float64   `json:"query_score"`
	// Anchors brought it, each by the way of the same place in Ways: lexical, semantic, project.
	Anchors []string `json:"anchors"`
	Ways    []string `json:"ways"`
	// Tier is semantic for what the last rebuild listed, episodic for what was stored since.
	Tier       string `json:"tier"`
	TokenCount int    `json:"token_count"`
	// Trust is whose words it holds: document of a chunk; of a memory operator, user, agent or tool.
	Trust string `json:"trust" jsonschema:"whose words it holds: document, operator, user, agent or tool"`
}

// Lookup finds chunks and memories by the anchors that a query names or means, the best of each
// document. It finds nothing before the first rebuild of the anchor index.
//
// Errors: as those of [Documents.Search].
func (d *Documents) Lookup(ctx context.Context, scope Scope, query string, opts *LookupOptions) ([]*AnchorHit, error) {
	if opts == nil {
		opts = &LookupOptions{}
	}
	if err := errors.Join(checkScope(scope), checkText("query", query, maxText), checkVector("QueryEmbedding", opts.QueryEmbedding),
		checkEach("ProjectAnchors", opts.ProjectAnchors), checkShare("AnchorWeight", opts.AnchorWeight),
		checkShare("SemanticTheta", opts.SemanticTheta)); err != nil {
		return nil, err
	}
	limit, err := checkLimit(opts.MaxChunks, 30)
	if err != nil {
		return nil, err
	}
	tiers := []string{"semantic", "episodic"}
	if opts.NightlyOnly {
		tiers = tiers[:1]
	}
	var rows []*db.AnchorHit
	_, err = d.s.byMeaning(ctx, query, opts.QueryEmbedding, func(vector *pgvector.Vector) (err error) {
		rows, err = d.s.queries.DocumentLookupAnchors(ctx, d.s.bound(scope), &db.DocumentLookupAnchorsParams{
			AnchorWeight: opts.AnchorWeight, AppName: scope.AppName, MaxChunks: limit, ProjectAnchors: orEmpty(opts.ProjectAnchors),
			Query: query, QueryEmbedding: vector, SemanticTheta: opts.SemanticTheta, Tiers: tiers, UserID: scope.UserID,
		})
		return db.WrapGo(err)
	})
	if err != nil {
		return nil, fmt.Errorf("look up anchors: %w", err)
	}
	hits := make([]*AnchorHit, len(rows))
	for i, r := range rows {
		hits[i] = &AnchorHit{
			AnchorScore: r.AnchorScore, Anchors: r.Anchors, Content: r.Content, Heading: r.Heading, Origin: r.Origin, Path: r.Path,
			QueryScore: r.QueryScore, RowID: r.RowID, Score: r.Score, Source: r.Source, StartLine: int(r.StartLine), Tier: r.Tier,
			TokenCount: int(r.TokenCount), Trust: r.Trust, Ways: r.Ways,
		}
	}
	return hits, nil
}
