package service

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/document"
)

const maxPath = 1024

// Documents stores and searches a corpus: documents in chunks, and the anchor index over them. A
// corpus belongs to a scope; what all users of an app may read is stored under a user of its own,
// and looked up in that scope.
type Documents struct{ s *OpenMemoryService }

// Documents are the service's verbs for documents.
func (s *OpenMemoryService) Documents() *Documents { return &Documents{s} }

// DocumentParams is a document to be stored.
type DocumentParams struct {
	// Kind is text, entity or project; the title of the latter two is an anchor.
	//
	// Defaults to text.
	Kind string

	// Metadata is a JSON object of the client's own, at most 64 KiB.
	//
	// Defaults to {}.
	Metadata json.RawMessage

	// Path names it within its scope, at most 1,024 bytes. What does not end in .txt is cut as
	// Markdown.
	Path string

	// Source says where it comes from, as a label that an allowlist may name.
	//
	// Defaults to docs.
	Source string

	// Text is what it says.
	Text string

	// Title is its title.
	//
	// Defaults to what its front matter or its first heading says.
	Title string

	pieces *cutDocument // of Documents.Cut
}

// cutDocument is a document in pieces, and what was cut.
type cutDocument struct {
	document.Cut
	hash     [sha256.Size]byte
	markdown bool
}

// Hash is what tells whether a document has changed: the SHA-256 of its text.
func (p *DocumentParams) Hash() [sha256.Size]byte { return sha256.Sum256([]byte(p.Text)) }

// DocumentChange is what became of a document's chunks.
type DocumentChange struct {
	DocumentID uuid.UUID `json:"document_id"`
	Added      int       `json:"chunks_added"`
	Deleted    int       `json:"chunks_deleted"`
	Kept       int       `json:"chunks_kept"`
	// Unchanged says that the document was there already, as it is.
	Unchanged bool `json:"unchanged"`
}

// Cut cuts a document into its chunks, which takes about a second for each megabyte of text, and keeps them in p for
// the next [Documents.PutTx], whose transaction need not wait for it then. It takes no connection.
//
// Errors: as those of [Documents.Put]; the context's.
func (d *Documents) Cut(ctx context.Context, p *DocumentParams) error {
	if err := p.check(); err != nil {
		return err
	}
	cut := cutDocument{hash: p.Hash(), markdown: document.IsMarkdown(p.Path)}
	if p.pieces != nil && p.pieces.hash == cut.hash && p.pieces.markdown == cut.markdown {
		return nil
	}
	cutter := document.Chunker{Count: d.s.counter.Count}
	with := cutter.Text
	if cut.markdown {
		with = cutter.Markdown
	}
	made, err := with(ctx, p.Text)
	if err != nil {
		return err
	}
	cut.Cut = *made
	p.pieces = &cut
	return nil
}

// Put stores a document, or what it has become: chunks that say the same under the same headings
// stay, with their vectors. Its words are found from the next statement on, its meaning as soon as a
// worker has embedded it.
//
// Errors: [db.ErrInvalidScope]; [db.ErrInvalidArgument], also for a source that is not allowed;
// [db.ErrInvalidText]; [db.ErrTooLarge].
func (d *Documents) Put(ctx context.Context, scope Scope, p *DocumentParams) (*DocumentChange, error) {
	return d.put(ctx, d.s.bound(scope), scope, p)
}

// PutTx stores a document as [Documents.Put] does.
//
// This variant joins the caller's transaction: the document is there if the transaction commits. It cuts
// the document meanwhile, unless [Documents.Cut] has done so before the transaction began. See the package's
// section on transactions.
func (d *Documents) PutTx(ctx context.Context, tx pgx.Tx, scope Scope, p *DocumentParams) (change *DocumentChange, err error) {
	err = joinScope(ctx, tx, scope, func() error {
		change, err = d.put(ctx, tx, scope, p)
		return err
	})
	return change, err
}

func (p *DocumentParams) check() error {
	if p == nil {
		return fmt.Errorf("%w: the document is nil", db.ErrInvalidArgument)
	}
	return errors.Join(checkName("Path", p.Path, maxPath), checkText("Text", p.Text, document.MaxFile),
		checkTexts(maxID, "Kind", p.Kind, "Source", p.Source), checkText("Title", p.Title, maxPath), checkObject("Metadata", p.Metadata))
}

