// Package document reads a corpus: it walks through folders ([Walk]), cuts Markdown and plain text
// into chunks ([Chunker]), and finds the terms that a question may name ([Vocabulary]). It knows no
// database.
package document
