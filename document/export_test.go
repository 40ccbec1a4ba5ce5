package document

// NewBoundedVocabulary is a vocabulary of so many words and phrases at most.
func NewBoundedVocabulary(most int) *Vocabulary { return newVocabulary(most) }

// Size is how many words and phrases are counted.
func (v *Vocabulary) Size() (words, phrases int) { return len(v.words), len(v.phrases) }
