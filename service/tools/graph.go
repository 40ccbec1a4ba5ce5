package tools

import (
	"context"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/hippocampus-memory/hippocampus/service"
)

type entitiesIn struct {
	Entities []service.Entity `json:"entities" jsonschema:"the entities to create"`
}

type relationsIn struct {
	Relations []service.Relation `json:"relations" jsonschema:"the relations"`
}

type observationsIn struct {
	Observations []service.Observations `json:"observations" jsonschema:"what to add, an entity each"`
}

type entityNamesIn struct {
	EntityNames []string `json:"entityNames" jsonschema:"the names of the entities to delete"`
}

type deletionsIn struct {
	Deletions []service.ObservationDeletion `json:"deletions" jsonschema:"what to delete, an entity each"`
}

type namesIn struct {
	Names []string `json:"names" jsonschema:"the names of the entities to read"`
}

type nodesIn struct {
	Query string `json:"query" jsonschema:"a text that names, types and observations are searched for, whatever its case"`
}

type nothingIn struct{}

type entitiesOut struct {
	Entities []service.Entity `json:"entities"`
}

// Text is the bare list, as the clients of these tools know it.
func (o *entitiesOut) Text() (string, error) { return indented(o.Entities) }

type relationsOut struct {
	Relations []service.Relation `json:"relations"`
}

// Text is the bare list, as the clients of these tools know it.
func (o *relationsOut) Text() (string, error) { return indented(o.Relations) }

type addedOut struct {
	Results []service.AddedObservations `json:"results"`
}

// Text is the bare list, as the clients of these tools know it.
func (o *addedOut) Text() (string, error) { return indented(o.Results) }

type deletedOut struct {
	Success bool   `json:"success"`
	Message string `json:"message"`
	Deleted int    `json:"deleted" jsonschema:"how many there were"`
}

// deletedOf says what was deleted of what was named: in the words that the clients of these tools know, where all was there.
func deletedOf(what string, deleted, named int) *deletedOut {
	out := &deletedOut{Deleted: deleted, Message: what + " deleted successfully", Success: true}
	if deleted < named {
		out.Message = fmt.Sprintf("%s deleted: %d of %d, the others are not in the graph", what, deleted, named)
	}
	return out
}

// distinct is how many different things there are.
func distinct[T comparable](things []T) int {
	seen := map[T]bool{}
	for _, thing := range things {
		seen[thing] = true
	}
	return len(seen)
}

// Text is the message.
func (o *deletedOut) Text() (string, error) { return o.Message, nil }

func indented(v any) (string, error) {
	text, err := marshal(v, "  ")
	return string(text), err
}

// Graph gives the nine tools of a knowledge graph, by the names, arguments and results that the
// Model Context Protocol's own memory server has: create_entities, create_relations,
// add_observations, delete_entities, delete_observations, delete_relations, read_graph,
// search_nodes, open_nodes. What a call names twice is created once.
func Graph(svc *service.OpenMemoryService) []*Tool {
	return fenced(svc, append(graphWriters(svc), graphReaders(svc)...))
}

