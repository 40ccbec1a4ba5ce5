package tools

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/google/uuid"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/service"
)

type contentIn struct {
	Content  string   `json:"content" jsonschema:"what to remember, in words that can be understood without the conversation"`
	Category string   `json:"category,omitempty" jsonschema:"what kind of thing it is; other if left out"`
	Source   string   `json:"source,omitempty" jsonschema:"where it came from, such as a file's name"`
	Tags     []string `json:"tags,omitempty" jsonschema:"words to find it by"`
}

type storedOut struct {
	MemoryID uuid.UUID `json:"memory_id"`
}

type replaceIn struct {
	Key     string `json:"key" jsonschema:"the block's name"`
	OldText string `json:"old_text" jsonschema:"the text to find, to the letter"`
	NewText string `json:"new_text" jsonschema:"the text to put in its place; empty deletes it"`

	ExpectedVersion *int64 `json:"expected_version,omitempty" jsonschema:"the version that you have read; refused if somebody else wrote the block since"`
}

type appendIn struct {
	Key  string `json:"key" jsonschema:"the block's name, such as persona or human"`
	Text string `json:"text" jsonschema:"the line to add"`

	ExpectedVersion *int64 `json:"expected_version,omitempty" jsonschema:"the version that you have read, 0 for a block that must be new; refused if somebody else wrote the block since"`
}

type keyIn struct {
	Key string `json:"key" jsonschema:"the block's name, such as persona or human"`
}

type writtenOut struct {
	Key     string `json:"key"`
	Value   string `json:"value" jsonschema:"the whole text of the block now"`
	Version int64  `json:"version"`
}

type blockOut struct {
	Key   string  `json:"key"`
	Value *string `json:"value" jsonschema:"the whole text of the block; null where there is no such block"`

	Version int64 `json:"version" jsonschema:"grows with every write; 0 where there is no such block"`
}

type queryIn struct {
	Query string `json:"query" jsonschema:"what to look for, in a few words or a question"`
	Limit int    `json:"limit,omitempty" jsonschema:"how many at most; 10 if left out"`
}

type conversationOut struct {
	Messages []message `json:"messages"`
}

type message struct {
	Author      string    `json:"author"`
	Text        string    `json:"text"`
	Time        string    `json:"time"`
	ThreadID    uuid.UUID `json:"thread_id"`
	SequenceNum int64     `json:"sequence_num" jsonschema:"its place in the thread"`
	Trust       string    `json:"trust" jsonschema:"whose words it holds: operator, user, agent or tool"`
}

// Memory gives the eight tools of an agent that remembers and forgets: remember_facts, store_memory,
// replace_memory_block, append_memory_block, forget_memory, recall_memories, recall_memory_block,
// recall_conversation. remember_facts needs a service with a Reflector. What they store is an agent's
// word, whoever the agent says had it: no rule comes of it.
func Memory(svc *service.OpenMemoryService) []*Tool {
	return fenced(svc, append(truthTools(svc), storeMemory(svc), replaceBlock(svc), appendBlock(svc), recallMemories(svc),
		recallBlock(svc), recallConversation(svc)))
}

func storeMemory(svc *service.OpenMemoryService) *Tool {
	return New(Spec{
		Name: "store_memory", Title: "Store a memory", Refine: func(in *jsonschema.Schema) {
			in.Properties["content"].MinLength = new(1)
			in.Properties["category"].Enum = []any{"chat", "observation", "task", "decision", "tool-use", "error", "insight", "other"}
			in.Properties["tags"].MaxItems = new(64)
		},
		Description: "Keeps a text as it is: an experience, a decision, an observation, a passage worth keeping. " +
			"The same text again strengthens the memory that is there. For statements that can become untrue, use remember_facts.",
	}, func(ctx context.Context, scope service.Scope, in *contentIn) (*storedOut, error) {
		id, err := svc.Remember(ctx, scope, in.Content, &service.RememberOptions{
			Category: in.Category, Source: in.Source, Tags: in.Tags, Trust: trustOf(in.Category),
		})
		return &storedOut{MemoryID: id}, err
	})
}

// trustOf is whose words an agent stores: its own, whoever it says had them; what a tool gave is the tool's.
func trustOf(category string) string {
	if category == "tool-use" {
		return service.TrustTool
	}
	return service.TrustAgent
}

