package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/hippocampus-memory/hippocampus/db"
)

// What the database takes, in bytes.
const (
	maxGraphName   = 512
	maxObservation = 65_536
)

// Entity is something that a user's graph tells of.
type Entity struct {
	Name         string   `json:"name" jsonschema:"the entity's name, by which it is found; 1 to 512 bytes"`
	EntityType   string   `json:"entityType" jsonschema:"what kind of thing it is, such as person or project"`
	Observations []string `json:"observations" jsonschema:"what is known of it, a short statement each"`
}

// Relation is how one entity stands to another. It is its ends and its type, and has nothing else.
type Relation struct {
	From         string `json:"from" jsonschema:"the name of the entity that does it"`
	To           string `json:"to" jsonschema:"the name of the entity that it is done to"`
	RelationType string `json:"relationType" jsonschema:"what it does, in active voice, such as works_at"`
}

// Observations are texts to add to an entity.
type Observations struct {
	EntityName string   `json:"entityName" jsonschema:"the name of the entity"`
	Contents   []string `json:"contents" jsonschema:"what is known of it besides, a short statement each"`
}

// AddedObservations are the texts that were new to an entity.
type AddedObservations struct {
	EntityName        string   `json:"entityName"`
	AddedObservations []string `json:"addedObservations"`
}

// ObservationDeletion names texts to delete from an entity.
type ObservationDeletion struct {
	EntityName   string   `json:"entityName" jsonschema:"the name of the entity"`
	Observations []string `json:"observations" jsonschema:"the statements to delete, to the letter"`
}

// KnowledgeGraph is a user's graph or a part of it, in the order in which it was drawn.
type KnowledgeGraph struct {
	Entities  []Entity   `json:"entities"`
	Relations []Relation `json:"relations"`
}

// Graph draws and reads the knowledge graph of one scope: entities with what was observed of each,
// and relations between them. Writers of one graph follow each other, so that nothing is lost. What a model read of it
// in a prompt, as [OpenMemoryService.Fence] shows it, names what it stands for.
type Graph struct {
	scope   Scope
	service *OpenMemoryService
	tx      pgx.Tx // nil: each call is a transaction of its own
}

// Graph gives the scope's knowledge graph.
func (s *OpenMemoryService) Graph(scope Scope) *Graph { return &Graph{scope: scope, service: s} }

// GraphTx gives the scope's knowledge graph within the caller's transaction: what is drawn commits
// or rolls back with it. Other writers of the graph wait until it ends. See the package's section on
// transactions.
func (s *OpenMemoryService) GraphTx(tx pgx.Tx, scope Scope) *Graph {
	return &Graph{scope: scope, service: s, tx: tx}
}

// CreateEntities creates entities and returns those that it created, in their order. A name that is
// there already is left as it is; of a name that is given twice, the first counts.
//
// Errors: [db.ErrInvalidScope]; [db.ErrInvalidArgument]; [db.ErrInvalidText]; [db.ErrTooLarge].
func (g *Graph) CreateEntities(ctx context.Context, entities []Entity) (created []Entity, err error) {
	entities = slices.Clone(entities)
	for i := range entities {
		e := &entities[i]
		e.Observations = orEmpty(e.Observations)
		err = errors.Join(err, checkName("Name", e.Name, maxGraphName), checkText("EntityType", e.EntityType, maxGraphName),
			checkObservations(e.Observations))
	}
	err = g.exchange(ctx, "create entities", err, entities, &created, func(conn db.DBTX, raw json.RawMessage) (json.RawMessage, error) {
		return g.service.queries.GraphCreateEntities(ctx, conn, &db.GraphCreateEntitiesParams{
			AppName: g.scope.AppName, Entities: raw, UserID: g.scope.UserID,
		})
	})
	return created, err
}