func graphWriters(svc *service.OpenMemoryService) []*Tool {
	return []*Tool{
		New(Spec{
			Name: "create_entities", Title: "Create entities", IgnoreUnknown: true, Refine: refineNames,
			Description: "Adds entities to the knowledge graph: people, places, projects, whatever is worth a node, each with what is known of it. " +
				"Answers with those that were created; a name that is there already is left as it is.",
		}, func(ctx context.Context, scope service.Scope, in *entitiesIn) (*entitiesOut, error) {
			created, err := svc.Graph(scope).CreateEntities(ctx, in.Entities)
			return &entitiesOut{Entities: created}, err
		}),
		New(Spec{
			Name: "create_relations", Title: "Create relations", IgnoreUnknown: true, Refine: refineNames,
			Description: "Connects entities of the knowledge graph by relations in active voice, such as Ada works_at Acme. " +
				"Answers with those that were created; one that is there already is passed over.",
		}, func(ctx context.Context, scope service.Scope, in *relationsIn) (*relationsOut, error) {
			created, err := svc.Graph(scope).CreateRelations(ctx, in.Relations)
			return &relationsOut{Relations: created}, err
		}),
		New(Spec{
			Name: "add_observations", Title: "Add observations", IgnoreUnknown: true, Refine: refineNames,
			Description: "Adds statements to entities that are in the knowledge graph. Answers with those that were new, an entity each. " +
				"If one of the entities is missing, it is an error and nothing is added.",
		}, func(ctx context.Context, scope service.Scope, in *observationsIn) (*addedOut, error) {
			added, err := svc.Graph(scope).AddObservations(ctx, in.Observations)
			return &addedOut{Results: added}, err
		}),
		New(Spec{
			Name: "delete_entities", Title: "Delete entities", Destructive: true, Idempotent: true, IgnoreUnknown: true,
			Description: "Deletes entities from the knowledge graph, with what is known of them and the relations from and to them. Answers with how many there were.",
		}, func(ctx context.Context, scope service.Scope, in *entityNamesIn) (*deletedOut, error) {
			n, err := svc.Graph(scope).DeleteEntities(ctx, in.EntityNames)
			return deletedOf("Entities", n, distinct(in.EntityNames)), err
		}),
		New(Spec{
			Name: "delete_observations", Title: "Delete observations", Destructive: true, Idempotent: true, IgnoreUnknown: true, Refine: refineNames,
			Description: "Deletes statements from entities of the knowledge graph. They must be given to the letter, as a tool gave them; what is not there is no error. Answers with how many there were.",
		}, func(ctx context.Context, scope service.Scope, in *deletionsIn) (*deletedOut, error) {
			var named [][2]string
			for _, d := range in.Deletions {
				for _, text := range d.Observations {
					named = append(named, [2]string{d.EntityName, text})
				}
			}
			n, err := svc.Graph(scope).DeleteObservations(ctx, in.Deletions)
			return deletedOf("Observations", n, distinct(named)), err
		}),
		New(Spec{
			Name: "delete_relations", Title: "Delete relations", Destructive: true, Idempotent: true, IgnoreUnknown: true, Refine: refineNames,
			Description: "Deletes relations from the knowledge graph. What is not there is no error. Answers with how many there were.",
		}, func(ctx context.Context, scope service.Scope, in *relationsIn) (*deletedOut, error) {
			n, err := svc.Graph(scope).DeleteRelations(ctx, in.Relations)
			return deletedOf("Relations", n, distinct(in.Relations)), err
		}),
	}
}

func graphReaders(svc *service.OpenMemoryService) []*Tool {
	return []*Tool{
		New(Spec{
			Name: "read_graph", Title: "Read the graph", ReadOnly: true, Idempotent: true, IgnoreUnknown: true,
			Description: "Reads the whole knowledge graph. It may be large: search_nodes and open_nodes read parts of it.",
		}, func(ctx context.Context, scope service.Scope, _ *nothingIn) (*service.KnowledgeGraph, error) {
			return svc.Graph(scope).Read(ctx)
		}),
		New(Spec{
			Name: "search_nodes", Title: "Search nodes", ReadOnly: true, Idempotent: true, IgnoreUnknown: true,
			Description: "Finds the entities of the knowledge graph whose name, type or statements contain a text, and the relations from and to them.",
		}, func(ctx context.Context, scope service.Scope, in *nodesIn) (*service.KnowledgeGraph, error) {
			return svc.Graph(scope).Search(ctx, in.Query)
		}),
		New(Spec{
			Name: "open_nodes", Title: "Open nodes", ReadOnly: true, Idempotent: true, IgnoreUnknown: true,
			Description: "Reads entities of the knowledge graph by name, and the relations from and to them. A name that is not there is passed over.",
		}, func(ctx context.Context, scope service.Scope, in *namesIn) (*service.KnowledgeGraph, error) {
			return svc.Graph(scope).Open(ctx, in.Names)
		}),
	}
}

// refineNames refuses an empty name.
func refineNames(input *jsonschema.Schema) {
	walk(input, func(s *jsonschema.Schema) {
		for name, property := range s.Properties {
			switch name {
			case "name", "entityName", "from", "to":
				property.MinLength = new(1)
			}
		}
	})
}