func (d *Documents) put(ctx context.Context, conn db.DBTX, scope Scope, p *DocumentParams) (*DocumentChange, error) {
	if err := errors.Join(checkScope(scope), p.check()); err != nil {
		return nil, err
	}
	own := *p // whose the pieces are: two calls may share p
	if err := d.Cut(ctx, &own); err != nil {
		return nil, fmt.Errorf("put a document: %w", err)
	}
	pieces := own.pieces
	chunks, err := json.Marshal(pieces.Chunks)
	if err != nil {
		return nil, fmt.Errorf("put a document: %w", err)
	}
	row, err := d.s.queries.DocumentPut(ctx, conn, &db.DocumentPutParams{
		AppName: scope.AppName, Chunks: chunks, ContentHash: pieces.hash[:], Kind: or(p.Kind, "text"), Metadata: orEmptyObject(p.Metadata),
		Now: d.s.now(), Path: p.Path, Source: or(p.Source, "docs"), Title: or(p.Title, pieces.Title), UserID: scope.UserID,
	})
	if err != nil {
		return nil, fmt.Errorf("put a document: %w", db.WrapGo(err))
	}
	return &DocumentChange{
		Added: int(row.Added), Deleted: int(row.Deleted), DocumentID: row.DocumentID, Kept: int(row.Kept), Unchanged: row.Unchanged,
	}, nil
}

// Delete deletes a document with its chunks, and the anchors that only they said. It tells whether
// there was one.
//
// Errors: [db.ErrInvalidScope]; [db.ErrInvalidArgument], [db.ErrInvalidText].
func (d *Documents) Delete(ctx context.Context, scope Scope, path string) (bool, error) {
	return d.delete(ctx, d.s.bound(scope), scope, path)
}

// DeleteTx deletes a document as [Documents.Delete] does.
//
// This variant joins the caller's transaction. See the package's section on transactions.
func (d *Documents) DeleteTx(ctx context.Context, tx pgx.Tx, scope Scope, path string) (deleted bool, err error) {
	err = joinScope(ctx, tx, scope, func() error {
		deleted, err = d.delete(ctx, tx, scope, path)
		return err
	})
	return deleted, err
}

func (d *Documents) delete(ctx context.Context, conn db.DBTX, scope Scope, path string) (bool, error) {
	if err := errors.Join(checkScope(scope), checkName("path", path, maxPath)); err != nil {
		return false, err
	}
	deleted, err := d.s.queries.DocumentDelete(ctx, conn, &db.DocumentDeleteParams{AppName: scope.AppName, Path: path, UserID: scope.UserID})
	if err != nil {
		return false, fmt.Errorf("delete a document: %w", db.WrapGo(err))
	}
	return deleted, nil
}

// Document is a document as it is stored; its text stands in its chunks.
type Document struct {
	ContentHash [sha256.Size]byte `json:"-"`
	CreatedAt   time.Time         `json:"created_at"`
	ID          uuid.UUID         `json:"id"`
	Kind        string            `json:"kind"`
	Metadata    json.RawMessage   `json:"metadata"`
	Path        string            `json:"path"`
	Source      string            `json:"source"`
	Title       string            `json:"title"`
	UpdatedAt   time.Time         `json:"updated_at"`
}

// documentPage is how many documents are listed at once.
const documentPage = 1000

// List lists the documents whose path begins with a prefix, by path.
//
// Errors: [db.ErrInvalidScope]; [db.ErrInvalidText].
func (d *Documents) List(ctx context.Context, scope Scope, prefix string) ([]*Document, error) {
	if err := errors.Join(checkScope(scope), checkText("prefix", prefix, maxPath)); err != nil {
		return nil, err
	}
	var all []*Document
	after := ""
	for {
		rows, err := d.s.queries.DocumentList(ctx, d.s.bound(scope), &db.DocumentListParams{
			AfterPath: after, AppName: scope.AppName, MaxRows: documentPage, Prefix: prefix, UserID: scope.UserID,
		})
		if err != nil {
			return nil, fmt.Errorf("list documents: %w", db.WrapGo(err))
		}
		for _, r := range rows {
			doc := &Document{
				CreatedAt: r.CreatedAt, ID: r.ID, Kind: r.Kind, Metadata: r.Metadata, Path: r.Path, Source: r.Source, Title: r.Title, UpdatedAt: r.UpdatedAt,
			}
			copy(doc.ContentHash[:], r.ContentHash)
			all = append(all, doc)
			after = r.Path
		}
		if len(rows) < documentPage {
			return slices.Clip(all), nil
		}
	}
}

