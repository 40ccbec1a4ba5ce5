package model

import "context"

// Relation is how a new statement relates to an old one.
type Relation string

// The relations a Classifier answers with.
const (
	RelationDuplicate  Relation = "DUPLICATE"  // the same information in other words
	RelationSupersedes Relation = "SUPERSEDES" // the same subject with a new value: the old one no longer holds
	RelationDistinct   Relation = "DISTINCT"   // both hold at once
)

// ClassifyInput is a pair of statements.
type ClassifyInput struct {
	Old, New string
	// Language of the prompt, "en" or "zh"; empty means DetectLanguage decides.
	Language string
}

// ResolvedLanguage is LanguageEnglish or LanguageChinese if Language says so,
// and otherwise what DetectLanguage finds in the statements.
func (in *ClassifyInput) ResolvedLanguage() string {
	return resolveLanguage(in.Language, in.Old, in.New)
}

// Classification is the answer to a ClassifyInput.
type Classification struct {
	Relation Relation
	// Reason is one sentence for a person who checks; may be empty.
	Reason string
	Model  string
}

// Classifier decides between two statements that are similar but not the same.
// Two blank statements, or one, are refused with KindRejected.
type Classifier interface {
	Classify(ctx context.Context, in *ClassifyInput) (*Classification, error)
}
