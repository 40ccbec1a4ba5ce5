package offline

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/hippocampus-memory/hippocampus/model"
	"github.com/hippocampus-memory/hippocampus/model/internal/chat"
	"github.com/hippocampus-memory/hippocampus/model/internal/reply"
)

// classifier is "offline/rules-v1". It compares two statements by the words they
// share, by whether they affirm or deny, by their numbers, and by whether they
// answer a question that has one answer (where someone lives, what they are
// called). It knows no synonyms beyond a few, and says DISTINCT when in doubt.
type classifier struct{ maxChars int }

var _ model.Classifier = (*classifier)(nil)

func (k *classifier) Classify(ctx context.Context, in *model.ClassifyInput) (*model.Classification, error) {
	if err := chat.CheckStatements(provider, in, k.maxChars); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	relation, why := relate(statementOf(in.Old), statementOf(in.New))
	oldKey, newKey := keyOf(in.Old), keyOf(in.New)
	switch ended, rest := ends(in.Old, in.New), ends(in.New, in.Old); {
	case oldKey == "" || newKey == "":
	case ended || rest: // it is so again, or no longer
		relation, why = model.RelationSupersedes, contradicts
	case isPast(oldKey) != isPast(newKey): // of another place than the one that was left
		relation, why = model.RelationDistinct, bothHold
	case oldKey == newKey && relation == model.RelationDistinct: // whoever drew them named one matter, and gave it another value
		relation, why = model.RelationSupersedes, newValue
	case !slices.Equal(numbersOf(oldKey), numbersOf(newKey)): // of things that a number names: E102 and E110, buses 5 and 9
		relation, why = model.RelationDistinct, bothHold
	}
	return &model.Classification{
		Relation: relation,
		Reason:   why[in.ResolvedLanguage()],
		Model:    provider + "/rules-v1",
	}, nil
}

// keyOf is the key of a fact, which reads "key: value"; empty where a statement is none.
func keyOf(statement string) string {
	key, _, isFact := strings.Cut(statement, ": ")
	if !isFact || len(key) > model.MaxKeyBytes {
		return ""
	}
	return key
}

// pastKey begins the key of what is no longer so, after whose it is: caroline_past_location_oslo.
const pastKey = "past_"

func isPast(key string) bool { return strings.Contains("_"+reply.Key(key), "_"+pastKey) }

// ends tells whether a fact says that another one is no longer so: past_location_oslo of location: Oslo.
func ends(past, fact string) bool {
	key, value, isFact := strings.Cut(fact, ": ")
	whose, what, isEnd := strings.Cut("_"+reply.Key(keyOf(past)), "_"+pastKey)
	return isFact && isEnd && strings.TrimPrefix(whose+"_"+what, "_") == reply.Key(key+"_"+value)
}

// numbersOf are the terms of a key that hold a digit, sorted.
func numbersOf(key string) []string { return statementOf(strings.ReplaceAll(key, "_", " ")).numbers }

// statement is what is compared.
type statement struct {
	terms     []string // sorted, unique; without numbers and words of liking or denying
	numbers   []string // sorted, unique
	positive  bool     // affirms, or likes
	attribute string   // a question with one answer that it answers, or ""
	subject   string   // whose attribute
	changes   bool     // says that something is different now
}

type reason map[string]string

var (
	sameWords   = reason{"en": "They say the same in nearly the same words.", "zh": "两者用词几乎相同,内容一致。"}
	addsNothing = reason{"en": "The new statement adds nothing to the old one.", "zh": "新陈述没有增加任何信息。"}
	contradicts = reason{"en": "One affirms what the other denies.", "zh": "一条肯定,另一条否定。"}
	newNumbers  = reason{"en": "They differ in a number or date.", "zh": "两者的数字或日期不同。"}
	newValue    = reason{"en": "They give different answers to a question that has one.", "zh": "同一个只有一个答案的问题有了新的答案。"}
	saysMore    = reason{"en": "The new statement says all of the old one and more.", "zh": "新陈述包含旧陈述的全部内容且更多。"}
	saysChanged = reason{"en": "The new statement says that this has changed.", "zh": "新陈述说明情况已经改变。"}
	bothHold    = reason{"en": "Both can hold at once.", "zh": "两者可以同时成立。"}
)

// relate decides. overlap is the share of common terms in all terms, cover the
// share in the shorter statement.
func relate(before, after *statement) (model.Relation, reason) {
	common := 0
	for _, t := range before.terms {
		if slices.Contains(after.terms, t) {
			common++
		}
	}
	all := len(before.terms) + len(after.terms) - common
	overlap, cover := 1.0, 1.0
	if all > 0 {
		overlap = float64(common) / float64(all)
		cover = float64(common) / float64(max(1, min(len(before.terms), len(after.terms))))
	}
	sameNumbers := slices.Equal(before.numbers, after.numbers)
	differ := len(before.numbers) > 0 && len(after.numbers) > 0 && !sameNumbers

	switch {
	case before.positive != after.positive && cover >= 0.6:
		return model.RelationSupersedes, contradicts
	case differ && cover >= 0.6:
		return model.RelationSupersedes, newNumbers
	case overlap >= 0.8 && sameNumbers:
		return model.RelationDuplicate, sameWords
	case before.attribute != "" && before.attribute == after.attribute && before.subject == after.subject && before.positive == after.positive:
		return model.RelationSupersedes, newValue
	case cover == 1 && overlap >= 0.5 && len(after.terms)+len(after.numbers) > len(before.terms)+len(before.numbers):
		return model.RelationSupersedes, saysMore
	case cover == 1 && overlap >= 0.5:
		return model.RelationDuplicate, addsNothing
	case after.changes && cover >= 0.5:
		return model.RelationSupersedes, saysChanged
	default:
		return model.RelationDistinct, bothHold
	}
}