// DocumentStats are a corpus and its anchor index in numbers.
type DocumentStats struct {
	Documents int64 `json:"documents"`
	Chunks    int64 `json:"chunks"`
	Tokens    int64 `json:"tokens"`
	// WithoutVector is how many chunks wait for their vector, and are found by their words meanwhile.
	WithoutVector int64 `json:"chunks_without_vector"`
	Anchors       int64 `json:"anchors"`
	// Entries are the rows of all anchors' lists, EntriesSince those of what was stored since the last
	// rebuild.
	Entries      int64 `json:"entries"`
	EntriesSince int64 `json:"entries_since"`
	// BuiltAt is when the index that serves was made; nil before the first.
	BuiltAt    *time.Time `json:"built_at"`
	Rebuilding bool       `json:"rebuilding"`
	// Denied are the anchors that never bring anything; Sources those that may reach a result, nil for
	// all.
	Denied  []string `json:"denied"`
	Sources []string `json:"sources"`
}

// Stats counts the documents of a scope, and tells how its anchor index stands.
//
// Errors: [db.ErrInvalidScope].
func (d *Documents) Stats(ctx context.Context, scope Scope) (*DocumentStats, error) {
	if err := checkScope(scope); err != nil {
		return nil, err
	}
	r, err := d.s.queries.DocumentStats(ctx, d.s.bound(scope), &db.DocumentStatsParams{AppName: scope.AppName, UserID: scope.UserID})
	if err != nil {
		return nil, fmt.Errorf("count documents: %w", db.WrapGo(err))
	}
	return &DocumentStats{
		Anchors: r.Anchors, BuiltAt: r.BuiltAt, Chunks: r.Chunks, Denied: r.Denied, Documents: r.Documents, Entries: r.Entries,
		EntriesSince: r.EntriesSince, Rebuilding: r.Rebuilding, Sources: r.Sources, Tokens: r.Tokens, WithoutVector: r.WithoutVector,
	}, nil
}

// SetDenylist sets the anchors that never bring anything, in place of those before, at once.
//
// Errors: [db.ErrInvalidScope]; [db.ErrInvalidArgument] for what can be no anchor; [db.ErrInvalidText].
func (d *Documents) SetDenylist(ctx context.Context, scope Scope, terms []string) error {
	return d.setDenylist(ctx, d.s.bound(scope), scope, terms)
}

// SetDenylistTx does as [Documents.SetDenylist] does.
//
// This variant joins the caller's transaction. See the package's section on transactions.
func (d *Documents) SetDenylistTx(ctx context.Context, tx pgx.Tx, scope Scope, terms []string) error {
	return joinScope(ctx, tx, scope, func() error { return d.setDenylist(ctx, tx, scope, terms) })
}

func (d *Documents) setDenylist(ctx context.Context, conn db.DBTX, scope Scope, terms []string) error {
	if err := errors.Join(checkScope(scope), checkEach("terms", terms)); err != nil {
		return err
	}
	_, err := d.s.queries.DocumentPutDenylist(ctx, conn, &db.DocumentPutDenylistParams{
		AppName: scope.AppName, Terms: orEmpty(terms), UserID: scope.UserID,
	})
	if err != nil {
		return fmt.Errorf("set the denylist: %w", db.WrapGo(err))
	}
	return nil
}

// SetSources sets the sources that may reach a result, in place of those before, at once; none
// allows all.
//
// Errors: [db.ErrInvalidScope]; [db.ErrInvalidArgument]; [db.ErrInvalidText].
func (d *Documents) SetSources(ctx context.Context, scope Scope, sources []string) error {
	return d.setSources(ctx, d.s.bound(scope), scope, sources)
}

// SetSourcesTx does as [Documents.SetSources] does.
//
// This variant joins the caller's transaction. See the package's section on transactions.
func (d *Documents) SetSourcesTx(ctx context.Context, tx pgx.Tx, scope Scope, sources []string) error {
	return joinScope(ctx, tx, scope, func() error { return d.setSources(ctx, tx, scope, sources) })
}

func (d *Documents) setSources(ctx context.Context, conn db.DBTX, scope Scope, sources []string) error {
	if err := errors.Join(checkScope(scope), checkEach("sources", sources)); err != nil {
		return err
	}
	_, err := d.s.queries.DocumentPutSources(ctx, conn, &db.DocumentPutSourcesParams{
		AppName: scope.AppName, Sources: orEmpty(sources), UserID: scope.UserID,
	})
	if err != nil {
		return fmt.Errorf("set the sources: %w", db.WrapGo(err))
	}
	return nil
}

func checkEach(name string, values []string) error {
	for i, value := range values {
		if err := checkName(fmt.Sprintf("%s[%d]", name, i), value, maxID); err != nil {
			return err
		}
	}
	return nil
}
