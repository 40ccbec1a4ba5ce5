package service

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"go.yaml.in/yaml/v3"

	"github.com/hippocampus-memory/hippocampus/db"
)

// skillFile is the manifest in a skill's folder.
const skillFile = "SKILL.md"

// LoadSkill loads a skill's manifest into memory, and returns the memory's id. A manifest may begin
// with front matter, YAML between two lines of ---; what it says is kept beside the text. Loaded
// again it is the same memory; changed, it replaces the old one. The text is the operator's: give
// none that came from a conversation.
//
// Errors: [db.ErrInvalidScope]; [db.ErrInvalidArgument] for front matter that is no YAML object, or
// that names another skill; [db.ErrInvalidText]; [db.ErrTooLarge].
func (s *OpenMemoryService) LoadSkill(ctx context.Context, scope Scope, name, manifest string) (uuid.UUID, error) {
	return s.loadSkill(ctx, s.bound(scope), scope, name, manifest)
}

// LoadSkillTx loads a skill as [OpenMemoryService.LoadSkill] does.
//
// This variant joins the caller's transaction. See the package's section on transactions.
func (s *OpenMemoryService) LoadSkillTx(
	ctx context.Context, tx pgx.Tx, scope Scope, name, manifest string,
) (id uuid.UUID, err error) {
	err = joinScope(ctx, tx, scope, func() error {
		id, err = s.loadSkill(ctx, tx, scope, name, manifest)
		return err
	})
	return id, err
}

func (s *OpenMemoryService) loadSkill(
	ctx context.Context, conn db.DBTX, scope Scope, name, manifest string,
) (uuid.UUID, error) {
	if err := errors.Join(checkScope(scope), checkName("name", name, maxID), checkName("manifest", manifest, maxText)); err != nil {
		return uuid.Nil, err
	}
	front, err := frontMatter(manifest)
	if err != nil {
		return uuid.Nil, fmt.Errorf("load skill %q: %w", name, err)
	}
	if named, ok := front["name"].(string); ok && named != name {
		return uuid.Nil, fmt.Errorf("%w: the manifest of skill %q names %q", db.ErrInvalidArgument, name, named)
	}
	raw := json.RawMessage(`{}`)
	if len(front) > 0 {
		if raw, err = json.Marshal(front); err != nil {
			return uuid.Nil, fmt.Errorf("%w: the front matter of skill %q: %w", db.ErrInvalidArgument, name, err)
		}
	}
	id, err := s.queries.SkillLoad(ctx, conn, &db.SkillLoadParams{
		AppName: scope.AppName, FrontMatter: raw, Manifest: manifest, Now: s.now(), SkillName: name, Tags: []string{}, UserID: scope.UserID,
	})
	if err != nil {
		return uuid.Nil, fmt.Errorf("load skill %q: %w", name, db.WrapGo(err))
	}
	return id, nil
}

// ReadSkill reads the manifest of a skill from a folder of skills: NAME/SKILL.md, or NAME.md. It
// reads nothing outside the folder.
//
// Errors: [db.ErrInvalidArgument] for a name that is no file's; [db.ErrNotFound].
func ReadSkill(folder, name string) (string, error) {
	if name == "" || name != filepath.Base(name) || strings.HasPrefix(name, ".") {
		return "", fmt.Errorf("%w: %q is no name of a skill", db.ErrInvalidArgument, name)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return "", fmt.Errorf("%w: the folder of skills: %w", db.ErrNotFound, err)
	}
	defer root.Close() //nolint:errcheck // nothing was written
	for _, path := range []string{filepath.Join(name, skillFile), name + ".md"} {
		info, err := root.Stat(path)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("read skill %q: %w", name, err)
		}
		if !info.Mode().IsRegular() { // a pipe would be waited for without end
			return "", fmt.Errorf("%w: skill %q is no file: %s", db.ErrInvalidArgument, name, path)
		}
		text, err := root.ReadFile(path)
		if err != nil {
			return "", fmt.Errorf("read skill %q: %w", name, err)
		}
		return string(text), nil
	}
	return "", fmt.Errorf("%w: there is no skill %q", db.ErrNotFound, name)
}

// frontMatter is the YAML at the beginning of a manifest; none where it begins otherwise.
func frontMatter(manifest string) (map[string]any, error) {
	text := strings.ReplaceAll(strings.TrimPrefix(manifest, "\ufeff"), "\r\n", "\n")
	rest, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return nil, nil
	}
	head, _, ok := strings.Cut("\n"+rest, "\n---")
	if !ok {
		return nil, fmt.Errorf("%w: its front matter has no end: a line of ---", db.ErrInvalidArgument)
	}
	front := map[string]any{}
	if err := yaml.NewDecoder(bytes.NewReader([]byte(head))).Decode(&front); err != nil && head != "" && strings.TrimSpace(head) != "" {
		return nil, fmt.Errorf("%w: its front matter: %w", db.ErrInvalidArgument, err)
	}
	return front, nil
}
