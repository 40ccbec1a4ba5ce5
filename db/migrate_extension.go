package db

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"time"

	"github.com/jackc/pgx/v5"

	sqlfiles "github.com/hippocampus-memory/hippocampus/sql"
)

// vectorSchema is the schema in which pgvector is installed, in the form that SQL takes.
func vectorSchema(ctx context.Context, q Queryer) (string, error) {
	var name string
	err := q.QueryRow(ctx, `SELECT quote_ident(n.nspname) FROM pg_catalog.pg_extension e
		JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'`).Scan(&name)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", fmt.Errorf("%w: the extension vector is not in this database", ErrServer)
	}
	if err != nil {
		return "", fmt.Errorf("find pgvector's schema: %w", err)
	}
	return name, nil
}

// schemaFiles is sql/schema.
func schemaFiles() fs.FS { return subFolder(sqlfiles.Schema, "schema") }

// functionFiles is sql/functions.
func functionFiles() fs.FS { return subFolder(sqlfiles.Functions, "functions") }

func subFolder(fsys fs.FS, name string) fs.FS {
	sub, err := fs.Sub(fsys, name)
	if err != nil {
		panic(err) // name is not a valid path: a constant of ours is
	}
	return sub
}

// extensionFS is a folder of SQL files in which pgvector's names are qualified by the schema
// where it is. The files have `public.`, and have it for nothing else; a test sees to that.
type extensionFS struct {
	fs.FS
	schema string
}

var publicSchema = regexp.MustCompile(`\bpublic\.`)

// ReadFile implements [fs.ReadFileFS].
func (e extensionFS) ReadFile(name string) ([]byte, error) {
	body, err := fs.ReadFile(e.FS, name)
	if err != nil || e.schema == "public" {
		return body, err
	}
	return publicSchema.ReplaceAllLiteral(body, []byte(e.schema+".")), nil
}

// ReadDir implements [fs.ReadDirFS].
func (e extensionFS) ReadDir(name string) ([]fs.DirEntry, error) {
	return fs.ReadDir(e.FS, name)
}

// Open implements [fs.FS].
func (e extensionFS) Open(name string) (fs.File, error) {
	info, err := fs.Stat(e.FS, name)
	if err != nil || info.IsDir() {
		return e.FS.Open(name)
	}
	body, err := e.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return &textFile{Reader: bytes.NewReader(body), info: textInfo{name: info.Name(), size: int64(len(body))}}, nil
}

// textFile is a file in memory.
type textFile struct {
	*bytes.Reader
	info textInfo
}

func (f *textFile) Close() error               { return nil }
func (f *textFile) Stat() (fs.FileInfo, error) { return f.info, nil }

type textInfo struct {
	name string
	size int64
}

func (i textInfo) IsDir() bool        { return false }
func (i textInfo) ModTime() time.Time { return time.Time{} }
func (i textInfo) Mode() fs.FileMode  { return 0o444 }
func (i textInfo) Name() string       { return i.name }
func (i textInfo) Size() int64        { return i.size }
func (i textInfo) Sys() any           { return nil }