// CreateRelations creates relations and returns those that it created, in their order. One that is
// there already is passed over. The entities that it names need not be there.
//
// Errors: as those of [Graph.CreateEntities].
func (g *Graph) CreateRelations(ctx context.Context, relations []Relation) (created []Relation, err error) {
	err = g.exchange(ctx, "create relations", checkRelations(relations), relations, &created,
		func(conn db.DBTX, raw json.RawMessage) (json.RawMessage, error) {
			return g.service.queries.GraphCreateRelations(ctx, conn, &db.GraphCreateRelationsParams{
				AppName: g.scope.AppName, Relations: raw, UserID: g.scope.UserID,
			})
		})
	return created, err
}

// AddObservations adds texts to entities and returns, for each that was given, those that are new.
// All are added or none.
//
// Errors: [db.ErrNotFound] for an entity that is not there; as those of [Graph.CreateEntities].
func (g *Graph) AddObservations(ctx context.Context, observations []Observations) (added []AddedObservations, err error) {
	observations = slices.Clone(observations)
	for i := range observations {
		o := &observations[i]
		o.Contents = orEmpty(o.Contents)
		err = errors.Join(err, checkName("EntityName", o.EntityName, maxGraphName), checkObservations(o.Contents))
	}
	err = g.exchange(ctx, "add observations", err, observations, &added, func(conn db.DBTX, raw json.RawMessage) (json.RawMessage, error) {
		return g.service.queries.GraphAddObservations(ctx, conn, &db.GraphAddObservationsParams{
			AppName: g.scope.AppName, Observations: raw, UserID: g.scope.UserID,
		})
	})
	return added, err
}

// DeleteEntities deletes entities by name, with their observations and the relations from and to
// them, and returns how many entities there were.
//
// Errors: [db.ErrInvalidScope]; [db.ErrInvalidText].
func (g *Graph) DeleteEntities(ctx context.Context, names []string) (deleted int, err error) {
	err = g.run(ctx, "delete entities", checkEntityNames(names), func(conn db.DBTX) error {
		n, err := g.service.queries.GraphDeleteEntities(ctx, conn, &db.GraphDeleteEntitiesParams{
			AppName: g.scope.AppName, Names: orEmpty(names), UserID: g.scope.UserID,
		})
		deleted = int(n)
		return err
	})
	return deleted, err
}

// DeleteObservations deletes texts from entities and returns how many there were. What is not there
// is no error.
//
// Errors: as those of [Graph.CreateEntities].
func (g *Graph) DeleteObservations(ctx context.Context, deletions []ObservationDeletion) (deleted int, err error) {
	deletions = slices.Clone(deletions)
	for i := range deletions {
		d := &deletions[i]
		d.Observations = orEmpty(d.Observations)
		err = errors.Join(err, checkName("EntityName", d.EntityName, maxGraphName), checkObservations(d.Observations))
	}
	err = g.exchange(ctx, "delete observations", err, deletions, nil, func(conn db.DBTX, raw json.RawMessage) (json.RawMessage, error) {
		n, err := g.service.queries.GraphDeleteObservations(ctx, conn, &db.GraphDeleteObservationsParams{
			AppName: g.scope.AppName, Deletions: raw, UserID: g.scope.UserID,
		})
		deleted = int(n)
		return nil, err
	})
	return deleted, err
}

// DeleteRelations deletes relations and returns how many there were. One that is not there is no
// error.
//
// Errors: as those of [Graph.CreateEntities].
func (g *Graph) DeleteRelations(ctx context.Context, relations []Relation) (deleted int, err error) {
	err = g.exchange(ctx, "delete relations", checkRelations(relations), relations, nil,
		func(conn db.DBTX, raw json.RawMessage) (json.RawMessage, error) {
			n, err := g.service.queries.GraphDeleteRelations(ctx, conn, &db.GraphDeleteRelationsParams{
				AppName: g.scope.AppName, Relations: raw, UserID: g.scope.UserID,
			})
			deleted = int(n)
			return nil, err
		})
	return deleted, err
}