func replaceBlock(svc *service.OpenMemoryService) *Tool {
	return New(Spec{
		Name: "replace_memory_block", Title: "Replace in a memory block", Destructive: true, Refine: func(in *jsonschema.Schema) {
			refineBlock(in)
			in.Properties["old_text"].MinLength = new(1)
		},
		Description: "Replaces a text in a memory block, wherever it stands in it. It is an error where there is no such block, " +
			"or where the text is not found.",
	}, func(ctx context.Context, scope service.Scope, in *replaceIn) (*writtenOut, error) {
		block, err := svc.ReplaceInBlock(ctx, scope, in.Key, in.OldText, in.NewText, &service.BlockOptions{ExpectedVersion: in.ExpectedVersion})
		if errors.Is(err, db.ErrNotFound) { // whose hint names functions that a model can't call
			return nil, &Error{
				Code: CodeNotFound, Message: fmt.Sprintf("block %q does not exist", in.Key), Hint: "Create it with append_memory_block.", cause: err,
			}
		}
		return written(block, err)
	})
}

func appendBlock(svc *service.OpenMemoryService) *Tool {
	return New(Spec{
		Name: "append_memory_block", Title: "Append to a memory block", Refine: refineBlock,
		Description: "Adds a line to a memory block, and makes the block where there is none. Blocks are short named texts that you always see.",
	}, func(ctx context.Context, scope service.Scope, in *appendIn) (*writtenOut, error) {
		return written(svc.AppendBlock(ctx, scope, in.Key, in.Text, &service.BlockOptions{ExpectedVersion: in.ExpectedVersion}))
	})
}

func written(block *service.Block, err error) (*writtenOut, error) {
	if errors.Is(err, db.ErrTooLarge) { // whose limit a model can't raise
		return nil, &Error{
			Code: CodeTooLarge, Message: err.Error(), Hint: "Shorten the block with replace_memory_block.", cause: err,
		}
	}
	if err != nil {
		return nil, err
	}
	return &writtenOut{Key: block.Key, Value: block.Value, Version: block.Version}, nil
}

func recallMemories(svc *service.OpenMemoryService) *Tool {
	return New(Spec{
		Name: "recall_memories", Title: "Recall memories", Refine: refineQuery,
		Description: "Finds the facts and memories that answer a query, by meaning and by words, best first. " +
			"What is strongly held and new comes before what fades. What is recalled is strengthened a little.",
	}, func(ctx context.Context, scope service.Scope, in *queryIn) (*service.Recalled, error) {
		return svc.RecallMemories(ctx, scope, in.Query, &service.RecallMemoriesOptions{Limit: in.Limit})
	})
}

func recallBlock(svc *service.OpenMemoryService) *Tool {
	return New(Spec{
		Name: "recall_memory_block", Title: "Recall a memory block", ReadOnly: true, Idempotent: true, Refine: refineKey,
		Description: "Reads one memory block by its name. Its value is null where there is no such block.",
	}, func(ctx context.Context, scope service.Scope, in *keyIn) (*blockOut, error) {
		block, err := svc.Block(ctx, scope, in.Key)
		if err != nil || block == nil {
			return &blockOut{Key: in.Key}, err
		}
		return &blockOut{Key: block.Key, Value: &block.Value, Version: block.Version}, nil
	})
}

func recallConversation(svc *service.OpenMemoryService) *Tool {
	return New(Spec{
		Name: "recall_conversation", Title: "Recall a conversation", ReadOnly: true, Idempotent: true, Refine: refineQuery,
		Description: "Searches what was said in past conversations, word for word, best first.",
	}, func(ctx context.Context, scope service.Scope, in *queryIn) (*conversationOut, error) {
		if in.Limit == 0 {
			in.Limit = 10
		}
		hits, err := svc.RecallConversation(ctx, scope, in.Query, &service.RecallOptions{Limit: in.Limit})
		if err != nil {
			return nil, err
		}
		out := &conversationOut{Messages: make([]message, len(hits))}
		for i, hit := range hits {
			out.Messages[i] = message{
				Author: hit.Author, SequenceNum: hit.SequenceNum, Text: hit.Text, ThreadID: hit.ThreadID,
				Time: hit.CreatedAt.UTC().Format("2006-01-02T15:04:05Z07:00"), Trust: hit.Trust,
			}
		}
		return out, nil
	})
}

// refineBlock is of the writers of a block. A pointer makes a schema that allows null, which is not left out.
func refineBlock(in *jsonschema.Schema) {
	refineKey(in)
	version := in.Properties["expected_version"]
	version.Type, version.Types, version.Minimum = "integer", nil, new(0.0)
}

func refineKey(in *jsonschema.Schema) { in.Properties["key"].MinLength = new(1) }

func refineQuery(in *jsonschema.Schema) {
	in.Properties["query"].MinLength = new(1)
	in.Properties["limit"].Minimum, in.Properties["limit"].Maximum = new(1.0), new(100.0)
}
