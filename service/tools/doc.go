// Package tools gives an agent its memory as tools: what a model may call, with a JSON schema for
// arguments and results, whatever framework or protocol carries the call.
//
//	for _, tool := range tools.Memory(svc) {
//		// tool.Name, tool.Description and tool.Input go to the model; what it answers with comes back:
//		result, err := tool.Call(ctx, scope, arguments)
//	}
//
// [Memory] has the eight tools of an agent that remembers and forgets, [Graph] the nine of a
// knowledge graph. Other packages make tools of their own with [New]; whoever serves them composes
// one list.
//
// # Scope
//
// A tool works in the scope that its caller gives: the app and the user of a server's configuration
// or of a client's token. No tool has an argument for it, so a model cannot name another's memory.
//
// # Errors
//
// An [Error] is for the model: it says in JSON what was wrong and what to do. CodeMalformed marks
// arguments that the tool's schema does not allow. Any other error is the engine's trouble, for the
// log, and not for a model.
package tools
