package service_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// withoutTwin are the verbs that write and can't join a caller's transaction, and why.
var withoutTwin = map[string]string{
	"CleanupAllMemories": "it holds what it deletes of all tenants until it ends, which no caller should wait with",
	"IndexMemory":        "it waits for a worker, which sees the job at commit",
	"ExtractFacts":       "it writes nothing: a dry run",
	"Persona":            "it opens one; its conversation is there for every later one",
}

// boundTypes have verbs of a scope that is theirs, or of a transaction.
var boundTypes = map[string]string{
	"Graph":   "GraphTx gives one that works in the caller's transaction",
	"Persona": "its verbs are the service's, whose twins take its Scope",
}

type method struct {
	calls, queries []string
}

// methods reads the package: which queries each method names, and which methods it calls.
func methods(t *testing.T) map[string]map[string]*method {
	t.Helper()
	all := map[string]map[string]*method{}
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		require.NoError(t, err)
		for _, decl := range parsed.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Recv == nil {
				continue
			}
			receiver := fn.Recv.List[0].Type
			if star, ok := receiver.(*ast.StarExpr); ok {
				receiver = star.X
			}
			name, ok := receiver.(*ast.Ident)
			if !ok {
				continue
			}
			m := &method{}
			ast.Inspect(fn, func(n ast.Node) bool {
				selector, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				if of, ok := selector.X.(*ast.SelectorExpr); ok && of.Sel.Name == "queries" {
					m.queries = append(m.queries, selector.Sel.Name)
				} else {
					m.calls = append(m.calls, selector.Sel.Name)
				}
				return true
			})
			if all[name.Name] == nil {
				all[name.Name] = map[string]*method{}
			}
			all[name.Name][fn.Name.Name] = m
		}
	}
	return all
}

// writing are the queries that write: by a statement of their own, or by a function that is volatile.
func writing(t *testing.T) map[string]bool {
	t.Helper()
	volatile := map[string]bool{}
	functions, err := filepath.Glob("../sql/functions/*.sql")
	require.NoError(t, err)
	for _, file := range functions {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		volatile[strings.TrimSuffix(filepath.Base(file), ".sql")] = regexp.MustCompile(`(?m)^LANGUAGE \w+ VOLATILE`).Match(raw)
	}
	queries, err := filepath.Glob("../sql/queries/*.sql")
	require.NoError(t, err)
	writes := map[string]bool{}
	for _, file := range queries {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, query := range strings.Split(string(raw), "-- name: ")[1:] {
			name, sql, _ := strings.Cut(query, " ")
			writes[name] = regexp.MustCompile(`(?m)^\s*(INSERT|UPDATE|DELETE)\b`).MatchString(sql)
			for _, called := range regexp.MustCompile(`hippocampus\.(\w+)\(`).FindAllStringSubmatch(sql, -1) {
				writes[name] = writes[name] || volatile[called[1]]
			}
		}
	}
	return writes
}

// TestEveryWriteHasATwin holds for the whole package: what writes can join the caller's transaction.
func TestEveryWriteHasATwin(t *testing.T) {
	t.Parallel()
	all, writes := methods(t), writing(t)
	require.True(t, writes["StorePut"] && writes["FactRemember"] && !writes["StoreGet"] && !writes["LessonList"])
	var reaches func(name string, seen []string) bool
	reaches = func(name string, seen []string) bool {
		if slices.Contains(seen, name) {
			return false
		}
		for _, methods := range all {
			m := methods[name]
			if m == nil {
				continue
			}
			for _, query := range m.queries {
				if writes[query] {
					return true
				}
			}
			for _, called := range m.calls {
				if reaches(called, append(seen, name)) {
					return true
				}
			}
		}
		return false
	}
	found, alone := 0, []string{}
	for receiver, methods := range all {
		if boundTypes[receiver] != "" {
			continue
		}
		for name := range methods {
			if !ast.IsExported(receiver) || !ast.IsExported(name) || strings.HasSuffix(name, "Tx") || withoutTwin[name] != "" || !reaches(name, nil) {
				continue
			}
			found++
			if methods[name+"Tx"] == nil {
				alone = append(alone, receiver+"."+name)
			}
		}
	}
	require.Empty(t, alone, "they write, and have no variant that joins a transaction")
	require.Greater(t, found, 30)
}

// TestEveryTwinIsTried: a variant that nobody calls may lose the caller's transaction, and nobody would see it.
func TestEveryTwinIsTried(t *testing.T) {
	t.Parallel()
	var tests strings.Builder
	files, err := filepath.Glob("*_test.go")
	require.NoError(t, err)
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		tests.Write(raw)
	}
	var untried []string
	for receiver, methods := range methods(t) {
		for name := range methods {
			if ast.IsExported(receiver) && ast.IsExported(name) && strings.HasSuffix(name, "Tx") && !strings.Contains(tests.String(), "."+name+"(") {
				untried = append(untried, receiver+"."+name)
			}
		}
	}
	require.Empty(t, untried, "no test calls them")
}