// Read gives the whole graph. One of more than 16 MiB is read in parts, by Search and Open.
//
// Errors: [db.ErrInvalidScope]; [db.ErrTooLarge].
func (g *Graph) Read(ctx context.Context) (*KnowledgeGraph, error) {
	return g.read(ctx, "read the graph", nil, func(conn db.DBTX) (json.RawMessage, error) {
		return g.service.queries.GraphRead(ctx, conn, &db.GraphReadParams{AppName: g.scope.AppName, UserID: g.scope.UserID})
	})
}

// Search gives the entities whose name, type or an observation contains a text, whatever its case,
// and the relations from or to them. An empty text is in every one.
//
// Errors: [db.ErrInvalidScope]; [db.ErrInvalidText]; [db.ErrTooLarge].
func (g *Graph) Search(ctx context.Context, query string) (*KnowledgeGraph, error) {
	return g.read(ctx, "search the graph", checkText("query", query, maxObservation), func(conn db.DBTX) (json.RawMessage, error) {
		return g.service.queries.GraphSearch(ctx, conn, &db.GraphSearchParams{
			AppName: g.scope.AppName, Query: query, UserID: g.scope.UserID,
		})
	})
}

// Open gives the entities of these names, and the relations from or to them. A name that is not
// there is passed over.
//
// Errors: [db.ErrInvalidScope]; [db.ErrInvalidText]; [db.ErrTooLarge] for more than 16 MiB.
func (g *Graph) Open(ctx context.Context, names []string) (*KnowledgeGraph, error) {
	return g.read(ctx, "open nodes", checkEntityNames(names), func(conn db.DBTX) (json.RawMessage, error) {
		return g.service.queries.GraphOpen(ctx, conn, &db.GraphOpenParams{
			AppName: g.scope.AppName, Names: orEmpty(names), UserID: g.scope.UserID,
		})
	})
}

func (g *Graph) read(
	ctx context.Context, what string, invalid error, query func(db.DBTX) (json.RawMessage, error),
) (*KnowledgeGraph, error) {
	graph := &KnowledgeGraph{}
	err := g.run(ctx, what, invalid, func(conn db.DBTX) error {
		raw, err := query(conn)
		if err != nil {
			return err
		}
		return json.Unmarshal(raw, graph)
	})
	if err != nil {
		return nil, err
	}
	return graph, nil
}

// exchange sends what is given as JSON and reads the answer into result, unless that is nil.
func (g *Graph) exchange(
	ctx context.Context, what string, invalid error, given, result any,
	query func(db.DBTX, json.RawMessage) (json.RawMessage, error),
) error {
	raw, err := json.Marshal(given)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if string(raw) == "null" { // a nil slice
		raw = json.RawMessage("[]")
	}
	return g.run(ctx, what, invalid, func(conn db.DBTX) error {
		answer, err := query(conn, raw)
		if err != nil || result == nil {
			return err
		}
		return json.Unmarshal(answer, result)
	})
}

func (g *Graph) run(ctx context.Context, what string, invalid error, fn func(conn db.DBTX) error) error {
	if err := checkScope(g.scope); err != nil {
		return err
	}
	if invalid != nil {
		return invalid
	}
	var err error
	if g.tx == nil {
		err = fn(g.service.bound(g.scope))
	} else {
		err = joinScope(ctx, g.tx, g.scope, func() error { return fn(g.tx) })
	}
	if err != nil {
		return fmt.Errorf("%s: %w", what, db.WrapGo(err))
	}
	return nil
}

func checkRelations(relations []Relation) (err error) {
	for _, r := range relations {
		err = errors.Join(err, checkName("From", r.From, maxGraphName), checkName("To", r.To, maxGraphName),
			checkText("RelationType", r.RelationType, maxGraphName))
	}
	return err
}

func checkObservations(texts []string) (err error) {
	for i, text := range texts {
		err = errors.Join(err, checkText(fmt.Sprintf("Observations[%d]", i), text, maxObservation))
	}
	return err
}

func checkEntityNames(names []string) (err error) {
	for i, name := range names {
		err = errors.Join(err, checkText(fmt.Sprintf("names[%d]", i), name, maxText))
	}
	return err
}
