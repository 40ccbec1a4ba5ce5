package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/hippocampus-memory/hippocampus/bench/dataset"
	"github.com/hippocampus-memory/hippocampus/bench/metric"
)

// Variant is a ranking that is tried: what it has else than the app's setting.
type Variant struct {
	Name    string          `json:"name"`
	Ranking json.RawMessage `json:"ranking"`
	// Evidence is what the setting evidence has else.
	Evidence json.RawMessage `json:"evidence,omitempty"`
	only     []string        // the parts of the evidence that count; all where it is nil
}

// mechanisms are the parts of the evidence that make the text score, in the order in which the ablation adds them.
var mechanisms = []string{"nearby", "session", "author", "time", "answer", "question", "length", "spread"}

// Mechanisms are variants that add one mechanism after the other to the words of a memory alone, then the other
// arms with their weights, and last what is meant around a turn.
func Mechanisms() []*Variant {
	words := json.RawMessage(`{"text": 1, "vector": 0, "strength": 0, "recency": 0}`)
	all := []*Variant{{Name: "words alone", Ranking: words, only: []string{}}}
	for i, name := range mechanisms {
		all = append(all, &Variant{Name: "+ " + name, Ranking: words, only: mechanisms[:i+1]})
	}
	asSet := json.RawMessage(`{}`)
	return append(all,
		&Variant{Name: "+ vectors, retention and recency", Ranking: asSet, only: mechanisms},
		&Variant{Name: "+ meaning", Ranking: asSet, only: append(slices.Clone(mechanisms), "meaning")},
	)
}

// ReadVariants reads variants as a command line has them: {"text": 1}; name={"text": 1}; or a file of
// a JSON array of {"name": …, "ranking": {…}, "evidence": {…}}; or mechanisms, which are [Mechanisms].
func ReadVariants(args []string) ([]*Variant, error) {
	var all []*Variant
	for _, arg := range args {
		name, value, named := strings.Cut(arg, "={")
		switch {
		case arg == "mechanisms":
			all = append(all, Mechanisms()...)
		case strings.HasPrefix(arg, "{"):
			all = append(all, &Variant{Name: arg, Ranking: json.RawMessage(arg)})
		case named:
			all = append(all, &Variant{Name: name, Ranking: json.RawMessage("{" + value)})
		default:
			raw, err := os.ReadFile(arg)
			if err != nil {
				return nil, fmt.Errorf("read variants: %w", err)
			}
			var ofFile []*Variant
			decoder := json.NewDecoder(bytes.NewReader(raw))
			decoder.DisallowUnknownFields()
			if err := decoder.Decode(&ofFile); err != nil {
				return nil, fmt.Errorf("read variants: %s must be an array of {\"name\", \"ranking\"}: %w", arg, err)
			}
			all = append(all, ofFile...)
		}
	}
	for _, v := range all {
		for _, raw := range []*json.RawMessage{&v.Ranking, &v.Evidence} {
			if *raw == nil {
				*raw = json.RawMessage("{}")
			}
			var object map[string]json.RawMessage
			if err := json.Unmarshal(*raw, &object); err != nil {
				return nil, fmt.Errorf("the variant %s is no JSON object: %w", v.Name, err)
			}
		}
	}
	return all, nil
}

// VariantResult is what a variant found.
type VariantResult struct {
	Name    string          `json:"name"`
	Ranking json.RawMessage `json:"ranking"`
	Tables  []*Table        `json:"tables"`
	Search  Latency         `json:"search"`
	// Better and Worse count the questions of the headline whose recall@10 is another than without
	// the variant.
	Better int `json:"better"`
	Worse  int `json:"worse"`
}

// Ablate asks the dataset's questions once for each variant, under the ranking that holds for the app with
// the variant's overrides. The base is the run without. If the context ends, the variants that were done
// are returned with the error.
func Ablate(
	ctx context.Context, e *Engine, d *dataset.Dataset, vectors Vectors, opts *RecallOptions, base *RecallResult, variants []*Variant,
) ([]*VariantResult, error) {
	var all []*VariantResult
	if len(variants) == 0 {
		return nil, nil
	}
	key, current, err := rankingSetting(ctx, e.Pool, opts.App)
	if err != nil {
		return nil, err
	}
	evidence, err := evidenceSetting(ctx, e.Pool, opts.App)
	if err != nil {
		return nil, err
	}
	for i, v := range variants {
		weights, err := override(current, v.Ranking)
		if err != nil {
			return all, fmt.Errorf("the variant %s: %w", v.Name, err)
		}
		parts, err := v.evidence(evidence)
		if err != nil {
			return all, fmt.Errorf("the variant %s: %w", v.Name, err)
		}
		run := *opts
		run.What = fmt.Sprintf("variant %d of %d", i+1, len(variants))
		var result *RecallResult
		err = withSetting(ctx, e.Pool, opts.App, key, weights, func() error {
			return withSetting(ctx, e.Pool, opts.App, "evidence", parts, func() (err error) {
				result, err = Recall(ctx, e, d, vectors, &run)
				return err
			})
		})
		if err != nil {
			return all, fmt.Errorf("the variant %s: %w", v.Name, err)
		}
		tried := &VariantResult{Name: v.Name, Ranking: weights, Search: result.Search, Tables: Score(d, result.Answers)}
		tried.compare(d, base, result)
		all = append(all, tried)
	}
	return all, nil
}

// evidence is the setting evidence with what the variant has else.
func (v *Variant) evidence(current json.RawMessage) (json.RawMessage, error) {
	if v.only == nil {
		return override(current, v.Evidence)
	}
	all, kept := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	if err := json.Unmarshal(current, &all); err != nil {
		return nil, fmt.Errorf("the setting evidence is no object: %w", err)
	}
	for _, name := range v.only {
		if weight, ok := all[name]; ok {
			kept[name] = weight
		}
	}
	return json.Marshal(kept)
}

// override is an object with the other's keys in place of its own.
func override(object, other json.RawMessage) (json.RawMessage, error) {
	merged := map[string]json.RawMessage{}
	if len(object) > 0 {
		if err := json.Unmarshal(object, &merged); err != nil {
			return nil, fmt.Errorf("the setting ranking is no object: %w", err)
		}
	}
	if err := json.Unmarshal(other, &merged); err != nil {
		return nil, errors.New("the ranking is no object")
	}
	return json.Marshal(merged)
}

func (v *VariantResult) compare(d *dataset.Dataset, base, tried *RecallResult) {
	at := metric.At("recall", 10)
	for i, b := range base.Answers {
		t := tried.Answers[i]
		if b == nil || t == nil || !b.Question.In(d.Headline) || len(b.Question.Gold) == 0 {
			continue
		}
		switch before, after := gradeTurns(b.Question, b.Found)[at], gradeTurns(t.Question, t.Found)[at]; {
		case after > before:
			v.Better++
		case after < before:
			v.Worse++
		}
	}
}