var (
	liking    = regexp.MustCompile(`(?i)\b(?:likes?|liked|loves?|loved|enjoys?|enjoyed|adores?|(?:is )?a fan of|(?:is )?fond of|prefers?)\b|喜欢|热爱|酷爱|偏爱|爱`)
	disliking = regexp.MustCompile(`(?i)\b(?:hates?|hated|dislikes?|disliked|detests?|loathes?|despises?|can(?:no|')t stand)\b|讨厌|痛恨|厌恶|反感|受不了|恨`)
	denying   = regexp.MustCompile(`(?i)\b(?:not|no|never|no longer|cannot|without|stopped|quit)\b|n't\b|不再|从不|绝不|不要|不|没有|没|别|禁止`)
	changing  = regexp.MustCompile(`(?i)\b(?:now|no longer|any ?more|instead|switched|changed|moved|became|used to|recently|from now on)\b|不再|现在|改成|改为|换成|搬|如今|以后`)
	adverb    = regexp.MustCompile(`(?i)\b(?:really|very|so much|a lot|strongly|absolutely)\b|非常|很|特别|最|真的|十分|\b(?:named|called)\b`)
)

func statementOf(text string) *statement {
	text = strings.ReplaceAll(text, "’", "'")
	text = strings.ReplaceAll(text, "用户", "我")
	s := &statement{changes: changing.MatchString(text)}
	s.attribute, s.subject = attributeOf(text)

	denied := len(denying.FindAllString(text, -1))%2 == 1
	core := denying.ReplaceAllString(text, " ")
	dislikes := disliking.MatchString(core)
	core = liking.ReplaceAllString(disliking.ReplaceAllString(core, " "), " ")
	core = changing.ReplaceAllString(adverb.ReplaceAllString(core, " "), " ")
	s.positive = denied == dislikes

	for _, term := range terms(core) {
		if strings.ContainsFunc(term, unicode.IsDigit) {
			s.numbers = append(s.numbers, term)
		} else {
			s.terms = append(s.terms, synonym(term))
		}
	}
	slices.Sort(s.terms)
	slices.Sort(s.numbers)
	s.terms, s.numbers = slices.Compact(s.terms), slices.Compact(s.numbers)
	return s
}

// synonym joins a few stems that statements about people are often told with.
func synonym(term string) string {
	switch term {
	case "resid", "reside", "locat", "location", "based", "bas", "dwell":
		return "liv"
	case "occup", "occupation", "profession", "job", "employ":
		return "work"
	case "mum", "mom":
		return "mother"
	case "dad":
		return "father"
	case "meal", "dish":
		return "food"
	case "photo", "pic", "pictur":
		return "photo"
	case "automobil":
		return "car"
	}
	return term
}

// attributes are questions with one answer at a time.
var attributes = []struct {
	name string
	re   *regexp.Regexp
}{
	{"name", regexp.MustCompile(`(?i)\b(?:name is|is called|name:)|的名字|名叫|^(?:我|用户)?叫`)},
	{"location", regexp.MustCompile(`(?i)\b(?:liv(?:es?|ing) in|resides? in|moved to|is based in|location:)|住在|居住|搬到|定居|现居`)},
	{"employer", regexp.MustCompile(`(?i)\b(?:work(?:s|ing)? (?:at|for)|joined|employer:)|在\S+(?:工作|上班|任职)|入职`)},
	{"occupation", regexp.MustCompile(`(?i)\b(?:works? as|job is|occupation|profession)\b|职业|是一[名位]`)},
	{"birthday", regexp.MustCompile(`(?i)\b(?:birthday|was born on)\b|生日`)},
	{"age", regexp.MustCompile(`(?i)\byears old\b|岁`)},
	{"marital_status", regexp.MustCompile(`(?i)\b(?:married|single|divorced|engaged|widowed)\b|已婚|未婚|单身|离婚|离异`)},
	{"email", regexp.MustCompile(`(?i)\be-?mail(?: address)? (?:is|:)|邮箱`)},
	{"time_zone", regexp.MustCompile(`(?i)\btime ?zone\b|时区`)},
	{"deadline", regexp.MustCompile(`(?i)\b(?:deadline|due date)\b|截止`)},
}

var favourite = regexp.MustCompile(`(?i)\bfavou?rite (\w+)|最喜欢的(\p{Han}{1,4}?)(?:是|就是)`)

// attributeOf finds the question a statement answers and what stands before it:
// whose it is.
func attributeOf(text string) (attribute, subject string) {
	if m := favourite.FindStringSubmatchIndex(text); m != nil {
		words := favourite.FindStringSubmatch(text)
		return "favorite " + strings.ToLower(words[1]+words[2]), subjectOf(text[:m[0]])
	}
	for _, a := range attributes {
		if at := a.re.FindStringIndex(text); at != nil {
			return a.name, subjectOf(text[:at[0]])
		}
	}
	return "", ""
}

var theUser = regexp.MustCompile(`(?i)^(?:the user|user|i|my|me|he|she|they|his|her|their|我|用户|他|她)?(?:'s)?$`)

func subjectOf(before string) string {
	words := strings.Fields(strings.ToLower(changing.ReplaceAllString(denying.ReplaceAllString(before, " "), " ")))
	words = slices.DeleteFunc(words, func(w string) bool {
		return slices.Contains([]string{"is", "has", "have", "just", "currently", "am", "also", "the", "的", "still"}, w)
	})
	subject := strings.Trim(strings.Join(words, " "), " :：")
	if theUser.MatchString(strings.TrimSuffix(subject, "的")) {
		return ""
	}
	return subject
}
