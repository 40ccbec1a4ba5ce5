// Package assembler puts together what an agent should see, within a budget of tokens.
//
// Which rows stand in a window is decided in SQL, by hippocampus.get_context_window, so that every
// client gets the same window; this package calls it, gives it the exact count of the system
// prompt's tokens, and hands back the window with its text and a ledger of the budget:
//
//	window, err := assembler.Assemble(ctx, tx, counter, &assembler.Request{
//		AppName: "shop", UserID: "ada", Query: "which tea?", MaxTokens: new(2000),
//	})
//	…
//	prompt := window.Text
//
// # The promise
//
// A window's text never has more tokens than were asked for, headings included, and no entry of it
// is cut. What was left out is listed with the reason. The same rows, clock and arguments give the
// same window.
//
// Counts are exact where Go wrote the row or a worker has counted it since; until then a row costs
// an upper bound that SQL can know, so a window of fresh SQL rows may be emptier than it could be,
// never fuller than it should.
//
// # Counting
//
// [Counter] counts tokens as models of OpenAI do (o200k_base by default). Other models cut text in
// other ways; their counts of English differ by some percent, so leave a margin where the budget
// is a model's hard limit.
package assembler
