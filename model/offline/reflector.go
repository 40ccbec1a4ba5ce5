package offline

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/hippocampus-memory/hippocampus/model"
	"github.com/hippocampus-memory/hippocampus/model/internal/chat"
	"github.com/hippocampus-memory/hippocampus/model/internal/reply"
)

// reflector is "offline/patterns-v1": it knows ways in which people speak of
// themselves in English and Chinese. It reads only what persons say, and skips
// questions, suppositions, quotations and reported speech: a fact it misses is
// better than one it makes up.
//
// Keys are those the prompts ask language models for. Likes and dislikes are
// kept one by one as about_<thing>, so that "I no longer like sushi" replaces
// "I love sushi" and leaves pizza alone.
type reflector struct{ maxChars int }

var _ model.Reflector = (*reflector)(nil)

// draft is a fact before it knows who said it.
type draft struct {
	kind, key, value string
	confidence       float64
	intensity        float64
	validFrom        *time.Time
	// ruleOfUser marks what is a standing instruction only when a user says it to
	// an assistant; between two people it is advice.
	ruleOfUser bool
}

func (r *reflector) Reflect(ctx context.Context, c *model.Conversation) (*model.Reflection, error) {
	if err := chat.CheckConversation(provider, "reflect", c, r.maxChars); err != nil {
		return nil, err
	}
	people := authorsOf(c)
	var facts []model.Fact
	for i := range c.Turns {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		turn := &c.Turns[i]
		if !people.person(turn.Author) {
			continue
		}
		for _, text := range splitSentences(codeBlock.ReplaceAllString(model.CleanText(turn.Text), "\n")) {
			for _, d := range draftsOf(text, turn.At) {
				if fact, ok := d.fact(turn); ok {
					facts = addFact(facts, fact)
				}
			}
		}
	}
	return &model.Reflection{Facts: facts, Insights: insightsOf(c), Model: provider + "/patterns-v1"}, nil
}

// draftsOf reads one sentence said at a time.
func draftsOf(text string, at time.Time) []draft {
	if len(text) > 600 || looksLikeCode(text) {
		return nil // not how people speak of themselves
	}
	drafts := append(englishDrafts(text, at), chineseDrafts(text, at)...)
	for i := range drafts {
		d := &drafts[i]
		d.intensity = math.Round(min(1, max(0.1, d.intensity+emphasis(text)))*100) / 100
	}
	return drafts
}

func looksLikeCode(text string) bool {
	return strings.Contains(text, "```") || strings.ContainsAny(text, "{}<>") || strings.Contains(text, "://")
}

func (d *draft) fact(turn *model.Turn) (model.Fact, bool) {
	if d.ruleOfUser && roleOf(turn.Author) != roleUser {
		return model.Fact{}, false
	}
	key := reply.Key(d.key)
	value := strings.TrimSpace(d.value)
	if key == "" || value == "" {
		return model.Fact{}, false
	}
	key = prefix(turn.Author) + key
	if len(key) > model.MaxKeyBytes {
		return model.Fact{}, false
	}
	data, err := json.Marshal(value)
	if err != nil {
		return model.Fact{}, false
	}
	return model.Fact{
		Type: d.kind, Key: key, Value: data,
		Confidence: d.confidence, Intensity: d.intensity, ValidFrom: d.validFrom,
		Sequences: []int64{turn.Sequence},
	}, true
}

// addFact appends a fact, or strengthens the one it repeats: a repetition adds
// its turn and 0.1 of intensity. So does taking back an earlier value, to the
// new fact.
func addFact(facts []model.Fact, fact model.Fact) []model.Fact {
	for i := len(facts) - 1; i >= 0; i-- {
		old := &facts[i]
		if old.Type != fact.Type || old.Key != fact.Key {
			continue
		}
		if !strings.EqualFold(string(old.Value), string(fact.Value)) {
			fact.Intensity = stronger(fact.Intensity)
			break
		}
		if !slices.Contains(old.Sequences, fact.Sequences[0]) {
			old.Sequences = append(old.Sequences, fact.Sequences[0])
			slices.Sort(old.Sequences)
			old.Intensity = stronger(max(old.Intensity, fact.Intensity))
		}
		old.ValidFrom = cmp.Or(old.ValidFrom, fact.ValidFrom)
		return facts
	}
	return append(facts, fact)
}

func stronger(intensity float64) float64 { return math.Round(min(1, intensity+0.1)*100) / 100 }
